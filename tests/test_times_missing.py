"""Tables without the columns that times and names come from: what needs them is unknown, never made up."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from nsys_analyze import open_report
from nsys_analyze.doctor import State, examine

KERNELS, CALLS, RANGES = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"


@pytest.fixture
def report(builder, tmp_path):
    """Two steps with a kernel and a copy each; nvtx names in both columns."""
    thread = builder.process(pid=100).thread()
    for at in (0, 1000):
        thread.push_pop("step", at, at + 900, registered=at == 0)
        thread.call("cudaLaunchKernel", at + 10, at + 20).kernel("gemm", at + 30, at + 90)
        thread.call("cudaMemcpyAsync", at + 100, at + 110).memcpy(at + 130, at + 150)
    return builder.write(tmp_path / "r.sqlite")


def change(path, sql):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(sql)
        connection.commit()


def drop(path, table, column):
    change(path, f"ALTER TABLE {table} DROP COLUMN {column}")


def answers(path):
    diagnosis = examine(path)
    return diagnosis.healthy, {answer.question: answer.finding for answer in diagnosis.answers}


def check_unknown(path, *codes):
    analysis = open_report(path).analysis(instances=True)
    assert set(codes) <= {notice.code for notice in analysis.warnings}
    for row in (*analysis.stages, *analysis.instances):
        assert (row.gpu_ops, row.kernels, row.kernel_ns, row.busy_ns, row.active_ns) == (None,) * 5
        assert row.startup_gap_ns is None
    healthy, found = answers(path)
    assert not healthy
    assert found["launches"].state is State.NO
    return analysis


def test_the_report_is_sound(report):
    analysis = open_report(report).analysis()
    assert not analysis.warnings
    assert [stage.active_ns for stage in analysis.stages] == [160]
    assert answers(report)[0]


@pytest.mark.parametrize("how", ["no column", "all NULL"])
def test_kernels_without_an_end(report, how):
    drop(report, KERNELS, "end")
    if how == "all NULL":
        change(report, f"ALTER TABLE {KERNELS} ADD COLUMN end INT")
    analysis = check_unknown(report, "gpu-unknown", *(["missing-column"] if how == "no column" else []))
    assert analysis.coverage.gpu_time_ns is None
    assert analysis.coverage.attributed_share is None
    assert not analysis.devices
    assert [(program.busy_ns, program.kernel_ns) for program in analysis.programs] == [(None, None)]
    (told,) = open_report(report).kernel_analysis(outside=True).stages
    assert (told.gpu_ops, told.rows) == (None, [])


def test_some_kernels_without_an_end_are_told(report):
    drop(report, KERNELS, "end")
    change(report, f"ALTER TABLE {KERNELS} ADD COLUMN end INT")
    change(report, f"UPDATE {KERNELS} SET end = start + 60 WHERE start > 500")
    analysis = open_report(report).analysis()
    assert [(notice.code, notice.count) for notice in analysis.warnings] == [("endless-kernels", 1)]


def test_kernels_without_a_start(report):
    drop(report, KERNELS, "start")
    check_unknown(report, "missing-column", "gpu-unknown")


@pytest.mark.parametrize("column", ["start", "end"])
def test_calls_without_a_time(report, column):
    drop(report, CALLS, column)
    analysis = check_unknown(report, "missing-column", "no-calls")
    assert [stage.instances for stage in analysis.stages] == [2]  # nothing else is lost with them
    assert analysis.coverage.no_launch_row == 4


@pytest.mark.parametrize("column", ["text", "textId"])
def test_a_column_of_names_that_ranges_need(report, column):
    drop(report, RANGES, column)
    warnings = open_report(report).analysis().warnings
    assert [notice.message.split(",")[0] for notice in warnings if notice.code == "missing-column"] == [
        f"the table NVTX_EVENTS has no column {column}"
    ]


def test_a_column_of_names_that_no_range_needs(builder, tmp_path):
    builder.process(pid=100).thread().push_pop("step", 0, 900)
    path = builder.write(tmp_path / "r.sqlite")
    drop(path, RANGES, "textId")
    assert "missing-column" not in {notice.code for notice in open_report(path).analysis().warnings}


def test_startup_gaps_need_a_range(builder, tmp_path):
    builder.process(pid=100).thread().call("cudaLaunchKernel", 10, 20).kernel("gemm", 30, 90)
    _, found = answers(builder.write(tmp_path / "r.sqlite"))
    assert found["launches"].state is State.PARTLY
    assert "startup gaps begin at a range, and there is none" in found["launches"].why


def test_launches_of_graphs_traced_whole_are_called_so(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    for at in (0, 100):
        thread.call("cudaGraphLaunch", at, at + 5).graph_trace(at + 10, at + 20)
    _, found = answers(builder.write(tmp_path / "r.sqlite"))
    assert found["graphs"].why == "2 launches of CUDA graphs were traced whole"
