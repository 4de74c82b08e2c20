"""The launches of every range, as slices; evidence of compiling likewise.

Each launch is placed at the instant it was made on its home thread; if the outermost range around it hangs under a
range of the main thread, it is placed there too, at the instant when that outermost range began. A range's launches
are then those placed in [start, end) of its thread: one slice of the places in order, whatever the depth of nesting.

One slice is not enough where ranges of the main thread cross and other threads' ranges hang there: being open at an
instant and containing what is open then differ. The main thread's ranges of such a process are listed launch by launch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nsys_analyze.arrays import Bool, Int32, Int64, expand_slices, order_by_both, prefix_sum
from nsys_analyze.attribution.assign import Assignment, How, Moments
from nsys_analyze.attribution.nesting import Nesting
from nsys_analyze.model.tables import Ranges, Threads


@dataclass(frozen=True, slots=True)
class Membership:
    """Moments (launches, say) of ranges.

    ``places`` are rows of moments in order of (thread, instant); range r owns ``places[low[r]:high[r]]``, except where
    ``listed[r]``: those ranges' moments are the pairs (``pair_range``, ``pair_moment``). ``by_process`` and
    ``pair_by_process`` mark what arrived by the process rule.
    """

    places: Int32
    thread: Int32
    by_process: Bool
    low: Int64
    high: Int64
    listed: Bool
    pair_range: Int64
    pair_moment: Int64
    pair_by_process: Bool

    def only(self, keep: Bool) -> Membership:
        """The same for the moments to keep alone, which keep their numbers."""
        kept, pairs = keep[self.places], keep[self.pair_moment]
        place = prefix_sum(kept)
        return replace(
            self,
            places=self.places[kept],
            thread=self.thread[kept],
            by_process=self.by_process[kept],
            low=place[self.low],
            high=place[self.high],
            pair_range=self.pair_range[pairs],
            pair_moment=self.pair_moment[pairs],
            pair_by_process=self.pair_by_process[pairs],
        )

    def pairs(self, rows: Int64) -> tuple[Int64, Int64]:
        """(range, moment) for every moment of the given ranges, listed or not."""
        sliced = rows[~self.listed[rows]]
        owner, place = expand_slices(self.low[sliced], self.high[sliced])
        chosen = np.isin(self.pair_range, rows[self.listed[rows]])
        return (
            np.concatenate([sliced[owner], self.pair_range[chosen]]),
            np.concatenate([self.places[place].astype(np.int64), self.pair_moment[chosen]]),
        )


@dataclass(frozen=True, slots=True)
class _Setting:
    """What membership is worked out from."""

    moments: Moments
    assignment: Assignment
    ranges: Ranges
    nesting: Nesting
    threads: Threads


def membership(
    moments: Moments, assignment: Assignment, ranges: Ranges, nesting: Nesting, threads: Threads
) -> Membership:
    """Places every moment and cuts the places into the ranges' slices."""
    setting = _Setting(moments, assignment, ranges, nesting, threads)
    moment, thread, instant, second = _placed(setting)
    bounds = np.searchsorted(thread, np.arange(len(threads.tid) + 1))
    low, high = np.zeros(len(ranges), np.int64), np.zeros(len(ranges), np.int64)
    for number in nesting.threads:
        own, placed = nesting.rows(number), instant[bounds[number] : bounds[number + 1]]
        low[own] = bounds[number] + np.searchsorted(placed, ranges.start[own])
        high[own] = bounds[number] + np.searchsorted(placed, ranges.end[own])
    np.maximum(high, low, out=high)
    listed = _needs_list(setting)
    rows = np.flatnonzero(listed)
    owner, place = expand_slices(low[rows], high[rows])
    at_home = ~second[place]
    own_pairs = np.stack([rows[owner[at_home]], moment[place[at_home]].astype(np.int64)])
    pairs = _listed_pairs(setting, rows, own_pairs)
    by_process = second | (assignment.how[moment] == How.PROCESS)
    return Membership(moment, thread, by_process, low, high, listed, *pairs)


def _placed(setting: _Setting) -> tuple[Int32, Int32, Int64, Bool]:
    """Every place: (moment, thread, instant, is the second place of its moment)."""
    assignment, ranges, threads = setting.assignment, setting.ranges, setting.threads
    own = np.flatnonzero(assignment.home >= 0).astype(np.int32)
    root = setting.nesting.root[assignment.inner[own]]
    hangs = setting.nesting.hung_under[root] >= 0
    hung, root = own[hangs], root[hangs]
    moment = np.concatenate([own, hung])
    main = threads.main[threads.process[ranges.thread[root]]]
    thread = np.concatenate([assignment.home[own], main])
    instant = np.concatenate([setting.moments.start[own], ranges.start[root]])
    second = np.arange(len(moment)) >= len(own)
    order = order_by_both(thread, instant)
    return moment[order], thread[order], instant[order], second[order]


def _needs_list(setting: _Setting) -> Bool:
    """Ranges of main threads under which something hangs, in processes where a crossing makes a slice wrong."""
    ranges, threads, nesting = setting.ranges, setting.threads, setting.nesting
    process = threads.process[ranges.thread]
    on_main = threads.main[process] == ranges.thread
    hangs = nesting.hung_under >= 0
    crossing_root = nesting.crosses & (nesting.parent < 0) & np.isin(ranges.thread, ranges.thread[hangs])
    troubled = np.intersect1d(process[hangs], process[nesting.crosses & (on_main | crossing_root)])
    listed: Bool = on_main & np.isin(process, troubled)
    return listed


def _listed_pairs(setting: _Setting, rows: Int64, own: Int64) -> tuple[Int64, Int64, Bool]:
    """Moments of the listed ranges by the definition: open when the moment came, or containing what was.

    Args:
        setting: All there is.
        rows: The listed ranges.
        own: (range, moment) for the moments at home on their threads, shape (2, n).
    """
    processes = np.unique(setting.threads.process[setting.ranges.thread[rows]])
    hung = [_hung_pairs(setting, process) for process in processes.tolist()]
    hung_once = np.unique(np.concatenate([np.zeros((2, 0), np.int64), *hung], axis=1), axis=1)
    by_process = np.append(setting.assignment.how[own[1]] == How.PROCESS, np.ones(hung_once.shape[1], bool))
    pair_range, pair_moment = np.concatenate([own, hung_once], axis=1)
    return pair_range, pair_moment, by_process


def _hung_pairs(setting: _Setting, process: int) -> Int64:
    """(range of the main thread, moment) for all moments in ranges that hang there; shape (2, n), may repeat."""
    ranges, nesting, home = setting.ranges, setting.nesting, setting.assignment.home
    found: list[Int64] = [np.zeros((2, 0), np.int64)]
    homes = np.unique(home[home >= 0])
    for thread in homes[setting.threads.process[homes] == process].tolist():
        rows = np.arange(*nesting.rows(thread).indices(len(ranges)))
        roots = rows[nesting.parent[rows] < 0]
        here = np.flatnonzero(home == thread)
        instant = setting.moments.start[here]
        low = np.searchsorted(ranges.end[roots], instant, side="right")
        high = np.searchsorted(ranges.start[roots], instant, side="right")
        owner, position = expand_slices(low, high)
        above, moment = nesting.hung_under[roots[position]], here[owner]
        while (some := above >= 0).any():
            above, moment = above[some], moment[some]
            found.append(np.stack([above.astype(np.int64), moment]))
            above = nesting.parent[above]
    return np.concatenate(found, axis=1)
