"""Which thread's ranges a launch, or anything else that a thread did, belongs to, and how that is known.

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
from nsys_analyze.model.tables import Ranges, Threads
from nsys_analyze.timeline import union


class How(IntEnum):
    """How an operation found its ranges, or why it has none."""

    THREAD = 0
    PROCESS = 1
    NO_LAUNCH_ROW = 2
    OUTSIDE_RANGES = 3
    AMBIGUOUS_THREAD = 4


@dataclass(frozen=True, slots=True)
class Moments:
    """What is attributed: things that a thread began at an instant, ordered by (thread, start)."""

    thread: Int32
    start: Int64

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True)
class Assignment:
    """Per moment: ``home`` is the thread whose open ranges it belongs to (-1: none), ``inner`` their innermost."""

    home: Int32
    inner: Int32
    how: npt.NDArray[np.int8]


def assign(moments: Moments, ranges: Ranges, nesting: Nesting, threads: Threads, rule: str) -> Assignment:
    """Finds the home of every moment.

    Args:
        moments: What is attributed.
        ranges: All ranges.
        nesting: Their forest.
        threads: All threads.
        rule: "thread" or "process".
    """
    home = moments.thread.copy()
    inner = np.full(len(moments), NONE, np.int32)
    bounds = np.searchsorted(moments.thread, np.arange(len(threads.tid) + 1))
    for thread in nesting.threads:
        rows = slice(bounds[thread], bounds[thread + 1])
        inner[rows] = innermost(ranges, nesting, thread, moments.start[rows])
    how = np.where(inner >= 0, How.THREAD, How.OUTSIDE_RANGES).astype(np.int8)
    assignment = Assignment(home, inner, how)
    if rule == "process":
        process = threads.process[moments.thread]
        for number in np.unique(process[inner < 0]).tolist():
            orphans = np.flatnonzero((inner < 0) & (process == number))
            _adopt(orphans, moments, assignment, _Process(number, ranges, nesting, threads))
    home[inner < 0] = NONE
    return assignment


@dataclass(frozen=True, slots=True)
class _Process:
    """One process's ranges."""

    number: int
    ranges: Ranges
    nesting: Nesting
    threads: Threads

    def innermost(self, thread: int, instant: Int64) -> Int32:
        return innermost(self.ranges, self.nesting, thread, instant)


def _adopt(orphans: Int64, moments: Moments, found: Assignment, process: _Process) -> None:
    """Gives a process's moments without an open range to its main thread, else to the only thread that has one."""
    main = int(process.threads.main[process.number])
    if main >= 0:
        orphans = _give(orphans, moments, found, process, main)
    open_threads, only = _open_threads(process, moments.start[orphans])
    found.how[orphans[open_threads > 1]] = How.AMBIGUOUS_THREAD
    for thread in np.unique(only[open_threads == 1]).tolist():
        _give(orphans[(open_threads == 1) & (only == thread)], moments, found, process, thread)


def _give(orphans: Int64, moments: Moments, found: Assignment, process: _Process, thread: int) -> Int64:
    """Gives moments to the ranges open on a thread; returns those that it has none for."""
    inner = process.innermost(thread, moments.start[orphans])
    given = orphans[inner >= 0]
    found.home[given] = thread
    found.inner[given] = inner[inner >= 0]
    found.how[given] = How.PROCESS
    return orphans[inner < 0]


def _open_threads(process: _Process, instant: Int64) -> tuple[Int64, Int64]:
    """How many threads of the process have an open range at each instant, and the sum of their numbers.

    Where it is one thread, the sum is its number.
    """
    ranges, nesting = process.ranges, process.nesting
    mine = [thread for thread in nesting.threads if process.threads.process[thread] == process.number]
    covers = [union(ranges.start[nesting.rows(thread)], ranges.end[nesting.rows(thread)]) for thread in mine]
    start = np.concatenate([np.zeros(0, np.int64), *(start for start, _ in covers)])
    end = np.concatenate([np.zeros(0, np.int64), *(end for _, end in covers)])
    owner = np.repeat(np.array(mine, np.int64), [len(start) for start, _ in covers])
    by_start, by_end = np.argsort(start, kind="stable"), np.argsort(end, kind="stable")
    opened = np.searchsorted(start[by_start], instant, side="right")
    closed = np.searchsorted(end[by_end], instant, side="right")
    return opened - closed, prefix_sum(owner[by_start])[opened] - prefix_sum(owner[by_end])[closed]
