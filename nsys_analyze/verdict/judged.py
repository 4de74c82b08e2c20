"""The quantities that are judged: those that are compared and some more, each with its values for single instances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nsys_analyze.metrics.quantities import QUANTITIES, Kind
from nsys_analyze.metrics.results import Series, Stage

OUTSIDE_LOOP = "outside_loop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A number of a stage. ``name`` is what configurations and JSON call it, ``title`` what people read.

    ``of`` returns the stage's number, for one typical instance where a stage has several; None if the report cannot
    say, or if it takes more than the stage to tell (`nsys_analyze.verdict.records` does). ``each`` returns the number
    of every finished instance, in order of start, where the series tell it; ``per_kernel`` says that it is the time of
    one kernel or launch and not of an instance.
    """

    name: str
    title: str
    kind: Kind
    of: Callable[[Stage], float | None]
    each: Callable[[Stage], Sequence[float | None]] | None = None
    per_kernel: bool = False

    @property
    def is_count(self) -> bool:
        """Whether it is no time."""
        return self.kind is Kind.COUNT


def _gap_launch(stage: Stage) -> float | None:
    return stage.gap_means_ns.launch if stage.gap_means_ns else None


def _gap_queue(stage: Stage) -> float | None:
    return stage.gap_means_ns.queue if stage.gap_means_ns else None


def _first_gap(stage: Stage) -> float | None:
    return stage.startup_gap_ns.first if stage.startup_gap_ns else None


def _first_wall(stage: Stage) -> float | None:
    return stage.series.wall_ns[0] if stage.series and stage.series.wall_ns else None


def _kernels(stage: Stage) -> float | None:
    return stage.kernels_per_instance.median if stage.kernels_per_instance else None


def _entries(of: Callable[[Series], Sequence[float | None]]) -> Callable[[Stage], Sequence[float | None]]:
    """The entries of the finished instances; one that never ended is among the last to start."""

    def each(stage: Stage) -> Sequence[float | None]:
        values = of(stage.series) if stage.series else []
        return values[: len(values) - stage.unfinished]

    return each


def _kernels_each(stage: Stage) -> Sequence[float | None]:
    return _entries(lambda series: series.kernels)(stage) if stage.kernels is not None else []


def _paces(stage: Stage) -> list[float]:
    """From each start to the next, where the stage has a pace at all."""
    if stage.series is None or stage.pace_ns is None:
        return []
    return [float(after - before) for before, after in pairwise(stage.series.start_ns)]


def _overheads(stage: Stage) -> list[float]:
    active, series = stage.active_mean_ns, stage.series
    if active is None or series is None:
        return []
    own = series.profiler_ns or [0] * len(series.start_ns)
    return [max(pace - active - profiler, 0.0) for pace, profiler in zip(_paces(stage), own, strict=False)]


def _overheads_per_kernel(stage: Stage) -> list[float]:
    kernels = _kernels(stage)
    return [overhead / kernels for overhead in _overheads(stage)] if kernels else []


def _known(
    name: str, each: Callable[[Stage], Sequence[float | None]] | None = None, *, per_kernel: bool = False
) -> Judged:
    """A quantity that is compared, too."""
    known = QUANTITIES[name]
    return Judged(name=name, title=known.title, kind=known.kind, of=known.of, each=each, per_kernel=per_kernel)


_ALL = (
    _known("wall", _entries(lambda series: series.wall_ns)),
    _known("elapsed", _entries(lambda series: series.elapsed_ns)),
    _known("pace", _paces),
    _known("cpu_overhead", _overheads),
    _known("gpu_active"),
    _known("kernel_time"),
    _known("kernels", _kernels_each),
    _known("overhead_per_kernel", _overheads_per_kernel, per_kernel=True),
    _known("startup_gap", _entries(lambda series: series.gap_ns)),
    _known("startup_gap_exposed", _entries(lambda series: series.exposed_ns)),
    _known("startup_gap_prelude", _entries(lambda series: series.prelude_ns)),
    Judged(name="startup_gap_launch", title="startup gap, launch", kind=Kind.HOST_TIME, of=_gap_launch),
    Judged(name="startup_gap_queue", title="startup gap, queue", kind=Kind.HOST_TIME, of=_gap_queue),
    _known("launch_call", per_kernel=True),
    _known("queue_delay", per_kernel=True),
    _known("compile_time"),
    _known("cold_start"),
    Judged(name="first_wall", title="first instance, wall", kind=Kind.FIRST_INSTANCE, of=_first_wall),
    Judged(name="first_startup_gap", title="first instance, startup gap", kind=Kind.FIRST_INSTANCE, of=_first_gap),
    Judged(name=OUTSIDE_LOOP, title="wall outside its loop", kind=Kind.FIRST_INSTANCE, of=lambda _: None),
)

JUDGED: dict[str, Judged] = {quantity.name: quantity for quantity in _ALL}
