"""Distributions over the launches of each row: what a launch call cost, and how long its work waited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import AnyInt, Bool, Int64, expand_slices, prefix_sum
from nsys_analyze.attribution import Membership
from nsys_analyze.metrics.percentiles import Groups
from nsys_analyze.metrics.results import LaunchCalls, QueueDelay
from nsys_analyze.model.tables import Launches

_BATCH = 4_000_000  # launches looked at together; bounds the memory


@dataclass(frozen=True, slots=True)
class LaunchStatistics:
    """Per group; None where it has no launch of that sort."""

    calls: list[LaunchCalls | None]
    delays: list[QueueDelay | None]


def launch_statistics(launches: Launches, members: Membership, group: AnyInt, groups: int) -> LaunchStatistics:
    """Statistics of the launches that each group's instances own."""
    duration = launches.end - launches.start
    delay = np.maximum(launches.gpu_start - launches.end, 0)
    later = launches.launches_kernel & ~launches.first_of_function
    calls: list[LaunchCalls | None] = []
    delays: list[QueueDelay | None] = []
    for rows, batch_group, batch_groups in _batches(members, group, groups):
        usual = _values(members, rows, batch_group, batch_groups, later, duration)
        firsts = _values(members, rows, batch_group, batch_groups, launches.first_of_function, duration)
        waits = _values(members, rows, batch_group, batch_groups, ~launches.blocking, delay)
        calls.extend(_launch_calls(usual, firsts))
        delays.extend(_queue_delays(waits))
    return LaunchStatistics(calls, delays)


def _batches(members: Membership, group: AnyInt, groups: int) -> Iterator[tuple[Int64, Int64, int]]:
    """Ranges of some consecutive groups at a time: (ranges, their group within the batch, number of groups)."""
    sizes = members.high - members.low + np.bincount(members.pair_range, minlength=len(members.low))
    total = np.cumsum(np.bincount(group, sizes, groups))
    cuts = [0, *(np.flatnonzero(np.diff(total // _BATCH)) + 1).tolist(), groups]
    by_group = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[by_group], cuts)
    for low, high, first, last in zip(cuts[:-1], cuts[1:], bounds[:-1], bounds[1:], strict=True):
        if high > low:
            rows = by_group[first:last]
            yield rows, group[rows] - low, high - low


def _values(members: Membership, rows: Int64, group: Int64, groups: int, keep: Bool, values: Int64) -> Groups:
    """Values of the launches to keep, by the group of the range that owns them."""
    kept = prefix_sum(keep[members.places])
    compact = values[members.places][keep[members.places]]
    sliced = ~members.listed[rows]
    owner, position = expand_slices(kept[members.low[rows[sliced]]], kept[members.high[rows[sliced]]])
    found_group, found = group[sliced][owner], compact[position]
    if not sliced.all():
        listed = np.flatnonzero(np.isin(members.pair_range, rows) & keep[members.pair_launch])
        place = np.zeros(len(members.low), np.int64)
        place[rows] = group
        found_group = np.append(found_group, place[members.pair_range[listed]])
        found = np.append(found, values[members.pair_launch[listed]])
    return Groups.of(found_group, found, groups)


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
