"""What an export says, read the plain way: one object a row, lists and dictionaries, nothing clever.

Shares no code with the package, so that it can serve as its oracle.
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]
Element = tuple[str, str]  # (domain's name, "" for the default one; folded name)

RANGE_EVENTS = (59, 60, 70, 71)
DOMAIN_CREATE = 75
# In the order in which operations that start together are ranked.
OPERATION_TABLES = {
    "kernel": "CUPTI_ACTIVITY_KIND_KERNEL",
    "memcpy": "CUPTI_ACTIVITY_KIND_MEMCPY",
    "memset": "CUPTI_ACTIVITY_KIND_MEMSET",
    "graph": "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
}
CALL_TABLE = "CUPTI_ACTIVITY_KIND_RUNTIME"
COUNTED_WORDS = ("step_", "iter_", "epoch_", "batch_", "request_")


@dataclass(eq=False)
class Range:
    """One push/pop or start/end pair; `parent` and `hung` are filled in by the attribution."""

    row: int
    process: int
    thread: int
    start: int
    end: int
    finished: bool
    element: Element
    parent: Range | None = None
    hung: bool = False

    @property
    def order(self) -> tuple[int, int, int]:
        """Start, then longer first, then row: of ranges open together the last one is the innermost."""
        return (self.start, -self.end, self.row)


@dataclass(eq=False)
class Call:
    """One CUDA API call with the GPU operations it launched."""

    row: int
    process: int
    thread: int
    start: int
    end: int
    name: str
    operations: list[Operation] = field(default_factory=list)


@dataclass(eq=False)
class Operation:
    """One kernel, memcpy, memset, or graph traced whole."""

    kind: str
    row: int
    start: int
    end: int
    device: int  # the machine's GPU where the export tells, else the process's ordinal
    function: object  # what makes two launches launches of the same thing
    name: str
    call: Call | None

    @property
    def duration(self) -> int:
        return self.end - self.start

    @property
    def order(self) -> tuple[int, int, int]:
        return (self.start, list(OPERATION_TABLES).index(self.kind), self.row)


@dataclass
class Export:
    """Everything the oracle needs of one export."""

    ranges: list[Range]
    calls: list[Call]
    operations: list[Operation]
    profiler: list[tuple[int, int, int]]  # (thread, start, end) of its own work


def pid_of(global_id: int) -> int:
    return (global_id >> 24) & 0xFFFFFF


def tid_of(global_id: int) -> int:
    return global_id & 0xFFFFFF


def process_of(global_tid: int) -> int:
    return global_tid - tid_of(global_tid)


def fold(name: str) -> str:
    """Take off what merely counts."""
    name = re.sub(r", (op_id|seq) = [+-]?[0-9]+", "", name)
    name = _without_list(name, ", sizes = [")
    name = _without_list(name, ", input_op_ids = [")
    counted = re.fullmatch(r"(.*?)[+-]?[0-9]+", name, re.DOTALL)
    if counted is None:
        return name
    head = counted.group(1)
    if head.endswith(COUNTED_WORDS):
        return head[:-1]
    if head.endswith((" ", "#", "=")):
        return head.rstrip(" #=")
    return name


def _without_list(name: str, opening: str) -> str:
    while (begin := name.find(opening)) >= 0:
        depth, position = 1, begin + len(opening)
        while depth and position < len(name):
            depth += {"[": 1, "]": -1}.get(name[position], 0)
            position += 1
        if depth:  # cut off before its bracket closed
            return name
        name = name[:begin] + name[position:]
    return name


def load(path: Path) -> Export:
    """Read the export at `path`, read-only."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        return _Loader(connection).export()


class _Loader:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        self.strings: dict[Any, str] = {row["id"]: row["value"] for row in self.rows("StringIds")}
        self.nvtx = [
            row for table in self.tables if re.fullmatch(r"NVTX_EVENTS(_V\d+)?", table) for row in self.rows(table)
        ]
        self.call_rows = [row for row in self.rows(CALL_TABLE) if row["globalTid"] is not None]
        self.operation_rows = {kind: self.rows(table) for kind, table in OPERATION_TABLES.items()}
        self.durations: list[int] = [row["duration"] for row in self.rows("ANALYSIS_DETAILS")]
        self.gpus: dict[tuple[int | None, int], int] = {
            (row["pid"], row["cudaId"]): row["gpuId"]
            for row in self.rows("TARGET_INFO_CUDA_DEVICE")
            if row["gpuId"] is not None
        }

    def rows(self, table: str) -> list[Row]:
        if table not in self.tables:
            return []
        cursor = self.connection.execute(f'SELECT * FROM "{table}" ORDER BY rowid')
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, values, strict=True)) for values in cursor]

    def export(self) -> Export:
        calls = self.calls()
        profiler = [(row["globalTid"], row["start"], row["end"]) for row in self.rows("PROFILER_OVERHEAD")]
        return Export(self.ranges(), list(calls.values()), self.operations(calls), profiler)

    def capture_end(self) -> int:
        timed = [
            *self.nvtx,
            *self.call_rows,
            *self.rows("PROFILER_OVERHEAD"),
            *(row for rows in self.operation_rows.values() for row in rows),
        ]
        last = max((row["start"] if row["end"] is None else row["end"] for row in timed), default=0)
        return max([last, *self.durations])

    def text(self, event: Row) -> str:
        text: str | None = event["text"]
        return self.strings.get(event.get("textId"), "") if text is None else text

    def ranges(self) -> list[Range]:
        domains = {
            (process_of(event["globalTid"]), event["domainId"]): self.text(event)
            for event in self.nvtx
            if event["eventType"] == DOMAIN_CREATE
        }
        capture_end = self.capture_end()
        events = enumerate(event for event in self.nvtx if event["eventType"] in RANGE_EVENTS)
        return sorted((self.range(row, event, domains, capture_end) for row, event in events), key=lambda r: r.order)

    def range(self, row: int, event: Row, domains: dict[tuple[int, int], str], capture_end: int) -> Range:
        process, number = process_of(event["globalTid"]), event["domainId"] or 0
        domain = domains.get((process, number), f"domain {number}") if number else ""
        finished = event["end"] is not None and event["end"] not in self.durations
        end = capture_end if event["end"] is None else event["end"]
        element = (domain, fold(self.text(event)))
        return Range(row, process, event["globalTid"], event["start"], end, finished, element)

    def calls(self) -> dict[tuple[int, int], Call]:
        """Find the calls by (process, correlation id); of a call that is there twice the row with the lowest class."""
        chosen: dict[tuple[int, int], tuple[tuple[int, int, int, int], Call]] = {}
        for row, event in enumerate(self.call_rows):
            if event["correlationId"] is None:
                continue
            process = process_of(event["globalTid"])
            name = self.strings.get(event["nameId"], "")
            call = Call(row, process, event["globalTid"], event["start"], event["end"], name)
            key = (process, event["correlationId"])
            rank = (event.get("eventClass") or 0, call.start, call.end, row)
            if key not in chosen or rank < chosen[key][0]:
                chosen[key] = (rank, call)
        return {key: call for key, (_, call) in chosen.items()}

    def operations(self, calls: dict[tuple[int, int], Call]) -> list[Operation]:
        owners: dict[int, set[int]] = defaultdict(set)
        for caller, correlation in calls:
            owners[correlation].add(caller)
        operations = []
        for kind, rows in self.operation_rows.items():
            for row, event in enumerate(rows):
                if kind == "graph" and event["start"] == event["end"] == 0:
                    continue  # a graph without times is not known to have run
                process = self.operation_process(event, owners)
                call = None if process is None else calls.get((process, event["correlationId"]))
                ordinal: int = event["deviceId"]
                device = self.gpus.get((None if process is None else pid_of(process), ordinal), ordinal)
                function = (process, _function(kind, event))
                name = self.strings[event["demangledName"]] if kind == "kernel" else _name(kind, event)
                operation = Operation(kind, row, event["start"], event["end"], device, function, name, call)
                operations.append(operation)
                if call is not None:
                    call.operations.append(operation)
        return operations

    def operation_process(self, event: Row, owners: dict[int, set[int]]) -> int | None:
        """Tell whose operation it is; where no column says, whoever alone made a call with that correlation id."""
        stated: int | None = event.get("globalPid")
        if stated is not None:
            return stated
        candidates = owners.get(event["correlationId"], set())
        if not candidates:
            candidates = {process_of(row["globalTid"]) for row in self.call_rows}
        return next(iter(candidates)) if len(candidates) == 1 else None


def _name(kind: str, event: Row) -> str:
    copies = {1: "Host-to-Device", 2: "Device-to-Host", 8: "Device-to-Device", 10: "Peer-to-Peer"}
    if kind == "graph":
        return f"[CUDA graph {event['graphExecId']}]"
    return f"[CUDA memcpy {copies[event['copyKind']]}]" if kind == "memcpy" else f"[CUDA {kind}]"


def _function(kind: str, event: Row) -> object:
    if kind == "graph":
        return ("graph", event["graphExecId"])
    if event.get("graphNodeId"):
        return ("graph", event["graphNodeId"] >> 32)
    return ("kernel", event["demangledName"]) if kind == "kernel" else None
