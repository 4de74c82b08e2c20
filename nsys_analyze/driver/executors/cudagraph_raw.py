"""One torch.cuda.CUDAGraph around the eager module, without any compiler."""

from __future__ import annotations

from typing import Any

import torch

from nsys_analyze.driver.executors.base import Executor, Runnable
from nsys_analyze.driver.workloads import Model

_WARMUP_CALLS = 3  # on a side stream, as PyTorch's documentation asks for before a capture


class CudaGraphRaw(Executor):
    """Captures the forward pass once and replays it; inputs and output stay where they are."""

    trains = False
    needs_cuda = True
    distributes = False

    def compile(self, model: Model) -> Runnable:
        """Returns a function that replays the captured graph."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_WARMUP_CALLS):
                model.module(*model.inputs)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            output = model.module(*model.inputs)

        def replay(*inputs: Any) -> Any:
            graph.replay()
            return output

        return replay
