"""Results as rows of a table: nested values under single names, the same for every report."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nsys_analyze.metrics.results import Instance, KernelRow, Stage

Row = Stage | Instance | KernelRow

ACTIVE_MEAN = "active_mean_ns"  # the one number of pages that is none of the results' own fields
_LEFT_OUT = ("series", "gpu_window_ns", "stalls", "names")  # lists of their own; JSON has them
_COUNTS = ("count", "first_count", "modules")  # among times


def header(kind: type) -> list[str]:
    """Names of the columns of a result type: ``wall_ns.total`` is ``wall_total_ns``, whatever the report holds."""
    names = []
    for name, inner in _fields(kind):
        names += [_flat(name, part) for part in inner] if inner else [name]
    return names


def kinds(kind: type) -> list[type]:
    """What each column holds beside None: bool, int, float, str or list."""
    hints = typing.get_type_hints(kind)
    found = []
    for name, inner in _fields(kind):
        inside = _hints_inside(hints[name])
        found += [_plain(inside[part]) for part in inner] if inner else [_plain(hints[name])]
    return found


def rows(kind: type[Row], items: Iterable[Row]) -> Iterator[list[object]]:
    """The values of the results' columns; None is "this capture cannot say"."""
    fields = _fields(kind)
    for item in items:
        cells: list[object] = []
        for name, inner in fields:
            value = getattr(item, name)
            cells += [None if value is None else getattr(value, part) for part in inner] if inner else [value]
        yield cells


def derived(kind: type[Row]) -> list[str]:
    """Names of further columns, which stand in a table only if they are asked for."""
    return [ACTIVE_MEAN] if kind is Stage else []


def finder(kind: type[Row], column: str) -> Callable[[Any], Any]:
    """Returns what finds a column's value in a result.

    Raises:
        ValueError: If there is no such column.
    """
    if column in derived(kind):
        return lambda item: getattr(item, column)
    for name, inner in _fields(kind):
        if not inner and name == column:
            return lambda item: getattr(item, name)
        for part in inner:
            if _flat(name, part) == column:
                return lambda item: getattr(getattr(item, name), part, None)
    raise ValueError(f"no column {column}")


def _fields(kind: type) -> list[tuple[str, list[str]]]:
    """The fields that have columns, each with the fields inside it."""
    types_of = typing.get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind) if field.name not in _LEFT_OUT]
    return [(name, _inner(types_of[name])) for name in names]


def _inner(annotation: object) -> list[str]:
    return [name for name, of in _hints_inside(annotation).items() if typing.get_origin(of) not in (dict, list)]


def _hints_inside(annotation: object) -> dict[str, object]:
    """The fields of the result type that an annotation allows, none if it allows none."""
    kinds = [option for option in _options(annotation) if dataclasses.is_dataclass(option)]
    return {name: of for kind in kinds for name, of in typing.get_type_hints(kind).items()}


def _options(annotation: object) -> tuple[object, ...]:
    return typing.get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)


def _plain(annotation: object) -> type:
    """``int`` for ``int | None``, ``list`` for ``list[str]``."""
    option = next(option for option in _options(annotation) if option is not type(None))
    return typing.cast(type, typing.get_origin(option) or option)


def _flat(name: str, part: str) -> str:
    """``startup_gap_ns`` and ``exposed_median`` make ``startup_gap_exposed_median_ns``; counts are no times."""
    stem = name.removesuffix("_ns")
    timed = stem != name and part not in _COUNTS
    return f"{stem}_{part.removesuffix('_ns')}_ns" if timed or part.endswith("_ns") else f"{stem}_{part}"
