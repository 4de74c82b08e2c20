"""Instances to look at: the one that stands for a stage, and the one that took longest."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import Int64
from nsys_analyze.metrics.results import NamedInstance
from nsys_analyze.model.tables import Ranges


def median_and_worst(rows: Int64, ranges: Ranges, elapsed: Int64) -> tuple[NamedInstance, NamedInstance] | None:
    """The finished instance whose elapsed time is nearest to the median, and the longest; the earliest where some tie.

    Args:
        rows: The stage's instances, by start.
        ranges: All ranges.
        elapsed: Elapsed time of every range, ns.

    Returns:
        None for fewer than two finished instances.
    """
    index = np.flatnonzero(ranges.finished[rows])
    if len(index) < 2:
        return None
    taken = elapsed[rows[index]]
    middle, worst = np.argmin(np.abs(taken - np.median(taken))), np.argmax(taken)
    return _named(int(index[middle]), rows, ranges, elapsed), _named(int(index[worst]), rows, ranges, elapsed)


def _named(index: int, rows: Int64, ranges: Ranges, elapsed: Int64) -> NamedInstance:
    row = rows[index]
    return NamedInstance(
        index=index,
        name=ranges.names[ranges.name[row]],
        start_ns=int(ranges.start[row]),
        elapsed_ns=int(elapsed[row]),
    )
