"""Percentiles of many groups at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsys_analyze.arrays import AnyInt, Int64, prefix_sum

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Groups:
    """Values of each group, in ascending order: group g holds ``values[first[g]:first[g + 1]]``."""

    values: Int64
    first: Int64

    @classmethod
    def of(cls, group: AnyInt, values: Int64, groups: int) -> Groups:
        """Sorts values within their groups.

        Args:
            group: Shape (n,), 0 to groups - 1.
            values: Shape (n,).
            groups: Number of groups.
        """
        first = prefix_sum(np.bincount(group, minlength=groups))
        return cls(_sorted_within(group.astype(np.int64), values, groups), first)

    @property
    def count(self) -> Int64:
        """Number of values of each group."""
        return np.diff(self.first)

    def percentile(self, percent: float) -> Float64:
        """Percentile of each group, interpolated linearly between the two nearest values; NaN for an empty group."""
        count = self.count
        position = (count - 1) * (percent / 100)
        low = np.floor(np.maximum(position, 0)).astype(np.int64)
        some = count > 0
        out = np.full(len(count), np.nan)
        at = self.first[:-1][some] + low[some]
        above = np.minimum(at + 1, self.first[1:][some] - 1)
        out[some] = self.values[at] + (self.values[above] - self.values[at]) * (position - low)[some]
        return out

    def percentiles(self, percents: Sequence[float]) -> list[Float64]:
        """Several percentiles."""
        return [self.percentile(percent) for percent in percents]

    def extremes(self) -> tuple[Int64, Int64]:
        """Least and greatest value of each group; 0 for an empty group."""
        some = self.count > 0
        least, greatest = np.zeros(len(some), np.int64), np.zeros(len(some), np.int64)
        least[some] = self.values[self.first[:-1][some]]
        greatest[some] = self.values[self.first[1:][some] - 1]
        return least, greatest


def _sorted_within(group: Int64, values: Int64, groups: int) -> Int64:
    """Values ordered by (group, value); one sort of combined keys where 64 bits hold them."""
    if groups == 1 or not len(values):
        return np.sort(values)
    origin = int(values.min())
    span = int(values.max()) - origin + 1
    if span * groups < 2**63:
        keys = np.sort(group * span + (values - origin))
        return keys - np.repeat(np.arange(groups) * span - origin, np.bincount(group, minlength=groups))
    return values[np.lexsort((values, group))]
