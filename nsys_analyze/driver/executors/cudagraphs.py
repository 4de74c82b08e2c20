"""torch.compile with CUDA graphs: mode "reduce-overhead"."""

from __future__ import annotations

from typing import Any

import torch

from nsys_analyze.driver.executors.torch_compile import TorchCompile


class CudaGraphs(TorchCompile):
    """Runs once plainly, once while it captures, and replays from the third call on."""

    needs_cuda = True
    settling_calls = 3

    def options(self) -> dict[str, Any]:
        """Arguments of torch.compile."""
        return {"mode": "reduce-overhead"}

    def before_step(self) -> None:
        """Says that the outputs of the step before may be overwritten."""
        torch.compiler.cudagraph_mark_step_begin()
