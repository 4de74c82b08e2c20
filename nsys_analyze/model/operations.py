"""Kernel, memcpy, memset and graph rows to GPU operations, each with its call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import NONE, Int32, Int64, not_before, order_by
from nsys_analyze.ingest.columns import Array, Rows
from nsys_analyze.ingest.events import NO_TIME, Events
from nsys_analyze.model.api_calls import CorrelationIndex
from nsys_analyze.model.calls import CallKind
from nsys_analyze.model.ranges import Strings
from nsys_analyze.model.tables import Calls, GpuOps, OpKind, Processes
from nsys_analyze.model.threads import lookup, recode

_COPY_KINDS = {  # CUpti_ActivityMemcpyKind
    1: "Host-to-Device",
    2: "Device-to-Host",
    3: "Host-to-Array",
    4: "Array-to-Host",
    5: "Array-to-Array",
    6: "Array-to-Device",
    7: "Device-to-Array",
    8: "Device-to-Device",
    9: "Host-to-Host",
    10: "Peer-to-Peer",
}
_GRAPH_NODE_BITS = 32  # a graphNodeId holds the graph's id above these bits


@dataclass(frozen=True, slots=True)
class OpCounts:
    """What was left out or mended: graphs without times, kernels without an end, operations before their call, ..."""

    untimed_graphs: int
    endless: int
    before_call: int
    reversed_intervals: int


def build_ops(events: Events, processes: Processes, calls: Calls, index: CorrelationIndex) -> tuple[GpuOps, OpCounts]:
    """All operations, table after table; ``launch`` is -1 until the launches are known."""
    timed, untimed = _timed(events.graphs)
    sources = (
        (OpKind.KERNEL, events.kernels, None),
        (OpKind.MEMCPY, events.memcpys, None),
        (OpKind.MEMSET, events.memsets, None),
        (OpKind.GRAPH, events.graphs, timed if untimed else None),
    )
    strings = Strings()
    parts = [
        _columns(_Source(kind, rows, slice(None) if pick is None else pick), events, processes, index, strings)
        for kind, rows, pick in sources
        if len(rows)
    ]
    columns = {name: _joined([part.pop(name) for part in parts], dtype) for name, dtype in _DTYPES.items()}
    graph = columns.pop("graph")
    start, call = columns["start"], columns["call"]
    columns["end"], reversed_ops = not_before(columns["end"], start)
    function = _functions(columns["process"], columns["name"], graph)
    order = order_by(start).astype(np.int32)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order), dtype=np.int32)
    ops = GpuOps(
        **columns,
        order=order,
        rank=rank,
        launch=np.full(len(start), NONE, np.int32),
        function=function,
        graph=_of_launches(graph, call, calls),
        names=strings.all,
    )
    early = np.count_nonzero((start < calls.start[call]) & (call >= 0)) if len(calls) else 0
    endless = sum(np.count_nonzero(rows["end"] == NO_TIME) for rows in (events.kernels, events.graphs))
    return ops, OpCounts(untimed, int(endless), int(early), reversed_ops)


_DTYPES: dict[str, type[np.signedinteger]] = {
    "start": np.int64,
    "end": np.int64,
    "kind": np.int8,
    "device": np.int32,
    "context": np.int32,
    "stream": np.int32,
    "process": np.int32,
    "call": np.int32,
    "name": np.int32,
    "graph": np.int64,
}


@dataclass(frozen=True, slots=True)
class _Source:
    """One table of operations, and which of its rows count."""

    kind: OpKind
    rows: Rows
    pick: slice | Int64

    def __getitem__(self, column: str) -> Array:
        out: Array = self.rows[column][self.pick]
        return out


def _joined(parts: list[Array], dtype: type[np.signedinteger]) -> Array:
    if not parts:
        return np.zeros(0, dtype)
    return np.concatenate(parts, dtype=dtype) if len(parts) > 1 else parts[0].astype(dtype, copy=False)


def _timed(graphs: Rows) -> tuple[Int64, int]:
    """Rows of graphs that have times (start = end = 0 means none), and how many have not."""
    timed = (graphs["start"] != 0) | (graphs["end"] != 0)
    return np.flatnonzero(timed), int((~timed).sum())


def _columns(
    source: _Source, events: Events, processes: Processes, index: CorrelationIndex, strings: Strings
) -> dict[str, Array]:
    """GpuOps' columns for one table."""
    correlation = source["correlationId"]
    process = recode(source.rows, "globalPid", processes.global_pid)[source.pick]
    if (process < 0).any():  # tables of 2020 and 2021 may not tell the process
        owner = index.owners(correlation) if len(processes.pid) > 1 else np.zeros(len(process), np.int32)
        process = np.where(process < 0, owner, process)
    start, end = source["start"], source["end"]
    return {
        "start": start,
        "end": np.where(end == NO_TIME, start, end) if end.min(initial=0) == NO_TIME else end,
        "kind": np.full(len(start), source.kind, np.int8),
        "device": _physical(source["deviceId"], process, processes, events.gpu_of),
        "context": source["contextId"],
        "stream": source["streamId"],
        "process": process,
        "call": index.find(process, correlation),
        "name": _names(source, events, strings),
        "graph": _graphs(source),
    }


def _physical(device: Int32, process: Int32, processes: Processes, gpu_of: dict[tuple[int, int], int]) -> Int32:
    """The machine's GPU of a process's CUDA ordinal, where the report tells; else the ordinal."""
    out = device.copy()
    for number, pid in enumerate(processes.pid.tolist()):
        moved = {ordinal: gpu for (owner, ordinal), gpu in gpu_of.items() if owner == pid and gpu != ordinal}
        mine = process == number if moved else None
        for ordinal, gpu in moved.items():
            out[mine & (device == ordinal)] = gpu
    return out


def _names(source: _Source, events: Events, strings: Strings) -> Int32:
    if source.kind is OpKind.KERNEL:
        return _kernel_names(source, events, strings)
    if source.kind is OpKind.MEMCPY:
        kinds, code = np.unique(source["copyKind"], return_inverse=True)
        return strings.codes(f"[CUDA memcpy {_COPY_KINDS.get(kind, 'unknown')}]" for kind in kinds.tolist())[code]
    if source.kind is OpKind.GRAPH:
        graphs, code = np.unique(_graphs(source), return_inverse=True)
        called = (f"[CUDA graph {graph}]" if graph else "[CUDA graph]" for graph in graphs.tolist())
        return strings.codes(called)[code]
    (code,) = strings.codes(["[CUDA memset]"])
    return np.full(len(source["start"]), code, np.int32)


def _kernel_names(source: _Source, events: Events, strings: Strings) -> Int32:
    """The demangled name, else the short one."""
    demangled, short = (
        lookup(strings.codes(map(events.string, source.rows.values[column].tolist())), source[column])
        for column in ("demangledName", "shortName")
    )
    if demangled.min(initial=0) >= 0:
        return demangled
    (unnamed,) = strings.codes(["unnamed kernel"])
    return np.where(demangled >= 0, demangled, np.where(short >= 0, short, unnamed)).astype(np.int32)


def _graphs(source: _Source) -> Int64:
    """The executable graph that each operation is of, 0 for one without an id, -1 for none."""
    if source.kind is OpKind.GRAPH:
        execution = source["graphExecId"]
        return np.maximum(np.where(execution > 0, execution, source["graphId"]), 0)
    node = source["graphNodeId"]
    return np.where(node > 0, node >> _GRAPH_NODE_BITS, NONE)


def _of_launches(graph: Int64, call: Int32, calls: Calls) -> Int64:
    """The graphs, with 0 also for what a graph launch put on the GPU and no table tells the graph of."""
    if not len(calls) or CallKind.GRAPH_LAUNCH not in calls.kinds:
        return graph
    launched = np.append(calls.of_kind(CallKind.GRAPH_LAUNCH), False)[call]
    return np.where(launched & (graph < 0), 0, graph)


def _functions(process: Int32, name: Int32, graph: Int64) -> Int32:
    """Dense numbers, equal for the same kernel name, or the same graph, of the same process."""
    names = int(name.max(initial=-1)) + 1
    code = name.copy()
    of_graph = np.flatnonzero(graph >= 0)
    if len(of_graph):
        unique, number = np.unique(graph[of_graph], return_inverse=True)
        code[of_graph] = names + number
        names += len(unique)
    code += process * np.int32(names)
    return code
