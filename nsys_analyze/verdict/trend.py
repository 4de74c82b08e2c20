"""What runs that are remembered showed: each in a few numbers, or one quantity of a stage over time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nsys_analyze.errors import UsageError
from nsys_analyze.metrics import patterns
from nsys_analyze.metrics.wording import path_title
from nsys_analyze.verdict.changes import level_starts
from nsys_analyze.verdict.comparable import obstacles
from nsys_analyze.verdict.compared import typical
from nsys_analyze.verdict.gates import matches
from nsys_analyze.verdict.judged import JUDGED, Judged
from nsys_analyze.verdict.noise import NoiseTable
from nsys_analyze.verdict.records import StageId
from nsys_analyze.verdict.results import Outcome, State
from nsys_analyze.verdict.runs import Run
from nsys_analyze.verdict.samples import ReportSample, StageSample, sample

HEADLINE = ("pace", "cpu_overhead", "startup_gap_exposed", "kernels")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A run in a few numbers: typical values of the main loop of its reports, ns or counts.

    ``stage`` is the path of that loop, None where there is none; ``values`` go by the names of quantities.
    """

    run: int
    made_at: str
    label: str | None
    commit: str | None
    outcome: Outcome | None
    headline: str | None
    reports: int
    stage: list[str] | None
    values: dict[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One run of a trend: the typical value of its reports, the least and the most of them, and the level then.

    ``level`` is the typical run between two changes. ``changed`` says that a new level begins here, which is
    ``ratio`` times the one before (None where that was 0, too). ``state`` is what the run's own check found.
    """

    run: int
    made_at: str
    label: str | None
    commit: str | None
    reports: int
    value: float
    least: float
    most: float
    level: float
    changed: bool
    ratio: float | None
    state: State | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """One quantity of a stage, run by run, the oldest first; ns or a count, as ``unit`` says.

    ``left_out`` runs cannot be compared with the newest one, or do not tell it.
    """

    stage: list[str]
    domains: list[str]
    process: int
    metric: str
    title: str
    unit: str
    left_out: int
    points: list[Point]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Runs, the newest first; ``left_out`` older ones are not listed."""

    left_out: int
    runs: list[Summary]


def summarised(runs: Sequence[Run], total: int, warmup: int) -> History:
    """Returns the newest of ``total`` runs in a few numbers; ``warmup`` instances of a stage are not steady yet."""
    return History(left_out=total - len(runs), runs=[_summary(run, warmup) for run in reversed(runs)])


def _summary(run: Run, warmup: int) -> Summary:
    reports = [sample(report, warmup) for report in run.reports]
    key = _main_loop(reports)
    stages = [report.stages[key] for report in reports if key in report.stages] if key else []
    return Summary(
        run=run.number,
        made_at=run.made_at,
        label=run.label,
        commit=run.commit,
        outcome=run.outcome,
        headline=run.headline,
        reports=len(reports),
        stage=None if key is None else list(key[0]),
        values={name: typical([stage.values[name] for stage in stages if name in stage.values]) for name in HEADLINE},
    )


def _main_loop(reports: Sequence[ReportSample]) -> StageId | None:
    """The loop with most GPU time; of equal ones, the outermost."""
    loops = {key: stage for report in reports for key, stage in report.stages.items() if stage.loop}
    return max(loops, key=lambda key: (loops[key].active, -len(key[0])), default=None)


def trend(runs: Sequence[Run], pattern: str | None, name: str, warmup: int, table: NoiseTable, floor: float) -> Trend:
    """Returns how a quantity of a stage went on, and where it changed.

    Args:
        runs: The runs, the oldest first.
        pattern: Which stage; of several that match, the one with most GPU time. The main loop, if left out.
        name: Which quantity.
        warmup: How many instances of a stage are not steady yet.
        table: The noise to allow for.
        floor: What is too small to matter, ns an instance.

    Raises:
        UsageError: If no stage matches, no run tells the quantity, there is none of that name, or ruptures is missing.
    """
    if name not in JUDGED:
        raise UsageError(f"--quantity {name}: no such quantity; there are: {', '.join(JUDGED)}")
    quantity = JUDGED[name]
    sampled = [(run, [sample(report, warmup) for report in run.reports]) for run in runs]
    key = _chosen([report for _, reports in sampled for report in reports], pattern)
    told = [(run, stages) for run, stages in _told(sampled, key, quantity) if stages]
    if not told:
        raise UsageError(f"{path_title(key[0])}: no run tells {name}")
    starts = level_starts([stages for _, stages in told], quantity, table, floor)
    return Trend(
        stage=list(key[0]),
        domains=list(key[1]),
        process=key[2],
        metric=name,
        title=quantity.title,
        unit="count" if quantity.is_count else "ns",
        left_out=len(runs) - len(told),
        points=_points(told, key, name, starts),
    )


def _chosen(reports: Sequence[ReportSample], pattern: str | None) -> StageId:
    if pattern is None:
        main = _main_loop(reports)
        if main is None:
            raise UsageError("no run has a loop; name a stage with --stage")
        return main
    stages = {key: stage for report in reports for key, stage in report.stages.items()}
    fitting = [key for key in stages if matches(pattern, key)]
    if not fitting:
        near = ", ".join(patterns.near_names(pattern, [key[0] for key in stages])) or "there are no stages"
        raise UsageError(f"--stage {pattern}: no stage matches (nearest: {near})")
    return max(fitting, key=lambda key: stages[key].active)


def _told(
    runs: Sequence[tuple[Run, Sequence[ReportSample]]], key: StageId, quantity: Judged
) -> Iterator[tuple[Run, list[StageSample]]]:
    """The stage in the reports of each run that tell the quantity and can be compared with the newest that does."""
    telling = [(run, [report for report in reports if _tells(report, key, quantity)]) for run, reports in runs]
    newest = next((reports[-1:] for _, reports in reversed(telling) if reports), [])
    for run, reports in telling:
        yield run, [report.stages[key] for report in reports if _is_comparable(report, newest, quantity)]


def _tells(report: ReportSample, key: StageId, quantity: Judged) -> bool:
    return report.broken is None and key in report.stages and quantity.name in report.stages[key].values


def _is_comparable(report: ReportSample, others: Sequence[ReportSample], quantity: Judged) -> bool:
    found = obstacles([report], others)
    return (found.counts if quantity.is_count else found.timings) is None


def _points(
    told: Sequence[tuple[Run, Sequence[StageSample]]], key: StageId, name: str, starts: Sequence[int]
) -> list[Point]:
    values = [[stage.values[name] for stage in stages] for _, stages in told]
    medians = [typical(some) or 0.0 for some in values]
    bounds = [0, *starts, len(told)]
    levels = [typical(medians[begin:end]) or 0.0 for begin, end in itertools.pairwise(bounds)]
    points = []
    for number, (begin, end) in enumerate(itertools.pairwise(bounds)):
        for place in range(begin, end):
            run, changed = told[place][0], bool(number) and place == begin
            points.append(
                Point(
                    run=run.number,
                    made_at=run.made_at,
                    label=run.label,
                    commit=run.commit,
                    reports=len(values[place]),
                    value=medians[place],
                    least=min(values[place]),
                    most=max(values[place]),
                    level=levels[number],
                    changed=changed,
                    ratio=levels[number] / levels[number - 1] if changed and levels[number - 1] else None,
                    state=run.states.get((key, name)),
                )
            )
    return points
