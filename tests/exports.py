"""The fixture builder: small Nsight Systems exports with the tables and columns of real ones.

    b = ExportBuilder(schema="3.20.3")
    p = b.process(pid=100, name="python3")
    t = p.thread()                                    # the main thread: its tid is the pid
    t.push_pop("step 1", 0, 1000, domain="stages")
    call = t.call("cudaLaunchKernel_v7000", 100, 120)
    call.kernel("gemm", 150, 400)
    path = b.write(tmp_path / "report.sqlite")

Times are nanoseconds since the start of the capture. Rows go to their tables in the order of the calls, so equal times
are told apart by that order; `write(shuffle=seed)` permutes it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from tests.export_schema import NEWEST, PROFILES, Profile, column_name
from tests.export_writer import write_export

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Text = str | bytes  # bytes: text that is not UTF-8
Row = dict[str, Any]

RUNTIME_API, DRIVER_API, OS_RUNTIME, WITH_BACKTRACE, CUPTI_OVERHEAD = 0, 1, 27, 67, 103
CATEGORY, MARK, THREAD_NAME, PUSH_POP, START_END = 33, 34, 39, 59, 60
IMPORTED_PUSH_POP, IMPORTED_START_END, DOMAIN_CREATE, DOMAIN_DESTROY = 70, 71, 75, 76
DRIVER_COMPILER, MODULE_LOADING, LAZY_LOADING, COMMAND_BUFFER_FULL = 2, 6, 7, 8
WARNING, ERROR = 2, 3


@dataclass
class ExportBuilder:
    """Collects the rows of one export.

    `schema` names a layout of `export_schema.PROFILES`; `without` takes columns off it and `extra` adds some, by table
    (`{"CUPTI_ACTIVITY_KIND_KERNEL": "globalPid"}`); `nvtx_table` renames that table; `lazy=False` creates the empty
    tables too.
    """

    schema: str = "3.20.3"
    without: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
    nvtx_table: str = "NVTX_EVENTS"
    lazy: bool = True
    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    strings: dict[Text, int] = field(default_factory=dict)

    @property
    def profile(self) -> Profile:
        return PROFILES[self.schema]

    def row(self, table: str, **columns: Any) -> Row:
        """Add a row to any table; NOT NULL columns that are not given become 0 or ''."""
        layouts = (*NEWEST[table].split(), *self.profile.columns(table), *self.extra.get(table, "").split())
        if unknown := set(columns) - {column_name(column) for column in layouts}:
            raise ValueError(f"{table} has no column {', '.join(sorted(unknown))}")
        self.rows[table].append(columns)
        return columns

    def string(self, value: Text) -> int:
        """Give the id of a text in StringIds."""
        return self.strings.setdefault(value, len(self.strings) + 1)

    def process(self, pid: int, name: str = "python3", *, hw: int = 0, vm: int = 1) -> Process:
        global_pid = hw << 56 | vm << 48 | pid << 24
        self.row("PROCESSES", globalPid=global_pid, pid=pid, name=name)
        return Process(self, pid, global_pid)

    def diagnostic(self, severity: int, text: str, at: int = 0, process: Process | None = None) -> Row:
        global_pid = process.global_pid if process else None
        return self.row("DIAGNOSTIC_EVENT", timestamp=at, severity=severity, text=text, globalPid=global_pid)

    def gpu(self, gpu_id: int, name: str = "NVIDIA H200", **columns: Any) -> Row:
        return self.row("TARGET_INFO_GPU", vmId=1 << 48, id=gpu_id, name=name, **columns)

    def capture(
        self,
        duration: int,
        options: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """State the capture's length, its options (META_DATA_CAPTURE) and the target's environment."""
        started = 500_000_000
        self.row(
            "ANALYSIS_DETAILS", globalVid=1 << 48, duration=duration, startTime=started, stopTime=started + duration
        )
        self.row("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_767_225_600_000_000_000, utcTime="2026-01-01T00:00:00")
        for name, value in options.items() if isinstance(options, Mapping) else options:
            self.row("META_DATA_CAPTURE", name=name, value=value)
        for number, (name, value) in enumerate((environment or {}).items(), start=1):
            columns = {"devStateName": "Local (CLI)", "name": name, "nameEnum": number, "value": value}
            self.row("TARGET_INFO_SYSTEM_ENV", globalVid=1 << 48, **columns)

    def session(self, started_at: int, host: str | None = None) -> None:
        """State when the capture began (ns since 1970), and on which machine."""
        self.row("TARGET_INFO_SESSION_START_TIME", utcEpochNs=started_at)
        if host is not None:
            columns = {"devStateName": "Local (CLI)", "name": "Hostname", "nameEnum": 1, "value": host}
            self.row("TARGET_INFO_SYSTEM_ENV", globalVid=1 << 48, **columns)

    def write(self, path: Path, *, shuffle: int | None = None, wal: bool = False) -> Path:
        """Write the export to `path`, replacing what is there.

        `shuffle` seeds a permutation of each table's rows. With `wal` the rows stay in a `-wal` file beside it, as when
        the exporter has not finished.
        """
        write_export(self, path, shuffle=shuffle, wal=wal)
        return path

    def __repr__(self) -> str:
        tables = (f"  {table}: {row}" for table, rows in self.rows.items() for row in rows)
        return "\n".join((f"ExportBuilder({self.schema}, strings={self.strings})", *tables))


@dataclass
class GpuWork:
    """The GPU operations of one correlation id."""

    process: Process
    correlation: int | None

    def kernel(self, name: str, start: int, end: int, *, graph_node: int | None = None, **place: int) -> Row:
        """Add a kernel; `place` is device, stream and context (0, 7 and 1)."""
        string = self.process.builder.string
        short = name.partition("(")[0]
        names = {"demangledName": string(name), "shortName": string(short), "mangledName": string(name)}
        grid = dict.fromkeys(("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"), 1)
        columns = {"launchType": 1, "registersPerThread": 32, "graphNodeId": graph_node}
        return self._operation("KERNEL", start, end, place, **names, **grid, **columns)

    def memcpy(
        self, start: int, end: int, *, kind: int = 1, size: int = 4, graph_node: int | None = None, **place: int
    ) -> Row:
        """Add a copy; `kind` is 1 to the device, 2 from it, 8 on it, 10 between two."""
        columns = {"bytes": size, "copyKind": kind, "srcKind": 0, "dstKind": 2, "copyCount": 1}
        return self._operation("MEMCPY", start, end, place, graphNodeId=graph_node, **columns)

    def memset(self, start: int, end: int, *, size: int = 4, graph_node: int | None = None, **place: int) -> Row:
        return self._operation("MEMSET", start, end, place, bytes=size, memKind=2, graphNodeId=graph_node)

    def graph_trace(self, start: int, end: int, *, graph: int = 1, graph_exec: int = 2, **place: int) -> Row:
        """Add a graph traced whole; start = end = 0 where its times are unknown."""
        return self._operation("GRAPH_TRACE", start, end, place, graphId=graph, graphExecId=graph_exec)

    def synchronization(self, start: int, end: int, *, kind: int = 3, **place: int) -> Row:
        """Add the wait of a call; `kind` is 1 event, 2 stream wait, 3 stream, 4 context."""
        return self._operation("SYNCHRONIZATION", start, end, place, syncType=kind)

    def _operation(self, kind: str, start: int, end: int, place: dict[str, int], **columns: Any) -> Row:
        where = {
            "deviceId": place.pop("device", 0),
            "streamId": place.pop("stream", 7),
            "contextId": place.pop("context", 1),
        }
        if place:
            raise TypeError(f"unexpected {', '.join(place)}")
        whose = {"globalPid": self.process.global_pid, "correlationId": self.correlation}
        table = f"CUPTI_ACTIVITY_KIND_{kind}"
        return self.process.builder.row(table, start=start, end=end, **where, **whose, **columns)


@dataclass
class Call(GpuWork):
    """A CUDA API call, to hang its GPU operations on."""

    start: int
    end: int


@dataclass
class Process:
    """One process of the export; correlation ids count from 1 in each, so those of two processes collide."""

    builder: ExportBuilder
    pid: int
    global_pid: int
    domains: dict[str, int] = field(default_factory=lambda: {"": 0})
    correlations: Iterator[int] = field(default_factory=lambda: count(1))
    range_ids: Iterator[int] = field(default_factory=lambda: count(1))

    def thread(self, tid: int | None = None, name: str | None = None) -> Thread:
        """Add a thread: the main one, unless it gets a tid of its own."""
        thread = Thread(self, self.global_pid | (self.pid if tid is None else tid))
        if name is not None:
            self.builder.row("ThreadNames", nameId=self.builder.string(name), priority=20, globalTid=thread.global_tid)
        return thread

    def domain(self, name: str, *, at: int = 0, row: bool = True, destroyed: int | None = None) -> int:
        """Declare an NVTX domain; a window capture may lack its row. Ranges declare theirs by themselves."""
        number = self.domains.setdefault(name, len(self.domains))
        main_thread = self.global_pid | self.pid
        event = {"globalTid": main_thread, "domainId": number}
        if row:
            self.builder.row("NVTX_EVENTS", start=at, eventType=DOMAIN_CREATE, text=name, **event)
        if destroyed is not None:
            self.builder.row("NVTX_EVENTS", start=destroyed, eventType=DOMAIN_DESTROY, **event)
        return number

    def device(self, cuda_id: int, gpu_id: int) -> Row:
        """Say which GPU of the machine one of the process's CUDA ordinals is."""
        return self.builder.row("TARGET_INFO_CUDA_DEVICE", gpuId=gpu_id, cudaId=cuda_id, pid=self.pid)

    def orphan(self, correlation: int | None = None) -> GpuWork:
        """Give GPU work whose call was not recorded."""
        return GpuWork(self, next(self.correlations) if correlation is None else correlation)

    def orphan_kernel(self, name: str, start: int, end: int, **place: int) -> Row:
        return self.orphan().kernel(name, start, end, **place)


@dataclass
class Thread:
    """One thread: its NVTX events, CUDA calls and profiler overhead."""

    process: Process
    global_tid: int

    def push_pop(
        self,
        name: Text | None,
        /,
        start: int,
        end: int | None,
        *,
        domain: str = "",
        registered: bool = False,
        event_type: int = PUSH_POP,
        **columns: Any,
    ) -> Row:
        """Add a push/pop range; `end=None` leaves it open, `registered` puts its name in StringIds."""
        return self._nvtx(event_type, name, start, domain, registered=registered, end=end, **columns)

    def start_end(
        self,
        name: Text | None,
        /,
        start: int,
        end: int | None,
        *,
        domain: str = "",
        registered: bool = False,
        event_type: int = START_END,
        end_thread: Thread | None = None,
        **columns: Any,
    ) -> Row:
        """Add a start/end range, ended by `end_thread` if that is another one."""
        ids = {"rangeId": next(self.process.range_ids), "endGlobalTid": end_thread.global_tid if end_thread else None}
        return self._nvtx(event_type, name, start, domain, registered=registered, end=end, **ids, **columns)

    def mark(self, name: Text, at: int, *, domain: str = "", registered: bool = False) -> Row:
        return self._nvtx(MARK, name, at, domain, registered=registered)

    def category(self, number: int, name: str, *, domain: str = "") -> Row:
        """Name a category of the process and domain; ranges refer to it by `category=number`."""
        return self._nvtx(CATEGORY, name, 0, domain, category=number)

    def nvtx_name(self, name: str, at: int = 0) -> Row:
        """Name the thread by NVTX."""
        return self._nvtx(THREAD_NAME, name, at, "")

    def call(
        self,
        name: str,
        start: int,
        end: int,
        *,
        correlation: int | None = None,
        doubled: bool = False,
        event_class: int | None = None,
    ) -> Call:
        """Add a CUDA API call; `doubled` adds the second row that captures with CUDA backtraces have."""
        number = next(self.process.correlations) if correlation is None else correlation
        usual = RUNTIME_API if name.startswith("cuda") else DRIVER_API
        self._call_row(name, start, end, number, usual if event_class is None else event_class)
        if doubled:
            self._call_row(re.sub(r"_v\d{4,5}", "", name), start, end, number, WITH_BACKTRACE, callchainId=1)
        return Call(self.process, number, start, end)

    def stream_capture(self, begin: int, end: int, *, took: int = 1) -> None:
        """Add the calls that begin and end a stream capture, at the times given; launches between them are captured."""
        self.call("cudaStreamBeginCapture_v10000", begin, begin + took)
        self.call("cudaStreamEndCapture_v10000", end, end + took)

    def profiler_overhead(self, name: str, start: int, end: int) -> Row:
        return self._named("PROFILER_OVERHEAD", name, start, end)

    def overhead(self, kind: int, start: int, end: int, *, name: str = "kernel", call: Call | None = None) -> Row:
        """Add CUPTI overhead: 2 driver compiler, 6 module loading, 7 lazy loading, 8 command buffer full."""
        columns = {
            "overheadType": kind,
            "eventClass": CUPTI_OVERHEAD,
            "correlationId": call.correlation if call else None,
        }
        return self._named("CUPTI_ACTIVITY_KIND_OVERHEAD", name, start, end, **columns)

    def os_call(self, name: str, start: int, end: int, *, level: int = 0) -> Row:
        """Add a call of the OS runtime, at a level of nesting."""
        return self._named("OSRT_API", name, start, end, eventClass=OS_RUNTIME, nestingLevel=level)

    def switch(self, at: int, *, running: bool, cpu: int = 0) -> Row:
        """Schedule the thread in or out."""
        columns = {"cpu": cpu, "isSchedIn": int(running), "globalTid": self.global_tid}
        return self.process.builder.row("SCHED_EVENTS", start=at, **columns)

    def sample(self, at: int, *frames: str, module: str = "/usr/lib/libc.so.6", resolved: bool = True) -> Row:
        """Sample the thread in a call chain, the innermost frame first; an unresolved frame is an address."""
        builder = self.process.builder
        number = len(builder.rows["COMPOSITE_EVENTS"]) + 1
        for depth, frame in enumerate(frames):
            names = {"symbol": builder.string(frame), "module": builder.string(module)}
            state = {"unresolved": None if resolved else 1, "stackDepth": depth}
            builder.row("SAMPLING_CALLCHAINS", id=number, **names, **state)
        columns = {"threadState": 1, "globalTid": self.global_tid, "cpuCycles": 1}
        return builder.row("COMPOSITE_EVENTS", id=number, start=at, cpu=0, **columns)

    def _nvtx(
        self, kind: int, label: Text | None, start: int, domain: str, registered: bool = False, **columns: Any
    ) -> Row:
        if domain not in self.process.domains:
            self.process.domain(domain)
        text: Row = {"text": label}
        if registered and label is not None:
            text = {"text": None, "textId": self.process.builder.string(label)}
        where = {"globalTid": self.global_tid, "domainId": self.process.domains[domain]}
        return self.process.builder.row("NVTX_EVENTS", start=start, eventType=kind, **where, **text, **columns)

    def _call_row(self, name: str, start: int, end: int, correlation: int, event_class: int, **columns: Any) -> None:
        ids = {"correlationId": correlation, "eventClass": event_class}
        self._named("CUPTI_ACTIVITY_KIND_RUNTIME", name, start, end, **ids, **columns)

    def _named(self, table: str, name: str, start: int, end: int, **columns: Any) -> Row:
        builder = self.process.builder
        return builder.row(
            table, start=start, end=end, globalTid=self.global_tid, nameId=builder.string(name), **columns
        )
