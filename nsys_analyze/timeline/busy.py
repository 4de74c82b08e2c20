"""Cumulative busy time: the overlap of any window with a set of intervals by two look-ups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import Int64, prefix_sum
from nsys_analyze.timeline.union import union


@dataclass(frozen=True, slots=True)
class BusyTime:
    """F(t), the time covered before t by a union of intervals; the cover inside [a, b] is F(b) - F(a)."""

    start: Int64
    end: Int64
    before: Int64

    @classmethod
    def of(cls, start: Int64, end: Int64) -> BusyTime:
        """Builds F from intervals in any order, which may overlap."""
        start, end = union(start, end)
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

    @property
    def total(self) -> int:
        """All of the covered time, ns."""
        return int(self.before[-1])
