"""What threads with ranges did outside CUDA: calls of the OS runtime, when they were on a CPU, and samples of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import NONE, Bool, Int32, Int64, order_by
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
    order = np.lexsort((rows["start"], thread))
    function, functions = _functions(rows["id"][order], events)
    return CpuSamples(rows["start"][order], thread[order], function, functions)


def _functions(identity: Int64, events: HostEvents) -> tuple[Int32, list[Function]]:
    """The innermost frame of each sample, by (symbol, module); what nsys could not resolve is one function a module."""
    nothing, strings = np.full(len(identity), NONE, np.int64), events.strings
    symbol, module = _leaves(identity, events.leaves) if events.leaves is not None else (nothing, nothing)
    symbols, symbol_code = np.unique(symbol, return_inverse=True)
    modules, module_code = np.unique(module, return_inverse=True)
    pairs, function = np.unique(symbol_code * len(modules) + module_code, return_inverse=True)
    places = (divmod(pair, len(modules)) for pair in pairs.tolist())
    names = [(strings.get(int(symbols[row])), strings.get(int(modules[column]))) for row, column in places]
    return function.astype(np.int32), [Function(symbol, module) for symbol, module in names]


def _leaves(identity: Int64, leaves: Rows) -> tuple[Int64, Int64]:
    """Ids of the symbol and the module of each sample; -1 for what is not there, or not resolved."""
    order = order_by(leaves["id"])
    place = np.searchsorted(leaves["id"][order], identity)
    row = np.append(order, NONE)[place]  # the last place is for ids beyond all
    found = np.append(leaves["id"], NONE)[row] == identity
    resolved = found & (np.append(leaves["unresolved"], 1)[row] <= 0)
    symbol, module = (np.append(leaves[name], NONE)[row] for name in ("symbol", "module"))
    return np.where(resolved, symbol, NONE), np.where(found, module, NONE)
