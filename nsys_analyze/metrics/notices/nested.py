"""Ranges that overlap their siblings, and ranges that nest ever deeper since nobody pops them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.arrays import Int32, Int64
from nsys_analyze.metrics.notices.rows import OfStages, Rows
from nsys_analyze.metrics.results import Notice

if TYPE_CHECKING:
    from nsys_analyze.instances import Paths
    from nsys_analyze.report import Report

_MOST_LEVELS = 10  # of a name within itself

_OVERLAPPING = OfStages(
    code="overlapping-instances",
    each="instance[|s] of {stage} [overlaps another|overlap others] in time, so that they have no pace",
    all="instance[|s] of {stages} stages ({names}) overlap others in time, so that they have no pace",
    level="note",
)
_GROWING = OfStages(
    code="growing-nesting",
    each="range[|s] of {stage} nest ever deeper in one another, as if nobody popped them",
    all="range[|s] of {stages} stages ({names}) nest ever deeper in one another, as if nobody popped them",
)


def notices(report: Report, rows: Rows) -> Iterator[Notice]:
    """Stages whose instances overlap, and stages whose ranges are never popped."""
    overlapping = zip(rows.stages, rows.overlapping, strict=True)
    yield from _OVERLAPPING.notices([(stage, count) for stage, count in overlapping if count], rows.stages)
    key_levels = [(rows.key_of_range[outermost], levels) for outermost, levels in _growing(report)]
    levels_of = dict(sorted(key_levels, key=lambda pair: pair[1]))
    growing = [(stage, levels_of[stage.key]) for stage in rows.stages if stage.key in levels_of]
    yield from _GROWING.notices(growing, rows.stages)


def _growing(report: Report) -> Iterator[tuple[int, int]]:
    """The outermost range of each pile of a name within itself that only grew, and how many levels it has.

    A pile grows where no range of the name lies less deep in its like than one that began before it: a recursion that
    returns and is called again does.
    """
    ranges, paths = report.trace.ranges, report.paths
    level = _levels(paths)
    deep = np.flatnonzero(level > _MOST_LEVELS)
    if not len(deep):
        return
    piled = np.unique(np.stack([paths.domain[deep], paths.folded[deep]]), axis=1)
    level_of_range = level[report.instances.path]
    for domain, folded in piled.T.tolist():
        named = np.flatnonzero((ranges.domain == domain) & (ranges.folded == folded))
        for thread in np.unique(ranges.thread[named]).tolist():
            mine = named[ranges.thread[named] == thread]  # by start, the outer one of two first
            depth = level_of_range[mine]
            if depth.max() > _MOST_LEVELS and _never_less(depth):
                yield int(mine[0]), int(depth.max())


def _never_less(depth: Int64) -> bool:
    return bool(np.all(np.diff(depth) >= 0))


def _levels(paths: Paths) -> Int64:
    """How many elements of each path, the last one included, are like its last."""
    level = np.ones(len(paths), np.int64)
    above: Int32 = paths.parent
    rows = np.flatnonzero(above >= 0)
    while len(rows):
        outer = above[rows]
        level[rows] += (paths.domain[outer] == paths.domain[rows]) & (paths.folded[outer] == paths.folded[rows])
        above = np.where(above >= 0, paths.parent[above], above)
        rows = np.flatnonzero(above >= 0)
    return level
