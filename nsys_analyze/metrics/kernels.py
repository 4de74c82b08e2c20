"""What stages put on the GPU: their operations grouped by kernel, by label or by what the label calls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.arrays import AnyInt, Bool, Int64
from nsys_analyze.instances.operations import OwnedOps, owned_ops
from nsys_analyze.metrics.communication import communication_of_ops
from nsys_analyze.metrics.coverage import knows_durations
from nsys_analyze.metrics.grouping import Labels, batches
from nsys_analyze.metrics.kernel_groups import Codes, by_kernel, by_label, by_operation
from nsys_analyze.metrics.kernel_kinds import KINDS, kind_of_groups, kinds
from nsys_analyze.metrics.results import Analysis, KernelAnalysis, KernelRow, NamedOps, Stage, StageKernels
from nsys_analyze.metrics.unowned import UnownedOps, unowned_ops
from nsys_analyze.model.tables import GpuOps, Launches, OpKind, Trace
from nsys_analyze.percentiles import Float64, Groups

if TYPE_CHECKING:
    from nsys_analyze.report import Report

GROUPINGS = {"name": by_kernel, "label": by_label, "operation": by_operation}
_DENSE = 4_000_000  # keys up to which a table of all of them is cheaper than sorting


def analyse_kernels(report: Report, analysis: Analysis, by: str, *, outside: bool = False) -> KernelAnalysis:
    """The operations of an analysis's stages.

    Args:
        report: The report.
        analysis: What is said about it, by path, with the stages to take.
        by: "name", "label" or "operation".
        outside: Whether to add what belongs to no range: whole programs where they have none.
    """
    codes, kind_of_op = GROUPINGS[by](report), kinds(report.trace.ops)
    grouped = _Grouped(report, codes, kind_of_op, by != "name")
    stages = _stages(grouped, analysis.stages)
    if outside:
        stages += [_of_program(grouped, unowned) for unowned in unowned_ops(report)]
    return KernelAnalysis(
        settings=analysis.settings,
        report=analysis.report,
        coverage=analysis.coverage,
        warnings=analysis.warnings,
        by=by,
        stages=stages,
    )


@dataclass(frozen=True, slots=True)
class _Grouped:
    """How a report's operations are grouped: the codes of the rows, each operation's kind, whether rows list names."""

    report: Report
    codes: Codes
    kind_of_op: Int64
    with_names: bool

    def rows(self, owned: OwnedOps, stage: Int64, instances: Sequence[int]) -> list[list[KernelRow]]:
        """The rows of each stage; ``stage`` is the place of each pair's among ``instances``, how many each has."""
        table = _Table.of(self.report.trace, owned, stage, self.codes, self.kind_of_op, self.with_names)
        return list(table.rows(instances))


def _stages(grouped: _Grouped, stages: Sequence[Stage]) -> list[StageKernels]:
    report = grouped.report
    group = _group_of_range(report, stages)
    rows: list[list[KernelRow]] = []
    for ranges, _, count in batches(report.launched.members, group, len(stages)):
        owned = owned_ops(report.trace.launches, report.launched.members, ranges)
        instances = [stage.instances for stage in stages[len(rows) : len(rows) + count]]
        rows += grouped.rows(owned, group[owned.range] - len(rows), instances)
    return [_stage(stage, found) for stage, found in zip(stages, rows, strict=True)]


def _stage(stage: Stage, rows: list[KernelRow]) -> StageKernels:
    known = stage.gpu_ops is not None
    return StageKernels(
        key=stage.key,
        path=stage.path,
        domains=stage.domains,
        process=stage.process,
        instances=stage.instances,
        gpu_ops=stage.gpu_ops,
        gpu_time_ns=sum(row.total_ns for row in rows) if known else None,
        communication=stage.communication,
        rows_in_all=len(rows) if known else 0,
        rows=rows if known else [],
        graph_ops=sum(row.graph_ops for row in rows) if known else None,
        benchmark_kernels=stage.benchmark_kernels,
    )


def _of_program(grouped: _Grouped, unowned: UnownedOps) -> StageKernels:
    """What belongs to no range of a program, with nothing to say where the report does not tell how long it took."""
    owned, trace, timed = unowned.owned, grouped.report.trace, knows_durations(grouped.report.trace)
    (rows,) = grouped.rows(owned, np.zeros(len(owned.range), np.int64), [1]) if timed else ([],)
    return StageKernels(
        key=unowned.key,
        path=[],
        domains=[],
        process=unowned.pid,
        instances=1,
        gpu_ops=len(owned.op) if timed else None,
        gpu_time_ns=sum(row.total_ns for row in rows) if timed else None,
        communication=communication_of_ops(trace, owned.op) if timed else None,
        rows_in_all=len(rows),
        rows=rows,
        scope=unowned.scope,
        graph_ops=sum(row.graph_ops for row in rows) if timed else None,
        benchmark_kernels=unowned.benchmark_kernels if timed else None,
    )


def _group_of_range(report: Report, stages: Sequence[Stage]) -> Int64:
    """For each range the place of its stage, -1 for ranges of no stage that is asked for."""
    labels = Labels(report.trace, report.paths)
    place = {stage.key: number for number, stage in enumerate(stages)}
    group_of_path = [place.get(labels.key(row, whole=True), -1) for row in range(len(report.paths))]
    return np.array(group_of_path, np.int64)[report.instances.path]


@dataclass(frozen=True, slots=True)
class _Table:
    """Rows of some stages, ordered by (stage, code): which they are, and their numbers."""

    codes: Codes
    stage: Int64
    code: Int64
    kind: Int64
    total: Int64
    durations: Groups
    calls: Float64
    delays: Float64
    graph_ops: Int64
    graph: Int64
    names: list[list[NamedOps]]

    @classmethod
    def of(
        cls, trace: Trace, owned: OwnedOps, stage: Int64, codes: Codes, kind_of_op: Int64, with_names: bool
    ) -> _Table:
        """Groups the operations; ``stage`` is the stage of each pair of an instance and a launch."""
        key = stage[owned.pair] * codes.size + codes.of(owned)
        keys, row = _dense(key)
        rows, ops = len(keys), trace.ops
        duration = ops.end[owned.op] - ops.start[owned.op]
        kind = kind_of_op[owned.op]
        calls, delays = _launch_times(trace.launches, row, owned, rows)
        graph_ops, graph = _graphs(ops, owned.op, row, rows)
        return cls(
            codes=codes,
            stage=keys // codes.size,
            code=keys % codes.size,
            kind=kind_of_groups(row, kind, rows),
            total=_sums(row, duration, rows),
            durations=Groups.of(row, duration, rows),
            calls=calls,
            delays=delays,
            graph_ops=graph_ops,
            graph=graph,
            names=_names(trace, row, owned.op, duration, kind_of_op, rows) if with_names else [[]] * rows,
        )

    def rows(self, instances: Sequence[int]) -> Iterator[list[KernelRow]]:
        """The rows of each stage, largest first; ``instances`` is how many each has."""
        median, p95 = self.durations.percentiles((50, 95))
        count = self.durations.count
        bounds = np.searchsorted(self.stage, np.arange(len(instances) + 1)).tolist()
        for several, low, high in zip(instances, bounds, bounds[1:], strict=False):
            of_stage = slice(low, high)
            whole = int(self.total[of_stage].sum())
            labels = self.codes.labels(self.code[of_stage])
            found = [
                KernelRow(
                    title=label.title,
                    name=label.name,
                    domain=label.domain,
                    kind=KINDS[self.kind[row]],
                    count=int(count[row]),
                    per_instance=int(count[row]) / several,
                    total_ns=int(self.total[row]),
                    share=int(self.total[row]) / whole if whole else None,
                    median_ns=float(median[row]),
                    p95_ns=float(p95[row]),
                    launch_call_ns=_number(self.calls[row]),
                    queue_delay_ns=_number(self.delays[row]),
                    graph_ops=int(self.graph_ops[row]),
                    graph=int(self.graph[row]) or None,
                    names=self.names[row],
                )
                for row, label in zip(range(low, high), labels, strict=True)
            ]
            yield sorted(found, key=lambda row: (-row.total_ns, -row.count, row.title, row.domain or ""))


def _dense(key: Int64) -> tuple[Int64, Int64]:
    """The different keys in order, and the place of each among them."""
    if not len(key) or int(key.max()) > max(_DENSE, len(key)):
        keys, place = np.unique(key, return_inverse=True)
        return keys, place
    present = np.zeros(int(key.max()) + 1, bool)
    present[key] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[key]


def _launch_times(launches: Launches, row: Int64, owned: OwnedOps, rows: int) -> tuple[Float64, Float64]:
    """The median launch call and the median queue delay of each row, NaN for none."""
    launched = owned.launch[owned.pair] >= 0
    if not launched.all():
        row, owned = row[launched], replace(owned, pair=owned.pair[launched], op=owned.op[launched])
    launch = owned.launch[owned.pair]
    once = _once_each(row, owned, launches.op_count[launch] > 1) & ~launches.blocking[launch]
    usual = np.flatnonzero(once & ~launches.first_of_function[launch])
    leading = np.flatnonzero(once)
    leading = leading[launches.ops[launches.first_op[launch[leading]]] == owned.op[leading]]
    took = (launches.end - launches.start)[launch[usual]]
    waited = np.maximum(launches.gpu_start - launches.end, 0)[launch[leading]]
    return Groups.of(row[usual], took, rows).percentile(50), Groups.of(row[leading], waited, rows).percentile(50)


def _graphs(ops: GpuOps, op: AnyInt, row: Int64, rows: int) -> tuple[Int64, Int64]:
    """How many operations of each row are nodes of CUDA graphs; the graph, 0 for none, several or an unknown one."""
    graph = ops.graph[op]
    inside = np.flatnonzero(graph >= 0)
    graph, row, node = graph[inside], row[inside], ops.kind[op[inside]] != OpKind.GRAPH
    least, greatest = np.full(rows, np.iinfo(np.int64).max), np.zeros(rows, np.int64)
    np.minimum.at(least, row, graph)
    np.maximum.at(greatest, row, graph)
    return np.bincount(row[node], minlength=rows), np.where(least == greatest, least, 0)


def _once_each(row: Int64, owned: OwnedOps, shared: Bool) -> Bool:
    """The first operation of each launch in each row, for every instance; ``shared``: the launch has several."""
    first: Bool = ~shared
    several = np.flatnonzero(shared)
    if len(several):
        _, chosen = np.unique(row[several] * len(owned.launch) + owned.pair[several], return_index=True)
        first[several[chosen]] = True
    return first


def _sums(row: Int64, values: Int64, rows: int) -> Int64:
    out = np.zeros(rows, np.int64)
    np.add.at(out, row, values)
    return out


def _names(trace: Trace, row: Int64, op: AnyInt, duration: Int64, kind_of_op: Int64, rows: int) -> list[list[NamedOps]]:
    """What stands in each row, by the operations' names, largest first."""
    names = trace.ops.names
    keys, place = _dense(row * len(names) + trace.ops.name[op])
    count, total = np.bincount(place, minlength=len(keys)), _sums(place, duration, len(keys))
    kind = kind_of_groups(place, kind_of_op[op], len(keys))
    out: list[list[NamedOps]] = [[] for _ in range(rows)]
    for number, key in enumerate(keys.tolist()):
        owner, name = divmod(key, len(names))
        found = NamedOps(
            name=names[name], kind=KINDS[kind[number]], count=int(count[number]), total_ns=int(total[number])
        )
        out[owner].append(found)
    return [sorted(found, key=lambda ops: (-ops.total_ns, ops.name)) for found in out]


def _number(value: np.floating) -> float | None:
    return None if math.isnan(value) else float(value)
