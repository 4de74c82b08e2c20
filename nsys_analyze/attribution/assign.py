"""Which thread's ranges a launch belongs to, and how that is known.

Rule "thread": the ranges open on the launching thread. Rule "process" goes on where that thread has none: the ranges
open then on the process's main thread, else on the only other thread that has any. It also hangs the outermost ranges
of the other threads under the range that was open on the main thread when they began.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from nsys_analyze.arrays import NONE, Int32, Int64, prefix_sum
from nsys_analyze.attribution.nesting import Nesting, innermost
from nsys_analyze.model.tables import Ranges, Threads, Trace
from nsys_analyze.timeline import union


class How(IntEnum):
    """How an operation found its ranges, or why it has none."""

    THREAD = 0
    PROCESS = 1
    NO_LAUNCH_ROW = 2
    OUTSIDE_RANGES = 3
    AMBIGUOUS_THREAD = 4


@dataclass(frozen=True, slots=True)
class Assignment:
    """Per launch: ``home`` is the thread whose open ranges it belongs to (-1: none), ``inner`` the innermost of them.

    ``hung_under`` is per range: for an outermost range that hangs under another thread's range, that range; else -1.
    """

    home: Int32
    inner: Int32
    how: npt.NDArray[np.int8]
    hung_under: Int32

    def parents(self, nesting: Nesting) -> Int32:
        """Parents in the forest that joins the threads."""
        return np.where(nesting.parent >= 0, nesting.parent, self.hung_under)


def assign(trace: Trace, nesting: Nesting, rule: str) -> Assignment:
    """Finds the home of every launch.

    Args:
        trace: The report.
        nesting: The forest of its ranges.
        rule: "thread" or "process".
    """
    launches, threads = trace.launches, trace.threads
    home = launches.thread.copy()
    inner = np.full(len(launches), NONE, np.int32)
    bounds = np.searchsorted(launches.thread, np.arange(len(threads.tid) + 1))
    for thread in _threads_with_ranges(nesting):
        rows = slice(bounds[thread], bounds[thread + 1])
        inner[rows] = innermost(trace.ranges, nesting, thread, launches.start[rows])
    how = np.where(inner >= 0, How.THREAD, How.OUTSIDE_RANGES).astype(np.int8)
    hung_under = np.full(len(trace.ranges), NONE, np.int32)
    if rule == "process":
        for process in range(len(trace.processes.pid)):
            _adopt_launches(trace, nesting, process, home, inner, how)
            _hang_roots(trace.ranges, nesting, threads, process, hung_under)
    home[inner < 0] = NONE
    return Assignment(home, inner, how, hung_under)


def _threads_with_ranges(nesting: Nesting) -> list[int]:
    return np.flatnonzero(np.diff(nesting.first)).tolist()


def _adopt_launches(
    trace: Trace, nesting: Nesting, process: int, home: Int32, inner: Int32, how: npt.NDArray[np.int8]
) -> None:
    """Gives the process's launches without an open range to its main thread, else to the only thread that has one."""
    launches, threads = trace.launches, trace.threads
    orphans = np.flatnonzero((inner < 0) & (threads.process[launches.thread] == process))
    if not len(orphans):
        return
    main = int(threads.main[process])
    if main >= 0:
        home[orphans] = main
        inner[orphans] = innermost(trace.ranges, nesting, main, launches.start[orphans])
        how[orphans[inner[orphans] >= 0]] = How.PROCESS
        orphans = orphans[inner[orphans] < 0]
    open_threads, only = _open_threads(trace.ranges, nesting, threads, process, launches.start[orphans])
    how[orphans[open_threads > 1]] = How.AMBIGUOUS_THREAD
    for thread in np.unique(only[open_threads == 1]).tolist():
        given = orphans[(open_threads == 1) & (only == thread)]
        home[given] = thread
        inner[given] = innermost(trace.ranges, nesting, thread, launches.start[given])
        how[given] = How.PROCESS


def _open_threads(
    ranges: Ranges, nesting: Nesting, threads: Threads, process: int, instant: Int64
) -> tuple[Int64, Int64]:
    """How many threads of the process have an open range at each instant, and the sum of their numbers.

    Where it is one thread, the sum is its number.
    """
    starts, ends, owners = [], [], []
    for thread in _threads_with_ranges(nesting):
        if threads.process[thread] == process:
            rows = nesting.rows(thread)
            start, end = union(ranges.start[rows], ranges.end[rows])
            starts.append(start)
            ends.append(end)
            owners.append(np.full(len(start), thread, np.int64))
    if not starts:
        return np.zeros(len(instant), np.int64), np.zeros(len(instant), np.int64)
    start, end, owner = np.concatenate(starts), np.concatenate(ends), np.concatenate(owners)
    by_start, by_end = np.argsort(start, kind="stable"), np.argsort(end, kind="stable")
    opened = np.searchsorted(start[by_start], instant, side="right")
    closed = np.searchsorted(end[by_end], instant, side="right")
    numbers = prefix_sum(owner[by_start])[opened] - prefix_sum(owner[by_end])[closed]
    return opened - closed, numbers


def _hang_roots(ranges: Ranges, nesting: Nesting, threads: Threads, process: int, hung_under: Int32) -> None:
    main = int(threads.main[process])
    if main < 0:
        return
    is_root = (nesting.parent < 0) & (threads.process[ranges.thread] == process) & (ranges.thread != main)
    roots = np.flatnonzero(is_root)
    hung_under[roots] = innermost(ranges, nesting, main, ranges.start[roots])
