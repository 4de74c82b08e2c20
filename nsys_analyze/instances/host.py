"""The host partition: what an instance's thread did, what its helper threads did while it did nothing, and the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import Bool, Int64, prefix_sum
from nsys_analyze.attribution import Attribution, Nesting
from nsys_analyze.model.calls import CallPart
from nsys_analyze.model.capture import captured_calls
from nsys_analyze.model.evidence import Evidence
from nsys_analyze.model.tables import Ranges, Trace
from nsys_analyze.timeline import BusyTime

PARTS = ("profiler", "compile", "launch", "memory", "sync", "graph", "cuda_other")  # in order of precedence


@dataclass(frozen=True, slots=True)
class HostParts:
    """Parts of every instance's wall time, ns; they add up to it.

    On the instance's thread, in this order of precedence: the profiler's own work, evidence of compiling, and CUDA
    calls by what they do. ``helpers`` is time that these leave in which another thread that worked for the instance was
    in one of them; ``code`` is the rest.
    """

    profiler: Int64
    compile: Int64
    launch: Int64
    memory: Int64
    sync: Int64
    graph: Int64
    cuda_other: Int64
    helpers: Int64
    code: Int64


def host_parts(trace: Trace, evidence: Evidence, nesting: Nesting, worked: list[Attribution]) -> HostParts:
    """The partition of every instance.

    Args:
        trace: The report.
        evidence: Evidence of compiling.
        nesting: The forest of the ranges.
        worked: Where launches and evidence belong; their threads worked for the instances.
    """
    ranges = trace.ranges
    columns = {name: np.zeros(len(ranges), np.int64) for name in (*PARTS, "helpers", "code")}
    threads = _ThreadTimes(trace, evidence)
    for thread in nesting.threads:
        rows = nesting.rows(thread)
        start, end = ranges.start[rows], ranges.end[rows]
        covered = np.zeros(len(start), np.int64)
        for name, times in zip(PARTS, threads.cumulative(thread), strict=True):
            until_here = times.within(start, end)
            columns[name][rows] = until_here - covered
            covered = until_here
        columns["code"][rows] = end - start - covered
    for helped, helpers in _helped(ranges, worked):
        own = int(ranges.thread[helped[0]])
        start, end = ranges.start[helped], ranges.end[helped]
        extra = threads.everything([own, *helpers]).within(start, end) - threads.everything([own]).within(start, end)
        columns["helpers"][helped] = extra
        columns["code"][helped] -= extra
    return HostParts(**columns)


class _ThreadTimes:
    """When each thread was in the profiler, compiling, or in a CUDA call."""

    def __init__(self, trace: Trace, evidence: Evidence) -> None:
        self._trace, self._evidence = trace, evidence
        parts = trace.calls.parts[trace.calls.name]
        parts[captured_calls(trace.calls, trace.end)] = CallPart.GRAPH
        self._parts = parts
        self._everything: dict[int, BusyTime] = {}

    def cumulative(self, thread: int) -> Iterator[BusyTime]:
        """Unions of the first one, two, ... of PARTS on a thread."""
        profiler, evidence, calls = self._trace.profiler, self._evidence, self._trace.calls
        mine = calls.thread == thread
        sources: list[tuple[Int64, Int64, Bool]] = [
            (profiler.start, profiler.end, profiler.thread == thread),
            (evidence.start, evidence.end, evidence.thread == thread),
            *(
                (calls.start, calls.end, mine & (self._parts == CallPart[name.upper()]))
                for name in PARTS
                if name.upper() in CallPart.__members__ and name != "compile"
            ),
        ]
        so_far = BusyTime.of(*(np.zeros(0, np.int64),) * 2)
        for start, end, chosen in sources:
            if chosen.any():
                so_far = BusyTime.of(
                    np.concatenate([so_far.start, start[chosen]]), np.concatenate([so_far.end, end[chosen]])
                )
            yield so_far
        self._everything[thread] = so_far

    def everything(self, threads: list[int]) -> BusyTime:
        """When any of the threads was in any of PARTS."""
        for thread in threads:
            if thread not in self._everything:
                list(self.cumulative(thread))
        if len(threads) == 1:
            return self._everything[threads[0]]
        times = [self._everything[thread] for thread in threads]
        return BusyTime.of(np.concatenate([t.start for t in times]), np.concatenate([t.end for t in times]))


def _helped(ranges: Ranges, worked: list[Attribution]) -> Iterator[tuple[Int64, list[int]]]:
    """Instances that other threads worked for: those of one thread with the same helpers, and these helpers."""
    helped = np.zeros((0, len(ranges)), bool)
    helpers: list[int] = []
    for work in worked:
        for thread in np.unique(work.moments.thread).tolist():
            has = _has_of_thread(work, thread) & (ranges.thread != thread)
            if not has.any():
                continue
            if thread in helpers:
                helped[helpers.index(thread)] |= has
            else:
                helpers.append(thread)
                helped = np.vstack([helped, has])
    rows = np.flatnonzero(helped.any(axis=0))
    key = np.vstack([ranges.thread[rows][None], helped[:, rows].astype(np.int32)])
    groups, number = np.unique(key, axis=1, return_inverse=True)
    for group in range(groups.shape[1]):
        chosen = [helper for helper, flag in zip(helpers, groups[1:, group].tolist(), strict=True) if flag]
        yield rows[number.reshape(-1) == group], chosen


def _has_of_thread(work: Attribution, thread: int) -> Bool:
    """Which ranges own something that the thread did."""
    members = work.members
    of_thread = work.moments.thread == thread
    running = prefix_sum(of_thread[members.places])
    has: Bool = running[members.high] > running[members.low]
    has[members.listed] = False
    has[members.pair_range[of_thread[members.pair_moment]]] = True
    return has
