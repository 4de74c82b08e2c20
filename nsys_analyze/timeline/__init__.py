"""Interval arithmetic over integer nanoseconds; every interval is half-open, [start, end)."""

from nsys_analyze.timeline.busy import BusyTime
from nsys_analyze.timeline.grouped import grouped_union
from nsys_analyze.timeline.levels import levels
from nsys_analyze.timeline.union import union

__all__ = ["BusyTime", "grouped_union", "levels", "union"]
