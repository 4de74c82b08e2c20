"""How much of any stretch of time the profiler took for itself."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import AnyInt, Int64, expand_slices
from nsys_analyze.model.tables import ProfilerOverhead
from nsys_analyze.timeline import BusyTime


def profiler_time(overhead: ProfilerOverhead, thread: AnyInt, start: Int64, end: Int64) -> Int64:
    """The profiler's own time on each thread in each window, ns.

    Args:
        overhead: What the profiler did.
        thread: The thread of each window, shape (n,).
        start: Where each window begins.
        end: Where it ends.
    """
    out = np.zeros(len(start), np.int64)
    for number in np.intersect1d(thread, overhead.thread).tolist():
        there, asked = overhead.thread == number, thread == number
        out[asked] = BusyTime.of(overhead.start[there], overhead.end[there]).within(start[asked], end[asked])
    return out


def without_profiler(
    overhead: ProfilerOverhead, thread: AnyInt, start: Int64, length: Int64
) -> tuple[Int64, Int64, Int64]:
    """The first so many ns from each instant on that the profiler left to its thread: (window, start, end).

    Args:
        overhead: What the profiler did.
        thread: The thread of each window, shape (n,).
        start: Where each window begins.
        length: How much of the thread's own time it holds, ns; a window of none has no pieces.

    Returns:
        Pieces of the windows, several where the profiler worked in between.
    """
    windows, starts, ends = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number in np.unique(thread).tolist():
        there, asked = overhead.thread == number, np.flatnonzero((thread == number) & (length > 0))
        if not len(asked):
            continue
        taken = BusyTime.of(overhead.start[there], overhead.end[there])
        begin, size = start[asked], length[asked]
        free = taken.left_of(int(begin.min()), int((begin + size).max()) + taken.total)
        last = free.until(begin) + size
        place = np.searchsorted(free.before, last, side="left") - 1
        end = free.start[place] + last - free.before[place]
        owner, piece = expand_slices(
            np.searchsorted(free.end, begin, side="right"), np.searchsorted(free.start, end, side="left")
        )
        windows.append(asked[owner])
        starts.append(np.maximum(free.start[piece], begin[owner]))
        ends.append(np.minimum(free.end[piece], end[owner]))
    return np.concatenate(windows), np.concatenate(starts), np.concatenate(ends)
