"""The results as CSV: one row a stage, an instance or a stage over ranks, one flat column a number.

Cells of text that a spreadsheet would take for a formula (they begin with ``=``, ``+``, ``-``, ``@``) get an
apostrophe in front; unprintable characters are written as visible escapes.
"""

from __future__ import annotations

import csv
import io
import typing
from collections.abc import Iterable, Sequence

from nsys_analyze.metrics import flat_ranks
from nsys_analyze.metrics.flat import header, rows
from nsys_analyze.metrics.results import Analysis, Instance, KernelAnalysis, KernelRow, RankedProgram, Stage
from nsys_analyze.views.naming import report_labels
from nsys_analyze.views.text import path_text, visible

Cell = str | int | float | None

_LEFT_OUT = "domains"  # the names in front of them say enough


def render(analyses: Sequence[Analysis], *, instances: bool = False) -> str:
    """Returns a header and a row for each stage, or for each instance; several reports get a column ``report``."""
    kind: type[Stage | Instance] = Instance if instances else Stage
    columns = header(kind)
    kept = [at for at, name in enumerate(columns) if name != _LEFT_OUT]
    groups = [
        [[values[at] for at in kept] for values in rows(kind, each.instances if instances else each.stages)]
        for each in analyses
    ]
    return _of_reports([columns[at] for at in kept], groups, report_labels(analyses))


def render_kernels(kernels: Sequence[KernelAnalysis]) -> str:
    """Returns a header and a row for each kernel, label or operation of each stage; several reports likewise."""
    groups = [
        [
            [stage.path, stage.process, stage.instances, *values]
            for stage in each.stages
            for values in rows(KernelRow, stage.rows)
        ]
        for each in kernels
    ]
    return _of_reports(["stage", "process", "instances", *header(KernelRow)], groups, report_labels(kernels))


def _of_reports(columns: Sequence[str], groups: Sequence[Sequence[Sequence[object]]], labels: Sequence[str]) -> str:
    """The rows of each report; with a column ``report`` where there are several."""
    several = len(groups) > 1
    table: list[list[Cell]] = [[*(["report"] if several else []), *columns]]
    for found, label in zip(groups, labels, strict=True):
        table += [[cell(value) for value in ((label, *values) if several else values)] for values in found]
    return write(table)


def write(rows: Iterable[Sequence[Cell]]) -> str:
    """Returns rows of cells as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def render_ranks(programs: Sequence[RankedProgram]) -> str:
    """Returns a header and a row for each stage of the ranks of each program."""
    return write([flat_ranks.header(), *([cell(value) for value in values] for values in flat_ranks.rows(programs))])


def cell(value: object) -> Cell:
    """Returns a value as a cell that is safe to open in a spreadsheet; a path is written as people read it."""
    if isinstance(value, list):
        return _harmless(path_text([str(element) for element in value]))
    if isinstance(value, str):
        return _harmless(visible(value))
    if isinstance(value, bool):
        return str(value).lower()
    return typing.cast(Cell, value)


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
