"""Time of a block of steps: CUDA events around it on a GPU, else the clock."""

from __future__ import annotations

import time
from typing import Any, Protocol


class Stopwatch(Protocol):
    """Runs from when it was made."""

    def elapsed_ns(self) -> float:
        """Nanoseconds until all work handed out so far is done."""


class CpuStopwatch:
    """The performance counter."""

    def __init__(self) -> None:
        self._begin = time.perf_counter_ns()

    def elapsed_ns(self) -> float:
        """Nanoseconds until now."""
        return time.perf_counter_ns() - self._begin


class CudaStopwatch:
    """Two CUDA events on the current stream."""

    def __init__(self) -> None:
        self._begin = _recorded()

    def elapsed_ns(self) -> float:
        """Nanoseconds between the events; waits for the second."""
        end = _recorded()
        end.synchronize()
        return float(self._begin.elapsed_time(end)) * 1e6


def stopwatch(device: str) -> Stopwatch:
    """Returns a running stopwatch for work on ``device``, which must have nothing left to do."""
    return CudaStopwatch() if device == "cuda" else CpuStopwatch()


def _recorded() -> Any:
    import torch

    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event
