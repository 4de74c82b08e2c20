"""Which rows of each table belong to a part of a report."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nsys_analyze.arrays import Bool, Int64
from nsys_analyze.ingest.export import Export
from nsys_analyze.ingest.reading import quoted
from nsys_analyze.model import ids
from nsys_analyze.store.parts import Part

_NOBODY = -1  # stands for the process or thread of a row that does not tell it
_NO_TIME, _FOREVER = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_STARTS, _ENDS = ("start", "timestamp", "startedAt"), ("end", "endedAt")
_OTHERS = ("globalTid", "correlationId", "eventType", "deviceId")
_CALLS, _RANGES, _SWITCHES = "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "SCHED_EVENTS"
_HOST = ("OSRT_API", _SWITCHES, "COMPOSITE_EVENTS")
_WHOLE = ("DIAGNOSTIC_EVENT", "CUDA_GRAPH_EVENTS", "CUDA_GRAPH_NODE_EVENTS")  # few rows, which others point at
_IN_TIME = (34, 59, 60, 70, 71)  # marks and ranges; NVTX's other events describe
CHAINS = {  # call chains, and the column that names them
    "SAMPLING_CALLCHAINS": ("COMPOSITE_EVENTS", "id"),
    "OSRT_CALLCHAINS": ("OSRT_API", "callchainId"),
    "CUDA_CALLCHAINS": (_CALLS, "callchainId"),
}


@dataclass(frozen=True, slots=True)
class RowSpans:
    """Rows of a table as spans of rowids, ``first`` to ``last``, in order."""

    first: Int64
    last: Int64

    @classmethod
    def of(cls, rowid: Int64, keep: Bool) -> RowSpans:
        """Joins neighbours; ``rowid`` ascends."""
        edges = np.flatnonzero(np.diff(np.concatenate([[False], keep, [False]]).astype(np.int8)))
        return cls(rowid[edges[0::2]], rowid[edges[1::2] - 1])


@dataclass(slots=True)
class _Events:
    """The columns of one table that decide; ``owner`` is a globalPid, ``thread`` a globalTid, ``kind`` NVTX's."""

    table: str
    rowid: Int64
    start: Int64
    end: Int64
    thread: Int64
    owner: Int64
    correlation: Int64
    kind: Int64
    device: Int64
    keep: Bool = field(init=False)


def rows_of_part(export: Export, connection: sqlite3.Connection, part: Part) -> dict[str, RowSpans]:
    """The rows to keep of every table with times, by its real name; the others are kept whole, but for call chains.

    Args:
        export: The report.
        connection: The report again, opened by `connect`.
        part: What to keep.
    """
    timed = [table for table in export.tables if _has_times(export.tables[table], table)]
    tables = [_read(export, connection, table) for table in timed if _has_rowids(connection, table)]
    for events in tables:
        nvtx = events.table == export.table(_RANGES)
        events.keep = _in_time(events, part, nvtx) | _ends(events, part) | _first_of_each(events, part, nvtx)
        if nvtx or events.table == _CALLS:
            events.keep |= _listed(events, part.ranges if nvtx else part.calls)
    _follow_correlations(tables)
    return {events.table: RowSpans.of(events.rowid, events.keep) for events in tables}


def _has_times(columns: Sequence[str], table: str) -> bool:
    if table in (*_WHOLE, *CHAINS):
        return False
    return not {*_STARTS, "correlationId"}.isdisjoint(columns)


def _has_rowids(connection: sqlite3.Connection, table: str) -> bool:
    """Whether a table has them; one that was made WITHOUT ROWID is none of nsys's own, and is kept whole."""
    try:
        connection.execute(f"SELECT rowid FROM {quoted(table)} LIMIT 0")
    except sqlite3.OperationalError:
        return False
    return True


def _read(export: Export, connection: sqlite3.Connection, table: str) -> _Events:
    columns = export.tables[table]
    start, end = (next((name for name in names if name in columns), None) for names in (_STARTS, _ENDS))
    owner = next((name for name in ("globalTid", "globalPid") if name in columns), None)
    wanted = (start, end, owner, *(name if name in columns else None for name in _OTHERS))
    there = ["rowid", *dict.fromkeys(name for name in wanted if name is not None)]
    selected = (_integer(name, _FOREVER if name == end else _NO_TIME if name == start else _NOBODY) for name in there)
    sql = f"SELECT {', '.join(selected)} FROM {quoted(table)} ORDER BY rowid"
    rows = np.fromiter(connection.execute(sql), np.dtype((np.int64, len(there))))
    found = dict(zip(there, np.ascontiguousarray(rows.T), strict=True))
    nobody = np.full(len(rows), _NOBODY, np.int64)
    begin, finish, identity, thread, correlation, kind, device = (found.get(name or "", nobody) for name in wanted)
    if end is None:
        finish = begin
    if table == _SWITCHES:
        finish = _until_next(begin, thread)
    process = np.where(identity == _NOBODY, _NOBODY, ids.global_pid(identity))
    return _Events(table, found["rowid"], begin, finish, thread, process, correlation, kind, device)


def _integer(column: str, missing: int) -> str:
    return f"CASE typeof({quoted(column)}) WHEN 'integer' THEN {quoted(column)} ELSE {missing} END"


def _until_next(start: Int64, thread: Int64) -> Int64:
    """What an event makes of its thread lasts until the thread's next event."""
    order = np.lexsort((start, thread))
    end = np.full(len(start), _FOREVER, np.int64)
    goes_on = thread[order][1:] == thread[order][:-1]
    end[order[:-1][goes_on]] = start[order[1:][goes_on]]
    return end


def _in_time(events: _Events, part: Part, nvtx: bool) -> Bool:
    """What shares an instant with the part, in its own process, or on GPUs in any."""
    keep: Bool = np.zeros(len(events.rowid), bool)
    if events.table.startswith("CUPTI_") and not (events.thread != _NOBODY).any():
        return part.everywhere.touch(events.start, events.end)
    for process in np.unique(events.owner).tolist():
        spans = part.everywhere if process == _NOBODY else part.spans.get(process)
        if spans is not None:
            mine = np.flatnonzero(events.owner == process)
            keep[mine] = spans.touch(events.start[mine], events.end[mine])
    return keep | ~np.isin(events.kind, _IN_TIME) if nvtx else keep


def _ends(events: _Events, part: Part) -> Bool:
    """What the capture begins or ends with, an open range that began last too, so that it is as long as it was."""
    found: Bool = np.isin(events.start, (part.first, part.last)) | (events.end == part.last)
    return found


def _first_of_each(events: _Events, part: Part, nvtx: bool) -> Bool:
    """The first row of every process on each device, or of every thread: that they are there tells something."""
    who = np.stack([events.thread if events.table in _HOST else events.owner, events.device], axis=1)
    first = np.unique(who, axis=0, return_index=True)[1]
    if nvtx:
        first = first[~np.isin(events.owner[first], list(part.spans))]
    keep: Bool = np.zeros(len(events.rowid), bool)
    keep[first] = True
    return keep


def _listed(events: _Events, keys: Int64) -> Bool:
    """Which rows are in a list of (globalTid, start)."""
    wanted = set(map(tuple, keys.tolist()))
    candidates = np.flatnonzero(np.isin(events.start, keys[:, 1]))
    pairs = zip(events.thread[candidates].tolist(), events.start[candidates].tolist(), strict=True)
    keep: Bool = np.zeros(len(events.rowid), bool)
    keep[candidates] = np.fromiter((pair in wanted for pair in pairs), bool, len(candidates))
    return keep


def _follow_correlations(tables: list[_Events]) -> None:
    """Keeps the operations of every kept call, and the calls of every kept operation."""
    linked = [events for events in tables if (events.correlation > 0).any()]
    wanted: dict[int, list[Int64]] = {}
    for events in linked:
        for process in np.unique(events.owner[events.keep]).tolist():
            mine = events.keep & (events.owner == process) & (events.correlation > 0)
            wanted.setdefault(process, []).append(events.correlation[mine])
    for events in linked:
        for process in np.unique(events.owner).tolist():
            theirs = wanted.get(process, []) + wanted.get(_NOBODY, [])
            if process == _NOBODY:
                theirs = [some for lists in wanted.values() for some in lists]
            mine = np.flatnonzero(events.owner == process)
            events.keep[mine] |= np.isin(events.correlation[mine], np.concatenate(theirs)) if theirs else False
