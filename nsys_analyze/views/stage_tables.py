"""The tables of stages: loops, start, cold start, and the listing of all stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nsys_analyze.metrics.loops import identity, largest, loops_and_parts, main_loops, parent
from nsys_analyze.metrics.results import Stage
from nsys_analyze.views.columns import STAGE, Measure
from nsys_analyze.views.document import Row, Table
from nsys_analyze.views.named_columns import measures
from nsys_analyze.views.naming import flat_names, tree_names
from nsys_analyze.views.stage_remarks import look_remarks, loop_remarks, start_remarks
from nsys_analyze.views.tables import Entry, Report, left_out, table

_LOOP = ("n", "pace", "elapsed", "overhead", "active", "kernels", "us-per-kernel", "gap", "exposed")
_START = ("n", "wall", "first-gap", "compile", "all-active", "all-kernels")
_COLD = ("cold-first", "cold-others", "cold")
_LISTING = (
    *("n", "wall", "pace", "elapsed", "overhead", "active", "kernels", "us-per-kernel", "gap", "exposed"),
    "cold-start",
)

_EXPLAINED = 3  # rows of a report that get a remark of their own
_COLDEST = 5  # rows of a report that say how cold their start was

_Remark = Callable[[Stage], list[list[str]]]


def chosen_loops(reports: Sequence[Report], top: int, most: int, *, ordered: bool) -> list[list[Stage]]:
    """Returns for each report the ``most`` loops with most GPU time and their parts, at most ``top`` stages."""
    return [_top(_loops(report.analysis.stages, most, ordered), top, ordered) for report in reports]


def chosen_starts(reports: Sequence[Report], top: int, *, ordered: bool) -> list[list[Stage]]:
    """Returns for each report its top level but for loops, at most ``top`` stages."""
    return [_top(_starting(report.analysis.stages), top, ordered) for report in reports]


def chosen_stages(reports: Sequence[Report], top: int, *, ordered: bool) -> list[list[Stage]]:
    """Returns for each report at most ``top`` of its stages, whatever they are."""
    return [_top(report.analysis.stages, top, ordered) for report in reports]


def loops_and_start(
    reports: Sequence[Report],
    loops: Sequence[list[Stage]],
    starts: Sequence[list[Stage]],
    top: int,
    columns: Sequence[str] = (),
    *,
    ordered: bool,
) -> list[Table]:
    """Returns what repeats and what that consists of, then the top level around it, then what was cold.

    ``columns`` are those to show of the first two, none for the usual ones.
    """
    colds = [_cold(report, stages) for report, stages in zip(reports, loops, strict=True)]
    parts = any(stage.pace_ns is None for stages in loops for stage in stages)
    usual = [name for name in _LOOP if parts or name != "elapsed"]
    asked = measures(Stage, columns)
    shown = sum(map(len, [*loops, *starts]))
    footer = left_out(_count(reports), shown, "stage", f"{_all_of(reports, top)} lists all")
    return [
        _table("Loops", reports, loops, asked or _usual(usual), ordered, loop_remarks, [] if any(starts) else footer),
        _table("Start", reports, starts, asked or _usual(_START), ordered, start_remarks, footer),
        _table("Cold start", reports, colds, _usual(_COLD), ordered=True),
    ]


def listing(
    title: str,
    reports: Sequence[Report],
    shown: Sequence[list[Stage]],
    columns: Sequence[str] = (),
    *,
    ordered: bool,
    look: bool = False,
) -> Table:
    """Returns one table of the stages, as a tree unless they come sorted; ``look`` says which instances to look at."""
    footer = left_out(_count(reports), sum(map(len, shown)), "stage", "--top 0 lists all")
    footer += [f"{report.label}: no such stage" for report, stages in zip(reports, shown, strict=True) if not stages]
    remark = _loop_and_look_remarks if look else loop_remarks
    return _table(title, reports, shown, measures(Stage, columns) or _usual(_LISTING), ordered, remark, footer)


def _usual(names: Sequence[str]) -> list[Measure[Stage]]:
    return [STAGE[name] for name in names]


def _loop_and_look_remarks(stage: Stage) -> list[list[str]]:
    return [*loop_remarks(stage), *look_remarks(stage)]


def _table(
    title: str,
    reports: Sequence[Report],
    stages: Sequence[Sequence[Stage]],
    columns: Sequence[Measure[Stage]],
    ordered: bool,
    remark: _Remark = lambda _: [],
    footer: Sequence[str] = (),
) -> Table:
    entries = [_entries(report, group, ordered, remark) for report, group in zip(reports, stages, strict=True)]
    return table(title, reports, entries, columns, footer)


def _entries(report: Report, stages: Sequence[Stage], ordered: bool, remark: _Remark) -> list[Entry[Stage]]:
    names = flat_names(stages) if ordered else tree_names(stages)
    remarkable = [stage for stage in stages if remark(stage)]
    explained = {stage.key for stage in largest(remarkable, _EXPLAINED, lambda stage: stage.elapsed_ns.total)}
    explained |= {stage.key for stage in remarkable if stage.unprofiled_ns is not None}
    return [
        Entry(stage, Row(name, report.process(stage.process), remark(stage) if stage.key in explained else []))
        for stage, name in zip(stages, names, strict=True)
    ]


def _count(reports: Sequence[Report]) -> int:
    return sum(len(report.analysis.stages) for report in reports)


def _all_of(reports: Sequence[Report], top: int) -> str:
    """The options that list every stage."""
    depth = max((len(stage.path) for report in reports for stage in report.analysis.stages), default=0)
    most = max((len(report.analysis.stages) for report in reports), default=0)
    return f"--depth {depth}" if not top or most <= top else f"--depth {depth} --top 0"


def _top(stages: Sequence[Stage], top: int, ordered: bool) -> list[Stage]:
    """At most ``top`` stages: the first ones where they come sorted, else those that took longest."""
    return list(stages[: top or None]) if ordered else largest(stages, top, lambda stage: stage.elapsed_ns.total)


def _loops(stages: Sequence[Stage], most: int, ordered: bool) -> list[Stage]:
    """The ``most`` loops that matter and what lies directly inside them; all loops where stages come sorted."""
    found = loops_and_parts(stages)
    if ordered:
        return found
    chosen = {identity(stage) for stage in main_loops(stages, most)}
    return [stage for stage in found if identity(stage) in chosen or parent(stage) in chosen]


def _starting(stages: Sequence[Stage]) -> list[Stage]:
    """The top level, but for the loops on it."""
    return [stage for stage in stages if len(stage.path) == 1 and stage.pace_ns is None]


def _cold(report: Report, loops: Sequence[Stage]) -> list[Stage]:
    """Where the first instances of the names that are shown as loops were, as far as they were the coldest."""
    names = {(stage.process, stage.domain, stage.name) for stage in loops}
    stages = [stage for stage in report.analysis.stages if (stage.process, stage.domain, stage.name) in names]
    cold = [stage for stage in stages if (stage.cold_start_ns or 0) > 0]
    return largest(cold, _COLDEST, lambda stage: stage.cold_start_ns or 0.0)
