"""What is said about a whole report."""

from __future__ import annotations

from dataclasses import dataclass, field

from nsys_analyze.metrics.results.stage import Instance, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A process from its first event to its last; instants are nanoseconds on the report's clock.

    ``compile_ns`` is the time in which something was compiled or loaded, united over the threads.
    """

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
    kernels: int | None
    kernel_ns: int | None
    busy_ns: int | None
    profiler_ns: int
    compile_ns: int | None = None

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
class DeviceUse:
    """What everybody together did on a GPU of the machine; instants are nanoseconds on the report's clock.

    ``name`` is None where the report does not tell, ``kernels`` and ``kernel_ns`` are where CUDA graphs were traced
    whole. ``last_op_ns`` is when the last operation ended: ``busy_ns + idle_ns = last_op_ns - first_op_ns``.
    ``processes`` are pids. ``largest_gap_start_ns`` is None where the GPU was never idle in between.
    """

    device: int
    name: str | None
    processes: list[int]
    first_op_ns: int
    last_op_ns: int
    gpu_ops: int
    kernels: int | None
    kernel_ns: int | None
    busy_ns: int
    idle_ns: int
    largest_gap_ns: int
    largest_gap_start_ns: int | None

    @property
    def busy_share(self) -> float | None:
        """Busy time as a share of the time from the first operation to the last, None where that is no time."""
        window = self.last_op_ns - self.first_op_ns
        return self.busy_ns / window if window else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A GPU of the machine."""

    id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInfo:
    """Where the numbers come from. ``capture`` holds the capture's settings where the report states them.

    ``command`` is the name of the program that was started. ``environment`` holds its environment variables as far as
    they may be kept, None being a value that is not shown; it is None where the report tells of none. ``host`` is the
    machine's name; ``started_at_ns`` is when the report's clock was 0, ns since 1970 in UTC by its wall clock.
    """

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
    command: str | None = None
    environment: dict[str, str | None] | None = None
    host: str | None = None
    started_at_ns: int | None = None


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
    """GPU operations, by how they were attributed; ``gpu_ops`` is their number and the sum of the other counts.

    ``gpu_time_ns`` is None where the report does not tell how long kernels took.
    """

    gpu_ops: int
    thread: int
    process: int
    no_launch_row: int
    outside_ranges: int
    ambiguous_thread: int
    gpu_time_ns: CoverageTime | None
    launches_without_gpu_op: int

    @property
    def attributed(self) -> int:
        """Operations that belong to a range."""
        return self.thread + self.process

    @property
    def attributed_share(self) -> float | None:
        """GPU time of the operations that belong to a range, as a share of all; None where there is none to tell."""
        return None if self.gpu_time_ns is None else self.gpu_time_ns.attributed_share


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
    devices: list[DeviceUse] = field(default_factory=list)
    stages: list[Stage]
    by: str = "path"
    instances: list[Instance] = field(default_factory=list)
