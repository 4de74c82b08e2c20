"""The results as CSV: one row a stage or instance, one flat column a number.

Cells of text that a spreadsheet would take for a formula (they begin with ``=``, ``+``, ``-``, ``@``) get an
apostrophe in front; unprintable characters are written as visible escapes.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import types
import typing
from collections.abc import Iterator, Sequence

from nsys_analyze.metrics.results import Analysis, Instance, Stage
from nsys_analyze.views.naming import report_labels
from nsys_analyze.views.text import path_text, visible

Cell = str | int | float | None

_LEFT_OUT = ("domains", "series", "gpu_window_ns")  # lists: JSON has them
_COUNTS = ("count", "first_count", "modules")  # among times


def render(analyses: Sequence[Analysis], *, instances: bool = False) -> str:
    """Returns a header and a row for each stage, or for each instance; several reports get a column ``report``."""
    kind: type[Stage | Instance] = Instance if instances else Stage
    several, fields = len(analyses) > 1, list(_fields(kind))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*(["report"] if several else []), *header(kind)])
    for analysis, label in zip(analyses, report_labels(analyses), strict=True):
        for item in analysis.instances if instances else analysis.stages:
            cells = _cells(fields, item)
            writer.writerow([_cell(cell) for cell in ((label, *cells) if several else cells)])
    return text.getvalue()


def header(kind: type) -> list[str]:
    """Returns the names of the columns of a result type: ``wall_ns.total`` is ``wall_total_ns``."""
    names = []
    for name, inner in _fields(kind):
        names += [_flat(name, part) for part in inner] if inner else [name]
    return names


def _fields(kind: type) -> Iterator[tuple[str, list[str]]]:
    """The fields that have a column, each with the fields inside it."""
    types_of = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if field.name not in _LEFT_OUT:
            yield field.name, _inner(types_of[field.name])


def _inner(annotation: object) -> list[str]:
    options = typing.get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)
    kinds = [option for option in options if dataclasses.is_dataclass(option)]
    return [
        name for kind in kinds for name, of in typing.get_type_hints(kind).items() if typing.get_origin(of) is not dict
    ]


def _flat(name: str, part: str) -> str:
    """``startup_gap_ns`` and ``exposed_median`` make ``startup_gap_exposed_median_ns``; counts are no times."""
    stem = name.removesuffix("_ns")
    timed = stem != name and part not in _COUNTS
    return f"{stem}_{part}_ns" if timed else f"{stem}_{part}"


def _cells(fields: Sequence[tuple[str, list[str]]], item: Stage | Instance) -> list[object]:
    cells: list[object] = []
    for name, inner in fields:
        value = getattr(item, name)
        cells += [None if value is None else getattr(value, part) for part in inner] if inner else [value]
    return cells


def _cell(value: object) -> Cell:
    if isinstance(value, list):
        return _harmless(path_text([str(element) for element in value]))
    if isinstance(value, str):
        return _harmless(visible(value))
    if isinstance(value, bool):
        return str(value).lower()
    return typing.cast(Cell, value)


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
