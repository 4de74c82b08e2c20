"""Columns by their names: one vocabulary for tables that people read and for those that programs read.

A column is called as in the header of csv. Those that pages usually show have a short name, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from nsys_analyze.metrics import flat
from nsys_analyze.metrics.results import Instance, Stage
from nsys_analyze.views import units
from nsys_analyze.views.columns import INSTANCE, STAGE, Measure
from nsys_analyze.views.units import Number

Row = TypeVar("Row", Stage, Instance)

_SHORT: dict[type, dict[str, str]] = {
    Stage: {
        "n": "instances",
        "wall": "wall_total_ns",
        "pace": "pace_ns",
        "elapsed": "elapsed_mean_ns",
        "overhead": "cpu_overhead_ns",
        "active": flat.ACTIVE_MEAN,
        "kernels-per-instance": "kernels_per_instance_median",
        "us-per-kernel": "overhead_per_kernel_ns",
        "gap": "startup_gap_median_ns",
        "exposed": "startup_gap_exposed_median_ns",
        "launch-call": "launch_call_median_ns",
        "queue-delay": "queue_delay_median_ns",
        "compile": "compile_total_ns",
        "cold": "cold_start_ns",
    },
    Instance: {
        "n": "index",
        "start": "start_ns",
        "wall": "wall_ns",
        "elapsed": "elapsed_ns",
        "active": "active_ns",
        "gap": "startup_gap_ns",
        "prelude": "prelude_ns",
        "launch": "launch_ns",
        "queue": "queue_ns",
        "exposed": "exposed_ns",
    },
}
_SHOWN_AS = {"kernels-per-instance": "kernels", "cold": "cold-start"}  # what else pages call a column
_OF_THE_NAME = ("path", "name")  # what the first column of a page says


def short_names(kind: type[Stage] | type[Instance]) -> dict[str, str]:
    """Returns the column that each short name stands for."""
    return _SHORT[kind]


def column_names(kind: type[Stage] | type[Instance]) -> list[str]:
    """Returns what columns may be called in full."""
    return [*flat.header(kind), *flat.derived(kind)]


def numbers(kind: type[Stage] | type[Instance], names: Sequence[str]) -> list[str]:
    """Returns those of the columns that hold numbers, which is what a page has room for beside the name of a row."""
    kinds = dict(zip(flat.header(kind), flat.kinds(kind), strict=True))
    return [name for name in names if kinds.get(name, float) in (int, float)]


def texts(kind: type[Stage] | type[Instance], names: Sequence[str]) -> list[str]:
    """Returns those that a page cannot show at all."""
    kept = numbers(kind, names)
    return [name for name in names if name not in kept and name not in _OF_THE_NAME]


def measures(kind: type[Row], names: Sequence[str]) -> list[Measure[Row]]:
    """Returns columns of numbers by their full names, titled as pages title them where they do."""
    usual: dict[str, Measure[Any]] = STAGE if kind is Stage else INSTANCE
    titled = {column: usual[_SHOWN_AS.get(short, short)] for short, column in _SHORT[kind].items()}
    return [titled.get(name) or _plain(kind, name) for name in names]


def _plain(kind: type[Row], name: str) -> Measure[Row]:
    """A column that pages have no title for: its name in words."""
    find = flat.finder(kind, name)
    title = "kernels in all" if (kind, name) == (Stage, "kernels") else name.removesuffix("_ns").replace("_", " ")
    return Measure(title=title, get=find, write=_writer(name))


@cache
def _writer(name: str) -> Callable[[Sequence[float | None]], list[Number | None]]:
    if name.endswith("start_ns"):
        return units.instants
    if name.endswith("_ns"):
        return units.durations
    return _numerals if name in ("process", "thread") else units.counts


def _numerals(values: Sequence[float | None]) -> list[Number | None]:
    """Numbers that count nothing, as digits."""
    return [None if value is None else Number(str(int(value))) for value in values]
