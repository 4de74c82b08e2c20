"""What an analysis says, as plain values: the JSON contract (schema version 1) in types.

Field names are the JSON names. Times are nanoseconds: ``int`` where they are exact (a duration or a sum of durations),
``float`` where they are a mean or a percentile. ``None`` is "this capture cannot say", never zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """Durations of a stage's instances. Percentiles and extremes leave out instances that never ended."""

    total: int
    mean: float
    median: float | None
    p95: float | None
    min: int | None
    max: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StartupGap:
    """From an instance's start to its first GPU operation, over the instances that have one.

    ``total = prelude + launch + queue = exposed + hidden``, exactly. ``profiler`` is the profiler's own time inside the
    gap; ``first`` is the first instance's gap.
    """

    total: int
    prelude: int
    launch: int
    queue: int
    exposed: int
    hidden: int
    profiler: int
    mean: float
    median: float | None
    p95: float | None
    max: int | None
    first: int
    exposed_median: float | None
    exposed_p95: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GapMeans:
    """A startup gap and its parts, each a mean over the instances that have one."""

    total: float
    prelude: float
    launch: float
    queue: float
    exposed: float
    hidden: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchCalls:
    """CPU time of kernel launch calls; each function's first launch is kept apart, since it may load the function."""

    count: int
    median: float | None
    p95: float | None
    max: int | None
    first_count: int
    first_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDelay:
    """From the end of a launch call to the start of its first GPU operation, at least 0."""

    median: float
    p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelsPerInstance:
    """Kernels of a single instance of the stage."""

    min: int
    median: float
    max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfCounts:
    """Operations whose innermost range is of this stage."""

    gpu_ops: int
    kernels: int
    kernel_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileTime:
    """Evidence of compiling and loading in a stage.

    ``total`` unites it over all threads; ``threads_total`` adds threads up, as do ``phases`` and ``tools``, in which
    the innermost evidence counts. ``sources`` and ``phases_united`` are unions over threads. ``modules`` counts
    compiled modules.
    """

    total: int
    threads_total: int
    modules: int
    sources: dict[str, int]
    phases: dict[str, int]
    phases_united: dict[str, int]
    tools: dict[str, int]

    @property
    def only_loading(self) -> bool:
        """Whether all that is known of is loading: no compiler left a trace."""
        return 0 < self.threads_total == self.phases.get("load", 0)

    @property
    def module_ns(self) -> float | None:
        """Thread time of the phase "compile" for each compiled module, None where either is missing."""
        compiling = self.phases.get("compile", 0)
        return compiling / self.modules if self.modules and compiling else None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTime:
    """Parts of the instances' wall time, which they add up to; ``code`` is what nothing else explains."""

    profiler: int
    compile: int
    launch: int
    memory: int
    sync: int
    graph: int
    cuda_other: int
    helpers: int
    code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuWindow:
    """How one device spent the instances' windows (start to completion), over the ``instances`` that used it.

    ``window = own + other + idle_startup + idle_between + idle_tail``.
    """

    device: int
    instances: int
    window: int
    own: int
    other: int
    idle_startup: int
    idle_between: int
    idle_tail: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """An instance far above its siblings. ``index`` is its place among the stage's finished instances, by start.

    ``excess_ns`` is its elapsed time less the stage's median; ``filled_ns`` tells which parts of the host partition (or
    ``gpu_after_end``, GPU work after the range's end) grew beyond their median, largest first.
    """

    index: int
    start_ns: int
    elapsed_ns: int
    excess_ns: float
    filled_ns: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One entry an instance, in order of start. ``gap_ns`` and ``exposed_ns`` are None where nothing ran on a GPU."""

    start_ns: list[int]
    wall_ns: list[int]
    elapsed_ns: list[int]
    gap_ns: list[int | None]
    exposed_ns: list[int | None]
    kernels: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The ranges of one process with the same path (or, by name, with the same name).

    Where CUDA graphs were traced whole (``graphs``), nobody knows their kernels: kernel counts and times are None.
    """

    key: str
    path: list[str]
    domains: list[str]
    name: str
    domain: str
    process: int
    depth: int
    instances: int
    instances_with_gpu: int
    unfinished: int
    wall_ns: Distribution
    elapsed_ns: Distribution
    pace_ns: float | None
    gpu_ops: int
    kernels: int | None
    graphs: int = 0
    kernel_launches: int
    launches: int
    via_process: int
    kernel_ns: int | None
    busy_ns: int
    active_ns: int
    kernels_per_instance: KernelsPerInstance | None
    self: SelfCounts
    startup_gap_ns: StartupGap | None
    cpu_overhead_ns: float | None
    overhead_per_kernel_ns: float | None
    launch_call_ns: LaunchCalls | None
    queue_delay_ns: QueueDelay | None
    compile_ns: CompileTime | None = None
    cold_start_ns: float | None
    cold_first_ns: int | None = None
    host_ns: HostTime | None = None
    gpu_window_ns: list[GpuWindow] = field(default_factory=list)
    stalls: list[Stall] = field(default_factory=list)
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
        """Time an instance keeps at least one GPU busy, on average: the part of its pace that is not CPU overhead."""
        return self.active_ns / self.instances if self.instances_with_gpu else None

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
    gpu_ops: int
    kernels: int | None
    graphs: int = 0
    launches: int
    kernel_launches: int
    kernel_ns: int | None
    busy_ns: int
    active_ns: int
    startup_gap_ns: int | None
    prelude_ns: int | None
    launch_ns: int | None
    queue_ns: int | None
    exposed_ns: int | None
    hidden_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A process from its first event to its last; instants are nanoseconds on the report's clock."""

    process: int
    name: str
    first_event_ns: int
    cuda_init_ns: int | None
    first_call_ns: int | None
    first_gpu_op_ns: int | None
    first_kernel_ns: int | None
    last_event_ns: int
    calls: int
    launches: int
    gpu_ops: int
    kernels: int
    kernel_ns: int
    busy_ns: int
    profiler_ns: int

    @property
    def lifetime_ns(self) -> int:
        """From the first event to the last."""
        return self.last_event_ns - self.first_event_ns

    def until_ns(self, instant: int | None) -> int | None:
        """Returns the time from the process's first event to ``instant``, or None where that never came."""
        return None if instant is None else instant - self.first_event_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process of the report; ``gpus`` are the machine's GPU numbers it used."""

    pid: int
    name: str
    rank: int | None
    gpus: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A GPU of the machine."""

    id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInfo:
    """Where the numbers come from. ``capture`` holds the capture's settings where the report states them."""

    file: str
    sha256: str | None
    nsys_version: str | None
    export_schema: str | None
    duration_ns: int | None
    gpus: list[Gpu]
    cpu: str | None
    driver: str | None
    capture: dict[str, str | bool | int | None]
    processes: list[Process]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageTime:
    """GPU time of the operations, by how they were attributed."""

    gpu_ops: int
    thread: int
    process: int
    no_launch_row: int
    outside_ranges: int
    ambiguous_thread: int

    @property
    def attributed(self) -> int:
        """GPU time of the operations that belong to a range."""
        return self.thread + self.process

    @property
    def attributed_share(self) -> float | None:
        """``attributed`` as a share of all GPU time, None where there is none."""
        return self.attributed / self.gpu_ops if self.gpu_ops else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """GPU operations, by how they were attributed; ``gpu_ops`` is their number and the sum of the other counts."""

    gpu_ops: int
    thread: int
    process: int
    no_launch_row: int
    outside_ranges: int
    ambiguous_thread: int
    gpu_time_ns: CoverageTime
    launches_without_gpu_op: int

    @property
    def attributed(self) -> int:
        """Operations that belong to a range."""
        return self.thread + self.process


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something a reader must know.

    ``level`` is "note" or "warning"; ``code`` is stable; ``stage`` is the key of the stage concerned, or None.
    """

    code: str
    message: str
    stage: str | None = None
    count: int | None = None
    level: str = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the numbers were made.

    ``domain`` lists the NVTX domains kept, or is None for all; ``compile_rules`` names a file of rules beside the
    packaged ones.
    """

    attribution: str
    folding: str
    domain: list[str] | None
    compile_rules: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Everything said about one report. ``by`` is what a row of ``stages`` stands for: "path" or "name"."""

    settings: Settings
    report: ReportInfo
    coverage: Coverage
    warnings: list[Notice]
    programs: list[Program]
    stages: list[Stage]
    by: str = "path"
    instances: list[Instance] = field(default_factory=list)
