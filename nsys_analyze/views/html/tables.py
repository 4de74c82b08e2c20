"""Plain tables of the page: loops beside each other, and those that a page in the terminal has as well."""

from __future__ import annotations

from collections.abc import Sequence

from nsys_analyze.metrics.results import Stage
from nsys_analyze.views.columns import STAGE
from nsys_analyze.views.document import Table
from nsys_analyze.views.html import names, numbers
from nsys_analyze.views.html.content import FlatRow, FlatTable
from nsys_analyze.views.naming import flat_names
from nsys_analyze.views.tables import Report

_LOOP = ("n", "pace", "overhead", "active", "kernels", "us-per-kernel", "gap", "exposed", "compile", "cold-start")


def loops_table(reports: Sequence[Report], loops: Sequence[Sequence[Stage]]) -> FlatTable | None:
    """Returns the loops of all reports in one table, None if there are none."""
    stages = [stage for group in loops for stage in group]
    if not stages:
        return None
    headers, lines = numbers.measured([STAGE[name] for name in _LOOP], stages)
    cells = iter(lines)
    several, processes = len(reports) > 1, any(report.processes for report in reports)
    rows = []
    for report, group in zip(reports, loops, strict=True):
        for stage, name in zip(group, flat_names(group), strict=True):
            texts = [*([report.label] if several else []), *([report.process(stage.process)] if processes else [])]
            rows.append(
                FlatRow(
                    name=names.short(name.full),
                    full=names.full(name.full),
                    level=0,
                    texts=texts,
                    cells=next(cells),
                    marks=[False] * len(headers),
                )
            )
    titles = [*(["report"] if several else []), *(["process"] if processes else [])]
    return FlatTable(title="Loops", texts=titles, headers=headers, groups=[("", rows)])


def flat_table(table: Table) -> FlatTable:
    """Returns a table of a page as it stands there."""
    headers, lines = numbers.written(table.columns, len(table.rows))
    processes = any(row.process for row in table.rows)
    cells = iter(enumerate(lines))
    groups = []
    for group in table.groups:
        rows = []
        for row in group.rows:
            place, line = next(cells)
            rows.append(
                FlatRow(
                    name=names.short(row.name.text),
                    full=names.full(row.name.full) or (row.name.full if row.name.full != row.name.text else ""),
                    level=row.name.indent,
                    texts=[row.process] if processes else [],
                    cells=line,
                    marks=[bool(column.marks) and column.marks[place] for column in table.columns],
                    remarks=["; ".join(remark) for remark in row.remarks],
                )
            )
        groups.append((group.heading, rows))
    return FlatTable(
        title=table.title,
        texts=["process"] if processes else [],
        headers=headers,
        groups=groups,
        footer=table.footer,
        sortable=False,
    )
