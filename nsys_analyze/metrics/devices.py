"""How each GPU of the machine was used, by everybody together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nsys_analyze.arrays import Int64, distinct
from nsys_analyze.metrics.coverage import knows_durations
from nsys_analyze.metrics.results import DeviceUse
from nsys_analyze.model.tables import OpKind, Trace
from nsys_analyze.timeline import union


def devices(trace: Trace, names: Mapping[int, str]) -> list[DeviceUse]:
    """One entry a GPU with operations; none where the report does not tell how long they took.

    ``names`` are the GPUs' by number.
    """
    if not knows_durations(trace):
        return []
    by_start = trace.ops.order
    device = trace.ops.device[by_start]
    return [_device(trace, number, names.get(number), by_start[device == number]) for number in trace.devices]


def _device(trace: Trace, number: int, name: str | None, rows: Int64) -> DeviceUse:
    """The use of one GPU, from the rows of its operations by start."""
    start, end, kind = trace.ops.start[rows], trace.ops.end[rows], trace.ops.kind[rows]
    first, last = int(start[0]), int(end.max())
    busy_from, busy_until = union(start, end)
    busy = int((busy_until - busy_from).sum())
    idle_from, idle_until = np.append(first, busy_until), np.append(busy_from, last)
    widest = int((idle_until - idle_from).argmax())
    gap = int(idle_until[widest] - idle_from[widest])
    whole, kernels = bool((kind == OpKind.GRAPH).any()), kind == OpKind.KERNEL
    processes = np.array(distinct(trace.ops.process[rows]))
    return DeviceUse(
        device=number,
        name=name,
        processes=trace.processes.pid[processes[processes >= 0]].tolist(),
        first_op_ns=first,
        last_op_ns=last,
        gpu_ops=len(rows),
        kernels=None if whole else int(kernels.sum()),
        kernel_ns=None if whole else int((end - start)[kernels].sum()),
        busy_ns=busy,
        idle_ns=last - first - busy,
        largest_gap_ns=gap,
        largest_gap_start_ns=int(idle_from[widest]) if gap else None,
    )
