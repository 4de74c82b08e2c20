"""The launches of every range, as slices.

Each launch is placed at the instant it was made on its home thread; if the outermost range around it hangs under a
range of the main thread, it is placed there too, at the instant when that outermost range began. A range's launches
are then those placed in [start, end) of its thread: one slice of the places in order, whatever the depth of nesting.

One slice is not enough where ranges of the main thread cross and other threads' ranges hang there: being open at an
instant and containing what is open then differ. The main thread's ranges of such a process are listed launch by launch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import Bool, Int32, Int64, expand_slices, order_by_both
from nsys_analyze.attribution.assign import Assignment, How
from nsys_analyze.attribution.nesting import Nesting
from nsys_analyze.model.tables import Trace


@dataclass(frozen=True, slots=True)
class Membership:
    """Launches of ranges.

    ``places`` are rows of launches in order of (thread, instant); range r owns ``places[low[r]:high[r]]``, except where
    ``listed[r]``: those ranges' launches are the pairs (``pair_range``, ``pair_launch``). ``by_process`` and
    ``pair_by_process`` mark what arrived by the process rule.
    """

    places: Int32
    thread: Int32
    by_process: Bool
    low: Int64
    high: Int64
    listed: Bool
    pair_range: Int64
    pair_launch: Int64
    pair_by_process: Bool

    def pairs(self, rows: Int64) -> tuple[Int64, Int64]:
        """(range, launch) for every launch of the given ranges, listed or not."""
        sliced = rows[~self.listed[rows]]
        owner, place = expand_slices(self.low[sliced], self.high[sliced])
        chosen = np.isin(self.pair_range, rows[self.listed[rows]])
        return (
            np.concatenate([sliced[owner], self.pair_range[chosen]]),
            np.concatenate([self.places[place].astype(np.int64), self.pair_launch[chosen]]),
        )


def membership(trace: Trace, nesting: Nesting, assignment: Assignment) -> Membership:
    """Places every launch and cuts the places into the ranges' slices."""
    ranges, threads = trace.ranges, trace.threads
    launch, thread, instant, by_process, hung = _placed(trace, nesting, assignment)
    bounds = np.searchsorted(thread, np.arange(len(threads.tid) + 1))
    low, high = np.zeros(len(ranges), np.int64), np.zeros(len(ranges), np.int64)
    for row in np.flatnonzero(np.diff(nesting.first)).tolist():
        rows, places = nesting.rows(row), slice(bounds[row], bounds[row + 1])
        low[rows] = bounds[row] + np.searchsorted(instant[places], ranges.start[rows])
        high[rows] = bounds[row] + np.searchsorted(instant[places], ranges.end[rows])
    np.maximum(high, low, out=high)
    listed = _needs_list(trace, nesting, assignment)
    pairs = _listed_pairs(trace, nesting, assignment, np.flatnonzero(listed), (launch, low, high, hung))
    return Membership(launch, thread, by_process, low, high, listed, *pairs)


def _placed(trace: Trace, nesting: Nesting, assignment: Assignment) -> tuple[Int32, Int32, Int64, Bool, Bool]:
    """Every place: (launch, thread, instant, arrived by the process rule, is the second place of its launch)."""
    launches, ranges, threads = trace.launches, trace.ranges, trace.threads
    own = np.flatnonzero(assignment.home >= 0).astype(np.int32)
    root = nesting.root[assignment.inner[own]]
    hangs = assignment.hung_under[root] >= 0
    hung, root = own[hangs], root[hangs]
    launch = np.concatenate([own, hung])
    main = threads.main[threads.process[ranges.thread[root]]]
    thread = np.concatenate([assignment.home[own], main])
    instant = np.concatenate([launches.start[own], ranges.start[root]])
    second = np.arange(len(launch)) >= len(own)
    order = order_by_both(thread, instant)
    launch, second = launch[order], second[order]
    by_process = second | (assignment.how[launch] == How.PROCESS)
    return launch, thread[order], instant[order], by_process, second


def _needs_list(trace: Trace, nesting: Nesting, assignment: Assignment) -> Bool:
    """Ranges of main threads under which something hangs, in processes where a crossing makes a slice wrong."""
    ranges, threads = trace.ranges, trace.threads
    process = threads.process[ranges.thread]
    on_main = threads.main[process] == ranges.thread
    hangs = assignment.hung_under >= 0
    crossing_root = nesting.crosses & (nesting.parent < 0) & np.isin(ranges.thread, ranges.thread[hangs])
    troubled = np.intersect1d(process[hangs], process[nesting.crosses & (on_main | crossing_root)])
    listed: Bool = on_main & np.isin(process, troubled)
    return listed


def _listed_pairs(
    trace: Trace,
    nesting: Nesting,
    assignment: Assignment,
    rows: Int64,
    placed: tuple[Int32, Int64, Int64, Bool],
) -> tuple[Int64, Int64, Bool]:
    """Launches of the listed ranges by the definition: open when the call began, or containing what was."""
    launch, low, high, second = placed
    owner, place = expand_slices(low[rows], high[rows])
    first_places = ~second[place]
    own = np.stack([rows[owner[first_places]], launch[place[first_places]].astype(np.int64)])
    processes = np.unique(trace.threads.process[trace.ranges.thread[rows]])
    hung = [_hung_pairs(trace, nesting, assignment, process) for process in processes.tolist()]
    hung_unique = np.unique(np.concatenate([np.zeros((2, 0), np.int64), *hung], axis=1), axis=1)
    by_process = np.append(assignment.how[own[1]] == How.PROCESS, np.ones(hung_unique.shape[1], bool))
    pair_range, pair_launch = np.concatenate([own, hung_unique], axis=1)
    return pair_range, pair_launch, by_process


def _hung_pairs(trace: Trace, nesting: Nesting, assignment: Assignment, process: int) -> Int64:
    """(range of the main thread, launch) for all launches in ranges that hang there; shape (2, n), may repeat."""
    ranges, threads, launches = trace.ranges, trace.threads, trace.launches
    found: list[Int64] = [np.zeros((2, 0), np.int64)]
    homes = np.unique(assignment.home[assignment.home >= 0])
    for thread in homes[threads.process[homes] == process].tolist():
        rows = np.arange(*nesting.rows(thread).indices(len(ranges)))
        roots = rows[nesting.parent[rows] < 0]
        here = np.flatnonzero(assignment.home == thread)
        instant = launches.start[here]
        low = np.searchsorted(ranges.end[roots], instant, side="right")
        high = np.searchsorted(ranges.start[roots], instant, side="right")
        owner, position = expand_slices(low, high)
        above, launch = assignment.hung_under[roots[position]], here[owner]
        while (some := above >= 0).any():
            above, launch = above[some], launch[some]
            found.append(np.stack([above.astype(np.int64), launch]))
            above = nesting.parent[above]
    return np.concatenate(found, axis=1)
