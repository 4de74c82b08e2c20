"""Which columns of which tables tell what threads did outside CUDA: OS calls, scheduling, CPU samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.ingest.columns import Among, Column, Rows, TableRequest, coded
from nsys_analyze.ingest.export import Export

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_END = np.iinfo(np.int64).min  # stands for NULL

OS_CALLS, SWITCHES, SAMPLES, CALL_CHAINS = "OSRT_API", "SCHED_EVENTS", "COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS"

_OS_CALLS = (Column("start"), Column("end", missing=NO_END), coded("globalTid"), coded("nameId"))
_SWITCHES = (Column("start"), coded("globalTid"), Column("isSchedIn", np.int16))
_SAMPLES = (Column("start"), coded("globalTid"), Column("id"))
_LEAVES = (Column("id"), Column("symbol"), Column("module"), Column("unresolved", np.int16, missing=0))


@dataclass(frozen=True, slots=True)
class HostEvents:
    """Rows of the threads asked for; None for a table in which they have none.

    ``leaves`` holds the innermost frame of every sample's call chain; it is joined to ``samples`` by ``id``.
    ``strings`` are those that rows name, but for symbols that nsys could not resolve.
    """

    os_calls: Rows | None
    switches: Rows | None
    samples: Rows | None
    leaves: Rows | None
    strings: dict[int, str]


def read_host_events(export: Export, global_tids: Sequence[int]) -> HostEvents | None:
    """Reads what the report has of these threads.

    Args:
        export: The report.
        global_tids: The threads that matter, which keeps the rest of a busy machine out of memory.

    Returns:
        None where no table has a row of theirs.
    """
    theirs = (Among("globalTid", tuple(global_tids)),)
    wanted = [
        TableRequest(OS_CALLS, _OS_CALLS, theirs),
        TableRequest(SWITCHES, _SWITCHES, theirs),
        TableRequest(SAMPLES, _SAMPLES, theirs),
        TableRequest(CALL_CHAINS, _LEAVES, (Among("stackDepth", (0,)),)),
    ]
    needed = ("globalTid", "globalTid", "globalTid", "stackDepth")
    there = [r for r, column in zip(wanted, needed, strict=True) if export.has(r.table, column)] if global_tids else []
    read = zip([request.table for request in there], export.read(there), strict=True)
    found = {table: rows for table, rows in read if len(rows)}  # an export may hold tables that nobody filled
    if not {OS_CALLS, SWITCHES, SAMPLES} & set(found):
        return None
    os_calls, leaves = found.get(OS_CALLS), found.get(CALL_CHAINS)
    used = [] if os_calls is None else [os_calls.values["nameId"]]
    if leaves is not None:
        used += [np.unique(leaves["module"]), np.unique(leaves["symbol"][leaves["unresolved"] <= 0])]
    strings = export.strings(np.concatenate(used)) if used else {}
    return HostEvents(os_calls, found.get(SWITCHES), found.get(SAMPLES), leaves, strings)
