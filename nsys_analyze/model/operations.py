"""Kernel, memcpy, memset and graph rows to GPU operations, each with its call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import NONE, Int32, Int64, stable_order
from nsys_analyze.ingest.columns import Rows
from nsys_analyze.ingest.events import NO_TIME, Events
from nsys_analyze.model.api_calls import CorrelationIndex
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
_PROCESS_BITS = 40
_IS_GRAPH = np.int64(1) << (_PROCESS_BITS - 1)


@dataclass(frozen=True, slots=True)
class OpCounts:
    """What was left out or mended: graphs without times, operations that start before their call or end before it."""

    untimed_graphs: int
    before_call: int
    reversed_intervals: int


def build_ops(events: Events, processes: Processes, calls: Calls, index: CorrelationIndex) -> tuple[GpuOps, OpCounts]:
    """All operations in their total order; ``launch`` is -1 until the launches are known."""
    tables = ((OpKind.KERNEL, events.kernels), (OpKind.MEMCPY, events.memcpys), (OpKind.MEMSET, events.memsets))
    graphs, untimed = _timed(events.graphs)
    sources = [(kind, rows, np.arange(len(rows))) for kind, rows in tables]
    sources.append((OpKind.GRAPH, events.graphs, graphs))
    strings = Strings()
    parts = [_columns(kind, rows, pick, events, processes, index, strings) for kind, rows, pick in sources]
    merged = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = stable_order(merged["start"])
    if not np.array_equal(order[:1], order[-1:]):
        merged = {name: column[order] for name, column in merged.items()}
    start, call = merged["start"], merged["call"]
    early = int((start < calls.start[call])[call >= 0].sum()) if len(calls) else 0
    reversed_ops = int((merged["end"] < start).sum())
    merged["end"] = np.maximum(merged["end"], start)
    ops = GpuOps(**merged, launch=np.full(len(start), NONE, np.int32), names=strings.all)
    return ops, OpCounts(untimed, early, reversed_ops)


def _timed(graphs: Rows) -> tuple[Int64, int]:
    """Rows of graphs that have times (start = end = 0 means none), and how many have not."""
    timed = (graphs["start"] != 0) | (graphs["end"] != 0)
    return np.flatnonzero(timed), int((~timed).sum())


def _columns(
    kind: OpKind,
    rows: Rows,
    pick: Int64,
    events: Events,
    processes: Processes,
    index: CorrelationIndex,
    strings: Strings,
) -> dict[str, np.ndarray]:
    """GpuOps' columns for one table."""
    correlation = rows["correlationId"][pick]
    process = recode(rows, "globalPid", processes.global_pid)[pick]
    if (process < 0).any():  # tables of 2020 and 2021 may not tell the process
        owner = index.owners(correlation) if len(processes.pid) > 1 else np.zeros(len(process), np.int32)
        process = np.where(process < 0, owner, process)
    end = rows["end"][pick]
    return {
        "start": rows["start"][pick],
        "end": np.where(end == NO_TIME, rows["start"][pick], end),
        "kind": np.full(len(pick), kind, np.int8),
        "device": _physical(rows["deviceId"][pick], process, processes, events.gpu_of),
        "context": rows["contextId"][pick],
        "stream": rows["streamId"][pick],
        "process": process,
        "call": index.find(process, correlation),
        "name": _names(kind, rows, pick, events, strings),
        "function": _functions(kind, rows, pick, process),
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


def _names(kind: OpKind, rows: Rows, pick: Int64, events: Events, strings: Strings) -> Int32:
    if kind is OpKind.KERNEL:
        return _kernel_names(rows, pick, events, strings)
    if kind is OpKind.MEMCPY:
        kinds, code = np.unique(rows["copyKind"][pick], return_inverse=True)
        names = (f"[CUDA memcpy {_COPY_KINDS.get(number, 'unknown')}]" for number in kinds.tolist())
        return strings.codes(names)[code] if len(code) else code.astype(np.int32)
    (code,) = strings.codes(["[CUDA memset]" if kind is OpKind.MEMSET else "[CUDA graph]"])
    return np.full(len(pick), code, np.int32)


def _kernel_names(rows: Rows, pick: Int64, events: Events, strings: Strings) -> Int32:
    """The demangled name, else the short one."""
    codes = []
    for column in ("demangledName", "shortName"):
        named = strings.codes(events.string(identity) for identity in rows.values[column].tolist())
        codes.append(lookup(named, rows[column][pick]))
    (unnamed,) = strings.codes(["unnamed kernel"])
    name = np.where(codes[0] >= 0, codes[0], codes[1])
    return np.where(name >= 0, name, unnamed).astype(np.int32)


def _functions(kind: OpKind, rows: Rows, pick: Int64, process: Int32) -> Int64:
    """What is launched: a kernel function or a graph, of one process."""
    owner = process.astype(np.int64) << _PROCESS_BITS
    if kind is OpKind.KERNEL:
        named = "demangledName" if len(rows.values["demangledName"]) else "shortName"
        graph = rows["graphNodeId"][pick] >> _GRAPH_NODE_BITS
        return owner + np.where(graph > 0, graph + _IS_GRAPH, rows[named][pick])
    if kind is OpKind.GRAPH:
        execution = rows["graphExecId"][pick].astype(np.int64)
        return owner + _IS_GRAPH + np.where(execution >= 0, execution, rows["graphId"][pick])
    return owner - 1
