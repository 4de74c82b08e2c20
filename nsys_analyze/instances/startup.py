"""Startup gaps: from the start of an instance to its first GPU operation, split two ways."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import AnyInt, Int64
from nsys_analyze.instances.table import StartupGaps
from nsys_analyze.model.profiler import profiler_time
from nsys_analyze.model.tables import Trace
from nsys_analyze.timeline import BusyTime


def startup_gaps(
    trace: Trace, rows: Int64, first_op: AnyInt, first_launch: AnyInt, busy: dict[int, BusyTime]
) -> StartupGaps:
    """The gaps of all instances.

    Args:
        trace: The report.
        rows: Instances that have GPU operations, shape (n,).
        first_op: The earliest operation of each of them; its device is the one that waited.
        first_launch: The earliest launch of each of them.
        busy: All that each device did, for anyone.

    An operation that starts before its range (clock skew) makes a gap of 0.
    """
    ranges, launches = trace.ranges, trace.launches
    start = ranges.start[rows]
    gpu_start = np.maximum(trace.ops.start[first_op], start)
    call_start = np.clip(launches.start[first_launch], start, gpu_start)
    call_end = np.clip(launches.end[first_launch], call_start, gpu_start)
    hidden = _device_busy(busy, trace.ops.device[first_op], start, gpu_start)
    total = gpu_start - start
    parts = {
        "total": total,
        "prelude": call_start - start,
        "launch": call_end - call_start,
        "queue": gpu_start - call_end,
        "exposed": total - hidden,
        "hidden": hidden,
        "profiler": profiler_time(trace.profiler, ranges.thread[rows], start, gpu_start),
    }
    return StartupGaps(**{name: _spread(len(ranges), rows, values) for name, values in parts.items()})


def _spread(size: int, rows: Int64, values: Int64) -> Int64:
    out = np.zeros(size, np.int64)
    out[rows] = values
    return out


def _device_busy(busy: dict[int, BusyTime], device: AnyInt, start: Int64, end: Int64) -> Int64:
    """How long each device ran anything, of any process, in each window."""
    out = np.zeros(len(start), np.int64)
    for number in np.unique(device).tolist():
        asked = device == number
        out[asked] = busy[number].within(start[asked], end[asked])
    return out
