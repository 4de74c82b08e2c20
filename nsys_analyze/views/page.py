"""Composes a page about one or several reports: what goes on it, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsys_analyze.metrics.results import Analysis, RankedProgram, Stage
from nsys_analyze.views import other_tables, stage_tables
from nsys_analyze.views.breakdown_table import breakdown_table
from nsys_analyze.views.document import Document, Table
from nsys_analyze.views.ranks_table import ranks_tables
from nsys_analyze.views.remarks import heading, remarks
from nsys_analyze.views.tables import Report, labelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How to lay a page out.

    ``by`` is what a row stands for: "path", "name" or "instance". ``top`` is how many rows a table may have for each
    report, and ``loops`` how many loops, 0 for any number. ``listing`` asks for one table of all stages instead of
    loops and start; ``ordered`` says that the rows come sorted, so that no tree can be drawn. ``breakdown`` adds
    where the time of each stage shown went; ``look`` names the instances to look at, of the largest
    stages of a single report. ``columns`` are those to show, in order, by their names in csv;
    none for the usual ones.
    """

    by: str = "path"
    top: int = 20
    loops: int = 5
    listing: bool = False
    ordered: bool = False
    breakdown: bool = False
    look: bool = False
    columns: Sequence[str] = ()


def compose(analyses: Sequence[Analysis], layout: Layout, ranks: Sequence[RankedProgram] = ()) -> Document:
    """Returns the page about ``analyses``, in their order; if their ``ranks`` are given, these stand for the stages."""
    reports = labelled(analyses)
    tables = _ranks(reports, layout, ranks) if ranks else _tables(reports, layout)
    if layout.by != "instance":
        tables += (
            [other_tables.devices(reports, single=layout.breakdown)] if layout.breakdown or not layout.listing else []
        )
    if not layout.listing:  # else processes may seem to be without stages that merely were not asked for
        tables.append(other_tables.programs(reports))
    return Document(
        headings=[heading(report) for report in reports],
        tables=[table for table in tables if table.groups],
        remarks=[remarks(report, several=len(reports) > 1) for report in reports],
    )


def _tables(reports: Sequence[Report], layout: Layout) -> list[Table]:
    if layout.by == "instance":
        return [other_tables.instances(reports, layout.top, layout.columns)]
    tables, shown = _stages(reports, layout) if layout.listing or layout.by == "name" else _overview(reports, layout)
    return [*tables, breakdown_table(reports, shown)] if layout.breakdown else tables


def _ranks(reports: Sequence[Report], layout: Layout, ranks: Sequence[RankedProgram]) -> list[Table]:
    several = len(reports) > 1
    return ranks_tables(ranks, loops=layout.loops, top=layout.top, listing=layout.listing, several_reports=several)


def _stages(reports: Sequence[Report], layout: Layout) -> tuple[list[Table], list[list[Stage]]]:
    """One table of all stages, and the stages in it."""
    shown = stage_tables.chosen_stages(reports, layout.top, ordered=layout.ordered)
    title = "Names" if layout.by == "name" else "Stages"
    look = layout.look and len(reports) == 1 and not layout.breakdown  # which says so too
    return [stage_tables.listing(title, reports, shown, layout.columns, ordered=layout.ordered, look=look)], shown


def _overview(reports: Sequence[Report], layout: Layout) -> tuple[list[Table], list[list[Stage]]]:
    """The tables of loops and of the top level around them, and the stages in them."""
    loops = stage_tables.chosen_loops(reports, layout.top, layout.loops, ordered=layout.ordered)
    starts = stage_tables.chosen_starts(reports, layout.top, ordered=layout.ordered)
    tables = stage_tables.loops_and_start(reports, loops, starts, layout.top, layout.columns, ordered=layout.ordered)
    return tables, [[*looping, *starting] for looping, starting in zip(loops, starts, strict=True)]
