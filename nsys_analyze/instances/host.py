"""The host partition: what an instance's thread did, what its helper threads did while it did nothing, and the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsys_analyze.arrays import Bool, Int64, distinct, in_order, prefix_sum
from nsys_analyze.attribution import Attribution, Nesting
from nsys_analyze.model.calls import CallPart
from nsys_analyze.model.capture import captured_calls
from nsys_analyze.model.evidence import Evidence
from nsys_analyze.model.tables import Calls, Ranges, Trace
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
    threads = ThreadTimes(trace, evidence)
    for thread in nesting.threads:
        rows = nesting.rows(thread)
        start, end = ranges.start[rows], ranges.end[rows]
        left = end - start
        for name, time in threads.parts(thread, start, end):
            columns[name][rows] = time
            left -= time
        columns["code"][rows] = left
    for helped, helpers in helped_instances(ranges, worked):
        extra = threads.only_helped(int(ranges.thread[helped[0]]), helpers, ranges.start[helped], ranges.end[helped])
        columns["helpers"][helped] = extra
        columns["code"][helped] -= extra
    return HostParts(**columns)


class ThreadTimes:
    """When each thread was in the profiler, compiling, or in a CUDA call."""

    def __init__(self, trace: Trace, evidence: Evidence) -> None:
        self._trace, self._evidence = trace, evidence
        self._parts = trace.calls.parts[trace.calls.name]
        self._parts[captured_calls(trace.calls, trace.end)] = CallPart.GRAPH

    def parts(self, thread: int, start: Int64, end: Int64) -> Iterator[tuple[str, Int64]]:
        """Time of each of PARTS on a thread in each window, none counted twice."""
        before, compiling = self._profiler(thread), self._compiling(thread)
        yield "profiler", before.within(start, end)
        yield "compile", compiling.within(start, end) - compiling.common_with(before).within(start, end)
        before = before.joined_with(compiling)
        calls = _CallTimes.of(self._trace.calls, self._parts, thread)
        for name in PARTS[2:]:
            chosen = calls.part(CallPart[name.upper()])
            yield name, chosen.within(start, end) - chosen.common_with(before).within(start, end)
            if not calls.disjoint:
                before = BusyTime.of(np.append(before.start, chosen.start), np.append(before.end, chosen.end))

    def only_helped(self, thread: int, helpers: list[int], start: Int64, end: Int64) -> Int64:
        """Time of each window in which the helpers were in any of PARTS and the thread in none."""
        times = [self.everything(helper) for helper in helpers]
        helping = times[0]
        if len(times) > 1:
            helping = BusyTime.of(np.concatenate([t.start for t in times]), np.concatenate([t.end for t in times]))
        common = helping.common_with(self.everything(thread)).within(start, end)
        return helping.within(start, end) - common

    def everything(self, thread: int) -> BusyTime:
        """All of PARTS of a thread."""
        calls = _CallTimes.of(self._trace.calls, self._parts, thread)
        in_calls = calls.all if calls.disjoint else BusyTime.of(calls.all.start, calls.all.end)
        return in_calls.joined_with(self._profiler(thread).joined_with(self._compiling(thread)))

    def _profiler(self, thread: int) -> BusyTime:
        mine = self._trace.profiler.thread == thread
        return BusyTime.of(self._trace.profiler.start[mine], self._trace.profiler.end[mine])

    def _compiling(self, thread: int) -> BusyTime:
        mine = self._evidence.thread == thread
        return BusyTime.of(self._evidence.start[mine], self._evidence.end[mine])


@dataclass(frozen=True, slots=True)
class _CallTimes:
    """The calls of one thread, in order; ``disjoint`` where none began before the last had ended, as is usual."""

    all: BusyTime
    kind: npt.NDArray[np.int8]
    disjoint: bool

    @classmethod
    def of(cls, calls: Calls, parts: npt.NDArray[np.int8], thread: int) -> _CallTimes:
        rows = np.flatnonzero((calls.thread == thread) & (parts != CallPart.COMPILE))
        start, end, kind = in_order(calls.start[rows], calls.end[rows], parts[rows])
        return cls(BusyTime(start, end), kind, bool(np.all(start[1:] >= end[:-1])))

    def part(self, part: CallPart) -> BusyTime:
        chosen = self.kind == part
        return (BusyTime if self.disjoint else BusyTime.of)(self.all.start[chosen], self.all.end[chosen])


def helped_instances(ranges: Ranges, worked: list[Attribution]) -> Iterator[tuple[Int64, list[int]]]:
    """Instances that other threads worked for: those of one thread with the same helpers, and these helpers."""
    helped = np.zeros((0, len(ranges)), bool)
    helpers: list[int] = []
    for work in worked:
        for thread in distinct(work.moments.thread):
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
