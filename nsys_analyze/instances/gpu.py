"""What each instance put on each GPU: busy and active time, and how the GPU spent the instance's window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsys_analyze.arrays import AnyInt, Bool, Int64, expand_slices, prefix_sum, reduce_slices
from nsys_analyze.attribution import Membership
from nsys_analyze.instances.operations import owned_ops
from nsys_analyze.model.tables import Trace
from nsys_analyze.timeline import grouped_union

_BATCH = 2_000_000  # operations united at once; bounds the memory
_LATEST = np.iinfo(np.int64).max
_EARLIEST = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class DeviceWork:
    """Instances with operations on one device, in order.

    ``own`` is the union of these operations, ns, as far as they lie after the instance's start.
    """

    device: int
    rows: Int64
    own: Int64
    first_start: Int64
    last_end: Int64


def device_work(trace: Trace, members: Membership) -> list[DeviceWork]:
    """What the instances did on each device."""
    return [_on_device(trace, members, device) for device in trace.devices]


def busy_and_active(trace: Trace, members: Membership, work: list[DeviceWork]) -> tuple[Int64, Int64]:
    """Busy time (added over devices) and active time (united over devices) of every range, ns."""
    busy, devices = np.zeros(len(members.low), np.int64), np.zeros(len(members.low), np.int64)
    for part in work:
        busy[part.rows] += part.own
        devices[part.rows] += 1
    active = busy.copy()
    for rows in _batches(trace, members, np.flatnonzero(devices > 1)):
        group, op = _operations(trace, members, rows)
        active[rows] = _united(trace, group, op, rows)
    return busy, active


@dataclass(frozen=True, slots=True)
class _Launched:
    """What each launch put on one device; ``busy`` is the union there, and ``there`` false where it is nothing."""

    start: Int64
    end: Int64
    busy: Int64
    there: Bool


def _on_device(trace: Trace, members: Membership, device: int) -> DeviceWork:
    """Own work on a device.

    Where a range's launches follow each other there without overlap (a program with one stream), the union is the plain
    sum of theirs; the other ranges have their operations united.
    """
    launched = _launched(trace, device)
    placed = launched.there[members.places]
    kept = prefix_sum(placed)
    places = members.places[placed] if not placed.all() else members.places
    low, high = kept[members.low], kept[members.high]
    running = prefix_sum(launched.busy[places])
    overlaps = prefix_sum(_overlaps(launched, places, members.thread[placed]))
    own = running[high] - running[low]
    first = reduce_slices(np.minimum, launched.start[places], low, high, _LATEST)
    last = reduce_slices(np.maximum, launched.end[places], low, high, _EARLIEST)
    some = high > low
    some[members.listed], first[members.listed], last[members.listed] = False, _LATEST, _EARLIEST
    pairs = launched.there[members.pair_moment]
    np.minimum.at(first, members.pair_range[pairs], launched.start[members.pair_moment[pairs]])
    np.maximum.at(last, members.pair_range[pairs], launched.end[members.pair_moment[pairs]])
    some[members.pair_range[pairs]] = True
    skewed = first < trace.ranges.start
    mixed = np.flatnonzero(some & (members.listed | skewed | (overlaps[high] > overlaps[low])))
    for rows in _batches(trace, members, mixed):
        group, op = _operations(trace, members, rows)
        here = trace.ops.device[op] == device
        own[rows] = _united(trace, group[here], op[here], rows)
    rows = np.flatnonzero(some)
    return DeviceWork(device, rows, own[rows], first[rows], last[rows])


def _united(trace: Trace, group: Int64, op: AnyInt, rows: Int64) -> Int64:
    """Union of operations by range (``group`` is a place in rows), as far as they lie after the range's start."""
    start = np.maximum(trace.ops.start[op], trace.ranges.start[rows][group])
    return grouped_union(group, start, np.maximum(trace.ops.end[op], start), len(rows))


def _launched(trace: Trace, device: int) -> _Launched:
    launches = trace.launches
    if len(trace.devices) == 1:
        everywhere: Bool = np.ones(len(launches), bool)
        return _Launched(launches.gpu_start, launches.gpu_end, launches.busy, everywhere)
    there = launches.device == device
    start, end = np.where(there, launches.gpu_start, _LATEST), np.where(there, launches.gpu_end, _EARLIEST)
    busy = np.where(there, launches.busy, 0)
    several = np.flatnonzero(launches.device < 0)
    owner, position = expand_slices(launches.first_op[several], launches.first_op[several + 1])
    op = launches.ops[position]
    here = trace.ops.device[op] == device
    owner, op = owner[here], op[here]
    launch = several[owner]
    np.minimum.at(start, launch, trace.ops.start[op])
    np.maximum.at(end, launch, trace.ops.end[op])
    busy[several] = grouped_union(owner, trace.ops.start[op], trace.ops.end[op], len(several))
    there[launch] = True
    return _Launched(start, end, busy, there)


def _overlaps(launched: _Launched, places: AnyInt, thread: AnyInt) -> Bool:
    """Which places begin before an earlier place of the same thread is done."""
    start, end = launched.start[places], launched.end[places]
    overlaps: Bool = np.zeros(len(places), bool)
    for number in np.unique(thread).tolist():
        rows = slice(*np.searchsorted(thread, [number, number + 1]).tolist())
        overlaps[rows][1:] = start[rows][1:] < np.maximum.accumulate(end[rows])[:-1]
    return overlaps


def _batches(trace: Trace, members: Membership, rows: Int64) -> list[npt.NDArray[np.int64]]:
    """Ranges in batches of about _BATCH operations."""
    ops_per_launch = len(trace.launches.ops) / max(len(trace.launches), 1)
    batch = np.cumsum((members.high - members.low)[rows] * ops_per_launch) // _BATCH
    return [part for part in np.split(rows, np.flatnonzero(np.diff(batch)) + 1) if len(part)]


def _operations(trace: Trace, members: Membership, rows: Int64) -> tuple[Int64, AnyInt]:
    """(position of the range in rows, operation) for all operations of the given ranges."""
    owned = owned_ops(trace.launches, members, rows)
    return np.searchsorted(rows, owned.range)[owned.pair], owned.op
