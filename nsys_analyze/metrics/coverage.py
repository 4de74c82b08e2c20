"""How much of the GPU's work found a range, and why the rest did not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nsys_analyze.arrays import Bool, Int64
from nsys_analyze.attribution import Assignment, How
from nsys_analyze.metrics.results import Coverage, CoverageTime
from nsys_analyze.model.calls import CallKind
from nsys_analyze.model.capture import captured_calls
from nsys_analyze.model.tables import OpKind, Trace


def how_attributed(trace: Trace, assignment: Assignment) -> npt.NDArray[np.int8]:
    """How each operation was attributed, as How."""
    return np.append(assignment.how, np.int8(How.NO_LAUNCH_ROW))[trace.ops.launch]


def coverage(trace: Trace, how: npt.NDArray[np.int8]) -> Coverage:
    """Counts and GPU time of the operations, by how they were attributed."""
    counts = _by_how(how, np.ones(len(how), np.int64))
    times = _by_how(how, trace.ops.end - trace.ops.start)
    return Coverage(
        gpu_ops=len(how),
        **counts,
        gpu_time_ns=CoverageTime(gpu_ops=sum(times.values()), **times) if knows_durations(trace) else None,
        launches_without_gpu_op=int(lost_launches(trace).sum()),
    )


def knows_gpu(trace: Trace) -> bool:
    """Whether the report can tell what a range put on the GPU.

    It cannot where no operation has a launch, nor where it has launch calls but neither kernels nor graphs: what is
    left then (copies, say) would pass for the whole. Nor can it where no kernel has an end.
    """
    if not len(trace.launches) or not knows_durations(trace):
        return False
    return bool(_works(trace).any()) or not lost_launches(trace).any()


def knows_durations(trace: Trace) -> bool:
    """Whether the report tells how long kernels and graphs took, if it has any."""
    return not trace.counts.endless or trace.counts.endless < int(_works(trace).sum())


def _works(trace: Trace) -> Bool:
    """Which operations are kernels or graphs."""
    return np.isin(trace.ops.kind, (OpKind.KERNEL, OpKind.GRAPH))


def lost_launches(trace: Trace) -> Bool:
    """Kernel and graph launch calls without an operation, but for those that were only captured into a graph."""
    calls = trace.calls
    lost = calls.of_kind(CallKind.LAUNCH, CallKind.GRAPH_LAUNCH)
    lost[trace.launches.call] = False
    return lost & ~captured_calls(calls, trace.end)


def _by_how(how: npt.NDArray[np.int8], values: Int64) -> dict[str, int]:
    return {kind.name.lower(): int(values[how == kind].sum()) for kind in How}
