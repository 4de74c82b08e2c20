"""A part of a report: what belongs to some stages, or what lies in a window of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.arrays import Bool, Int64
from nsys_analyze.metrics.grouping import Labels
from nsys_analyze.metrics.patterns import match_level
from nsys_analyze.timeline import BusyTime

if TYPE_CHECKING:
    from nsys_analyze.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The instants from ``start`` on and before ``end``, ns on the report's clock; None is without limit."""

    start: int | None = None
    end: int | None = None

    def overlaps(self, start: Int64, end: Int64) -> Bool:
        """Which intervals [start, end) share an instant with it; an interval without length is its start."""
        out: Bool = np.ones(len(start), bool)
        if self.start is not None:
            out &= (end > self.start) | (start >= self.start)
        if self.end is not None:
            out &= start < self.end
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Which rows of a report's tables are in it."""

    ranges: Bool
    calls: Bool
    ops: Bool


def excerpt(report: Report, patterns: Sequence[str], window: Window) -> Excerpt:
    """What belongs to the stages that any of the patterns matches (all there is, without one), within the window.

    To a stage belong its instances and the stages below; the calls that a thread began while such a range was open
    there; the operations that these ranges own, with the calls that launched them.
    """
    trace = report.trace
    chosen = _of_stages(report, patterns) if patterns else _everything(report)
    return Excerpt(
        ranges=chosen.ranges & window.overlaps(trace.ranges.start, trace.ranges.end),
        calls=chosen.calls & window.overlaps(trace.calls.start, trace.calls.end),
        ops=chosen.ops & window.overlaps(trace.ops.start, trace.ops.end),
    )


def _everything(report: Report) -> Excerpt:
    trace = report.trace
    ranges, calls, ops = (np.ones(len(table), bool) for table in (trace.ranges, trace.calls, trace.ops))
    return Excerpt(ranges=ranges, calls=calls, ops=ops)


def _of_stages(report: Report, patterns: Sequence[str]) -> Excerpt:
    trace = report.trace
    paths = (Labels(trace, report.paths).path(row, whole=True) for row in range(len(report.paths)))
    matched = [any(match_level(pattern, *path) for pattern in patterns) for path in paths]
    ranges: Bool = np.array(matched, bool)[report.instances.path]
    _, launch = report.launched.members.pairs(np.flatnonzero(ranges))
    owned = np.zeros(len(trace.launches) + 1, bool)  # the last entry answers for operations without a launch
    owned[launch] = True
    calls = _begun_inside(report, ranges)
    calls[trace.launches.call[owned[:-1]]] = True
    return Excerpt(ranges=ranges, calls=calls, ops=owned[trace.ops.launch])


def _begun_inside(report: Report, ranges: Bool) -> Bool:
    """Which calls began while one of these ranges was open on their thread."""
    calls, table = report.trace.calls, report.trace.ranges
    inside: Bool = np.zeros(len(calls), bool)
    for thread in np.unique(table.thread[ranges]).tolist():
        open_here = ranges & (table.thread == thread)
        cover = BusyTime.of(table.start[open_here], table.end[open_here])
        here = np.flatnonzero(calls.thread == thread)
        inside[here] = cover.within(calls.start[here], calls.start[here] + 1) > 0
    return inside
