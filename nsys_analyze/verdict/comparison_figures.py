"""Figures of sides: medians over runs, ratios to the first side, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from nsys_analyze.metrics.kernel_counts import KernelCount
from nsys_analyze.metrics.results import Stage
from nsys_analyze.verdict.comparison import (
    Cause,
    Compile,
    Figure,
    KernelChange,
    KernelChanges,
    Reading,
    Row,
    StageComparison,
)
from nsys_analyze.verdict.comparison_stages import Indexed, Place
from nsys_analyze.verdict.quantities import QUANTITIES, UNPROFILED

_NOTABLE = 0.05  # share of the first side's number from which a difference is spoken of
_COMPILE = "compile"  # the stage whose wall time says how long a side compiled


def compare_stage(
    place: Place, labels: Sequence[str], sides: Sequence[Sequence[Indexed]], alone: bool
) -> StageComparison:
    """Compares one stage.

    Args:
        place: The stage.
        labels: What the sides are called.
        sides: The runs of each side.
        alone: Whether no side has the stage in several processes.
    """
    found = [[run.stages[place] for run in side if place in run.stages] for side in sides]
    rows = [_row(label, stages, found[0]) for label, stages in zip(labels, found, strict=True)]
    others = [row for row in rows[1:] if not (row.absent or rows[0].absent)]
    counts = [_kernels_per_instance(place, side) for side in sides]
    return StageComparison(
        path=[name for name, _ in place.path],
        domains=[domain for _, domain in place.path],
        place=None if alone else place.process,
        rows=rows,
        readings=[_reading(row, rows[0]) for row in others],
        kernels=[
            KernelChanges(side=row.side, changes=_changes(counts[number], counts[0]))
            for number, row in enumerate(rows)
            if row in others
        ],
    )


def compile_figures(sides: Sequence[Sequence[Indexed]]) -> list[tuple[Figure, Compile]]:
    """Returns how long each side compiled, and where that comes from."""
    walls = [[_compile_wall(run) for run in side] for side in sides]
    sources: list[Compile] = ["report" if None in side else "stage" for side in walls]
    values = [
        side if source == "stage" else [_compile_time(run) for run in runs]
        for side, source, runs in zip(walls, sources, sides, strict=True)
    ]
    return [
        (_figure(side, values[0] if source == sources[0] else []), source)
        for side, source in zip(values, sources, strict=True)
    ]


def unprofiled_compile_figures(sides: Sequence[Sequence[Indexed]]) -> list[Figure]:
    """Returns how long each side compiled without the profiler, where that was given."""
    times = [[_compile_unprofiled(run) for run in side] for side in sides]
    return [_figure(side, times[0]) for side in times]


def _row(label: str, stages: Sequence[Stage], first: Sequence[Stage]) -> Row:
    figures = {
        quantity.name: _figure([quantity.of(stage) for stage in stages], [quantity.of(stage) for stage in first])
        for quantity in (*QUANTITIES.values(), *UNPROFILED)
    }
    return Row(
        side=label,
        runs=len(stages),
        instances=float(median(stage.instances for stage in stages)) if stages else None,
        figures=figures if stages else {},
    )


def _figure(values: Sequence[float | None], first: Sequence[float | None]) -> Figure:
    known = [value for value in values if value is not None]
    known_first = [value for value in first if value is not None]
    value = median(known) if known else None
    base = median(known_first) if known_first else None
    return Figure(
        value=value,
        least=min(known, default=None),
        most=max(known, default=None),
        ratio=value / base if value is not None and base else None,
        difference=value - base if value is not None and base is not None else None,
    )


def _reading(row: Row, first: Row) -> Reading:
    of = "pace" if row.figures["pace"].difference is not None else "elapsed"
    whole, figures = row.figures[of], row.figures
    kernels, active = figures["kernels"], figures["gpu_active"]
    return Reading(
        side=row.side,
        of=of,
        ratio=whole.ratio,
        difference_ns=whole.difference,
        cpu_overhead_ns=figures["cpu_overhead"].difference,
        gpu_active_ns=active.difference,
        exposed_ns=figures["startup_gap_exposed"].difference,
        kernels=kernels.value,
        kernels_first=first.figures["kernels"].value,
        same_work=None if kernels.difference is None else not kernels.difference and not _is_notable(active),
        as_long=not _is_notable(whole),
        shifts=any(_is_large(figures[part], first.figures[of].value) for part in ("cpu_overhead", "gpu_active")),
        waits=_is_large(figures["startup_gap_exposed"], first.figures[of].value),
        identical=all(figure == first.figures[name] for name, figure in figures.items()),
        cause=_cause(row, first, of),
        clear=_clear(row, first, of),
        exposed_clear=_clear(row, first, "startup_gap_exposed"),
        profiler_ns=figures["profiler"].difference,
    )


def _is_notable(figure: Figure) -> bool:
    return figure.ratio is not None and abs(figure.ratio - 1) >= _NOTABLE


def _is_large(part: Figure, whole: float | None) -> bool:
    """Whether a part of a stage differs by a notable share of the whole stage."""
    return bool(whole) and abs(part.difference or 0.0) >= _NOTABLE * (whole or 0.0)


def _cause(row: Row, first: Row, of: str) -> Cause | None:
    """The part that differs most, if by a notable share of the stage; where its length is the same, the exposed gap."""
    causes: list[Cause] = ["cpu_overhead", "gpu_active"] if _is_notable(row.figures[of]) else ["startup_gap_exposed"]
    most = max(causes, key=lambda name: abs(row.figures[name].difference or 0.0))
    return most if _is_large(row.figures[most], first.figures[of].value) else None


def _clear(row: Row, first: Row, name: str) -> bool | None:
    """Whether a figure of all runs of one side lies above that of the other, None where both have one run only."""
    one, other = row.figures[name], first.figures[name]
    if row.runs == first.runs == 1:
        return None
    if one.least is None or one.most is None or other.least is None or other.most is None:
        return None
    return one.least > other.most or other.least > one.most


def _compile_wall(run: Indexed) -> int | None:
    """Wall time of the outermost stage "compile", of the process that took longest over it."""
    return max((stage.wall_ns.total for stage in _compile_stages(run)), default=None)


def _compile_unprofiled(run: Indexed) -> int | None:
    times = [stage.unprofiled_ns for stage in _compile_stages(run) if stage.unprofiled_ns is not None]
    return max(times, default=None)


def _compile_stages(run: Indexed) -> list[Stage]:
    """The outermost stages called "compile", one a process."""
    stages = [stage for stage in run.stages.values() if stage.name == _COMPILE]
    outermost = min((len(stage.path) for stage in stages), default=0)
    return [stage for stage in stages if len(stage.path) == outermost]


def _compile_time(run: Indexed) -> int | None:
    """Compile time of all processes."""
    times = [program.compile_ns for program in run.run.analysis.programs if program.compile_ns is not None]
    return sum(times) if times else None


def _kernels_per_instance(place: Place, side: Sequence[Indexed]) -> dict[str, tuple[float, float]] | None:
    """Count and time of each kernel for one instance of a stage, over all runs; None if one of them does not tell."""
    instances, counts, times = 0, dict[str, int](), dict[str, int]()
    for run in side:
        stage = run.stages.get(place)
        if stage is None:
            continue
        kernels: list[KernelCount] | None = run.run.kernels.get(stage.key)
        if kernels is None:
            return None
        instances += stage.instances
        for kernel in kernels:
            counts[kernel.name] = counts.get(kernel.name, 0) + kernel.count
            times[kernel.name] = times.get(kernel.name, 0) + kernel.total_ns
    return {name: (counts[name] / instances, times[name] / instances) for name in counts}


def _changes(
    kernels: dict[str, tuple[float, float]] | None, first: dict[str, tuple[float, float]] | None
) -> list[KernelChange] | None:
    if kernels is None or first is None:
        return None
    changes = []
    for name in {**first, **kernels}:
        (count, time), (count_first, time_first) = kernels.get(name, (0.0, 0.0)), first.get(name, (0.0, 0.0))
        if count != count_first:
            changes.append(
                KernelChange(name=name, count=count, count_first=count_first, time_ns=time, time_first_ns=time_first)
            )
    return sorted(changes, key=lambda change: -max(change.time_ns, change.time_first_ns))
