"""Columns of numbers as cells: padded so that they align on the decimal point, with their exact values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from nsys_analyze.views import units
from nsys_analyze.views.columns import Measure, columns
from nsys_analyze.views.document import Column
from nsys_analyze.views.glossary import meaning
from nsys_analyze.views.html.content import Cell, Header
from nsys_analyze.views.units import Number

T = TypeVar("T")

_DIGIT, _POINT = "\u2007", "\u2008"  # spaces as wide as a digit and as a point
_EXACT = {units.counts: "", units.shares: ""}  # what is no time
BLANK = Cell()


def measured(measures: Sequence[Measure[T]], items: Sequence[T]) -> tuple[list[Header], list[list[Cell]]]:
    """Returns the columns that at least one item has a number for, and each item's cells."""
    kept = [measure for measure in measures if any(measure.get(item) is not None for item in items)]
    found = columns(kept, items)
    cells = [_cells(column, [measure.get(item) for item in items]) for column, measure in zip(found, kept, strict=True)]
    headers = [
        replace(_header(column, of_column, "" if measure.write in _EXACT else "ns"), of=measure.of)
        for column, of_column, measure in zip(found, cells, kept, strict=True)
    ]
    return headers, [list(row) for row in zip(*cells, strict=True)] if cells else [[] for _ in items]


def written(found: Sequence[Column], rows: int) -> tuple[list[Header], list[list[Cell]]]:
    """Returns columns that are written already; their exact values are not known."""
    cells = [_cells(column, [None] * rows) for column in found]
    headers = [_header(column, of_column, "") for column, of_column in zip(found, cells, strict=True)]
    return headers, [list(row) for row in zip(*cells, strict=True)] if cells else [[] for _ in range(rows)]


def _header(column: Column, cells: Sequence[Cell], exact: str) -> Header:
    longest = max((len(f"{cell.text}{cell.unit and ' '}{cell.unit}{cell.remark}") for cell in cells), default=0)
    return Header(
        title=column.title,
        meaning=meaning(column.title),
        exact=exact,
        width=max(longest, max(len(word) for word in column.title.split()) + 2) if column.title else longest,
        strong=column.emphasis,
    )


def _cells(column: Column, values: Sequence[float | None]) -> list[Cell]:
    units_used = {number.unit for number in column.cells if number and number.unit and number.unit[0] != "("}
    aligned = [number for number in column.cells if number] if len(units_used) <= 1 else []
    longest = max((len(number.fraction) for number in aligned), default=0)
    return [_cell(number, value, longest) for number, value in zip(column.cells, values, strict=True)]


def _cell(number: Number | None, value: float | None, longest: int) -> Cell:
    if number is None:
        return Cell(text="-")
    if not number.whole:
        return BLANK
    missing = longest - len(number.fraction)
    pad = "" if missing <= 0 else (_POINT if not number.fraction else _DIGIT) + _DIGIT * (missing - 1)
    is_unit = not number.unit.startswith("(")
    return Cell(
        text=f"{number.whole}{number.fraction}{pad}",
        unit=number.unit if is_unit else "",
        value="" if value is None else f"{value:.15g}",
        remark="" if is_unit else number.unit,
    )
