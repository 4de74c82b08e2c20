"""Which stages a picture shows: those asked for, or the ones that matter most; never one with nothing to show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.loops import ancestors, identity, largest, main_loops
from nsys_analyze.metrics.patterns import match_level, near_names
from nsys_analyze.metrics.pictures.sweep import loop_time
from nsys_analyze.metrics.results import Analysis, Stage
from nsys_analyze.views.plots.reasons import Need, lost, no_gpu_work, reason
from nsys_analyze.views.plots.subjects import Subject, Subjects, short_labels, stage_names
from nsys_analyze.views.stage_tables import chosen_loops, chosen_starts
from nsys_analyze.views.tables import labelled

if TYPE_CHECKING:
    from nsys_analyze.report import Report

MOST = 8  # stages of a report on one picture
_RESERVED = 4  # of them for the main loops of its processes

_Choose = Callable[[Analysis], list[Stage]]


def listed(given: Report | Analysis | Sequence[Report] | Sequence[Analysis]) -> list[Analysis]:
    """Returns analyses of whatever was given: one or several reports or analyses."""
    several: list[Report | Analysis] = [*given] if isinstance(given, Sequence) else [given]
    return [each if isinstance(each, Analysis) else each.analysis() for each in several]


def several_stages(
    analyses: Sequence[Analysis], pattern: str | None, depth: int | None, need: Need = Need.TIME
) -> Subjects:
    """Returns the stages for a picture with a row a stage.

    With a pattern, those that match and ``depth`` levels from there: by default all below for one report, and none
    for several. Without, the loops and the top level around them for one report, and the main loop of each of several.
    At most eight a report that have what they need: the main loop of each process, and those that took longest.
    """
    if pattern is not None:
        levels = depth or (None if len(analyses) == 1 else 1)
        return _subjects(analyses, lambda analysis: _matching(analysis, pattern, levels), need, pattern)
    if depth is not None:
        return _subjects(analyses, lambda each: [s for s in each.stages if len(s.path) <= depth], need, "")
    return _subjects(analyses, _overview if len(analyses) == 1 else _main, need)


def one_stage(analyses: Sequence[Analysis], pattern: str | None, need: Need = Need.TIME) -> Subjects:
    """Returns one stage of each report: the outermost match with most GPU time, or without a pattern the main loop."""
    if pattern is None:
        return _subjects(analyses, _main, need)
    return _subjects(analyses, lambda analysis: _busiest(_matching(analysis, pattern, 1)), need, pattern)


def loops(analyses: Sequence[Analysis], pattern: str | None, depth: int | None, need: Need) -> Subjects:
    """Returns stages as `several_stages` does, but only loops and their parts where nothing is asked for."""
    if pattern is not None or depth is not None or len(analyses) > 1:
        return several_stages(analyses, pattern, depth, need)
    return _subjects(analyses, lambda analysis: _loops(analysis) or _overview(analysis), need)


def loop_times(
    results: Mapping[str, Mapping[float, Report | Analysis | float | None]], pattern: str | None
) -> tuple[dict[str, dict[float, float | None]], str, str]:
    """Returns what an instance takes in each result, ns; the names of the stages; why results have no time.

    None stands where there is no result, or a report lacks the stage.
    """
    times: dict[str, dict[float, float | None]] = {executor: {} for executor in results}
    names: dict[str, None] = {}
    why: dict[str, None] = {}
    for executor, by_value in results.items():
        for value, result in by_value.items():
            if result is None or isinstance(result, int | float):
                times[executor][value] = result
                continue
            chosen = one_stage(listed(result), pattern)
            names.update((subject.name, None) for subject in chosen.shown)
            times[executor][value] = loop_time(chosen.shown[0].stage) if chosen.shown else None
            why.update((text, None) for text in chosen.reasons.values())
            if chosen.shown and times[executor][value] is None:
                why["no instance ended within the capture"] = None
    return times, ", ".join(names), "; ".join(why)


def _subjects(analyses: Sequence[Analysis], choose: _Choose, need: Need, asked: str | None = None) -> Subjects:
    """The stages to draw; ``asked`` is the pattern that chose them, None where nothing was asked for."""
    chosen = [choose(analysis) for analysis in analyses]
    if asked and not any(chosen):
        near = near_names(asked, [stage.path for analysis in analyses for stage in analysis.stages])
        raise UsageError(f"{asked}: matches no stage (nearest: {', '.join(near) or 'there are none'})")
    labels = short_labels(analyses)
    subjects = Subjects(shown=[], reports=labels)
    left_out = empty = 0
    for place, (analysis, label, stages) in enumerate(zip(analyses, labels, chosen, strict=True)):
        reserved = _reserved(analysis)
        usable = _usable(stages, need, reserved)
        shown = _most(usable, reserved)
        left_out += len(usable) - len(shown)
        empty += sum(not _HAS[need](stage) for stage in stages) if asked is not None and shown else 0
        for stage, (name, process) in zip(shown, stage_names(analysis, shown), strict=True):
            idle = "" if stage.gpu_ops else no_gpu_work(analysis, "the stage put no work on a GPU")
            found = Subject(place=place, report=label, name=name, stage=stage, process=process, idle=idle)
            subjects.shown.append(found)
        if not shown:
            subjects.reasons[label] = reason(analysis, stages, need)
        elif lost(analysis):
            subjects.remarks[label] = lost(analysis)
    return replace(subjects, left_out=left_out, empty=empty)


def _most(stages: Sequence[Stage], reserved: set[str]) -> list[Stage]:
    """As many as there is room for: those reserved, then those that took longest."""
    return largest(stages, MOST, lambda stage: (stage.key in reserved, stage.elapsed_ns.total))


def _usable(stages: Sequence[Stage], need: Need, reserved: set[str]) -> list[Stage]:
    """The stages with something to show; of launches, each is shown once: in the innermost stage that has them all."""
    usable = [stage for stage in stages if _HAS[need](stage)]
    if need is not Need.LAUNCHES:
        return usable
    told = {(above, stage.kernel_launches) for stage in usable for above in ancestors(stage)}
    return [stage for stage in usable if stage.key in reserved or (identity(stage), stage.kernel_launches) not in told]


_HAS: dict[Need, Callable[[Stage], bool]] = {
    Need.TIME: lambda stage: bool(stage.wall_ns.total or stage.gpu_window_ns),
    Need.GPU_WORK: lambda stage: stage.gap_means_ns is not None,
    Need.LAUNCHES: lambda stage: stage.launch_call_ns is not None,
    Need.SERIES: lambda stage: stage.series is not None,
}


def _reserved(analysis: Analysis) -> set[str]:
    """Keys of the main loop of each process, of the busiest processes."""
    by_process: dict[int, list[Stage]] = {}
    for stage in analysis.stages:
        by_process.setdefault(stage.process, []).append(stage)
    found = [loop for stages in by_process.values() for loop in main_loops(stages, 1)]
    return {stage.key for stage in largest(found, _RESERVED, lambda stage: stage.active_ns or 0)}


def _matching(analysis: Analysis, pattern: str, levels: int | None) -> list[Stage]:
    found = [(stage, match_level(pattern, stage.path, stage.domains)) for stage in analysis.stages]
    return [stage for stage, level in found if level and (levels is None or level <= levels)]


def _overview(analysis: Analysis) -> list[Stage]:
    """The top level and the loops, in the report's order."""
    chosen = (*_loops(analysis), *chosen_starts(labelled([analysis]), 0, ordered=False)[0])
    keys = {stage.key for stage in chosen} | _reserved(analysis)
    return [stage for stage in analysis.stages if stage.key in keys]


def _loops(analysis: Analysis) -> list[Stage]:
    return chosen_loops(labelled([analysis]), 0, 5, ordered=False)[0]


def _main(analysis: Analysis) -> list[Stage]:
    """The loop with most GPU time, else the stage of the top level with most."""
    return _busiest(main_loops(analysis.stages, 1) or [stage for stage in analysis.stages if len(stage.path) == 1])


def _busiest(stages: Sequence[Stage]) -> list[Stage]:
    return largest(stages, 1, lambda stage: (stage.active_ns or 0, stage.elapsed_ns.total))
