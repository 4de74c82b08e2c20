"""The numbers that a row can show: where each is found in the results, how it is titled and written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from nsys_analyze.metrics.kernel_kinds import KINDS
from nsys_analyze.metrics.results import DeviceUse, Instance, KernelRow, Program, Stage
from nsys_analyze.views import units
from nsys_analyze.views.document import Column
from nsys_analyze.views.units import Number

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure(Generic[T]):
    """A number of a row: how it is titled, found and written, a duration unless told otherwise.

    Durations of one ``scale`` share their unit; ``drop`` and ``emphasis`` are as in Column; a ``remark`` follows the
    number. ``of`` says which of several instances' numbers it is: their mean or their median.
    """

    title: str
    get: Callable[[T], float | None]
    write: Callable[[Sequence[float | None]], list[Number | None]] = units.durations
    drop: int = 0
    scale: str = ""
    emphasis: bool = False
    remark: Callable[[T], str] | None = None
    of: str = ""


def _kernels(stage: Stage) -> float | None:
    return stage.kernels_per_instance.median if stage.gpu_ops and stage.kernels_per_instance else None


def _kernels_spread(stage: Stage) -> str:
    spread = stage.kernels_per_instance
    return "" if spread is None or spread.min == spread.max else f"({spread.min:,}-{spread.max:,})"


def _gap(stage: Stage) -> float | None:
    return stage.startup_gap_ns.median if stage.startup_gap_ns else None


def _first_gap(stage: Stage) -> float | None:
    return stage.startup_gap_ns.first if stage.startup_gap_ns else None


def _exposed(stage: Stage) -> float | None:
    return stage.startup_gap_ns.exposed_median if stage.startup_gap_ns else None


def _queue(stage: Stage) -> float | None:
    return stage.queue_delay_ns.median if stage.queue_delay_ns else None


def _compile(stage: Stage) -> float | None:
    return (stage.compile_ns.total or None) if stage.compile_ns else None


def _launch_call(stage: Stage) -> float | None:
    return stage.launch_call_ns.median if stage.launch_call_ns else None


STAGE: dict[str, Measure[Stage]] = {
    "n": Measure(title="n", write=units.counts, get=lambda s: s.instances, drop=6),
    "wall": Measure(title="wall", get=lambda s: s.wall_ns.total),
    "pace": Measure(title="pace", get=lambda s: s.pace_ns, scale="each"),
    "elapsed": Measure(title="elapsed", get=lambda s: s.elapsed_ns.mean, drop=1, scale="each", of="mean"),
    "overhead": Measure(title="CPU overhead", get=lambda s: s.cpu_overhead_ns, drop=3, scale="each"),
    "active": Measure(title="GPU active", get=lambda s: s.active_mean_ns, drop=7, scale="each", of="mean"),
    "kernels": Measure(title="kernels", write=units.counts, get=_kernels, drop=2, remark=_kernels_spread, of="median"),
    "us-per-kernel": Measure(title="us/kernel", write=units.microseconds, get=lambda s: s.overhead_per_kernel_ns),
    "gap": Measure(title="startup gap", get=_gap, drop=4, scale="gap", of="median"),
    "exposed": Measure(title="exposed", get=_exposed, scale="gap", emphasis=True, of="median"),
    "launch-call": Measure(title="launch call", get=_launch_call, drop=9, of="median"),
    "queue-delay": Measure(title="queue delay", get=_queue, drop=8, of="median"),
    "first-gap": Measure(title="to first GPU work", get=_first_gap),
    "compile": Measure(title="compile", get=_compile, drop=3),
    "all-active": Measure(title="GPU active", get=lambda s: s.active_ns if s.gpu_ops else None, drop=2),
    "all-kernels": Measure(title="kernels", write=units.counts, get=lambda s: s.kernels if s.gpu_ops else None, drop=1),
    "cold-start": Measure(title="cold start", get=lambda s: s.cold_start_ns, drop=9),
    "cold": Measure(title="extra", get=lambda s: s.cold_start_ns, scale="cold"),
    "cold-first": Measure(title="first", get=lambda s: s.cold_first_ns, scale="cold"),
    "cold-others": Measure(title="others, median", get=lambda s: s.cold_others_median_ns, scale="cold"),
}

INSTANCE: dict[str, Measure[Instance]] = {
    "n": Measure(title="#", write=units.counts, get=lambda i: i.index),
    "start": Measure(title="start", write=units.instants, get=lambda i: i.start_ns, drop=4),
    "wall": Measure(title="wall", get=lambda i: i.wall_ns, drop=5, scale="each"),
    "elapsed": Measure(title="elapsed", get=lambda i: i.elapsed_ns, scale="each"),
    "active": Measure(title="GPU active", get=lambda i: i.active_ns if i.gpu_ops else None, drop=3, scale="each"),
    "kernels": Measure(title="kernels", write=units.counts, get=lambda i: i.kernels if i.gpu_ops else None, drop=2),
    "gap": Measure(title="startup gap", get=lambda i: i.startup_gap_ns, drop=1, scale="gap"),
    "prelude": Measure(title="prelude", get=lambda i: i.prelude_ns, drop=8, scale="gap"),
    "launch": Measure(title="launch", get=lambda i: i.launch_ns, drop=8, scale="gap"),
    "queue": Measure(title="queue", get=lambda i: i.queue_ns, drop=8, scale="gap"),
    "exposed": Measure(title="exposed", get=lambda i: i.exposed_ns, scale="gap", emphasis=True),
}


def _kinds(values: Sequence[float | None]) -> list[Number | None]:
    return [None if value is None else Number(KINDS[int(value)]) for value in values]


def _in_graphs(row: KernelRow) -> float | None:
    return row.graph_ops or None


def _graph(row: KernelRow) -> str:
    return f"(graph {row.graph})" if row.graph else ""


KERNEL: dict[str, Measure[KernelRow]] = {
    "kind": Measure(title="kind", write=_kinds, get=lambda k: KINDS.index(k.kind), drop=4),
    "count": Measure(title="n", write=units.counts, get=lambda k: k.count, drop=2),
    "per-instance": Measure(title="per instance", write=units.counts, get=lambda k: k.per_instance, drop=5),
    "total": Measure(title="total", get=lambda k: k.total_ns),
    "share": Measure(title="share", get=lambda k: k.share, write=units.shares),
    "median": Measure(title="median", get=lambda k: k.median_ns, drop=1, scale="each"),
    "p95": Measure(title="p95", get=lambda k: k.p95_ns, drop=7, scale="each"),
    "launch-call": Measure(title="launch call", get=lambda k: k.launch_call_ns, drop=3),
    "queue-delay": Measure(title="queue delay", get=lambda k: k.queue_delay_ns, drop=6),
    "graph-ops": Measure(title="in graphs", write=units.counts, get=_in_graphs, drop=4, remark=_graph),
}

PROGRAM: dict[str, Measure[Program]] = {
    "lifetime": Measure(title="lifetime", get=lambda p: p.lifetime_ns),
    "init": Measure(title="CUDA init at", get=lambda p: p.until_ns(p.cuda_init_ns), drop=3),
    "call": Measure(title="first call", get=lambda p: p.until_ns(p.first_call_ns), drop=4),
    "kernel": Measure(title="first kernel", get=lambda p: p.until_ns(p.first_kernel_ns)),
    "busy": Measure(title="GPU busy", get=lambda p: p.busy_ns),
    "launches": Measure(title="launches", write=units.counts, get=lambda p: p.launches, drop=2),
    "kernels": Measure(title="kernels", write=units.counts, get=lambda p: p.kernels, drop=1),
    "profiler": Measure(title="profiler", get=lambda p: p.profiler_ns, drop=5),
}

DEVICE: dict[str, Measure[DeviceUse]] = {
    "processes": Measure(title="processes", write=units.counts, get=lambda d: len(d.processes), drop=4),
    "first": Measure(title="first at", write=units.instants, get=lambda d: d.first_op_ns, drop=5),
    "busy": Measure(title="busy", get=lambda d: d.busy_ns, scale="time"),
    "share": Measure(title="share", write=units.shares, get=lambda d: d.busy_share),
    "idle": Measure(title="idle", get=lambda d: d.idle_ns, scale="time"),
    "gap": Measure(title="largest gap", get=lambda d: d.largest_gap_ns),
    "gap-start": Measure(title="gap at", write=units.instants, get=lambda d: d.largest_gap_start_ns, drop=3),
    "ops": Measure(title="operations", write=units.counts, get=lambda d: d.gpu_ops, drop=1),
    "kernels": Measure(title="kernels", write=units.counts, get=lambda d: d.kernels, drop=2),
}


def columns(measures: Sequence[Measure[T]], items: Sequence[T]) -> list[Column]:
    """Returns the columns of the measures that at least one item has."""
    values = {id(measure): [measure.get(item) for item in items] for measure in measures}
    kept = [measure for measure in measures if any(value is not None for value in values[id(measure)])]
    return [
        Column(
            title=measure.title,
            cells=_cells(measure, values[id(measure)], _joint(measure, kept, values), items),
            drop=measure.drop,
            emphasis=measure.emphasis,
        )
        for measure in kept
    ]


def _joint(
    measure: Measure[T], measures: Sequence[Measure[T]], values: dict[int, list[float | None]]
) -> list[float | None]:
    """The values of all measures that share this one's scale."""
    if not measure.scale:
        return []
    return [value for other in measures if other.scale == measure.scale for value in values[id(other)]]


def _cells(
    measure: Measure[T], own: list[float | None], joint: list[float | None], items: Sequence[T]
) -> list[Number | None]:
    numbers = units.durations(own, joint) if joint else measure.write(own)
    if measure.remark is None:
        return numbers
    remarks = [measure.remark(item) for item in items]
    return [
        Number(number.whole, number.fraction, remark) if number and remark else number
        for number, remark in zip(numbers, remarks, strict=True)
    ]
