"""What a picture is about: which stages of which reports, and what they are called on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.loops import ancestors, identity, largest, main_loops
from nsys_analyze.metrics.patterns import match_level, near_names
from nsys_analyze.metrics.pictures.sweep import loop_time
from nsys_analyze.metrics.results import Analysis, Stage
from nsys_analyze.views.naming import flat_names, report_labels
from nsys_analyze.views.stage_tables import chosen_loops, chosen_starts
from nsys_analyze.views.tables import labelled

if TYPE_CHECKING:
    from nsys_analyze.report import Report

T = TypeVar("T")

_SUFFIXES = (".xz", ".sqlite", ".nsys-rep")
MOST = 8  # stages of a report on one picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A stage to draw; ``place`` is that of its report among those given."""

    place: int
    report: str
    name: str
    stage: Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjects:
    """The stages to draw, and how many there was no room for."""

    shown: list[Subject]
    left_out: int = 0

    @property
    def stages(self) -> list[Stage]:
        """The stages alone."""
        return [subject.stage for subject in self.shown]

    @property
    def common(self) -> str:
        """What all are of: a report, a stage, both, or the number of reports."""
        reports = list(dict.fromkeys(subject.report for subject in self.shown))
        names = list(dict.fromkeys(subject.name for subject in self.shown))
        parts = [reports[0] if len(reports) == 1 else f"{len(reports)} reports", *(names if len(names) == 1 else [])]
        return " · ".join(parts)

    @property
    def labels(self) -> list[str]:
        """What tells each from the others: its report, its name, or both; its name where it is alone."""
        several_reports = len({subject.report for subject in self.shown}) > 1
        several_names = len({subject.name for subject in self.shown}) > 1
        return [
            " · ".join(
                ([subject.report] if several_reports else [])
                + ([subject.name] if several_names or not several_reports else [])
            )
            for subject in self.shown
        ]


def without_wrappers(subjects: Subjects) -> Subjects:
    """Returns the subjects without those whose launches are all in another of them, further down."""
    shown = subjects.shown
    return Subjects(
        shown=[each for each in shown if not any(_wraps(each, other) for other in shown)], left_out=subjects.left_out
    )


def _wraps(outer: Subject, inner: Subject) -> bool:
    """Whether the inner stage lies in the outer one and has all of its launches."""
    place, path = outer.place, identity(outer.stage)
    return (
        place == inner.place
        and path in ancestors(inner.stage)
        and outer.stage.kernel_launches == inner.stage.kernel_launches
    )


def listed(given: Report | Analysis | Sequence[Report] | Sequence[Analysis]) -> list[Analysis]:
    """Returns analyses of whatever was given: one or several reports or analyses."""
    several: list[Report | Analysis] = [*given] if isinstance(given, Sequence) else [given]
    return [each if isinstance(each, Analysis) else each.analysis() for each in several]


def several_stages(analyses: Sequence[Analysis], pattern: str | None, depth: int | None) -> Subjects:
    """Returns the stages for a picture with a row a stage.

    With a pattern, those that match and ``depth`` levels from there: by default all below for one report, and none
    for several. Without, the loops and the top level around them for one report, and the main loop of each of several.
    At most eight a report, those that took longest.
    """
    if pattern is not None:
        levels = depth or (None if len(analyses) == 1 else 1)
        return _subjects(analyses, lambda analysis: _matching(analysis, pattern, levels), pattern)
    if depth is not None:
        return _subjects(analyses, lambda analysis: [stage for stage in analysis.stages if len(stage.path) <= depth])
    return _subjects(analyses, _overview if len(analyses) == 1 else _main)


def one_stage(analyses: Sequence[Analysis], pattern: str | None) -> Subjects:
    """Returns one stage of each report: the outermost match with most GPU time, or without a pattern the main loop."""
    if pattern is None:
        return _subjects(analyses, _main)
    return _subjects(analyses, lambda analysis: _busiest(_matching(analysis, pattern, 1)), pattern)


def loops(analyses: Sequence[Analysis], pattern: str | None, depth: int | None) -> Subjects:
    """Returns stages as `several_stages` does, but only loops and their parts where nothing is asked for."""
    if pattern is not None or depth is not None or len(analyses) > 1:
        return several_stages(analyses, pattern, depth)
    return _subjects(analyses, lambda analysis: _loops(analysis) or _overview(analysis))


def loop_times(
    results: Mapping[str, Mapping[float, Report | Analysis | float | None]], pattern: str | None
) -> tuple[dict[str, dict[float, float | None]], str]:
    """Returns what an instance takes in each result, ns, and the names of the stages that were looked at.

    None stands where there is no result, or a report lacks the stage.
    """
    times: dict[str, dict[float, float | None]] = {executor: {} for executor in results}
    names: dict[str, None] = {}
    for executor, by_value in results.items():
        for value, result in by_value.items():
            if result is None or isinstance(result, int | float):
                times[executor][value] = result
                continue
            chosen = one_stage(listed(result), pattern).shown
            names.update((subject.name, None) for subject in chosen)
            times[executor][value] = loop_time(chosen[0].stage) if chosen else None
    return times, ", ".join(names)


def _subjects(
    analyses: Sequence[Analysis], choose: Callable[[Analysis], Sequence[Stage]], pattern: str | None = None
) -> Subjects:
    found: list[Subject] = []
    left_out = 0
    for place, (analysis, label) in enumerate(zip(analyses, _short_labels(analyses), strict=True)):
        stages = choose(analysis)
        shown = largest(stages, MOST, lambda stage: stage.elapsed_ns.total)
        left_out += len(stages) - len(shown)
        for stage, name in zip(shown, _names(analysis, shown), strict=True):
            found.append(Subject(place=place, report=label, name=name, stage=stage))
    if pattern is not None and not found:
        near = near_names(pattern, [stage.path for analysis in analyses for stage in analysis.stages])
        raise UsageError(f"{pattern}: matches no stage (nearest: {', '.join(near) or 'there are none'})")
    return Subjects(shown=found, left_out=left_out)


def _short_labels(analyses: Sequence[Analysis]) -> list[str]:
    """File names without their suffixes, where they stay different."""
    names = report_labels(analyses)
    short = names
    for suffix in _SUFFIXES:
        short = [name.removesuffix(suffix) for name in short]
    return short if len(set(short)) == len(short) else names


def _names(analysis: Analysis, stages: Sequence[Stage]) -> list[str]:
    (report,) = labelled([analysis])
    processes = [report.process(stage.process) for stage in stages]
    names = [name.full for name in flat_names(stages)]
    return [f"{name} ({process})" if process else name for name, process in zip(names, processes, strict=True)]


def _matching(analysis: Analysis, pattern: str, levels: int | None) -> list[Stage]:
    found = [(stage, match_level(pattern, stage.path, stage.domains)) for stage in analysis.stages]
    return [stage for stage, level in found if level and (levels is None or level <= levels)]


def _overview(analysis: Analysis) -> list[Stage]:
    """The top level and the loops, in the report's order."""
    keys = {stage.key for stage in (*_loops(analysis), *chosen_starts(labelled([analysis]), 0, ordered=False)[0])}
    return [stage for stage in analysis.stages if stage.key in keys]


def _loops(analysis: Analysis) -> list[Stage]:
    return chosen_loops(labelled([analysis]), 0, 5, ordered=False)[0]


def _main(analysis: Analysis) -> list[Stage]:
    """The loop with most GPU time, else the stage of the top level with most."""
    return _busiest(main_loops(analysis.stages, 1) or [stage for stage in analysis.stages if len(stage.path) == 1])


def _busiest(stages: Sequence[Stage]) -> list[Stage]:
    return largest(stages, 1, lambda stage: (stage.active_ns or 0, stage.elapsed_ns.total))


def count_of(count: int, what: str) -> str:
    """Returns ``3 stages``, ``1 stage``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
