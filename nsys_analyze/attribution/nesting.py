"""Parents of ranges.

With the ranges of a thread ordered by start, longer first, every range that contains another comes before it. So the
innermost container of a range is the nearest earlier range that ends no sooner: a "previous greater or equal" search,
which pointer jumping does for all ranges at once, also where ranges overlap without nesting.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nsys_analyze.arrays import NONE, Bool, Int32, Int64
from nsys_analyze.model.tables import Ranges, Threads, Trace

DEEPEST = 200  # levels of ranges that are told apart


@dataclass(frozen=True, slots=True)
class Nesting:
    """Ranges as a forest, per thread.

    ``parent`` and ``root`` are rows of the ranges (a root's parent is -1, its root itself). ``hung_under`` is, for a
    root that hangs under a range of the main thread, that range; else -1. ``crosses`` marks a range that began while an
    earlier one of the same parent (of a root: an earlier root of its thread) was open; not what is inside those two.
    A thread without a marked range has none that partly overlap. The rows of thread t are ``first[t]:first[t + 1]``.
    """

    parent: Int32
    root: Int32
    hung_under: Int32
    crosses: Bool
    first: Int64

    @property
    def parent_across_threads(self) -> Int32:
        """Parents in the forest that hanging roots make of all threads."""
        return np.where(self.parent >= 0, self.parent, self.hung_under)

    @property
    def threads(self) -> list[int]:
        """The threads that have ranges."""
        out: list[int] = np.flatnonzero(np.diff(self.first)).tolist()
        return out

    def rows(self, thread: int) -> slice:
        """The rows of a thread's ranges."""
        return slice(int(self.first[thread]), int(self.first[thread + 1]))


def without_too_deep(trace: Trace) -> Trace:
    """The report without ranges more than DEEPEST levels down; what they hold counts for the range around them.

    Nobody nests so deep on purpose: a program that forgets to pop its ranges does.
    """
    ranges = trace.ranges
    too_deep = depths(nearest_container(ranges.end, ranges.thread)) >= DEEPEST
    count = int(np.count_nonzero(too_deep))
    if not count:
        return trace
    return replace(trace, ranges=ranges.only(~too_deep), counts=replace(trace.counts, ranges_too_deep=count))


def nest(ranges: Ranges, threads: Threads, rule: str) -> Nesting:
    """Finds every range's parent on its own thread and, by the rule "process", where roots hang.

    Args:
        ranges: All ranges.
        threads: Their threads.
        rule: "process": a root of another thread hangs under the innermost range that was open on its process's main
            thread when it began. "thread": nothing hangs.
    """
    first = np.searchsorted(ranges.thread, np.arange(len(threads.tid) + 1))
    parent = nearest_container(ranges.end, ranges.thread)
    nowhere = np.full(len(ranges), NONE, np.int32)
    nesting = Nesting(
        parent, _roots(parent), nowhere, crossings(ranges.start, ranges.end, ranges.thread, parent), first
    )
    return replace(nesting, hung_under=_hung_under(ranges, nesting, threads)) if rule == "process" else nesting


def _hung_under(ranges: Ranges, nesting: Nesting, threads: Threads) -> Int32:
    out = np.full(len(ranges), NONE, np.int32)
    main = threads.main[threads.process[ranges.thread]]
    hanging = np.flatnonzero((nesting.parent < 0) & (main >= 0) & (main != ranges.thread))
    for thread in np.unique(main[hanging]).tolist():
        roots = hanging[main[hanging] == thread]
        out[roots] = innermost(ranges, nesting, thread, ranges.start[roots])
    return out


def nearest_container(end: Int64, thread: Int32) -> Int32:
    """For intervals ordered by (thread, start, longer first): the innermost that contains each wholly, or -1."""
    candidate = np.arange(-1, len(end) - 1, dtype=np.int32)
    if len(end):
        starts_thread = np.append(True, thread[1:] != thread[:-1])
        candidate[starts_thread] = NONE
    # Everything between a range and its candidate ends too early, so the candidate's own candidate comes next.
    active = np.flatnonzero(candidate >= 0)
    while len(active):
        active = active[end[candidate[active]] < end[active]]
        candidate[active] = candidate[candidate[active]]
        active = active[candidate[active] >= 0]
    return candidate


def _roots(parent: Int32) -> Int32:
    root = np.where(parent < 0, np.arange(len(parent), dtype=np.int32), parent)
    while True:
        higher = root[root]
        if np.array_equal(higher, root):
            return root
        root = higher


def crossings(start: Int64, end: Int64, thread: Int32, parent: Int32) -> Bool:
    """Which intervals, ordered by (thread, start, longer first), began while an earlier one of their parent was open.

    The previous sibling is enough: siblings end one after the other. Where two overlap partly, siblings above them do.
    """
    group = np.where(parent >= 0, parent.astype(np.int64), -1 - thread.astype(np.int64))
    order = np.argsort(group, kind="stable")
    previous, current = order[:-1], order[1:]
    overlaps = (group[previous] == group[current]) & (end[previous] > start[current])
    crosses: Bool = np.zeros(len(parent), bool)
    crosses[current[overlaps]] = True
    return crosses


def innermost(ranges: Ranges, nesting: Nesting, thread: int, instant: Int64) -> Int32:
    """The latest range of the thread that is open at each instant (start <= instant < end), or -1.

    Args:
        ranges: All ranges.
        nesting: Their forest.
        thread: The thread asked about.
        instant: Shape (n,), ns.
    """
    return innermost_open(ranges.start, ranges.end, nesting.parent, nesting.rows(thread), instant)


def innermost_open(start: Int64, end: Int64, parent: Int32, rows: slice, instant: Int64) -> Int32:
    """The latest of one thread's intervals, which are ``rows``, that is open at each instant, or -1."""
    current = np.searchsorted(start[rows], instant, side="right").astype(np.int32) - 1
    current = np.where(current >= 0, current + np.int32(rows.start), NONE)
    active = np.flatnonzero(current >= 0)
    while len(active):
        active = active[end[current[active]] <= instant[active]]
        current[active] = parent[current[active]]
        active = active[current[active] >= 0]
    return current


def innermost_pieces(start: Int64, end: Int64, thread: Int32) -> tuple[Int64, Int64, Int64]:
    """Cuts intervals into the pieces in which each is the latest open one of its thread: (interval, start, end).

    Args:
        start: Shape (n,), ns, ordered by (thread, start, longer first).
        end: Shape (n,), ns.
        thread: Shape (n,).

    Returns:
        The pieces, ordered by (thread, start); those of one thread do not overlap.
    """
    if np.all((start[1:] >= end[:-1]) | (thread[1:] != thread[:-1])):  # as usual: none began before the last had ended
        whole = np.flatnonzero(end > start)
        return whole, start[whole], end[whole]
    parent = nearest_container(end, thread)
    owners, starts, ends = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number in np.unique(thread).tolist():
        rows = slice(*np.searchsorted(thread, [number, number + 1]).tolist())
        cuts = np.unique(np.concatenate([start[rows], end[rows]]))
        inner = innermost_open(start, end, parent, rows, cuts[:-1])
        covered = inner != NONE
        owners.append(inner[covered].astype(np.int64))
        starts.append(cuts[:-1][covered])
        ends.append(cuts[1:][covered])
    return np.concatenate(owners), np.concatenate(starts), np.concatenate(ends)


def depths(parent: Int32) -> Int32:
    """Number of ancestors, by pointer doubling."""
    above = parent >= 0
    depth = above.astype(np.int32)
    jump = parent.copy()
    active = np.flatnonzero(above)
    while len(active):
        depth[active] += depth[jump[active]]
        jump[active] = jump[jump[active]]
        active = active[jump[active] >= 0]
    return depth
