"""DataFrames of a report, for notebooks and scripts; times are int64 nanoseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from nsys_analyze.attribution import How
from nsys_analyze.metrics.coverage import how_attributed
from nsys_analyze.metrics.flat import header, rows
from nsys_analyze.metrics.results import KernelRow, Stage
from nsys_analyze.model.tables import OpKind

if TYPE_CHECKING:
    from nsys_analyze.arrays import AnyInt
    from nsys_analyze.metrics.results import Analysis, KernelAnalysis
    from nsys_analyze.report import Report


def stages(analysis: Analysis) -> pd.DataFrame:
    """One row a stage.

    The columns are those of the JSON contract with nested names joined, the same for every report: ``startup_gap_ns``
    becomes ``startup_gap_total_ns``, ``startup_gap_median_ns`` and so on; ``path`` and ``domains`` are tuples. What the
    capture cannot say is missing (NaN or None), never 0.
    """
    table = [[tuple(v) if isinstance(v, list) else v for v in values] for values in rows(Stage, analysis.stages)]
    return pd.DataFrame(table, columns=header(Stage))


def kernels(analysis: KernelAnalysis) -> pd.DataFrame:
    """One row a stage and kernel, or label, or operation; largest total first within each stage.

    Columns:
        stage, path, process, instances: The stage's key, its path (a tuple), its process's id and its instances.
        title, name: What the row is called, short and in full; by label or operation, ``name`` is missing for what
            lies in no range inside the stage.
        domain: The label's NVTX domain; missing unless by label.
        kind: compute, communication, copy, memset, graph or mixed.
        count, per_instance: Operations, in all and for each instance.
        total_ns, share: Their time added up, and its share of the GPU time of all operations of the stage.
        median_ns, p95_ns: Of one operation.
        launch_call_ns, queue_delay_ns: Medians of the calls that launched them (but for first launches and copies that
            wait) and from the call's end to its first operation; NaN where there is none.
        graph_ops, graph: How many are nodes of CUDA graphs, and the executable graph's id if all are of one.

    What belongs to no range has the path (), and one instance.
    """
    columns = header(KernelRow)
    of_stage = [(stage, (stage.key, tuple(stage.path), stage.process, stage.instances)) for stage in analysis.stages]
    table = [[*own, *values] for stage, own in of_stage for values in rows(KernelRow, stage.rows)]
    return pd.DataFrame(table, columns=["stage", "path", "process", "instances", *columns])


def ranges(report: Report) -> pd.DataFrame:
    """One row an NVTX range, ordered by (thread, start, longer first).

    Columns:
        process, thread: The operating system's ids, int64.
        domain, name, folded: Strings (categorical).
        stage: Number of the range's path, equal for the ranges of one stage.
        parent: Row of the parent range, across threads; -1 for none.
        start_ns, end_ns, completion_ns: Instants; an unfinished range ends with the capture.
        finished, push_pop: Booleans.
        gpu_ops, kernels, launches, kernel_launches, via_process, kernel_ns, busy_ns, active_ns: Inclusive.
        self_gpu_ops, self_kernels, self_kernel_ns: Of operations whose innermost range this is.
        startup_gap_ns, prelude_ns, launch_ns, queue_ns, exposed_ns, hidden_ns, profiler_ns: Nullable Int64; missing
            where the range has no GPU operation.
    """
    trace, instances = report.trace, report.instances
    table, gap = trace.ranges, instances.gap
    columns = {
        "process": trace.processes.pid[trace.threads.process[table.thread]],
        "thread": trace.threads.tid[table.thread],
        "domain": _categories(table.domain, table.domain_names),
        "name": _categories(table.name, table.names),
        "folded": _categories(table.folded, table.folded_names),
        "stage": instances.path,
        "parent": instances.parent,
        "start_ns": table.start,
        "end_ns": table.end,
        "completion_ns": instances.completion,
        "finished": table.finished,
        "push_pop": table.push_pop,
    }
    for name in (
        "gpu_ops",
        "kernels",
        "launches",
        "kernel_launches",
        "via_process",
        "kernel_ns",
        "busy_ns",
        "active_ns",
    ):
        columns[name] = getattr(instances, name)
    for name in ("self_gpu_ops", "self_kernels", "self_kernel_ns"):
        columns[name] = getattr(instances, name)
    parts = {"startup_gap_ns": gap.total} | {
        f"{part}_ns": getattr(gap, part) for part in ("prelude", "launch", "queue", "exposed", "hidden", "profiler")
    }
    for name, values in parts.items():
        columns[name] = pd.arrays.IntegerArray(values, ~instances.has_gpu)
    return pd.DataFrame(columns)


def launches(report: Report) -> pd.DataFrame:
    """One row a launch (an API call with GPU operations), ordered by (thread, start).

    Columns:
        process, thread: The operating system's ids of the caller.
        name: The call, without ABI suffix (categorical).
        start_ns, end_ns: The call.
        gpu_ops, kernels: How many it put on the GPU.
        kernel_ns: The kernels' time.
        gpu_start_ns, gpu_end_ns: First start and last end of its operations.
        queue_delay_ns: First start less the call's end, at least 0.
        blocking: Whether the call is a copy that waits.
        first_of_function: Whether it is the first launch of its kernel function or graph.
        range: Row of the innermost range it belongs to, -1 for none.
        how: How that is known (categorical).
    """
    trace, assignment = report.trace, report.launched.assignment
    table = trace.launches
    return pd.DataFrame(
        {
            "process": trace.processes.pid[trace.threads.process[table.thread]],
            "thread": trace.threads.tid[table.thread],
            "name": _categories(trace.calls.name[table.call], trace.calls.names),
            "start_ns": table.start,
            "end_ns": table.end,
            "gpu_ops": table.op_count,
            "kernels": table.kernel_count,
            "kernel_ns": table.kernel_ns,
            "gpu_start_ns": table.gpu_start,
            "gpu_end_ns": table.gpu_end,
            "queue_delay_ns": table.queue_delay,
            "blocking": table.blocking,
            "first_of_function": table.first_of_function,
            "range": assignment.inner,
            "how": _categories(assignment.how, [kind.name.lower() for kind in How]),
        }
    )


def gpu_ops(report: Report) -> pd.DataFrame:
    """One row a GPU operation: kernels, memcpys, memsets, graphs, each in the report's order.

    Columns:
        kind: kernel, memcpy, memset or graph (categorical).
        name: The kernel's demangled name, or what it is (categorical).
        process: The operating system's id.
        device: The machine's GPU.
        context, stream: CUDA's numbers.
        start_ns, end_ns: When it ran.
        launch, range: Rows of its launch and of its innermost range, -1 for none.
        how: How it was attributed, or why not (categorical).
    """
    trace, assignment = report.trace, report.launched.assignment
    ops = trace.ops
    return pd.DataFrame(
        {
            "kind": _categories(ops.kind, [kind.name.lower() for kind in OpKind]),
            "name": _categories(ops.name, ops.names),
            "process": np.append(trace.processes.pid, -1)[ops.process],
            "device": ops.device,
            "context": ops.context,
            "stream": ops.stream,
            "start_ns": ops.start,
            "end_ns": ops.end,
            "launch": ops.launch,
            "range": np.append(assignment.inner, np.int32(-1))[ops.launch],
            "how": _categories(how_attributed(trace, assignment), [kind.name.lower() for kind in How]),
        }
    )


def _categories(codes: AnyInt, names: list[str]) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype=object))
