"""Turns labelled items into tables, whatever the items are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from nsys_analyze.metrics.results import Analysis
from nsys_analyze.views.columns import Measure, columns
from nsys_analyze.views.document import Group, Row, Table
from nsys_analyze.views.naming import process_labels, report_labels

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Report:
    """An analysis with what its rows need: the report's label and its processes' labels, where they must be named."""

    analysis: Analysis
    label: str
    processes: dict[int, str]

    def process(self, pid: int) -> str:
        """Returns the label of a process, empty where the report has one process only."""
        return self.processes.get(pid, "")


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """An item and the start of its row."""

    item: T
    row: Row


def labelled(analyses: Sequence[Analysis]) -> list[Report]:
    """Returns the analyses with their labels."""
    return [
        Report(analysis, label, process_labels(analysis))
        for analysis, label in zip(analyses, report_labels(analyses), strict=True)
    ]


def table(
    title: str,
    reports: Sequence[Report],
    entries: Sequence[Sequence[Entry[T]]],
    measures: Sequence[Measure[T]],
    footer: Sequence[str] = (),
) -> Table:
    """Returns the table of the reports' entries, a group of rows for each report that has any."""
    several = len(reports) > 1
    return Table(
        title=title,
        groups=[
            Group(heading=report.label if several else "", rows=[entry.row for entry in group])
            for report, group in zip(reports, entries, strict=True)
            if group
        ],
        columns=columns(measures, [entry.item for group in entries for entry in group]),
        footer=footer,
    )


def left_out(total: int, shown: int, what: str, option: str) -> list[str]:
    """Returns the line that says how many rows are missing and which option shows them; nothing if none are."""
    missing = total - shown
    return [f"{missing:,} more {what}{'' if missing == 1 else 's'}: {option}"] if missing else []
