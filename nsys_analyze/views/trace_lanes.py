"""Slices on tracks: a track shows slices that nest or are apart, so those that cross get lanes of their own."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import NONE, Bool, Int32, Int64
from nsys_analyze.attribution.nesting import crossings, depths, nearest_container


def assign_lanes(group: Int32, start: Int64, end: Int64, apart: Bool | None = None) -> Int32:
    """The lane of each slice in its group, 0 for all of a group where nothing crosses.

    Args:
        group: Group of each slice; slices are ordered by (group, start, longer first).
        start: Starts, ns.
        end: Ends, ns.
        apart: Slices to keep off lane 0 in groups where something crosses; None for none.
    """
    lane = np.zeros(len(start), np.int32)
    if _is_flat(group, start, end):
        return lane
    crossing = crossings(start, end, group, nearest_container(end, group))
    for number in np.unique(group[crossing]).tolist():
        rows = slice(*np.searchsorted(group, [number, number + 1]).tolist())
        first = np.zeros(rows.stop - rows.start, bool) if apart is None else apart[rows]
        lane[rows] = _fill(start[rows].tolist(), end[rows].tolist(), first.tolist())
    return lane


def _fill(start: list[int], end: list[int], first: list[int]) -> list[int]:
    """Gives each slice the first lane that it fits, from lane ``first`` on. What fits depends on all before it."""
    lanes: list[list[int]] = []  # ends of the open slices of each, the innermost last
    out = []
    for begins, ends, lowest in zip(start, end, first, strict=True):
        number = int(lowest)
        while True:
            while number >= len(lanes):
                lanes.append([])
            opened = lanes[number]
            while opened and opened[-1] <= begins:
                opened.pop()
            if not opened or opened[-1] >= ends:
                break
            number += 1
        opened.append(ends)
        out.append(number)
    return out


def bracketed(track: Int32, start: Int64, end: Int64) -> tuple[Int64, Bool]:
    """Begins and ends of slices in the order in which they happen, track after track: (slice, is a begin).

    Args:
        track: Track of each slice; slices are ordered by (track, start, longer first) and do not cross.
        start: Starts, ns.
        end: Ends, ns.

    Slices come in the order of their begins, so slice i begins after i begins and the ends of all but its ancestors.
    """
    alone = _is_flat(track, start, end)
    parent = np.full(len(end), NONE) if alone else nearest_container(end, track)
    depth = depths(parent)
    row = np.arange(len(end))
    begin = 2 * row - depth
    finish = begin + 2 * _sizes(parent, depth) - 1
    which, begins = np.empty(2 * len(end), np.int64), np.zeros(2 * len(end), bool)
    which[begin], which[finish], begins[begin] = row, row, True
    return which, begins


def _is_flat(group: Int32, start: Int64, end: Int64) -> bool:
    """Whether no two slices of a group overlap, which most calls and operations do not."""
    return bool(((start[1:] >= end[:-1]) | (group[1:] != group[:-1])).all())


def _sizes(parent: Int32, depth: Int32) -> Int64:
    """How many slices lie in each, itself included."""
    size = np.ones(len(parent), np.int64)
    for level in range(int(depth.max(initial=0)), 0, -1):
        rows = np.flatnonzero(depth == level)
        np.add.at(size, parent[rows], size[rows])
    return size
