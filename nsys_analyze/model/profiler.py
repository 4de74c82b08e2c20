"""How much of any stretch of time the profiler took for itself."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import AnyInt, Int64
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
