"""One report's rows, coverage, processes and warnings, put together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nsys_analyze.metrics.coverage import coverage, how_attributed, knows_gpu
from nsys_analyze.metrics.devices import devices
from nsys_analyze.metrics.grouping import Grouping, by_name, by_path
from nsys_analyze.metrics.notices import Rows, notices
from nsys_analyze.metrics.programs import processes, programs
from nsys_analyze.metrics.results import Analysis, Gpu, Instance, Program, ReportInfo
from nsys_analyze.metrics.stages import StageTable

if TYPE_CHECKING:
    from nsys_analyze.report import Report


def analyse(report: Report, by: str, with_instances: bool, sha256: str | None) -> Analysis:
    """Computes all that is said about a report.

    Args:
        report: The report.
        by: "path" or "name".
        with_instances: Whether to list every instance.
        sha256: The file's digest, if it was taken.
    """
    trace = report.trace
    grouping = (by_path if by == "path" else by_name)(report.instances, report.paths, trace.ranges)
    table = StageTable(report, grouping)
    stages = table.rows()
    how = how_attributed(trace, report.launched.assignment)
    keys = [table.key(row) for row in range(len(grouping))]
    range_keys = [keys[group] for group in grouping.group.tolist()]
    ran, covered = programs(trace, report.evidence), coverage(trace, how)
    overlap = table.pace.overlap[grouping.order].tolist() if len(grouping) else []
    return Analysis(
        settings=report.settings,
        report=_info(report, ran, sha256),
        coverage=covered,
        warnings=notices(report, how, covered, Rows(stages, overlap, range_keys)),
        programs=ran,
        devices=devices(trace, dict(report.metadata.gpus)),
        stages=stages,
        by=by,
        instances=_instances(report, table, grouping) if with_instances else [],
    )


def _info(report: Report, ran: list[Program], sha256: str | None) -> ReportInfo:
    metadata = report.metadata
    return ReportInfo(
        file=report.path.name,
        sha256=sha256,
        nsys_version=metadata.nsys_version,
        export_schema=metadata.export_schema,
        duration_ns=metadata.duration,
        gpus=[Gpu(id=number, name=name) for number, name in metadata.gpus],
        cpu=metadata.cpu,
        driver=metadata.driver,
        capture={
            "trace": metadata.trace,
            "cuda_graph": metadata.graph_mode,
            "sampling": metadata.sampling,
            "context_switches": metadata.context_switches,
        },
        processes=processes(report.trace, ran),
        command=metadata.command,
        environment=metadata.environment,
        host=report.session.host,
        started_at_ns=report.session.started_at,
    )


def _instances(report: Report, table: StageTable, grouping: Grouping) -> list[Instance]:
    out = []
    for row in grouping.order:
        key = table.key(row)
        path, domains = table.path(row)
        for index, number in enumerate(table.instances_of(row).tolist()):
            out.append(_instance(report, key, path, domains[-1], number, index))
    unknown: dict[str, Any] = {} if knows_gpu(report.trace) else dict.fromkeys(_OF_GPU)
    return [replace(instance, **unknown) for instance in out] if unknown else out


_OF_GPU = (
    *("gpu_ops", "kernels", "graphs", "launches", "kernel_launches", "kernel_ns", "busy_ns", "active_ns"),
    *("startup_gap_ns", "prelude_ns", "launch_ns", "queue_ns", "exposed_ns", "hidden_ns"),
)


def _instance(report: Report, key: str, path: list[str], domain: str, row: int, index: int) -> Instance:
    trace, instances = report.trace, report.instances
    ranges, gap, has_gpu = trace.ranges, instances.gap, bool(instances.has_gpu[row])
    thread = int(ranges.thread[row])
    return Instance(
        stage=key,
        path=path,
        name=ranges.names[ranges.name[row]],
        domain=domain,
        process=int(trace.processes.pid[trace.threads.process[thread]]),
        thread=int(trace.threads.tid[thread]),
        index=index,
        finished=bool(ranges.finished[row]),
        start_ns=int(ranges.start[row]),
        wall_ns=int(ranges.end[row] - ranges.start[row]),
        elapsed_ns=int(instances.completion[row] - ranges.start[row]),
        gpu_ops=int(instances.gpu_ops[row]),
        kernels=int(instances.kernels[row]) if not instances.graphs[row] else None,
        graphs=int(instances.graphs[row]),
        launches=int(instances.launches[row]),
        kernel_launches=int(instances.kernel_launches[row]),
        kernel_ns=int(instances.kernel_ns[row]) if not instances.graphs[row] else None,
        busy_ns=int(instances.busy_ns[row]),
        active_ns=int(instances.active_ns[row]),
        startup_gap_ns=int(gap.total[row]) if has_gpu else None,
        prelude_ns=int(gap.prelude[row]) if has_gpu else None,
        launch_ns=int(gap.launch[row]) if has_gpu else None,
        queue_ns=int(gap.queue[row]) if has_gpu else None,
        exposed_ns=int(gap.exposed[row]) if has_gpu else None,
        hidden_ns=int(gap.hidden[row]) if has_gpu else None,
    )
