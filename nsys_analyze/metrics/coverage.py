"""How much of the GPU's work found a range, and why the rest did not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nsys_analyze.arrays import Bool, Int64
from nsys_analyze.attribution import Assignment, How
from nsys_analyze.metrics.results import Coverage, CoverageTime
from nsys_analyze.model.calls import CallKind
from nsys_analyze.model.tables import Trace
from nsys_analyze.timeline import BusyTime


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
        gpu_time_ns=CoverageTime(gpu_ops=sum(times.values()), **times),
        launches_without_gpu_op=int(lost_launches(trace).sum()),
    )


def lost_launches(trace: Trace) -> Bool:
    """Kernel and graph launch calls without an operation, but for those that were only captured into a graph."""
    calls = trace.calls
    lost = calls.of_kind(CallKind.LAUNCH, CallKind.GRAPH_LAUNCH)
    lost[trace.launches.call] = False
    return lost & ~_captured(trace)


def _by_how(how: npt.NDArray[np.int8], values: Int64) -> dict[str, int]:
    return {kind.name.lower(): int(values[how == kind].sum()) for kind in How}


def _captured(trace: Trace) -> Bool:
    """Calls between the begin and the end of a stream capture on the same thread."""
    calls = trace.calls
    begins, ends = (np.flatnonzero(calls.of_kind(kind)) for kind in (CallKind.CAPTURE_BEGIN, CallKind.CAPTURE_END))
    captured: Bool = np.zeros(len(calls), bool)
    for thread in np.unique(calls.thread[begins]).tolist():
        begin = np.sort(calls.start[begins[calls.thread[begins] == thread]])
        end = np.append(np.sort(calls.start[ends[calls.thread[ends] == thread]]), trace.end)
        capturing = BusyTime.of(begin, end[np.searchsorted(end[:-1], begin)])
        mine = np.flatnonzero(calls.thread == thread)
        captured[mine] = capturing.within(calls.start[mine], calls.start[mine] + 1) > 0
    return captured
