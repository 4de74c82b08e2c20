"""When GPUs may have done work that the capture lost: what looks idle then may not have been."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import Bool, Int64
from nsys_analyze.metrics.coverage import lost_launches
from nsys_analyze.model.tables import Trace
from nsys_analyze.timeline import union


def unseen(trace: Trace, device: int) -> tuple[Int64, Int64]:
    """Returns starts and ends of the times at which lost work may have run on a device, ns, in order, disjoint.

    The work of a launch call without an operation may have run from the call on, until the next launch of its thread
    ran: work on one stream runs in order. It may have run on any device that its process used, on all if it used none.
    """
    calls = np.flatnonzero(lost_launches(trace))
    process = trace.threads.process[trace.calls.thread[calls]]
    here = np.unique(trace.ops.process[trace.ops.device == device])
    calls = calls[np.isin(process, here) | ~np.isin(process, trace.ops.process)]
    start = trace.calls.start[calls]
    return union(start, np.maximum(_ran_next(trace, calls), start))


def _ran_next(trace: Trace, calls: Int64) -> Int64:
    """When the operations of the next launch of each call's thread began; the end of the report where there is none."""
    launches = trace.launches
    out = np.full(len(calls), trace.end, np.int64)
    thread, start = trace.calls.thread[calls], trace.calls.start[calls]
    for number in np.unique(thread).tolist():
        low, high = np.searchsorted(launches.thread, [number, number + 1]).tolist()
        mine = np.flatnonzero(thread == number)
        place = low + np.searchsorted(launches.start[low:high], start[mine], side="right")
        out[mine[place < high]] = launches.gpu_start[place[place < high]]
    return out


def cut(start: Int64, end: Int64, low: Int64, high: Int64) -> tuple[Int64, Int64, Bool]:
    """Returns intervals cut at the bounds of others, and which pieces lie in these; all are in order and disjoint."""
    bounds = np.unique(np.concatenate([start, end, low, high]))
    first, last = bounds[:-1], bounds[1:]
    inside, covered = _within(first, start, end), _within(first, low, high)
    return first[inside], last[inside], covered[inside]


def _within(at: Int64, start: Int64, end: Int64) -> Bool:
    """Whether an instant lies in one of some disjoint intervals in order."""
    if not len(start):
        return np.zeros(len(at), bool)
    place = np.searchsorted(start, at, side="right") - 1
    return (place >= 0) & (at < end[np.maximum(place, 0)])
