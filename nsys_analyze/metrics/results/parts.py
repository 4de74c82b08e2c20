"""Values that a stage is made of."""

from __future__ import annotations

from dataclasses import dataclass, field


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
    gap, and ``without_profiler`` the rest of it; ``first`` is the first instance's gap.
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

    @property
    def without_profiler(self) -> int:
        """What the gaps come to without the profiler's own time."""
        return self.total - self.profiler


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
class BlockedOn:
    """Time that threads were blocked in a function of the OS runtime, or ``scheduled out`` in none."""

    function: str
    time_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledFunction:
    """Where CPU samples found the threads: ``share`` is that of the stage's samples in host code.

    ``symbol`` is None for all of a module that nsys could not resolve, ``module`` where nothing is known.
    """

    symbol: str | None
    module: str | None
    samples: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCode:
    """What the part ``code`` of the host partition consists of, as far as the capture tells.

    ``running_ns + blocked_ns + unknown_ns`` is that part. ``running_ns`` is None without context switches,
    ``blocked_ns`` where there are no calls of the OS runtime either, ``samples`` without CPU sampling. ``blocked_on``
    and ``functions`` name the largest; ``blocked_on_others_ns`` and ``samples_of_others`` are the rest.
    """

    running_ns: int | None
    blocked_ns: int | None
    unknown_ns: int
    blocked_on: list[BlockedOn]
    blocked_on_others_ns: int
    samples: int | None
    functions: list[SampledFunction]
    samples_of_others: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedInstance:
    """An instance to look at: its place among the stage's instances, by start, and its name as the program gave it.

    ``start_ns`` is on the report's clock, which is that of the Nsight Systems GUI: 0 is the start of the capture.
    """

    index: int
    name: str
    start_ns: int
    elapsed_ns: int


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
class Markers:
    """NVTX ranges inside a stage's instances, and what recording them costs the stage.

    A range costs 0.3 to 0.8 us with a profiler attached, which makes ``cost_low_ns`` and ``cost_high_ns``. ``short``
    counts those under 2 us, which take about as long to record as what they mark.
    """

    ranges: int
    short: int
    cost_low_ns: int
    cost_high_ns: int


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
    """One entry an instance, in order of start. ``gap_ns`` and its parts are None where nothing ran on a GPU.

    ``calls_ns`` is the instance's own thread's time in CUDA calls that launch, build graphs or ask: not in those that
    wait, copy, allocate or load. ``profiler_ns`` is the profiler's own time on it.
    """

    start_ns: list[int]
    wall_ns: list[int]
    elapsed_ns: list[int]
    gap_ns: list[int | None]
    prelude_ns: list[int | None]
    exposed_ns: list[int | None]
    calls_ns: list[int]
    kernels: list[int]
    profiler_ns: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Collective:
    """Kernels of one collective operation; ``kernel_ns`` adds up their durations."""

    kernels: int
    kernel_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Communication:
    """Kernels of a stage that move data between GPUs, such as NCCL's.

    ``busy_ns`` unites their times per device, over all instances, and adds the devices up;
    ``busy = overlapped + exposed``: in the overlapped part, a computing kernel of the stage ran on the same device.
    """

    kernels: int
    kernel_ns: int
    busy_ns: int
    overlapped_ns: int
    exposed_ns: int
    collectives: dict[str, Collective]
