"""How long each row's kernels moved data between GPUs, and how much of that a computing kernel ran beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import AnyInt, Bool, Int64
from nsys_analyze.attribution import Membership
from nsys_analyze.instances.operations import OwnedOps, owned_ops
from nsys_analyze.metrics.grouping import batches
from nsys_analyze.metrics.results import Collective, Communication
from nsys_analyze.model.communication import collective
from nsys_analyze.model.tables import GpuOps, OpKind, Trace
from nsys_analyze.timeline import BusyTime, grouped_union


def communication_times(
    trace: Trace, members: Membership, group: AnyInt, groups: int
) -> Sequence[Communication | None]:
    """Communication of each group's instances; None where a group has no such kernel.

    Args:
        trace: The report.
        members: The launches of every range.
        group: The group of every range.
        groups: Number of groups.
    """
    collective_of_name = [collective(name) for name in trace.ops.names]
    if not any(collective_of_name):
        return [None] * groups
    kernels = _Kernels.of(trace.ops, collective_of_name)
    launched: Bool = np.zeros(len(trace.launches) + 1, bool)  # the last stands for operations without a launch
    launched[trace.ops.launch[kernels.matters]] = True
    near = members.only(launched[:-1])
    found: list[Communication | None] = []
    for rows, _, count in batches(near, group, groups):
        found.extend(_of_batch(trace, owned_ops(trace.launches, near, rows), kernels, group - len(found), count))
    return found


def communication_of_ops(trace: Trace, op: AnyInt) -> Communication | None:
    """Communication of some operations, None where they have no such kernel."""
    collective_of_name = [collective(name) for name in trace.ops.names]
    if not any(collective_of_name):
        return None
    kernels = _Kernels.of(trace.ops, collective_of_name)
    op = op[kernels.matters[op]]
    (found,) = _of_ops(trace, kernels, op, np.zeros(len(op), np.int64), trace.ops.start[op], 1)
    return found


@dataclass(frozen=True, slots=True)
class _Kernels:
    """Operations by what they communicate.

    ``code`` numbers the collective of each in ``names``, -1 where it communicates nothing; ``matters`` marks these
    kernels and those which compute while one of them runs on their device.
    """

    names: list[str]
    code: Int64
    matters: Bool

    @classmethod
    def of(cls, ops: GpuOps, collective_of_name: list[str | None]) -> _Kernels:
        names = sorted({name for name in collective_of_name if name is not None})
        code_of_name = np.array([-1 if name is None else names.index(name) for name in collective_of_name])
        kernel = ops.kind == OpKind.KERNEL
        code = np.where(kernel, code_of_name[ops.name], -1)
        matters: Bool = code >= 0
        for device in np.unique(ops.device[matters]).tolist():
            here = ops.device == device
            moving = BusyTime.of(ops.start[here & matters], ops.end[here & matters])
            computing = np.flatnonzero(kernel & here & (code < 0))
            matters[computing[moving.within(ops.start[computing], ops.end[computing]) > 0]] = True
        return cls(names, code, matters)


def _of_batch(
    trace: Trace, owned: OwnedOps, kernels: _Kernels, group: AnyInt, groups: int
) -> Iterator[Communication | None]:
    """Communication of consecutive groups, from all that they own; ``group`` is each range's, from 0."""
    kept = kernels.matters[owned.op]
    op, of_range = owned.op[kept], owned.range[owned.pair[kept]]
    return _of_ops(trace, kernels, op, group[of_range].astype(np.int64), trace.ranges.start[of_range], groups)


def _of_ops(
    trace: Trace, kernels: _Kernels, op: AnyInt, number: Int64, since: Int64, groups: int
) -> Iterator[Communication | None]:
    """Communication of groups, from operations and the group of each; what lies before ``since`` does not count."""
    start = np.maximum(trace.ops.start[op], since)
    end = np.maximum(trace.ops.end[op], start)
    code = kernels.code[op]
    moves = code >= 0
    devices, device = np.unique(trace.ops.device[op], return_inverse=True)
    both = number * len(devices) + device

    def united(some: Bool) -> Int64:
        on_devices = grouped_union(both[some], start[some], end[some], groups * len(devices))
        total: Int64 = on_devices.reshape(groups, len(devices)).sum(axis=1)
        return total

    busy = united(moves)
    overlapped = busy + united(~moves) - united(np.ones(len(op), bool))
    duration = (trace.ops.end[op] - trace.ops.start[op])[moves]
    collectives = _by_collective(number[moves], code[moves], duration, groups, kernels.names)
    for row, each in enumerate(collectives):
        yield (
            Communication(
                kernels=sum(one.kernels for one in each.values()),
                kernel_ns=sum(one.kernel_ns for one in each.values()),
                busy_ns=int(busy[row]),
                overlapped_ns=int(overlapped[row]),
                exposed_ns=int(busy[row] - overlapped[row]),
                collectives=each,
            )
            if each
            else None
        )


def _by_collective(
    group: Int64, code: Int64, duration: Int64, groups: int, names: list[str]
) -> list[dict[str, Collective]]:
    """Kernels and their time by collective, for each group."""
    key = group * len(names) + code
    count = np.bincount(key, minlength=groups * len(names))
    time = np.zeros(len(count), np.int64)
    np.add.at(time, key, duration)
    found: list[dict[str, Collective]] = [{} for _ in range(groups)]
    for place in np.flatnonzero(count).tolist():
        row, number = divmod(place, len(names))
        found[row][names[number]] = Collective(kernels=int(count[place]), kernel_ns=int(time[place]))
    return found
