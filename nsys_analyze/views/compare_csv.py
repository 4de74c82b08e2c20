"""A comparison as CSV: a row for each stage and side, with each figure and its ratio to the first side."""

from __future__ import annotations

from collections.abc import Iterator

from nsys_analyze.verdict.comparison import Comparison, Figure, Row, Side
from nsys_analyze.verdict.quantities import QUANTITIES, UNPROFILED, Kind
from nsys_analyze.views.csv_view import Cell, cell, write

_UNPROFILED = [quantity.name for quantity in UNPROFILED]
_NO_FIGURE = Figure(value=None, least=None, most=None, ratio=None, difference=None)


def render(comparison: Comparison) -> str:
    """Returns the header and the rows; a side that lacks a stage has empty cells and 0 runs."""
    names = [*QUANTITIES, "compile", *_UNPROFILED, "unprofiled_compile"]
    columns = [column for name in names for column in (f"{name}{_unit(name)}", f"{name}_ratio")]
    columns.insert(columns.index("compile_ratio") + 1, "compile_from")
    rows = [
        [cell(stage.path), stage.place, cell(side.label), row.runs, row.instances, *_cells(row, side)]
        for stage in comparison.stages
        for row, side in zip(stage.rows, comparison.sides, strict=True)
    ]
    return write([["stage", "process", "side", "runs", "instances", *columns], *rows])


def _unit(name: str) -> str:
    counts = name in QUANTITIES and QUANTITIES[name].kind is Kind.COUNT
    return "" if counts else "_ns"


def _cells(row: Row, side: Side) -> Iterator[Cell]:
    yield from _pairs(*(row.figures.get(name, _NO_FIGURE) for name in QUANTITIES), side.compile_ns)
    yield side.compile_from
    yield from _pairs(*(row.figures.get(name, _NO_FIGURE) for name in _UNPROFILED), side.unprofiled_compile_ns)


def _pairs(*figures: Figure) -> Iterator[Cell]:
    for figure in figures:
        yield figure.value
        yield figure.ratio
