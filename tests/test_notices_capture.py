"""Warnings about what a capture cut off, lost or never had: each on a small export that has just that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsys_analyze import open_report
from tests.exports import WARNING, ExportBuilder, Thread

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nsys_analyze.metrics.results import Notice

LAUNCH = "cudaLaunchKernel_v7000"
NVTX_TRACED = {"CAPTURE_EVENT_TYPE": "NvtxEvents", "START_TRIGGER": "Immediate"}


@pytest.fixture
def notices(tmp_path: Path) -> Callable[..., list[Notice]]:
    """All that is said of an export."""

    def about(builder: ExportBuilder, **options: object) -> list[Notice]:
        return open_report(builder.write(tmp_path / "report.sqlite"), **options).analysis().warnings

    return about


@pytest.fixture
def thread(builder: ExportBuilder) -> Thread:
    return builder.process(pid=100).thread()


def short(notices: list[Notice]) -> list[tuple[str, str | None, int | None]]:
    return [(notice.code, notice.stage, notice.count) for notice in notices]


def steps(thread: Thread, count: int, *, kernels: bool = True, start: int = 1000) -> int:
    """Steps of two launches each; returns when the last one ends."""
    for number in range(count):
        at = start + 1000 * number
        thread.push_pop(f"step {number}", at, at + 900)
        for offset in (100, 300):
            call = thread.call(LAUNCH, at + offset, at + offset + 10)
            if kernels:
                call.kernel("gemm", at + offset + 20, at + offset + 100)
    return start + 1000 * count


# --- the edges of the capture


def test_launches_that_the_capture_ended_too_early_to_record(thread, builder, notices):
    end = steps(thread, 5)
    steps(thread, 1, kernels=False, start=end)
    assert short(notices(builder)) == [("cut-by-end", "python3: step", 1), ("launches-at-the-end", None, 2)]


def test_launches_lost_in_the_middle_are_no_matter_of_the_end(thread, builder, notices):
    end = steps(thread, 3)
    steps(thread, 3, start=steps(thread, 1, kernels=False, start=end))
    (lost,) = notices(builder)
    assert (lost.code, lost.count) == ("launches-without-ops", 2)
    assert lost.message.startswith("launch calls have no GPU operation, of 14: the capture left them out")


def test_a_step_that_was_open_at_the_end_is_told_once(thread, builder, notices):
    end = steps(thread, 5)
    thread.push_pop("step 5", end, None)
    thread.call(LAUNCH, end + 10, end + 20)
    assert short(notices(builder)) == [("unfinished-ranges", "python3: step", 1), ("launches-at-the-end", None, 1)]
    assert notices(builder)[0].message.startswith("range of `step` was open when the capture ended; it stays out")


@pytest.fixture
def cut_step(thread: Thread) -> Thread:
    """A thread whose first `forward` has lost its step."""
    for number in range(4):
        at = 1000 * (number + 1)
        if number:
            thread.push_pop(f"step {number}", at, at + 900)
        thread.push_pop("forward", at + 100, at + 500)
        thread.call(LAUNCH, at + 110, at + 120).kernel("gemm", at + 130, at + 200)
    return thread


@pytest.mark.parametrize(
    "trigger", [{"START_TRIGGER": "Manual"}, {"START_TRIGGER": "Immediate", "said": "cudaProfilerStart API invoked"}]
)
def test_ranges_whose_outer_range_began_before_the_capture(cut_step, builder, notices, trigger):
    if cause := trigger.pop("said", None):
        builder.diagnostic(1, f"Profiling started due to {cause} in the application.")
    builder.capture(10_000, trigger)
    assert ("cut-by-start", "python3: forward", 1) in short(notices(builder))


def test_work_launched_before_the_capture_shows_that_it_began_late(cut_step, builder, notices):
    cut_step.process.orphan_kernel("gemm", 900, 910)
    assert ("cut-by-start", "python3: forward", 1) in short(notices(builder))


def test_a_first_call_outside_of_the_loop_is_no_cut(cut_step, builder, notices):
    builder.capture(10_000, {"START_TRIGGER": "Immediate"})
    assert "cut-by-start" not in [code for code, *_ in short(notices(builder))]


def test_ranges_that_also_occur_alone_later_are_not_cut(cut_step, builder, notices):
    builder.capture(10_000, {"START_TRIGGER": "Manual"})
    cut_step.push_pop("forward", 8000, 8100)
    assert "cut-by-start" not in [code for code, *_ in short(notices(builder))]


# --- ranges that are never popped


def test_ranges_that_nobody_pops(thread, builder, notices):
    for number in range(30):
        thread.push_pop(f"step {number}", 1000 * number, None)
        thread.push_pop("forward", 1000 * number + 10, 1000 * number + 500)
    growing = [notice for notice in notices(builder) if notice.code == "growing-nesting"]
    assert short(growing) == [("growing-nesting", "python3: step", 30)]


def test_a_recursion_that_returns_does_not_grow(thread, builder, notices):
    for start in (0, 1000):
        for level in range(15):
            thread.push_pop("visit", start + level, start + 500 - level)
    assert short(notices(builder)) == [("no-cuda", None, None)]


def test_hundreds_of_stages_share_a_line(thread, builder, notices):
    for number in range(120):
        thread.push_pop(f"part{number} of many", 10 * number, None)
    (summary,) = [notice for notice in notices(builder) if notice.code == "unfinished-ranges"]
    assert (summary.stage, summary.count) == (None, 120)
    assert summary.message.startswith("ranges of 120 stages (`part0 of many`, ")
    assert "and 117 more) were open" in summary.message


# --- versions, processes, columns


def with_driver(builder: ExportBuilder, cuda: str) -> None:
    names = {"devStateName": "Local (CLI)", "name": "CudaDriverVersion", "nameEnum": 1, "value": cuda}
    builder.row("TARGET_INFO_SYSTEM_ENV", globalVid=1 << 48, **names)


@pytest.mark.parametrize(
    ("driver", "why"),
    [("13000", "nsys 2023.4.1.97 knows CUDA up to 12.4, and the driver is of CUDA 13.0"), ("12040", "may be older")],
)
def test_launches_that_an_older_nsys_lost(notices, driver, why):
    builder = ExportBuilder(schema="3.6.0")
    with_driver(builder, driver)
    thread = builder.process(100).thread()
    steps(thread, 9, kernels=False, start=steps(thread, 1))
    (lost,) = notices(builder)
    assert (lost.code, lost.count) == ("launches-without-ops", 18)
    assert lost.message.startswith("launch calls have no GPU operation, of 20: ")
    assert why in lost.message


def test_a_process_without_any_kernel_is_named(thread, builder, notices):
    steps(thread, 4)
    steps(builder.process(200).thread(), 4, kernels=False)
    (lost,) = notices(builder)
    assert (lost.code, lost.count) == ("launches-without-ops", 8)
    assert lost.message.startswith("launch calls of process 200 have no GPU operation, and no other launch of it eith")


def test_processes_without_kernels_share_a_line_where_they_are_many(thread, builder, notices):
    steps(thread, 4)
    for pid in range(200, 212):
        steps(builder.process(pid).thread(), 1, kernels=False)
    (lost,) = notices(builder)
    assert (lost.code, lost.count) == ("launches-without-ops", 24)
    assert "of 12 processes (200, 201, 202 and 9 more)" in lost.message


def test_ranges_that_an_older_nsys_cannot_record(notices):
    builder = ExportBuilder(schema="3.6.0")
    builder.capture(10_000, NVTX_TRACED)
    builder.process(100).thread().call(LAUNCH, 0, 5).kernel("gemm", 10, 20)
    assert [notice.code for notice in notices(builder)] == ["no-nvtx", "nsys-older-than-package"]
    assert "from the Python package nvtx 0.2.13 and later" in notices(builder)[1].message


def test_a_newer_nsys_records_them(thread, builder, notices):
    builder.capture(10_000, NVTX_TRACED)
    thread.call(LAUNCH, 0, 5).kernel("gemm", 10, 20)
    assert [notice.code for notice in notices(builder)] == ["no-nvtx"]


@pytest.mark.parametrize("column", ["eventType", "globalTid", "text textId"])
def test_a_table_that_lacks_a_column_is_named(notices, column):
    builder = ExportBuilder(without={"NVTX_EVENTS": column}, nvtx_table="NVTX_EVENTS_V2")
    steps(builder.process(100).thread(), 2)
    said = [notice.message for notice in notices(builder) if notice.code == "missing-column"]
    assert [message.partition(",")[0] for message in said] == [
        f"the table NVTX_EVENTS_V2 has no column {column.replace(' ', ' or ')}"
    ]
    assert "no-nvtx" not in [code for code, *_ in short(notices(builder))]


# --- how much the ranges own, and what the profiler took


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"attribution": "thread"}, "--attribution process gives it to the ranges of the main thread"),
        ({"domains": ["default"]}, "it may belong to a domain that --domain leaves out"),
        ({}, "annotate what launches it"),
    ],
)
def test_low_coverage_says_what_helps(thread, builder, notices, options, remedy):
    end = steps(thread, 2)
    thread.process.thread(tid=101).call(LAUNCH, end, end + 5).kernel("gemm", end + 10, end + 110)
    (low,) = [notice for notice in notices(builder, **options) if notice.code == "low-coverage"]
    assert (low.level, low.count) == ("warning", 1)
    assert low.message == (f"the ranges own 76% of the GPU's time; 24% was launched while no range was open: {remedy}")


def test_the_profilers_start_up_that_reaches_into_a_stage(thread, builder, notices):
    steps(thread, 3)
    thread.profiler_overhead("CUDA profiling initialization", 500, 1050)
    (init,) = [notice for notice in notices(builder) if notice.code == "profiler-init"]
    assert (init.stage, init.level) == ("python3: step", "note")
    assert init.message == "the profiler's own CUDA initialisation took 550 ns, 50 ns of it inside `step`"


def test_the_profilers_time_in_a_first_launch_is_not_loading(thread, builder, tmp_path):
    thread.push_pop("step", 0, 10_000)
    for at, took in ((100, 600), (1000, 10), (2000, 10)):
        thread.call(LAUNCH, at, at + took).kernel("gemm", at + 700, at + 710)
    thread.profiler_overhead("CUPTI resource management", 200, 500)
    (stage,) = open_report(builder.write(tmp_path / "report.sqlite")).analysis().stages
    compiling, host = stage.compile_ns, stage.host_ns
    assert compiling.sources["first_launch"] == compiling.total == host.compile == 600 - 10 - 300
    assert (host.profiler, host.launch) == (300, 30)


def test_first_launches_are_told_as_long_as_their_compile_time(thread, builder, notices):
    thread.push_pop("step", 0, 10_000)
    for at, took in ((100, 5000), (6000, 10), (7000, 10)):
        thread.call(LAUNCH, at, at + took).kernel("gemm", at + took + 10, at + took + 20)
    thread.profiler_overhead("CUPTI resource management", 100, 4100)
    (first,) = notices(builder)
    assert first.code == "first-launch"
    assert first.message.startswith("the first launch of 1 function took 990 ns more in `step`")


def test_ranges_without_a_name_are_called_as_in_tables(thread, builder, notices):
    thread.push_pop("", 1000, 2000)
    thread.profiler_overhead("CUDA profiling initialization", 1100, 1200)
    (init,) = [notice for notice in notices(builder) if notice.code == "profiler-init"]
    assert init.message.endswith("inside `''`")
    thread.push_pop("", 3000, None)
    assert any(notice.message.startswith("range of `''` was open") for notice in notices(builder))


def test_one_of_a_thing_is_told_in_the_singular(thread, builder, notices):
    end = steps(thread, 2)
    thread.call("cudaGraphLaunch_v10000", end, end + 5).graph_trace(0, 0)
    builder.diagnostic(WARNING, "no harm")
    assert [notice.message for notice in notices(builder)][:1] == [
        "CUDA graph launch has no times in the report and is left out"
    ]
