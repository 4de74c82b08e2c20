"""Composes a page about one or several reports: what goes on it, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsys_analyze.metrics.results import Analysis
from nsys_analyze.views import other_tables, stage_tables
from nsys_analyze.views.document import Document, Table
from nsys_analyze.views.remarks import heading, remarks
from nsys_analyze.views.tables import Report, labelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How to lay a page out.

    ``by`` is what a row stands for: "path", "name" or "instance". ``top`` is how many rows a table may have for each
    report, and ``loops`` how many loops, 0 for any number. ``listing`` asks for one table of all stages instead of
    loops and start; ``ordered`` says that the rows come sorted, so that no tree can be drawn.
    """

    by: str = "path"
    top: int = 20
    loops: int = 5
    listing: bool = False
    ordered: bool = False


def compose(analyses: Sequence[Analysis], layout: Layout) -> Document:
    """Returns the page about ``analyses``, in their order."""
    reports = labelled(analyses)
    tables = _tables(reports, layout)
    if not layout.listing:  # else processes may seem to be without stages that merely were not asked for
        tables.append(other_tables.programs(reports))
    return Document(
        headings=[heading(report) for report in reports],
        tables=[table for table in tables if table.groups],
        remarks=[remarks(report, several=len(reports) > 1) for report in reports],
    )


def _tables(reports: Sequence[Report], layout: Layout) -> list[Table]:
    if layout.by == "instance":
        return [other_tables.instances(reports, layout.top)]
    if layout.by == "name":
        return [stage_tables.listing("Names", reports, layout.top, ordered=layout.ordered)]
    if layout.listing:
        return [stage_tables.listing("Stages", reports, layout.top, ordered=layout.ordered)]
    return stage_tables.loops_and_start(reports, layout.top, layout.loops, ordered=layout.ordered)
