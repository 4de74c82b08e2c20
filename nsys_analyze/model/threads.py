"""Processes and threads of a report."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nsys_analyze.arrays import NONE, Int32, Int64
from nsys_analyze.ingest.columns import Rows
from nsys_analyze.ingest.events import Events
from nsys_analyze.model import ids
from nsys_analyze.model.tables import Processes, Threads


def build_threads(events: Events) -> tuple[Processes, Threads]:
    """Every process and thread that any row names; ranks are not known yet."""
    by_thread = (events.nvtx, events.calls, events.overhead, events.driver_overhead)
    by_process = (events.kernels, events.memcpys, events.memsets, events.graphs)
    global_tid = np.unique(np.concatenate([rows.values["globalTid"] for rows in by_thread]))
    named = [ids.global_pid(global_tid), *(rows.values["globalPid"] for rows in by_process)]
    global_pid = np.unique(np.concatenate(named))
    names = [events.process_names.get(identity, "") for identity in global_pid.tolist()]
    pid = ids.pid(global_pid)
    process = np.searchsorted(global_pid, ids.global_pid(global_tid)).astype(np.int32)
    tid = ids.tid(global_tid)
    main = np.full(len(global_pid), NONE, np.int32)
    is_main = np.flatnonzero(tid == pid[process])
    main[process[is_main]] = is_main
    return Processes(global_pid, pid, names, [None] * len(names)), Threads(global_tid, tid, process, main)


def recode(rows: Rows, column: str, known: Int64) -> Int32:
    """Codes of a column as positions in a sorted list that holds all its values; -1 stays."""
    position = np.searchsorted(known, rows.values[column]).astype(np.int32)
    return lookup(position, rows[column])


def lookup(table: npt.NDArray[np.int32], code: npt.NDArray[np.signedinteger]) -> Int32:
    """``table[code]``, with -1 for a code of -1."""
    out: Int32 = np.append(table, NONE)[code]
    return out
