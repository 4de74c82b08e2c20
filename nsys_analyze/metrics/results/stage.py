"""Rows of the output: stages and instances."""

from __future__ import annotations

from dataclasses import dataclass, field

from nsys_analyze.metrics.results.parts import (
    Communication,
    CompileTime,
    Distribution,
    GapMeans,
    GpuWindow,
    HostCode,
    HostTime,
    KernelsPerInstance,
    LaunchCalls,
    Markers,
    NamedInstance,
    QueueDelay,
    SelfCounts,
    Series,
    Stall,
    StartupGap,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The ranges of one process with the same path (or, by name, with the same name).

    Where CUDA graphs were traced whole (``graphs``), nobody knows their kernels: kernel counts and times are None.
    Where the report cannot tell what a range put on the GPU, all counts and times of operations are None.
    ``cpu_overhead_ns`` is the pace (else the mean elapsed time) less the time that a GPU was active and less the
    profiler's own time on the instance's thread, an instance, at least 0.
    ``unprofiled_ns`` is what an instance takes without a profiler, where whoever asks knows it.
    """

    key: str
    path: list[str]
    domains: list[str]
    name: str
    domain: str
    process: int
    depth: int
    instances: int
    instances_with_gpu: int | None
    unfinished: int
    wall_ns: Distribution
    elapsed_ns: Distribution
    pace_ns: float | None
    gpu_ops: int | None
    kernels: int | None
    graphs: int | None = 0
    benchmark_kernels: int | None = 0
    kernel_launches: int | None
    launches: int | None
    via_process: int | None
    kernel_ns: int | None
    busy_ns: int | None
    active_ns: int | None
    kernels_per_instance: KernelsPerInstance | None
    self: SelfCounts | None
    startup_gap_ns: StartupGap | None
    cpu_overhead_ns: float | None
    overhead_per_kernel_ns: float | None
    unprofiled_ns: int | None = None
    unprofiled_cpu_overhead_ns: float | None = None
    unprofiled_overhead_per_kernel_ns: float | None = None
    launch_call_ns: LaunchCalls | None
    queue_delay_ns: QueueDelay | None
    compile_ns: CompileTime | None = None
    cold_start_ns: float | None
    cold_first_ns: int | None = None
    host_ns: HostTime | None = None
    host_code: HostCode | None = None
    gpu_window_ns: list[GpuWindow] = field(default_factory=list)
    median_instance: NamedInstance | None = None
    worst_instance: NamedInstance | None = None
    stalls: list[Stall] = field(default_factory=list)
    markers: Markers | None = None
    communication: Communication | None = None
    series: Series | None

    @property
    def cold_others_median_ns(self) -> float | None:
        """Median elapsed time of the instances that the cold one is held against."""
        if self.cold_start_ns is None or self.cold_first_ns is None:
            return None
        return self.cold_first_ns - self.cold_start_ns

    @property
    def only_loads(self) -> bool:
        """Whether all evidence in it is of loading, and it lies in no compiler's range either."""
        host, compiling = self.host_ns, self.compile_ns
        if compiling is None or not compiling.only_loading:
            return False
        return host is None or host.compile <= compiling.total

    @property
    def is_compilers_own(self) -> bool:
        """Whether every instance ran inside a compiler, such as what autotuning calls: no work of the program's own."""
        host = self.host_ns
        return host is not None and host.compile > 0 and host.compile + host.profiler == self.wall_ns.total

    @property
    def active_mean_ns(self) -> float | None:
        """Time an instance keeps at least one GPU busy, on average."""
        return self.active_ns / self.instances if self.active_ns is not None and self.instances_with_gpu else None

    @property
    def profiler_mean_ns(self) -> float | None:
        """The profiler's own time on an instance's thread, on average: neither GPU time nor CPU overhead."""
        return None if self.host_ns is None else self.host_ns.profiler / self.instances

    @property
    def typical_ns(self) -> float:
        """What an instance takes here, under the profiler: the pace, else the mean elapsed time."""
        return self.elapsed_ns.mean if self.pace_ns is None else self.pace_ns

    @property
    def profiler_share_ns(self) -> float | None:
        """How much longer an instance takes here than unprofiled, the profiler's own time included; may be negative."""
        return None if self.unprofiled_ns is None else self.typical_ns - self.unprofiled_ns

    @property
    def gap_means_ns(self) -> GapMeans | None:
        """The parts of the startup gap, on average over the instances that have one."""
        gap, count = self.startup_gap_ns, self.instances_with_gpu
        if gap is None or not count:
            return None
        return GapMeans(
            total=gap.mean,
            prelude=gap.prelude / count,
            launch=gap.launch / count,
            queue=gap.queue / count,
            exposed=gap.exposed / count,
            hidden=gap.hidden / count,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One range, as ``--by instance`` lists it. ``stage`` is the key of its stage, ``index`` its place there."""

    stage: str
    path: list[str]
    name: str
    domain: str
    process: int
    thread: int
    index: int
    finished: bool
    start_ns: int
    wall_ns: int
    elapsed_ns: int
    gpu_ops: int | None
    kernels: int | None
    graphs: int | None = 0
    launches: int | None
    kernel_launches: int | None
    kernel_ns: int | None
    busy_ns: int | None
    active_ns: int | None
    startup_gap_ns: int | None
    prelude_ns: int | None
    launch_ns: int | None
    queue_ns: int | None
    exposed_ns: int | None
    hidden_ns: int | None
