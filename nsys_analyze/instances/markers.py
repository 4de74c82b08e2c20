"""Ranges inside ranges: each costs its stage the time of two calls."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import Int32, Int64
from nsys_analyze.model.tables import Ranges

SHORTEST = 2_000  # ns: below, a range takes longer to record than what it marks is worth


def ranges_inside(ranges: Ranges, parent: Int32, depth: Int32) -> tuple[Int64, Int64]:
    """How many ranges lie inside each, at any depth, and how many of these are shorter than SHORTEST.

    Args:
        ranges: All ranges.
        parent: Parent of each, across threads.
        depth: Number of ancestors of each.
    """
    inside, short = np.zeros(len(ranges), np.int64), np.zeros(len(ranges), np.int64)
    is_short = (ranges.end - ranges.start < SHORTEST).astype(np.int64)
    by_depth = np.argsort(depth, kind="stable")
    bounds = np.append(0, np.cumsum(np.bincount(depth, minlength=1)))
    for level in range(len(bounds) - 2, 0, -1):
        rows = by_depth[bounds[level] : bounds[level + 1]]
        np.add.at(inside, parent[rows], inside[rows] + 1)
        np.add.at(short, parent[rows], short[rows] + is_short[rows])
    return inside, short
