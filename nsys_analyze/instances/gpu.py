"""Busy and active time of instances: unions of the intervals of their operations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nsys_analyze.arrays import Bool, Int64, expand_slices, prefix_sum
from nsys_analyze.attribution import Membership
from nsys_analyze.model.tables import Trace
from nsys_analyze.timeline import grouped_union

_BATCH = 2_000_000  # operations united at once; bounds the memory


def busy_and_active(trace: Trace, members: Membership) -> tuple[Int64, Int64]:
    """Busy and active time of every range, ns.

    Where a range's launches follow each other on one device without overlap (a program with one stream), both are the
    plain sum of the launches' busy times; the other ranges have their operations united.
    """
    plain = prefix_sum(trace.launches.busy[members.places])
    busy = plain[members.high] - plain[members.low]
    active = busy.copy()
    mixed = np.flatnonzero(~_sums_are_unions(trace, members))
    sizes = members.high[mixed] - members.low[mixed]
    for rows in np.split(mixed, _cuts(sizes * _ops_per_launch(trace))):
        if len(rows):
            busy[rows], active[rows] = _united(trace, members, rows)
    return busy, active


def _ops_per_launch(trace: Trace) -> float:
    return len(trace.launches.ops) / max(len(trace.launches), 1)


def _cuts(sizes: npt.NDArray[np.floating]) -> Int64:
    """Where to cut a list of ranges into batches of about _BATCH operations."""
    batch = np.cumsum(sizes) // _BATCH
    return np.flatnonzero(np.diff(batch)) + 1


def _sums_are_unions(trace: Trace, members: Membership) -> Bool:
    """Ranges whose places neither change device nor begin before an earlier place of the same thread is done."""
    launches = trace.launches
    device, start, end = (column[members.places] for column in (launches.device, launches.gpu_start, launches.gpu_end))
    overlaps = device < 0
    for thread in np.unique(members.thread).tolist():
        rows = slice(*np.searchsorted(members.thread, [thread, thread + 1]))
        reach = np.maximum.accumulate(end[rows])
        overlaps[rows][1:] |= start[rows][1:] < reach[:-1]
    switches = np.append(False, device[1:] != device[:-1])[: len(device)]
    overlap_sum, switch_sum = prefix_sum(overlaps), prefix_sum(switches)
    some = members.high > members.low
    after_first = np.minimum(members.low + 1, members.high)
    fine: Bool = (overlap_sum[members.high] == overlap_sum[members.low]) & (
        switch_sum[members.high] == switch_sum[after_first]
    )
    return (fine | ~some) & ~members.listed


def _united(trace: Trace, members: Membership, rows: Int64) -> tuple[Int64, Int64]:
    launches, ops = trace.launches, trace.ops
    owner, launch = members.pairs(rows)
    group = np.searchsorted(rows, owner)
    which, position = expand_slices(launches.first_op[launch], launches.first_op[launch + 1])
    op, group = launches.ops[position], group[which]
    start, end = ops.start[op], ops.end[op]
    active = grouped_union(group, start, end, len(rows))
    devices = np.unique(ops.device[op])
    busy = active
    if len(devices) > 1:
        device = np.searchsorted(devices, ops.device[op])
        per_device = grouped_union(group * len(devices) + device, start, end, len(rows) * len(devices))
        busy = per_device.reshape(len(rows), len(devices)).sum(axis=1)
    return busy, active
