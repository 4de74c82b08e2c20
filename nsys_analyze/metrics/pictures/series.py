"""Instances one after the other: elapsed time and startup gap, the first instance and stalls apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nsys_analyze.metrics.results import Series, Stage

_MOST_POINTS = 1_000
_LOG_FROM = 10  # largest over median from which a linear axis would flatten the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Values by index of the instance. Where one point stands for several, ``low`` and ``high`` are their extremes."""

    index: list[float]
    low: list[float]
    median: list[float]
    high: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class StallMark:
    """An instance far above its siblings, and the part of its time that grew most ("" where none is known)."""

    index: int
    elapsed: int
    excess: float
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceSeries:
    """One stage's instances, ns. ``elapsed`` leaves out the first one, whose time is ``first``.

    ``gap`` and ``exposed`` hold the instances with work on a GPU; ``others_median`` is the median of ``elapsed``.
    """

    instances: int
    first: int
    others_median: float | None
    elapsed: Curve
    gap: Curve
    exposed: Curve
    stalls: list[StallMark]

    @property
    def first_is_far(self) -> bool:
        """Whether the first instance would flatten the others."""
        return bool(self.others_median) and self.first > 2 * max(self.elapsed.high)

    @property
    def needs_log(self) -> bool:
        """Whether a few instances would flatten the rest on a linear axis."""
        return bool(self.others_median) and max(self.elapsed.high) > _LOG_FROM * (self.others_median or 0)


def instance_series(stage: Stage) -> InstanceSeries | None:
    """Returns the stage's instances in order of start, None where there are too many for it to be known."""
    series = stage.series
    if series is None or not series.elapsed_ns:
        return None
    others = range(1, len(series.elapsed_ns))
    return InstanceSeries(
        instances=len(series.elapsed_ns),
        first=series.elapsed_ns[0],
        others_median=float(np.median(series.elapsed_ns[1:])) if others else None,
        elapsed=_curve(others, series.elapsed_ns[1:]),
        gap=_curve(range(len(series.gap_ns)), series.gap_ns),
        exposed=_curve(range(len(series.exposed_ns)), series.exposed_ns),
        stalls=_stalls(stage, series),
    )


def _stalls(stage: Stage, series: Series) -> list[StallMark]:
    place = {start: index for index, start in reversed(list(enumerate(series.start_ns)))}
    return [
        StallMark(
            index=place[stall.start_ns],
            elapsed=stall.elapsed_ns,
            excess=stall.excess_ns,
            cause=next(iter(stall.filled_ns), ""),
        )
        for stall in stage.stalls
    ]


def _curve(index: Sequence[int], values: Sequence[int | None]) -> Curve:
    """The values that are known, as at most a thousand points."""
    known = [(at, value) for at, value in zip(index, values, strict=True) if value is not None]
    where = np.array([at for at, _ in known], np.float64)
    value = np.array([value for _, value in known], np.float64)
    pieces = np.array_split(np.arange(len(known)), min(len(known), _MOST_POINTS) or 1) if known else []
    return Curve(
        index=[float(where[piece].mean()) for piece in pieces],
        low=[float(value[piece].min()) for piece in pieces],
        median=[float(np.median(value[piece])) for piece in pieces],
        high=[float(value[piece].max()) for piece in pieces],
    )
