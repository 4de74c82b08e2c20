"""The Instances table."""

from __future__ import annotations

from dataclasses import dataclass

from nsys_analyze.arrays import Bool, Int32, Int64
from nsys_analyze.instances.host import HostParts
from nsys_analyze.instances.windows import GpuWindows


@dataclass(frozen=True, slots=True)
class StartupGaps:
    """Startup gap of every instance, ns; all zero where ``has_gpu`` is false.

    ``total = prelude + launch + queue = exposed + hidden``. ``profiler`` is the profiler's own time inside the gap,
    on the instance's thread.
    """

    total: Int64
    prelude: Int64
    launch: Int64
    queue: Int64
    exposed: Int64
    hidden: Int64
    profiler: Int64


@dataclass(frozen=True, slots=True)
class Instances:
    """One row a range, in the order of Ranges. Counts and times are inclusive but for those that begin with ``self_``.

    ``path`` indexes Paths, ``parent`` is the parent instance across threads (-1: none) and ``completion`` the later
    of the end of the range and the end of its last GPU operation. ``graphs`` counts CUDA graphs that were traced
    whole, whose kernels nobody knows. ``benchmark_kernels`` counts kernels that were launched only to be timed.
    ``via_process`` counts operations that arrived by the process rule. ``busy_ns`` unites the operations' intervals
    per device and adds the devices up; ``active_ns`` unites over all devices. ``ranges_inside`` counts the ranges
    inside this one, ``short_ranges`` those that are too short to be worth one.
    """

    path: Int32
    parent: Int32
    completion: Int64
    launches: Int64
    kernel_launches: Int64
    gpu_ops: Int64
    kernels: Int64
    graphs: Int64
    benchmark_kernels: Int64
    via_process: Int64
    kernel_ns: Int64
    busy_ns: Int64
    active_ns: Int64
    self_gpu_ops: Int64
    self_kernels: Int64
    self_kernel_ns: Int64
    ranges_inside: Int64
    short_ranges: Int64
    gap: StartupGaps
    windows: GpuWindows
    host: HostParts
    has_gpu: Bool

    def __len__(self) -> int:
        return len(self.path)
