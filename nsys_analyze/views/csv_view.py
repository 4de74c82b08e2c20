"""The results as CSV: one row a stage, an instance or a stage over ranks, one flat column a number.

Cells of text that a spreadsheet would take for a formula (they begin with ``=``, ``+``, ``-``, ``@``) get an
apostrophe in front; unprintable characters are written as visible escapes.
"""

from __future__ import annotations

import csv
import io
import typing
from collections.abc import Iterable, Sequence

from nsys_analyze.views.flat_rows import FlatRows
from nsys_analyze.views.text import path_text, visible

Cell = str | int | float | None


def render(table: FlatRows) -> str:
    """Returns the table's header and rows as CSV."""
    return write([table.header, *([cell(value) for value in values] for values in table.rows)])


def write(rows: Iterable[Sequence[Cell]]) -> str:
    """Returns rows of cells as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


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
