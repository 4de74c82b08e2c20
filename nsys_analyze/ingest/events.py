"""Which columns of which tables an analysis reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import Bool
from nsys_analyze.ingest.columns import Among, Array, Column, Rows, TableRequest, coded, text
from nsys_analyze.ingest.export import Export
from nsys_analyze.ingest.filling import absent
from nsys_analyze.ingest.host_events import HostEvents, read_host_events
from nsys_analyze.ingest.ranks import StatedRanks, read_ranks
from nsys_analyze.ingest.values import as_duration, as_text, is_gpu_number

NO_TIME = np.iinfo(np.int64).min  # stands for NULL

_TID_BITS = 24  # of a globalTid; the rest is the process's
_LONGEST_CAPTURE = 2**53  # ns, 104 days: what lies farther from the rest is no time

_RANGE_EVENTS = (59, 60, 70, 71)
_START_END_EVENTS = (60, 71)
_DOMAIN_CREATE = 75

_TIMES = (Column("start", missing=NO_TIME), Column("end", missing=NO_TIME))
_OPERATION = (
    *_TIMES,
    Column("deviceId", np.int32, missing=0),
    Column("contextId", np.int32),
    Column("streamId", np.int32),
    Column("correlationId"),
    coded("globalPid"),
)
_NVTX = (
    *_TIMES,
    Column("eventType", np.int16),
    text("text"),
    coded("textId"),
    coded("globalTid"),
    Column("domainId", np.int64, missing=0),
)
CALL_COLUMNS = (*_TIMES, coded("globalTid"), Column("correlationId"), coded("nameId"))
KERNEL_COLUMNS = (*_OPERATION, coded("demangledName"), Column("graphNodeId", missing=0))
_EVENT_CLASS, _SHORT_NAME = Column("eventClass", np.int16), coded("shortName")  # read where they are needed
_MEMCPYS = (*_OPERATION, Column("copyKind", np.int16), Column("graphNodeId", missing=0))
_MEMSETS = (*_OPERATION, Column("graphNodeId", missing=0))
_GRAPHS = (*_OPERATION, Column("graphId"), Column("graphExecId"))
_DRIVER_OVERHEAD = (*_TIMES, coded("globalTid"), Column("overheadType", np.int16))
_OVERHEAD = (*_TIMES, coded("globalTid"), coded("nameId"))

RANGES, CALLS, KERNELS, MEMCPYS, MEMSETS, GRAPHS, OVERHEAD, DRIVER_OVERHEAD = (
    "NVTX_EVENTS",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "PROFILER_OVERHEAD",
    "CUPTI_ACTIVITY_KIND_OVERHEAD",
)


_NEEDED = {  # without which rows of a table cannot be used; of columns in one string, one is enough
    RANGES: ("start", "end", "eventType", "globalTid", "text textId"),
    CALLS: ("start", "end", "globalTid", "correlationId", "nameId"),
    KERNELS: ("start", "end", "correlationId"),
    MEMCPYS: ("start", "end", "correlationId"),
    MEMSETS: ("start", "end", "correlationId"),
    GRAPHS: ("start", "end", "correlationId"),
}


@dataclass(frozen=True, slots=True)
class Events:
    """Rows as the report has them, and the strings that they name.

    ``gpu_of`` maps (pid, CUDA ordinal) to the machine's GPU; ``process_names`` maps a ``globalPid`` to the program's
    name; ``ranks`` is what tells their ranks; ``duration`` is how long the capture took, ns, or None. ``absurd`` counts
    rows that were left out since their times cannot be times of this capture. ``host`` is what
    threads with ranges did outside CUDA, None where nobody recorded that.
    """

    nvtx: Rows
    calls: Rows
    kernels: Rows
    memcpys: Rows
    memsets: Rows
    graphs: Rows
    overhead: Rows
    driver_overhead: Rows
    strings: dict[int, str]
    process_names: dict[int, str]
    gpu_of: dict[tuple[int, int], int]
    ranks: StatedRanks
    duration: int | None
    absurd: int
    host: HostEvents | None

    def string(self, identity: int) -> str:
        """The string of an id; what the report lost reads ``<string N>``, which no folding touches."""
        return self.strings.get(identity, f"<string {identity}>")


def read_events(export: Export) -> Events:
    """Reads every table that the numbers need."""
    told = (Among("eventType", (*_RANGE_EVENTS, _DOMAIN_CREATE)),)
    tables = export.read(
        [
            TableRequest(RANGES, _NVTX, told if export.has(RANGES, "eventType") else ()),
            TableRequest(CALLS, CALL_COLUMNS),
            TableRequest(KERNELS, KERNEL_COLUMNS),
            TableRequest(MEMCPYS, _MEMCPYS),
            TableRequest(MEMSETS, _MEMSETS),
            TableRequest(GRAPHS, _GRAPHS),
            TableRequest(OVERHEAD, _OVERHEAD),
            TableRequest(DRIVER_OVERHEAD, _DRIVER_OVERHEAD),
        ]
    )
    tables[1] = _with_column(export, CALLS, tables[1], _EVENT_CLASS, needed=_repeats(tables[1]))
    nameless = bool((tables[2]["demangledName"] < 0).any())
    tables[2] = _with_column(export, KERNELS, tables[2], _SHORT_NAME, needed=nameless)
    (nvtx, calls, kernels, memcpys, memsets, graphs, overhead, driver_overhead), absurd = _plausible(tables)
    if len(calls) and bool((calls["end"] == NO_TIME).all()):  # none says how long it took: as good as no call
        absurd, calls = absurd + len(calls), calls.only(np.zeros(len(calls), bool))
    used = (
        nvtx.values["textId"],
        calls.values["nameId"],
        kernels.values["demangledName"],
        kernels.values["shortName"],
        overhead.values["nameId"],
    )
    return Events(
        nvtx=nvtx,
        calls=calls,
        kernels=kernels,
        memcpys=memcpys,
        memsets=memsets,
        graphs=graphs,
        overhead=overhead,
        driver_overhead=driver_overhead,
        strings=export.strings(np.concatenate(used)),
        process_names={row[0]: as_text(row[1]) or "" for row in export.rows("PROCESSES", "globalPid", "name")},
        gpu_of={
            (row[0], row[1]): row[2]
            for row in export.rows("TARGET_INFO_CUDA_DEVICE", "pid", "cudaId", "gpuId")
            if is_gpu_number(row[1]) and is_gpu_number(row[2])
        },
        ranks=read_ranks(export),
        duration=next((as_duration(row[0]) for row in export.rows("ANALYSIS_DETAILS", "duration")), None),
        absurd=absurd,
        host=read_host_events(export, nvtx.values["globalTid"].tolist()),
    )


def _with_column(export: Export, table: str, rows: Rows, column: Column, *, needed: bool) -> Rows:
    """Rows with one more column, which is read, or all missing where it is not needed."""
    if needed:
        (more,) = export.read([TableRequest(table, [column])])
    else:
        more = absent([column], len(rows))
    return Rows(rows.count, rows.arrays | more.arrays, rows.values | more.values, rows.texts)


def _repeats(calls: Rows) -> bool:
    """Whether a process has a correlation id twice, so that it takes the rows' classes to tell which is the call."""
    ids = calls["correlationId"]
    processes, group = np.unique(calls.values["globalTid"] >> _TID_BITS, return_inverse=True)
    if len(processes) <= 1 and bool((ids[1:] > ids[:-1]).all()):
        return False
    group = np.append(group, -1)[calls["globalTid"]]
    parts = (np.sort(ids[(group == number) & (ids > 0)]) for number in range(len(processes)))
    return any(bool((part[1:] == part[:-1]).any()) for part in parts)


def lacking_columns(export: Export) -> list[tuple[str, str]]:
    """Columns that the numbers need and a table of the export does not have: (real name of the table, column)."""
    found = [
        (real, columns.replace(" ", " or "))
        for table, needed in _NEEDED.items()
        if (real := export.table(table)) is not None
        for columns in needed
        if not any(export.has(table, column) for column in columns.split())
    ]
    return [*found, *_lacking_names(export)]


def _lacking_names(export: Export) -> list[tuple[str, str]]:
    """The one column of ranges' names that an export lacks, if ranges need it: they have no name in the other."""
    real = export.table(RANGES)
    there = [column for column in (text("text"), coded("textId")) if export.has(RANGES, column.name)]
    if real is None or len(there) != 1 or not export.has(RANGES, "eventType"):
        return []
    (column,) = there
    nameless = (Among(column.name, None), Among("eventType", _RANGE_EVENTS))
    (rows,) = export.read([TableRequest(RANGES, [Column("eventType", np.int16)], nameless)])
    return [(real, "textId" if column.name == "text" else "text")] if len(rows) else []


def _plausible(tables: list[Rows]) -> tuple[list[Rows], int]:
    """The tables without rows whose times are NULL or far from everybody else's, and how many rows these were."""
    samples = [rows["start"][:: len(rows) // 1000 + 1] for rows in tables if len(rows)]
    told = np.concatenate(samples) if samples else np.zeros(0, np.int64)
    told = told[told != NO_TIME]
    middle = int(np.median(told)) if len(told) else 0
    low, high = middle - _LONGEST_CAPTURE, middle + _LONGEST_CAPTURE
    kept, absurd = [], 0
    for rows in tables:
        start, end = rows["start"], rows["end"]
        fine = (start > low) & (start < high) & (((end > low) & (end < high)) | (end == NO_TIME))
        lost = len(rows) - int(np.count_nonzero(fine))
        kept.append(rows.only(fine) if lost else rows)
        absurd += lost
    return kept, absurd


def is_range(event_type: Array) -> Bool:
    """Which NVTX rows are ranges."""
    return np.isin(event_type, _RANGE_EVENTS)


def is_start_end(event_type: Array) -> Bool:
    """Which NVTX rows are start/end ranges."""
    return np.isin(event_type, _START_END_EVENTS)


def is_domain(event_type: Array) -> Bool:
    """Which NVTX rows name a domain."""
    return np.equal(event_type, _DOMAIN_CREATE)
