"""Cumulative busy time: the overlap of any window with a set of intervals by two look-ups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nsys_analyze.arrays import Int64, expand_slices, prefix_sum
from nsys_analyze.timeline.union import union


@dataclass(frozen=True)
class BusyTime:
    """F(t), the time covered before t by a union of intervals; the cover inside [a, b] is F(b) - F(a).

    The intervals are disjoint and in order; `of` makes them so.
    """

    start: Int64
    end: Int64

    @cached_property
    def before(self) -> Int64:
        """F at the start of each interval, and after the last; summed up when first needed."""
        return prefix_sum(self.end - self.start)

    @classmethod
    def of(cls, start: Int64, end: Int64) -> BusyTime:
        """Builds F from intervals in any order, which may overlap."""
        return cls(*union(start, end))

    def until(self, instant: Int64) -> Int64:
        """F at each instant, ns."""
        if not len(self.start):
            return np.zeros(len(instant), np.int64)
        index = np.searchsorted(self.start, instant, side="right") - 1
        inside = np.minimum(instant, self.end[index]) - self.start[index]
        return np.where(index >= 0, self.before[index] + inside, 0)

    def within(self, start: Int64, end: Int64) -> Int64:
        """The covered part of each window [start, end], ns."""
        return self.until(end) - self.until(start)

    def common_with(self, other: BusyTime) -> BusyTime:
        """What both cover. Where one has few intervals, the number of the other's matters little."""
        if len(self.start) > len(other.start):
            return other.common_with(self)
        low = np.searchsorted(other.end, self.start, side="right")
        high = np.searchsorted(other.start, self.end, side="left")
        mine, theirs = expand_slices(low, high)
        start = np.maximum(self.start[mine], other.start[theirs])
        return BusyTime(start, np.maximum(np.minimum(self.end[mine], other.end[theirs]), start))

    def joined_with(self, few: BusyTime) -> BusyTime:
        """What either covers; the other has few intervals, which are put into place among these."""
        if not len(few.start):
            return self
        low = np.searchsorted(self.end, few.start, side="left")
        high = np.searchsorted(self.start, few.end, side="right")
        _, touched = expand_slices(low, high)
        apart = np.ones(len(self.start), bool)
        apart[touched] = False
        start, end = union(np.concatenate([self.start[~apart], few.start]), np.concatenate([self.end[~apart], few.end]))
        rest = self if apart.all() else BusyTime(self.start[apart], self.end[apart])
        place = np.searchsorted(rest.start, start)
        return BusyTime(np.insert(rest.start, place, start), np.insert(rest.end, place, end))

    def left_of(self, start: int, end: int) -> BusyTime:
        """What the intervals leave free of [start, end]."""
        low = np.clip(np.append(start, self.end), start, end)
        high = np.clip(np.append(self.start, end), start, end)
        some = high > low
        return BusyTime(low[some], high[some])

    @property
    def total(self) -> int:
        """All of the covered time, ns."""
        return int(self.before[-1])
