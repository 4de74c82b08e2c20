"""A sweep: how several executors compare with one of them while a parameter grows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeVar

from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.results import Stage

T = TypeVar("T")

_SWEPT = re.compile(r"(?P<executor>.+?)[_.,-](?P<parameter>[A-Za-z][A-Za-z0-9_]*?)=(?P<value>\d+(?:\.\d+)?)")
_SUFFIXES = (".xz", ".sqlite", ".nsys-rep")


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """The time at one value of the parameter, ns, and what multiple of the baseline's it is."""

    value: float
    time: float
    ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepLine:
    """One executor. ``left_out`` are values of the parameter at which it or the baseline has no time."""

    executor: str
    points: list[SweepPoint]
    left_out: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One line an executor, the baseline's own among them."""

    baseline: str
    lines: list[SweepLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a report's file name says of it."""

    executor: str
    parameter: str
    value: float


def swept(file: str) -> Swept:
    """Returns what ``EXECUTOR_PARAMETER=NUMBER.sqlite`` says.

    The last ``key=number`` of the name is the parameter, what comes before it the executor; ``_``, ``-``, ``.`` or
    ``,`` stand between them.

    Raises:
        UsageError: If the name says nothing of the sort.
    """
    name = PurePath(file).name
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    match = _SWEPT.fullmatch(name)
    if match is None:
        raise UsageError(f"{PurePath(file).name}: --plot sweep wants names such as eager_batch=4.sqlite")
    return Swept(executor=match["executor"], parameter=match["parameter"], value=float(match["value"]))


def by_executor(names: Sequence[Swept], results: Sequence[T]) -> tuple[str, dict[str, dict[float, T]]]:
    """Returns the parameter that all names have, and the results by executor and value.

    Raises:
        UsageError: If names differ in the parameter, or two of them say the same.
    """
    parameters = list(dict.fromkeys(name.parameter for name in names))
    if len(parameters) != 1:
        raise UsageError(f"--plot sweep is over one parameter; the files' names have {', '.join(parameters)}")
    found: dict[str, dict[float, T]] = {}
    for name, result in zip(names, results, strict=True):
        by_value = found.setdefault(name.executor, {})
        if name.value in by_value:
            raise UsageError(f"{name.executor} with {name.parameter}={name.value:g}: two files have this name")
        by_value[name.value] = result
    return parameters[0], found


def loop_time(stage: Stage) -> float | None:
    """Returns what an instance takes: the stage's pace, else its median elapsed time; ns."""
    return stage.elapsed_ns.median if stage.pace_ns is None else stage.pace_ns


def sweep(times: Mapping[str, Mapping[float, float | None]], baseline: str | None = None) -> Sweep:
    """Returns each executor's times as multiples of the baseline's at the same value of the parameter.

    Args:
        times: Times in ns by executor and value; None where it is not known.
        baseline: The executor to compare with, or the first.

    Raises:
        UsageError: If there is no such executor.
    """
    chosen = next(iter(times), "") if baseline is None else baseline
    if times and chosen not in times:
        raise UsageError(f"baseline {chosen!r}: no such executor; there are: {', '.join(times)}")
    values = sorted({value for by_value in times.values() for value in by_value})
    lines = [_line(executor, by_value, times[chosen], values) for executor, by_value in times.items()]
    return Sweep(baseline=chosen, lines=lines)


def _line(
    executor: str, times: Mapping[float, float | None], base: Mapping[float, float | None], values: Sequence[float]
) -> SweepLine:
    points, left_out = [], []
    for value in values:
        time, other = times.get(value), base.get(value)
        if time is None or not other:
            left_out.append(value)
        else:
            points.append(SweepPoint(value=value, time=time, ratio=time / other))
    return SweepLine(executor=executor, points=points, left_out=left_out)
