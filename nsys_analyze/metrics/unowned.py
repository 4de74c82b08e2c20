"""GPU operations that belong to no range, by process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.arrays import NONE, Int64
from nsys_analyze.attribution import How
from nsys_analyze.instances.operations import OwnedOps
from nsys_analyze.metrics.coverage import how_attributed, knows_gpu
from nsys_analyze.metrics.grouping import program_names
from nsys_analyze.model.evidence import timed_launches
from nsys_analyze.model.tables import OpKind

if TYPE_CHECKING:
    from nsys_analyze.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class UnownedOps:
    """What belongs to no range of a process: all of it (``scope`` "program") where it has no range, else "outside".

    ``key`` is the same from run to run. The pairs of ``owned`` have the range -1, and the launch -1 where the report
    has none. ``benchmark_kernels`` were launched only to be timed.
    """

    key: str
    scope: str
    pid: int
    owned: OwnedOps
    benchmark_kernels: int


def unowned_ops(report: Report) -> Iterator[UnownedOps]:
    """One entry a process with such operations; none for a process with ranges that the report cannot tell about."""
    trace = report.trace
    how = how_attributed(trace, report.launched.assignment)
    unowned = ~np.isin(how, (How.THREAD, How.PROCESS))
    timed = np.append(timed_launches(report.evidence, trace.launches), False)
    ranged, known = set(trace.threads.process[trace.ranges.thread].tolist()), knows_gpu(trace)
    for process, name in enumerate(program_names(trace)):
        rows = np.flatnonzero(unowned & (trace.ops.process == process))
        if not len(rows) or (process in ranged and not known):
            continue
        tuned = timed[trace.ops.launch[rows]] & (trace.ops.kind[rows] == OpKind.KERNEL)
        yield UnownedOps(
            key=f"{name} (outside any range)" if process in ranged else name,
            scope="outside" if process in ranged else "program",
            pid=int(trace.processes.pid[process]),
            owned=_pairs(trace.ops.launch[rows].astype(np.int64), rows),
            benchmark_kernels=int(tuned.sum()),
        )


def _pairs(launch: Int64, rows: Int64) -> OwnedOps:
    launches, pair = np.unique(launch, return_inverse=True)
    return OwnedOps(np.full(len(launches), np.int64(NONE)), launches, pair.reshape(-1), rows)
