"""How long kernel launch calls took: histograms over logarithmic bins, first launches apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.arrays import Int64
from nsys_analyze.metrics.pictures.stage_rows import stage_rows
from nsys_analyze.metrics.results import Stage
from nsys_analyze.percentiles import Groups

if TYPE_CHECKING:
    from nsys_analyze.report import Report

BINS_A_DECADE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Calls of a stage by duration. ``counts[i]`` and ``first_counts[i]`` are those in ``[edges[i], edges[i + 1])``.

    ``edges`` (ns) are the same for all histograms drawn together. Percentiles are those of the calls, not of the bins;
    None where there is no such call.
    """

    edges: list[float]
    counts: list[int]
    first_counts: list[int]
    median: float | None
    p95: float | None
    first_median: float | None

    @property
    def calls(self) -> int:
        """Launches but for each function's first."""
        return sum(self.counts)

    @property
    def first_calls(self) -> int:
        """First launches of a function."""
        return sum(self.first_counts)


def launch_times(chosen: Sequence[tuple[Report, Stage]]) -> list[Histogram]:
    """Returns a histogram for each stage, in whose report it is looked up."""
    durations = [_durations(report, stage) for report, stage in chosen]
    edges = _edges(np.concatenate([np.zeros(0, np.int64), *(part for pair in durations for part in pair)]))
    return [_histogram(usual, firsts, edges) for usual, firsts in durations]


def _durations(report: Report, stage: Stage) -> tuple[Int64, Int64]:
    """Durations of the stage's kernel launches: the usual ones, and each function's first."""
    launches = report.trace.launches
    _, launch = report.launched.members.pairs(stage_rows(report, stage))
    duration = launches.end[launch] - launches.start[launch]
    first = launches.first_of_function[launch]
    return duration[launches.launches_kernel[launch] & ~first], duration[first]


def _edges(durations: Int64) -> list[float]:
    """Ten bins a decade around all durations, those of 0 ns counted as 1 ns."""
    if not len(durations):
        return [1.0, 10.0]
    low = np.floor(np.log10(max(int(durations.min()), 1)) * BINS_A_DECADE)
    high = np.floor(np.log10(max(int(durations.max()), 1)) * BINS_A_DECADE) + 1
    return [float(10 ** (step / BINS_A_DECADE)) for step in np.arange(low, high + 1)]


def _histogram(usual: Int64, firsts: Int64, edges: list[float]) -> Histogram:
    median, p95 = _percentiles(usual)
    return Histogram(
        edges=edges,
        counts=_counts(usual, edges),
        first_counts=_counts(firsts, edges),
        median=median,
        p95=p95,
        first_median=_percentiles(firsts)[0],
    )


def _counts(durations: Int64, edges: list[float]) -> list[int]:
    place = np.searchsorted(edges, np.maximum(durations, 1), side="right") - 1
    counts: list[int] = np.bincount(np.clip(place, 0, len(edges) - 2), minlength=len(edges) - 1).tolist()
    return counts


def _percentiles(durations: Int64) -> tuple[float | None, float | None]:
    """Median and 95th percentile, as call statistics have them."""
    if not len(durations):
        return None, None
    median, p95 = Groups.of(np.zeros(len(durations), np.int64), durations, 1).percentiles((50, 95))
    return float(median[0]), float(p95[0])
