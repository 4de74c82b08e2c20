"""Distributions over the launches of each row: what a launch call cost, and how long its work waited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import AnyInt, Bool, Int64, expand_slices, prefix_sum
from nsys_analyze.attribution import Membership
from nsys_analyze.metrics.grouping import batches
from nsys_analyze.metrics.results import LaunchCalls, QueueDelay
from nsys_analyze.model.tables import Launches
from nsys_analyze.percentiles import Groups

_LONG = 64  # mean length from which slices are copied whole


@dataclass(frozen=True, slots=True)
class LaunchStatistics:
    """Per group; None where it has no launch of that sort."""

    calls: list[LaunchCalls | None]
    delays: list[QueueDelay | None]


def launch_statistics(launches: Launches, members: Membership, group: AnyInt, groups: int) -> LaunchStatistics:
    """Statistics of the launches that each group's instances own."""
    duration = launches.end - launches.start
    usual = _Kept.of(members, launches.launches_kernel & ~launches.first_of_function, duration)
    firsts = _Kept.of(members, launches.first_of_function, duration)
    waits = _Kept.of(members, ~launches.blocking, launches.queue_delay)
    calls: list[LaunchCalls | None] = []
    delays: list[QueueDelay | None] = []
    for rows, number, count in batches(members, group, groups):
        calls.extend(_launch_calls(usual.by_group(rows, number, count), firsts.by_group(rows, number, count)))
        delays.extend(_queue_delays(waits.by_group(rows, number, count)))
    return LaunchStatistics(calls, delays)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A value of each launch of one sort: range r has ``values[low[r]:high[r]]`` and, if it is listed, its pairs'."""

    values: Int64
    low: Int64
    high: Int64
    pair_range: Int64
    pair_values: Int64

    @classmethod
    def of(cls, members: Membership, keep: Bool, values: Int64) -> _Kept:
        kept = members.only(keep)
        kept.high[kept.listed] = kept.low[kept.listed]
        return cls(values[kept.places], kept.low, kept.high, kept.pair_range, values[kept.pair_moment])

    def by_group(self, rows: Int64, group: Int64, groups: int) -> Groups:
        """The values of the ranges in ``rows``, which are in order of ``group``."""
        low, high = self.low[rows], self.high[rows]
        if groups == 1:
            values = _gathered(self.values, low, high)
            owner = np.zeros(len(values), np.int64)
        else:
            which, position = expand_slices(low, high)
            owner, values = group[which], self.values[position]
        if len(self.pair_range):
            listed = np.isin(self.pair_range, rows)
            place = np.zeros(len(self.low), np.int64)
            place[rows] = group
            owner = np.append(owner, place[self.pair_range[listed]])
            values = np.append(values, self.pair_values[listed])
        return Groups.of(owner, values, groups)


def _gathered(values: Int64, low: Int64, high: Int64) -> Int64:
    """The slices of values one after the other: piece by piece where they are long, else element by element."""
    if (high - low).sum() > _LONG * len(low):
        return np.concatenate([values[a:b] for a, b in zip(low.tolist(), high.tolist(), strict=True)])
    return values[expand_slices(low, high)[1]]


def _launch_calls(usual: Groups, firsts: Groups) -> Iterator[LaunchCalls | None]:
    median, p95 = usual.percentiles((50, 95))
    _, greatest = usual.extremes()
    first_total = np.diff(prefix_sum(firsts.values)[firsts.first])
    for row, (count, first_count) in enumerate(zip(usual.count.tolist(), firsts.count.tolist(), strict=True)):
        some = count > 0
        yield (
            LaunchCalls(
                count=count,
                median=float(median[row]) if some else None,
                p95=float(p95[row]) if some else None,
                max=int(greatest[row]) if some else None,
                first_count=first_count,
                first_total=int(first_total[row]),
            )
            if some or first_count
            else None
        )


def _queue_delays(waits: Groups) -> Iterator[QueueDelay | None]:
    median, p95 = waits.percentiles((50, 95))
    for row, count in enumerate(waits.count.tolist()):
        yield QueueDelay(median=float(median[row]), p95=float(p95[row])) if count else None
