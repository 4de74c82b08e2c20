"""What holds for every report, generated or real, under both attributions."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from nsys_analyze import Report, open_report
from tests import strategies
from tests.exports import ExportBuilder
from tests.samples import CAPTURED, SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

    from nsys_analyze.metrics.results import Analysis, Stage

ADDITIVE = ("instances", "gpu_ops", "graphs", "launches", "kernel_launches", "busy_ns", "active_ns")

examples = settings(max_examples=30, suppress_health_check=list(HealthCheck))


def check(report: Report) -> None:
    by_path, by_name = report.analysis("path", instances=True), report.analysis("name", instances=True)
    check_gaps(report, by_path)
    check_partitions(report, by_path.stages)
    check_times(report)
    check_inclusion(report)
    check_coverage(report, by_path)
    check_names(report, by_path, by_name)


def check_gaps(report: Report, analysis: Analysis) -> None:
    """Both splits of every gap are exact, and so are those of the stages."""
    instances, gap = report.instances, report.instances.gap
    parts = np.stack([gap.prelude, gap.launch, gap.queue, gap.exposed, gap.hidden, gap.profiler])
    assert (parts >= 0).all()
    assert (parts[:3].sum(axis=0) == gap.total).all()
    assert (parts[3:5].sum(axis=0) == gap.total).all()
    assert (gap.profiler <= gap.total).all()
    assert (gap.total[~instances.has_gpu] == 0).all()
    for stage in analysis.stages:
        whole = stage.startup_gap_ns
        assert (whole is None) == (not stage.gpu_ops)  # none, or not known
        if whole is not None:
            assert whole.total == whole.prelude + whole.launch + whole.queue == whole.exposed + whole.hidden


def check_partitions(report: Report, stages: list[Stage]) -> None:
    """The host's parts add up to the wall time, a device's to its window; what it waited at first was exposed."""
    for stage in stages:
        host = asdict(stage.host_ns)
        assert sum(host.values()) == stage.wall_ns.total
        assert min(host.values()) >= 0
        check_host_code(stage)
        for window in stage.gpu_window_ns:
            parts = asdict(window)
            whole, device, instances = (parts.pop(name) for name in ("window", "device", "instances"))
            assert device in report.trace.devices
            assert sum(parts.values()) == whole <= stage.elapsed_ns.total
            assert min(parts.values()) >= 0
            assert 0 < instances <= stage.instances_with_gpu
        if len(report.trace.devices) == 1 and stage.startup_gap_ns is not None:
            assert [window.idle_startup for window in stage.gpu_window_ns] == [stage.startup_gap_ns.exposed]


def check_host_code(stage: Stage) -> None:
    """What host code consists of adds up to it, and so do its functions to what they are a part of."""
    code = stage.host_code
    if code is not None:
        running, blocked = code.running_ns or 0, code.blocked_ns or 0
        assert running + blocked + code.unknown_ns == stage.host_ns.code
        assert min(running, blocked, code.unknown_ns) >= 0
        assert sum(each.time_ns for each in code.blocked_on) + code.blocked_on_others_ns == blocked
        assert sum(each.samples for each in code.functions) + code.samples_of_others == (code.samples or 0)


def check_times(report: Report) -> None:
    """Active time is within the window, and busy time between it and it times the devices."""
    instances, ranges = report.instances, report.trace.ranges
    assert (instances.completion >= ranges.end).all()
    assert (instances.active_ns >= 0).all()
    assert (instances.active_ns <= instances.busy_ns).all()
    assert (instances.busy_ns <= instances.active_ns * max(len(report.trace.devices), 1)).all()
    assert (instances.active_ns <= instances.completion - ranges.start).all()


def check_inclusion(report: Report) -> None:
    """What an instance has, its parent has; a launch has an operation at least."""
    instances = report.instances
    child = np.flatnonzero(instances.parent >= 0)
    parent = instances.parent[child]
    for name in ("gpu_ops", "kernels", "launches", "kernel_launches", "kernel_ns", "active_ns", "busy_ns"):
        assert (getattr(instances, name)[child] <= getattr(instances, name)[parent]).all(), name
    assert (instances.kernel_launches <= instances.launches).all()
    assert (instances.launches <= instances.gpu_ops).all()
    assert (instances.self_gpu_ops <= instances.gpu_ops).all()
    assert (instances.via_process <= instances.gpu_ops).all()


def check_coverage(report: Report, analysis: Analysis) -> None:
    """Attributed and unattributed are all; each attributed operation is in one innermost range."""
    ops, coverage = report.gpu_ops(), analysis.coverage
    for told, values in ((coverage, np.ones(len(ops), int)), (coverage.gpu_time_ns, ops["end_ns"] - ops["start_ns"])):
        unattributed = told.no_launch_row + told.outside_ranges + told.ambiguous_thread
        assert told.attributed + unattributed == told.gpu_ops == values.sum()
        assert told.attributed == values[(ops["range"] >= 0).to_numpy()].sum()
    assert report.instances.self_gpu_ops.sum() == coverage.attributed


def check_names(report: Report, by_path: Analysis, by_name: Analysis) -> None:
    """A name's row is the sum of the stages of that name; the instances listed are those of the rows."""
    assert _totals(by_path.stages) == _totals(by_name.stages)
    assert len(_totals(by_name.stages)) == len(by_name.stages)
    for analysis in (by_path, by_name):
        listed = Counter(instance.stage for instance in analysis.instances)
        assert listed == {stage.key: stage.instances for stage in analysis.stages}
        assert listed.total() == len(report.trace.ranges)
    assert by_path.coverage == by_name.coverage


def _totals(stages: list[Stage]) -> dict[tuple[int, str, str], Counter[str]]:
    """Sums of what adds up, by (process, domain, name); zeros are dropped."""
    totals: dict[tuple[int, str, str], Counter[str]] = {}
    for stage in stages:
        sums = {name: getattr(stage, name) for name in ADDITIVE if getattr(stage, name) is not None}
        if stage.self:
            sums |= {f"self_{name}": value for name, value in asdict(stage.self).items()}
        sums |= {"wall": stage.wall_ns.total, "elapsed": stage.elapsed_ns.total}
        if stage.startup_gap_ns:
            sums |= {"gap": stage.startup_gap_ns.total, "exposed": stage.startup_gap_ns.exposed}
        row = totals.setdefault((stage.process, stage.domain, stage.name), Counter())
        row.update(sums)
    return totals


def check_roots(report: Report) -> None:
    """Self counts sum to what the outermost ranges hold; for ranges that nest properly."""
    instances = report.instances
    roots = instances.parent < 0
    for name in ("gpu_ops", "kernels", "kernel_ns"):
        assert getattr(instances, name)[roots].sum() == getattr(instances, f"self_{name}").sum(), name


def check_rules(by_thread: Report, by_process: Report) -> None:
    """The process rule never takes anything away; coverage by thread is the same."""
    for name in ("gpu_ops", "kernels", "launches", "kernel_ns", "busy_ns", "active_ns", "completion"):
        assert (getattr(by_thread.instances, name) <= getattr(by_process.instances, name)).all(), name
    first, second = by_thread.analysis().coverage, by_process.analysis().coverage
    assert (first.thread, first.no_launch_row) == (second.thread, second.no_launch_row)
    assert (first.process, first.ambiguous_thread) == (0, 0)
    assert not by_thread.instances.via_process.any()


def under_both_rules(path: Path) -> list[Report]:
    return [open_report(path, attribution=rule) for rule in ("thread", "process")]


# --- real reports


@pytest.mark.parametrize("name", (*SAMPLES, "llama_train_fsdp", "llama_cudagraphs_whole", *CAPTURED))
def test_real_reports(sample_report, name):
    reports = under_both_rules(sample_report(name))
    check_rules(*reports)
    for report in reports:
        check(report)
        assert not report.nesting.crosses.any()
        check_roots(report)


def test_reports_of_a_folder(any_report):
    """For ``pytest --reports FOLDER``; skipped without."""
    reports = under_both_rules(any_report)
    check_rules(*reports)
    for report in reports:
        check(report)


# --- generated reports


@examples
@given(export=strategies.exports(ties=True))
def test_generated_reports(tmp_path, export):
    reports = under_both_rules(export.write(tmp_path / "report.sqlite"))
    check_rules(*reports)
    for report in reports:
        check(report)


@examples
@given(export=strategies.exports(nested=True))
def test_generated_ranges_that_nest(tmp_path, export):
    for report in under_both_rules(export.write(tmp_path / "report.sqlite")):
        check_roots(report)


@examples
@given(export=strategies.exports(), seed=strategies.permutations())
def test_the_order_of_rows_is_irrelevant(tmp_path, export, seed):
    in_order, shuffled = (
        [
            report.analysis(by, instances=True)
            for report in under_both_rules(export.write(tmp_path / "report.sqlite", shuffle=shuffle))
            for by in ("path", "name")
        ]
        for shuffle in (None, seed)
    )
    assert in_order == shuffled


# --- what random exports seldom hold


@pytest.mark.parametrize("by", ["path", "name"])
def test_the_order_of_rows_does_not_order_stages_that_start_together(tmp_path, by):
    told = []
    for step in (1, -1):
        builder = ExportBuilder()
        process = builder.process(pid=100)
        for tid, name in ((101, "a"), (102, "b"))[::step]:
            process.thread(tid).push_pop(name, 0, 10)
        told.append(open_report(builder.write(tmp_path / "report.sqlite")).analysis(by).stages)
    assert told[0] == told[1]


def test_an_operation_before_its_range_does_not_make_overhead_negative(tmp_path):
    builder = ExportBuilder()
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 100, 110)
    thread.call("cudaLaunchKernel_v7000", 100, 105).kernel("gemm", 90, 120)
    (step,) = open_report(builder.write(tmp_path / "report.sqlite")).analysis().stages
    assert step.active_ns <= step.elapsed_ns.total
    assert step.cpu_overhead_ns >= 0
