"""The GPU partition: how each device that an instance used spent the time from its start to its completion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import Int32, Int64
from nsys_analyze.instances.gpu import DeviceWork
from nsys_analyze.timeline import BusyTime


@dataclass(frozen=True, slots=True)
class GpuWindows:
    """One row an instance and device that it used, ns.

    ``window = own + other + idle_startup + idle_between + idle_tail``: the union of the instance's operations, other
    operations on the same physical GPU while none of its own ran, and nothing at all before its first operation,
    between them and after its last.
    """

    instance: Int64
    device: Int32
    window: Int64
    own: Int64
    other: Int64
    idle_startup: Int64
    idle_between: Int64
    idle_tail: Int64


def gpu_windows(work: list[DeviceWork], busy: dict[int, BusyTime], start: Int64, completion: Int64) -> GpuWindows:
    """The partition of every window.

    Args:
        work: What the instances did on each device.
        busy: All that each device did, for anyone.
        start: Start of every instance, shape (instances,).
        completion: Completion of every instance.
    """
    parts = [_on_device(part, busy[part.device], start[part.rows], completion[part.rows]) for part in work]
    if not parts:
        none = np.zeros(0, np.int64)
        return GpuWindows(none, none.astype(np.int32), none, none, none, none, none, none)
    names = GpuWindows.__slots__
    return GpuWindows(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def _on_device(work: DeviceWork, busy: BusyTime, start: Int64, completion: Int64) -> GpuWindows:
    first, last = np.maximum(work.first_start, start), np.maximum(work.last_end, start)
    until_start, until_first, until_last, until_end = (busy.until(at) for at in (start, first, last, completion))
    idle_startup = (first - start) - (until_first - until_start)
    idle_tail = (completion - last) - (until_end - until_last)
    window = completion - start
    any_work = until_end - until_start
    return GpuWindows(
        instance=work.rows,
        device=np.full(len(start), work.device, np.int32),
        window=window,
        own=work.own,
        other=any_work - work.own,
        idle_startup=idle_startup,
        idle_between=window - any_work - idle_startup - idle_tail,
        idle_tail=idle_tail,
    )
