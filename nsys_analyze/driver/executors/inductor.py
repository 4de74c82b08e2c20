"""torch.compile with its default compiler."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from typing import Any

import torch

from nsys_analyze.driver.executors.torch_compile import TorchCompile
from nsys_analyze.driver.workloads import Model


class Inductor(TorchCompile):
    """Generates Triton kernels on GPUs, C++ on CPUs."""

    labels = True

    def options(self) -> dict[str, Any]:
        """Arguments of torch.compile."""
        return {"backend": "inductor"}

    def labelled(self, model: Model) -> AbstractContextManager[object]:
        """Labels the kernels of the graphs that are compiled while it lasts."""
        if self.choice is None:
            return contextlib.nullcontext()
        from nsys_analyze.driver.labels.inductor import label_inductor

        return label_inductor(self.choice)

    def compiling(self) -> AbstractContextManager[object]:
        """Has PyTorch emit NVTX ranges, among them those of Dynamo's and Inductor's phases."""
        if not torch.cuda.is_available():
            return contextlib.nullcontext()
        emitting: AbstractContextManager[object] = torch.autograd.profiler.emit_nvtx()
        return emitting
