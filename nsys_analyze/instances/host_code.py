"""What host code consists of: when the thread ran, what it was blocked on, and which functions it was sampled in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import Bool, Int32, Int64
from nsys_analyze.attribution import Attribution, Nesting
from nsys_analyze.attribution.nesting import innermost_pieces
from nsys_analyze.instances.host import ThreadTimes, helped_instances
from nsys_analyze.model.evidence import Evidence
from nsys_analyze.model.host_activity import CpuSamples, Function, HostActivity, OsCalls
from nsys_analyze.model.tables import Ranges, Trace
from nsys_analyze.timeline import BusyTime

SCHEDULED_OUT = "scheduled out"  # in no call of the OS runtime


@dataclass(frozen=True, slots=True)
class Waits:
    """Blocked time by function, where there is any: one row an instance and function, in no order, ns."""

    instance: Int64
    function: Int32
    time: Int64
    functions: list[str]


@dataclass(frozen=True, slots=True)
class CodeSamples:
    """Samples within host code: instance i has ``function[low[i]:high[i]]``, which index ``functions``."""

    function: Int32
    low: Int64
    high: Int64
    functions: list[Function]


@dataclass(frozen=True, slots=True)
class HostCode:
    """How every instance's thread spent the part ``code`` of the host partition, ns.

    ``running + blocked <= code``; the rest is unknown. ``blocked``: in a call of the OS runtime that waits, or
    scheduled out; ``waits`` splits it up. ``running``: scheduled in, and in no such call. None is what the capture
    cannot say.
    """

    running: Int64 | None
    blocked: Int64 | None
    waits: Waits
    samples: CodeSamples | None


def host_code(
    trace: Trace, evidence: Evidence, nesting: Nesting, worked: list[Attribution], activity: HostActivity
) -> HostCode:
    """What the host code of every instance consists of.

    Args:
        trace: The report.
        evidence: Evidence of compiling.
        nesting: The forest of the ranges.
        worked: Where launches and evidence belong, as for the host partition.
        activity: What threads did outside CUDA.
    """
    ranges = trace.ranges
    states, sampling = _States(activity, trace), _Sampling(activity.samples, len(ranges))
    running, blocked = np.zeros(len(ranges), np.int64), np.zeros(len(ranges), np.int64)
    waits: list[tuple[Int64, int, Int64]] = []
    for rows, thread, code in _code_times(trace, evidence, nesting, worked):
        start, end = ranges.start[rows], ranges.end[rows]
        running[rows] = states.running(thread).common_with(code).within(start, end)
        for function, wait in states.waits(thread):
            time = wait.common_with(code).within(start, end)
            some = np.flatnonzero(time)
            blocked[rows] += time
            waits.append((rows[some], function, time[some]))
        sampling.add(rows, thread, code, start, end)
    knows_blocked = activity.scheduling is not None or activity.os_calls is not None
    return HostCode(
        running=running if activity.scheduling is not None else None,
        blocked=blocked if knows_blocked else None,
        waits=_joined(waits, states.functions),
        samples=sampling.all(),
    )


def _joined(waits: list[tuple[Int64, int, Int64]], functions: list[str]) -> Waits:
    none = np.zeros(0, np.int64)
    return Waits(
        instance=np.concatenate([none, *(rows for rows, _, _ in waits)]),
        function=np.repeat([function for _, function, _ in waits], [len(rows) for rows, _, _ in waits]).astype(
            np.int32
        ),
        time=np.concatenate([none, *(time for _, _, time in waits)]),
        functions=functions,
    )


def _code_times(
    trace: Trace, evidence: Evidence, nesting: Nesting, worked: list[Attribution]
) -> Iterator[tuple[Int64, int, BusyTime]]:
    """Instances, their thread, and when what it did was host code: those of a thread with the same helpers together."""
    ranges, threads = trace.ranges, ThreadTimes(trace, evidence)
    alone = np.ones(len(ranges), bool)
    for rows, helpers in helped_instances(ranges, worked):
        alone[rows] = False
        thread = int(ranges.thread[rows[0]])
        explained = [threads.everything(each) for each in (thread, *helpers)]
        together = BusyTime.of(
            np.concatenate([time.start for time in explained]), np.concatenate([time.end for time in explained])
        )
        yield rows, thread, together.left_of(*_span(ranges, rows))
    for thread in nesting.threads:
        mine = nesting.rows(thread)
        rows = mine.start + np.flatnonzero(alone[mine])
        if len(rows):
            yield rows, thread, threads.everything(thread).left_of(*_span(ranges, rows))


def _span(ranges: Ranges, rows: Int64) -> tuple[int, int]:
    return int(ranges.start[rows].min()), int(ranges.end[rows].max())


class _States:
    """When a thread ran, and when it was blocked on what; a thread is in one of these at most."""

    def __init__(self, activity: HostActivity, trace: Trace) -> None:
        calls = activity.os_calls
        self._scheduling, self._span = activity.scheduling, (trace.start, trace.end)
        self._waiting = _InnermostCalls.of(calls, calls.waits[calls.name]) if calls else None
        self._others = _InnermostCalls.of(calls, ~calls.waits[calls.name]) if calls else None
        self.functions = [*(calls.names if calls else []), SCHEDULED_OUT]

    def running(self, thread: int) -> BusyTime:
        """Scheduled in, and in no call that waits."""
        return self._scheduled(thread, True).common_with(self._free_of(self._waiting, thread))

    def waits(self, thread: int) -> Iterator[tuple[int, BusyTime]]:
        """When the thread was blocked on each of ``functions``, by number.

        The innermost call that waits counts; where the thread is scheduled out in none, the innermost of other calls.
        """
        out = self._scheduled(thread, False).common_with(self._free_of(self._waiting, thread))
        if self._waiting and self._others:
            yield from self._waiting.by_function(thread)
            yield from ((name, time.common_with(out)) for name, time in self._others.by_function(thread))
        yield len(self.functions) - 1, out.common_with(self._free_of(self._others, thread))

    def _scheduled(self, thread: int, running: bool) -> BusyTime:
        table = self._scheduling
        if table is None:
            return BusyTime.of(np.zeros(0, np.int64), np.zeros(0, np.int64))
        mine = slice(*np.searchsorted(table.thread, [thread, thread + 1]).tolist())
        chosen = table.running[mine] == running
        return BusyTime.of(table.start[mine][chosen], table.end[mine][chosen])

    def _free_of(self, calls: _InnermostCalls | None, thread: int) -> BusyTime:
        return (calls.all(thread) if calls else BusyTime.of(*np.zeros((2, 0), np.int64))).left_of(*self._span)


@dataclass(frozen=True, slots=True)
class _InnermostCalls:
    """Pieces of time in which a call is the innermost of its thread, ordered by (thread, start)."""

    start: Int64
    end: Int64
    thread: Int32
    name: Int32

    @classmethod
    def of(cls, calls: OsCalls, chosen: Bool) -> _InnermostCalls:
        thread, name = calls.thread[chosen], calls.name[chosen]
        which, start, end = innermost_pieces(calls.start[chosen], calls.end[chosen], thread)
        return cls(start, end, thread[which], name[which])

    def all(self, thread: int) -> BusyTime:
        mine = self._rows(thread)
        return BusyTime(self.start[mine], self.end[mine])

    def by_function(self, thread: int) -> Iterator[tuple[int, BusyTime]]:
        """The pieces of each function, by its number."""
        mine = self._rows(thread)
        start, end, name = self.start[mine], self.end[mine], self.name[mine]
        for number in np.unique(name).tolist():
            chosen = name == number
            yield number, BusyTime(start[chosen], end[chosen])

    def _rows(self, thread: int) -> slice:
        return slice(*np.searchsorted(self.thread, [thread, thread + 1]).tolist())


class _Sampling:
    """Collects the samples that lie in host code."""

    def __init__(self, samples: CpuSamples | None, instances: int) -> None:
        self._samples, self._count = samples, 0
        self._low, self._high = np.zeros(instances, np.int64), np.zeros(instances, np.int64)
        self._found = [np.zeros(0, np.int32)]

    def add(self, rows: Int64, thread: int, code: BusyTime, start: Int64, end: Int64) -> None:
        """Adds the samples of instances of one thread, whose host code is ``code`` in [start, end) of each."""
        if self._samples is None:
            return
        mine = slice(*np.searchsorted(self._samples.thread, [thread, thread + 1]).tolist())
        time, function = self._samples.time[mine], self._samples.function[mine]
        inside = code.within(time, time + 1) > 0
        time = time[inside]
        self._low[rows] = self._count + np.searchsorted(time, start)
        self._high[rows] = self._count + np.searchsorted(time, end)
        self._found.append(function[inside])
        self._count += len(time)

    def all(self) -> CodeSamples | None:
        if self._samples is None:
            return None
        return CodeSamples(np.concatenate(self._found), self._low, self._high, self._samples.functions)
