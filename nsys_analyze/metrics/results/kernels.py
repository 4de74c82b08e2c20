"""What stages put on the GPU, by kernel, by label or by operation."""

from __future__ import annotations

from dataclasses import dataclass, field

from nsys_analyze.metrics.results.parts import Communication
from nsys_analyze.metrics.results.report import Coverage, Notice, ReportInfo, Settings

SCOPES = {"program": "whole program", "outside": "outside any range"}  # of what has no path


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedOps:
    """GPU operations of one name under a label. ``total_ns`` adds up their durations."""

    name: str
    kind: str
    count: int
    total_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRow:
    """GPU operations of a stage that share a kernel's name, a label or an operation.

    ``name`` is the name in full, None for what lies in no range inside the stage; ``title`` is short enough to read.
    ``domain`` is the label's NVTX domain. ``kind`` is "compute", "communication", "copy", "memset" or "graph" (one
    traced whole), or "mixed".

    ``share`` is of the GPU time of all operations of the stage. ``launch_call_ns`` is the median of the calls that
    launched them, without each function's first launch and copies that wait; ``queue_delay_ns`` is the median from the
    end of such a call to its first operation, where that is one of these. ``graph_ops`` of them are nodes of CUDA
    graphs; ``graph`` is the id of the executable graph, if all of these are of one (or are it) and the report tells.
    ``names`` lists what stands under a label.
    """

    title: str
    name: str | None
    domain: str | None
    kind: str
    count: int
    per_instance: float
    total_ns: int
    share: float | None
    median_ns: float
    p95_ns: float
    launch_call_ns: float | None
    queue_delay_ns: float | None
    graph_ops: int
    graph: int | None
    names: list[NamedOps] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageKernels:
    """A stage's GPU operations: ``gpu_ops`` of them, whose durations add up to ``gpu_time_ns``.

    ``scope`` is "stage"; or "program", a process without any range as a whole; or "outside", what belongs to no range
    of a process that has some. The last two have no path. ``graph_ops`` are nodes of CUDA graphs, and
    ``benchmark_kernels`` were launched only to be timed.

    ``rows`` has the largest total first, unless asked otherwise; ``rows_in_all`` counts those left out, too. Where the
    report cannot tell what a range put on the GPU, the counts are None.
    """

    key: str
    path: list[str]
    domains: list[str]
    process: int
    instances: int
    gpu_ops: int | None
    gpu_time_ns: int | None
    communication: Communication | None
    rows_in_all: int
    rows: list[KernelRow]
    scope: str = "stage"
    graph_ops: int | None = None
    benchmark_kernels: int | None = None

    @property
    def elements(self) -> list[str]:
        """The path, or what stands for it where there is none."""
        return self.path or [SCOPES[self.scope]]

    @property
    def rows_left_out(self) -> int:
        """Rows that are not listed."""
        return self.rows_in_all - len(self.rows)

    @property
    def time_left_out_ns(self) -> int:
        """GPU time of the rows that are not listed."""
        return (self.gpu_time_ns or 0) - sum(row.total_ns for row in self.rows)

    @property
    def ops_per_instance(self) -> float | None:
        """GPU operations of an instance, on average."""
        return None if self.gpu_ops is None else self.gpu_ops / self.instances


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelAnalysis:
    """Some stages' GPU operations. ``by`` is what a row stands for: "name", "label" or "operation"."""

    settings: Settings
    report: ReportInfo
    coverage: Coverage
    warnings: list[Notice]
    by: str
    stages: list[StageKernels]
