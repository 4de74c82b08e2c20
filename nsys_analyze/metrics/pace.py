"""Pace: the time from one instance of a loop to the next, as events around the loop would measure it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import AnyInt, Bool, Int64
from nsys_analyze.instances import Instances
from nsys_analyze.model.tables import Ranges
from nsys_analyze.percentiles import Float64


@dataclass(frozen=True, slots=True)
class Pace:
    """Per group: ``pace`` in ns (NaN: not a loop, or its instances overlap) and how many instances ``overlap``."""

    pace: Float64
    overlap: Int64


def pace(instances: Instances, ranges: Ranges, group: AnyInt, groups: int) -> Pace:
    """Sum of (last completion - first start) over the loops of each group, divided by their instances.

    A loop is the instances of a group under one parent instance (or on one thread, without a parent) if there are at
    least two. Instances that never ended are left out. Instances that overlap in time run side by side, so that no pace
    follows from them.
    """
    rows = np.flatnonzero(ranges.finished)
    parent = instances.parent[rows].astype(np.int64)
    owner = np.where(parent >= 0, parent, -1 - ranges.thread[rows].astype(np.int64))
    order = np.lexsort((ranges.row[rows], -ranges.end[rows], ranges.start[rows], owner, group[rows]))
    rows, owner = rows[order], owner[order]
    row_group = group[rows].astype(np.int64)
    opens: Bool = np.append(True, (row_group[1:] != row_group[:-1]) | (owner[1:] != owner[:-1]))[: len(rows)]
    first = np.flatnonzero(opens)
    count = np.diff(np.append(first, len(rows)))
    last_completion = np.maximum.reduceat(instances.completion[rows], first) if len(first) else first
    loops = count >= 2
    loop_group = row_group[first[loops]]
    time = np.bincount(loop_group, (last_completion - ranges.start[rows[first]])[loops], groups)
    number = np.bincount(loop_group, count[loops], groups)
    overlap = np.bincount(row_group[1:][_overlaps(ranges, rows, opens)], minlength=groups)
    value = np.divide(time, number, out=np.full(groups, np.nan), where=(number > 0) & (overlap == 0))
    return Pace(value, overlap)


def _overlaps(ranges: Ranges, rows: Int64, opens: Bool) -> Bool:
    """Whether each instance but the first begins before the one before it, in the same loop, has ended."""
    out: Bool = ~opens[1:] & (ranges.end[rows[:-1]] > ranges.start[rows[1:]])
    return out
