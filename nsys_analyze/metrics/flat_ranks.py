"""Stages over ranks as rows of a table: each spread under names of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from nsys_analyze.metrics.quantities import QUANTITIES, Kind
from nsys_analyze.metrics.results import RankedProgram, RankedStage, Spread, StartSkew

_SPREAD = tuple(field.name for field in dataclasses.fields(Spread))
_SKEW = tuple(field.name for field in dataclasses.fields(StartSkew))
_TIMES = ("min", "median", "max", "first")
_FIRST = ("program", "path", "ranks", "ranks_in_all")
_CLOCK = "start_skew_clock"


def header() -> list[str]:
    """Names of the columns: ``pace_median_ns``, ``pace_max_rank``, ``kernels_max``, ``start_skew_first_ns``."""
    totals = [*_names("instances", _SPREAD, ""), *_names("wall_total", _SPREAD), *_names("active_total", _SPREAD)]
    quantities = [
        column
        for name, quantity in QUANTITIES.items()
        for column in _names(name, _SPREAD, "" if quantity.kind is Kind.COUNT else "_ns")
    ]
    return [*_FIRST, *totals, *quantities, *_names("start_skew", _SKEW), _CLOCK]


def kinds() -> list[type]:
    """What each column holds beside None: numbers, but for the program's name, the path and the clock."""
    named: dict[str, type] = {"program": str, "path": list, _CLOCK: str}
    whole = ("ranks", "ranks_in_all", "start_skew_instances", "start_skew_first_ns", "start_skew_max_ns")
    return [named.get(name, int if name in whole or name.endswith(("_rank", "_count")) else float) for name in header()]


def rows(programs: Sequence[RankedProgram]) -> Iterator[list[object]]:
    """The values of each stage's columns; None is "this capture cannot say"."""
    for program in programs:
        for stage in program.stages:
            clock = program.clock.by if program.clock and stage.start_skew_ns else None
            yield [program.program, stage.path, len(stage.ranks), len(program.ranks), *_values(stage), clock]


def _values(stage: RankedStage) -> Iterator[object]:
    for spread in (stage.instances, stage.wall_total_ns, stage.active_total_ns, *stage.quantities.values()):
        yield from (getattr(spread, name, None) for name in _SPREAD)
    yield from (getattr(stage.start_skew_ns, name, None) for name in _SKEW)


def _names(stem: str, parts: Sequence[str], unit: str = "_ns") -> list[str]:
    return [f"{stem}_{part}{unit if part in _TIMES else ''}" for part in parts]
