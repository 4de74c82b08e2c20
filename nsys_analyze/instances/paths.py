"""Stages: the ranges of one process with the same path of folded names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import NONE, Int32, Int64
from nsys_analyze.attribution.nesting import depths
from nsys_analyze.model.tables import Ranges, Threads


@dataclass(frozen=True, slots=True)
class Paths:
    """One row a path; parents come before their children.

    ``parent`` is the row of the path without its last element (-1: it has one element), ``domain`` and ``folded``
    index the strings of Ranges, and ``depth`` counts the elements above.
    """

    parent: Int32
    process: Int32
    domain: Int32
    folded: Int32
    depth: Int32

    def __len__(self) -> int:
        return len(self.parent)

    def elements(self, row: int) -> list[int]:
        """Rows of the path's elements, outermost first."""
        found = []
        while row >= 0:
            found.append(row)
            row = int(self.parent[row])
        return found[::-1]


def find_paths(ranges: Ranges, threads: Threads, parent: Int32) -> tuple[Int32, Paths]:
    """The path of every range, and the table of paths.

    Args:
        ranges: All ranges.
        threads: Their threads.
        parent: Each range's parent, across threads.
    """
    depth = depths(parent)
    process = threads.process[ranges.thread]
    element = ranges.domain.astype(np.int64) * max(len(ranges.folded_names), 1) + ranges.folded
    elements = max(len(ranges.domain_names) * len(ranges.folded_names), 1)
    path = np.full(len(ranges), NONE, np.int32)
    by_depth = np.argsort(depth, kind="stable")
    bounds = np.append(0, np.cumsum(np.bincount(depth, minlength=1)))
    examples: list[Int64] = []
    known = 0
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        rows = by_depth[low:high]
        above = path[parent[rows]] if examples else process[rows]
        _, example, number = np.unique(
            above * np.int64(elements) + element[rows], return_index=True, return_inverse=True
        )
        path[rows] = number + known
        examples.append(rows[example])
        known += len(example)
    example = np.concatenate(examples)
    above = np.where(parent[example] >= 0, path[parent[example]], NONE)
    paths = Paths(above, process[example], ranges.domain[example], ranges.folded[example], depth[example])
    return path, paths
