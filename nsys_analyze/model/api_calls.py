"""API call rows to calls, and the index that finds a call by its correlation id."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsys_analyze.arrays import NONE, AnyInt, Int32, Int64, not_before
from nsys_analyze.ingest.columns import Rows
from nsys_analyze.ingest.events import Events
from nsys_analyze.model.calls import base_name, call_class
from nsys_analyze.model.ranges import Strings
from nsys_analyze.model.tables import Calls, Threads
from nsys_analyze.model.threads import lookup, recode

_DENSE = 4  # a direct-address table may have this many slots a call; beyond, ids are searched


@dataclass(frozen=True, slots=True)
class CorrelationIndex:
    """Finds the call of a (process, correlation id)."""

    processes: list[_ProcessIndex]

    def find(self, process: Int32, correlation: Int64) -> Int32:
        """Row of each operation's call, -1 where the report has none."""
        out = np.full(len(process), NONE, np.int32)
        for number, index in enumerate(self.processes):
            rows = slice(None) if len(self.processes) == 1 else process == number
            out[rows] = index.find(correlation[rows])
        return out

    def owners(self, correlation: Int64) -> Int32:
        """The only process with a call of each correlation id, -1 where none or several have one."""
        known = np.stack(
            [index.find(correlation) >= 0 for index in self.processes] or [np.zeros(len(correlation), bool)]
        )
        return np.where(known.sum(axis=0) == 1, known.argmax(axis=0), NONE).astype(np.int32)


@dataclass(frozen=True, slots=True)
class _ProcessIndex:
    """Calls of one process: ``row[id - base]`` where ids are dense, else ``row`` beside the sorted ``ids``."""

    base: int
    ids: Int64 | None
    row: Int32

    def find(self, correlation: Int64) -> Int32:
        if not len(self.row):
            return np.full(len(correlation), NONE, np.int32)
        if self.ids is None:
            offset = correlation - self.base
            if offset.min(initial=0) >= 0 and offset.max(initial=0) < len(self.row):
                return self.row[offset]
            inside = (offset >= 0) & (offset < len(self.row))
            return np.where(inside, self.row[np.where(inside, offset, 0)], NONE)
        position = np.minimum(np.searchsorted(self.ids, correlation), len(self.ids) - 1)
        return np.where(self.ids[position] == correlation, self.row[position], NONE)


def build_calls(events: Events, threads: Threads) -> tuple[Calls, CorrelationIndex, int]:
    """The calls, their index, and how many rows told of a call a second time."""
    rows = events.calls
    thread = recode(rows, "globalTid", threads.global_tid)
    process = lookup(threads.process, thread)
    names, code = _names(events, rows)
    classes = [call_class(name) for name in names]
    pick, finders = _without_doubles(rows, process, len(threads.main))
    start = rows["start"][pick]
    calls = Calls(
        start=start,
        end=not_before(rows["end"][pick], start)[0],
        thread=thread.astype(_narrow(len(threads.tid)))[pick],
        name=code[pick],
        names=names,
        kinds=np.array([found.kind for found in classes], np.int8),
        parts=np.array([found.part for found in classes], np.int8),
    )
    return calls, CorrelationIndex(finders), len(rows) - len(calls)


def _narrow(distinct: int) -> np.dtype[np.signedinteger]:
    """The smallest type for codes of so many values; a difference of two fits as well."""
    return np.min_scalar_type(-2 * distinct - 2)


def _names(events: Events, rows: Rows) -> tuple[list[str], AnyInt]:
    strings = Strings()
    codes = strings.codes(base_name(events.string(identity)) for identity in rows.values["nameId"].tolist())
    unnamed = strings.codes(["unnamed call"])
    codes = np.append(codes, unnamed)
    return strings.all, codes.astype(_narrow(len(codes)))[rows["nameId"]]


def _without_doubles(rows: Rows, process: Int32, processes: int) -> tuple[Int64 | slice, list[_ProcessIndex]]:
    """Rows that stand for a call of their own, and an index of them for each process."""
    correlation, event_class = rows["correlationId"], rows["eventClass"]
    if processes == 1 and process.min(initial=0) >= 0 and _ascends(correlation):
        return slice(None), [_index(np.arange(len(rows), dtype=np.int32), correlation)]
    keep = process >= 0
    indexes = []
    for number in range(processes):
        mine = np.flatnonzero((process == number) & (correlation > 0)).astype(np.int32)
        ids = correlation[mine]
        if not _ascends(ids):
            order = np.lexsort((mine, rows["end"][mine], rows["start"][mine], event_class[mine], ids))
            mine, ids = mine[order], ids[order]
            again = np.append(False, ids[1:] == ids[:-1])
            keep[mine[again]] = False
            mine, ids = mine[~again], ids[~again]
        indexes.append((mine, ids))
    if keep.all():
        return slice(None), [_index(mine, ids) for mine, ids in indexes]
    new_row = np.cumsum(keep, dtype=np.int32) - 1
    return np.flatnonzero(keep), [_index(new_row[mine], ids) for mine, ids in indexes]


def _ascends(ids: Int64) -> bool:
    """Whether ids are positive and each is greater than the one before."""
    return not len(ids) or (int(ids[0]) > 0 and bool(np.all(ids[1:] > ids[:-1])))


def _index(row: npt.NDArray[np.int32], ids: Int64) -> _ProcessIndex:
    """Chooses the table by how dense the ids, which are sorted, are."""
    if len(ids) and ids[-1] - ids[0] < _DENSE * len(ids):
        table = np.full(int(ids[-1] - ids[0]) + 1, NONE, np.int32)
        table[ids - ids[0]] = row
        return _ProcessIndex(int(ids[0]), None, table)
    return _ProcessIndex(0, ids, row)
