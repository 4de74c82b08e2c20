"""Cumulative busy time: the overlap of any window with a set of intervals by two look-ups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import Int64, expand_slices, prefix_sum
from nsys_analyze.timeline.union import union


@dataclass(frozen=True, slots=True)
class BusyTime:
    """F(t), the time covered before t by a union of intervals; the cover inside [a, b] is F(b) - F(a).

    The intervals are disjoint and in order.
    """

    start: Int64
    end: Int64
    before: Int64

    @classmethod
    def of(cls, start: Int64, end: Int64) -> BusyTime:
        """Builds F from intervals in any order, which may overlap."""
        return cls.of_disjoint(*union(start, end))

    @classmethod
    def of_disjoint(cls, start: Int64, end: Int64) -> BusyTime:
        """Builds F from intervals that are in order and do not overlap."""
        return cls(start, end, prefix_sum(end - start))

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
        return BusyTime.of_disjoint(start, np.maximum(np.minimum(self.end[mine], other.end[theirs]), start))

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
        place = np.searchsorted(self.start[apart], start)
        return BusyTime.of_disjoint(np.insert(self.start[apart], place, start), np.insert(self.end[apart], place, end))

    def left_of(self, start: int, end: int) -> BusyTime:
        """What the intervals leave free of [start, end]."""
        low = np.clip(np.append(start, self.end), start, end)
        high = np.clip(np.append(self.start, end), start, end)
        some = high > low
        return BusyTime.of_disjoint(low[some], high[some])

    @property
    def total(self) -> int:
        """All of the covered time, ns."""
        return int(self.before[-1])
