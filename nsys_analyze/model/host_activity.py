"""What threads with ranges did outside CUDA: calls of the OS runtime, when they were on a CPU, and samples of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import Bool, Int32, Int64
from nsys_analyze.ingest.columns import Rows
from nsys_analyze.ingest.host_events import NO_END, HostEvents
from nsys_analyze.model.os_calls import waits
from nsys_analyze.model.tables import Threads
from nsys_analyze.model.threads import recode


@dataclass(frozen=True, slots=True)
class OsCalls:
    """Calls of the OS runtime, ordered by (thread, start, longer first, row of the report).

    ``waits`` tells for each of the ``names`` whether it is a function that waits.
    """

    start: Int64
    end: Int64
    thread: Int32
    name: Int32
    names: list[str]
    waits: Bool


@dataclass(frozen=True, slots=True)
class Scheduling:
    """When threads were on a CPU (``running``) and when not, ordered by (thread, start); intervals do not overlap."""

    start: Int64
    end: Int64
    thread: Int32
    running: Bool


@dataclass(frozen=True, slots=True)
class Function:
    """What a sample found: a symbol in a module, either None where nsys does not know it."""

    symbol: str | None
    module: str | None


@dataclass(frozen=True, slots=True)
class CpuSamples:
    """Samples of threads while on a CPU, ordered by (thread, time). ``function`` indexes ``functions``."""

    time: Int64
    thread: Int32
    function: Int32
    functions: list[Function]


@dataclass(frozen=True, slots=True)
class HostActivity:
    """All of it; None for what the capture did not record."""

    os_calls: OsCalls | None
    scheduling: Scheduling | None
    samples: CpuSamples | None


def build_host_activity(events: HostEvents, threads: Threads, start: int, end: int) -> HostActivity:
    """Builds the tables; times are clipped to the capture, [start, end]."""
    return HostActivity(
        os_calls=None if events.os_calls is None else _os_calls(events.os_calls, events.strings, threads, start, end),
        scheduling=None if events.switches is None else _scheduling(events.switches, threads, start, end),
        samples=None if events.samples is None else _samples(events.samples, events, threads),
    )


def _os_calls(rows: Rows, strings: dict[int, str], threads: Threads, first: int, last: int) -> OsCalls:
    thread = recode(rows, "globalTid", threads.global_tid)
    start = np.clip(rows["start"], first, last)
    end = np.clip(np.where(rows["end"] == NO_END, last, rows["end"]), start, last)
    names = [strings.get(identity, f"<string {identity}>") for identity in rows.values["nameId"].tolist()] + ["unnamed"]
    name = np.where(rows["nameId"] < 0, len(names) - 1, rows["nameId"]).astype(np.int32)
    order = np.lexsort((-end, start, thread))
    return OsCalls(
        start[order], end[order], thread[order], name[order], names, np.array([waits(text) for text in names], bool)
    )


def _scheduling(rows: Rows, threads: Threads, first: int, last: int) -> Scheduling:
    """A thread stays what an event made it until its next event, after the last one until the capture ends."""
    thread = recode(rows, "globalTid", threads.global_tid)
    start = np.clip(rows["start"], first, last)
    order = np.lexsort((start, thread))
    start, thread = start[order], thread[order]
    end = np.full(len(start), last, np.int64)
    goes_on = thread[1:] == thread[:-1]
    end[:-1][goes_on] = start[1:][goes_on]
    return Scheduling(start, end, thread, rows["isSchedIn"][order] != 0)


def _samples(rows: Rows, events: HostEvents, threads: Threads) -> CpuSamples:
    thread = recode(rows, "globalTid", threads.global_tid)
    leaf, functions = _functions(events)
    function = leaf.of(rows["id"], unknown=len(functions) - 1)
    order = np.lexsort((rows["start"], thread))
    return CpuSamples(rows["start"][order], thread[order], function[order], functions)


@dataclass(frozen=True, slots=True)
class _Leaves:
    """The function of every call chain, ordered by the chain's id."""

    identity: Int64
    function: Int32

    def of(self, identity: Int64, unknown: int) -> Int32:
        if not len(self.identity):
            return np.full(len(identity), unknown, np.int32)
        place = np.minimum(np.searchsorted(self.identity, identity), len(self.identity) - 1)
        return np.where(self.identity[place] == identity, self.function[place], unknown).astype(np.int32)


def _functions(events: HostEvents) -> tuple[_Leaves, list[Function]]:
    """The innermost frame of every chain, by (symbol, module); symbols that nsys could not resolve are one a module."""
    rows, strings = events.leaves, events.strings
    unknown = Function(None, None)
    if rows is None:
        return _Leaves(np.zeros(0, np.int64), np.zeros(0, np.int32)), [unknown]
    symbol = np.where(rows["unresolved"] > 0, -1, rows["symbol"])
    pairs, code = np.unique(np.stack([symbol, rows["module"]]), axis=1, return_inverse=True)
    order = np.argsort(rows["id"], kind="stable")
    functions = [Function(strings.get(name), strings.get(module)) for name, module in pairs.T.tolist()]
    return _Leaves(rows["id"][order], code.reshape(-1)[order].astype(np.int32)), [*functions, unknown]
