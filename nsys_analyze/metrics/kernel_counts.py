"""How often each kernel ran in a stage, and for how long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.arrays import Int64, expand_slices
from nsys_analyze.metrics.grouping import Labels
from nsys_analyze.model.tables import OpKind

if TYPE_CHECKING:
    from nsys_analyze.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelCount:
    """A kernel by its demangled name: how often it ran in all instances of a stage, and the sum of its durations."""

    name: str
    count: int
    total_ns: int


def kernel_counts(report: Report, keys: Iterable[str]) -> dict[str, list[KernelCount] | None]:
    """Returns the kernels of stages, those with most time first.

    Args:
        report: The report.
        keys: Keys of stages by path.

    Returns:
        For each key the stage's kernels, whichever of its ranges launched them; None where graphs were traced whole,
        whose kernels nobody knows.
    """
    labels = Labels(report.trace, report.paths)
    wanted = set(keys)
    rows = {labels.key(row, whole=True): row for row in range(len(report.paths))}
    return {key: _counts(report, np.flatnonzero(report.instances.path == rows[key])) for key in sorted(wanted)}


def _counts(report: Report, instances: Int64) -> list[KernelCount] | None:
    launches, ops = report.trace.launches, report.trace.ops
    _, launch = report.launched.members.pairs(instances)
    launch = np.unique(launch)
    _, position = expand_slices(launches.first_op[launch], launches.first_op[launch + 1])
    rows = launches.ops[position]
    if (ops.kind[rows] == OpKind.GRAPH).any():
        return None
    rows = rows[ops.kind[rows] == OpKind.KERNEL]
    names, number, count = np.unique(ops.name[rows], return_inverse=True, return_counts=True)
    total = np.zeros(len(names), np.int64)
    np.add.at(total, number.reshape(-1), ops.end[rows] - ops.start[rows])
    return [
        KernelCount(name=ops.names[names[place]], count=int(count[place]), total_ns=int(total[place]))
        for place in np.argsort(-total, kind="stable").tolist()
    ]
