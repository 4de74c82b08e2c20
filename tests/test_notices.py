"""Warnings and notes: each situation gives its code, its count and its stage, and a sound capture gives none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsys_analyze import open_report
from tests.exports import ExportBuilder, Thread

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Said = list[tuple[str, str, str | None, int | None]]

INIT = "CUDA profiling initialization"


@pytest.fixture
def said(tmp_path: Path) -> Callable[..., Said]:
    """Analyse an export; what is said about it: (level, code, stage, count)."""

    def about(builder: ExportBuilder, **options: object) -> Said:
        notices = open_report(builder.write(tmp_path / "report.sqlite"), **options).analysis().warnings
        assert all(notice.message for notice in notices)
        return [(n.level, n.code, n.stage, n.count) for n in notices]

    return about


@pytest.fixture
def builder() -> ExportBuilder:
    return ExportBuilder()


@pytest.fixture
def thread(builder: ExportBuilder) -> Thread:
    """A thread with a step of two launches, of which nothing is to be said."""
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 1000)
    for at in (10, 20):
        thread.call("cudaLaunchKernel_v7000", at, at + 5).kernel("gemm", at + 6, at + 9)
    return thread


def test_nothing_is_said_of_a_sound_capture(builder, thread, said):
    assert said(builder) == []


# --- what is missing


def test_no_ranges(builder, said):
    builder.process(100).thread().call("cudaLaunchKernel_v7000", 0, 5).kernel("gemm", 10, 20)
    assert said(builder) == [("warning", "no-nvtx", None, None)]  # so the kernel is outside of all ranges


def test_no_cuda(builder, said):
    builder.process(100).thread().push_pop("step", 0, 10)
    assert said(builder) == [("warning", "no-cuda", None, None)]


def test_no_calls(builder, said):
    process = builder.process(100)
    process.thread().push_pop("step", 0, 10)
    process.orphan_kernel("gemm", 1, 2)
    process.orphan_kernel("gemm", 3, 4)
    assert said(builder) == [("warning", "no-calls", None, 2)]


def test_no_operations(builder, said):
    thread = builder.process(100).thread()
    thread.push_pop("step", 0, 10)
    for at in (1, 3, 5):
        thread.call("cudaLaunchKernel_v7000", at, at + 1)
    assert said(builder) == [("warning", "no-gpu-ops", None, 3)]


def test_nothing_at_all(builder, said):
    builder.process(100)
    assert [code for _, code, *_ in said(builder)] == ["no-nvtx", "no-cuda"]


# --- what was not attributed


def test_operations_without_a_launch_row(builder, thread, said):
    thread.process.orphan_kernel("gemm", 100, 200)
    assert said(builder) == [("warning", "no-launch-row", None, 1), ("warning", "low-coverage", None, 1)]


def test_operations_outside_of_ranges(builder, thread, said):
    for at in (1000, 2000, 3000):
        thread.call("cudaLaunchKernel_v7000", at, at + 5).kernel("gemm", at + 10, at + 20)
    assert said(builder) == [("warning", "outside-ranges", None, 3), ("warning", "low-coverage", None, 3)]


@pytest.mark.parametrize(("rule", "code"), [("process", "ambiguous-thread"), ("thread", "outside-ranges")])
def test_ambiguous_threads(builder, thread, said, rule, code):
    for tid in (101, 102):
        thread.process.thread(tid).push_pop("server", 2000, 3000)
    call = thread.call("cudaGraphLaunch_v10000", 2500, 2505)
    for node in (1, 2):
        call.kernel("gemm", 2600 + node, 2601 + node, graph_node=1 << 32 | node)
    assert said(builder, attribution=rule) == [("warning", code, None, 2), ("warning", "low-coverage", None, 2)]


def test_launches_without_an_operation(builder, thread, said):
    thread.stream_capture(100, 200)
    for at in (150, 300, 400):  # the first one is captured
        thread.call("cudaLaunchKernel_v7000", at, at + 5)
    thread.call("cudaMemcpyAsync_v3020", 500, 510)
    assert said(builder) == [("warning", "launches-without-ops", None, 2)]


# --- stages


def test_unfinished_ranges(builder, thread, said):
    thread.push_pop("step", 1000, None)
    thread.push_pop("tail", 1100, None)
    assert said(builder) == [
        ("warning", "unfinished-ranges", "python3: step", 1),
        ("warning", "unfinished-ranges", "python3: step / tail", 1),
    ]


def test_overlapping_instances(builder, thread, said):
    for number in range(3):
        thread.start_end(f"request {number}", 2000 + 50 * number, 2080 + 50 * number, domain="server")
    assert said(builder) == [("note", "overlapping-instances", "python3: request@server", 2)]


def test_dear_first_launches(builder, thread, said):
    for at, took, name in ((100, 60, "relu"), (200, 70, "norm"), (300, 5, "relu")):
        thread.call("cudaLaunchKernel_v7000", at, at + took).kernel(name, at + 80, at + 90)
    assert said(builder) == [("note", "first-launch", "python3: step", None)]


# --- graphs


def test_whole_graphs(builder, thread, said):
    for at in (100, 200):
        thread.call("cudaGraphLaunch_v10000", at, at + 5).graph_trace(at + 10, at + 20)
    assert said(builder) == [("warning", "whole-graphs", None, 2)]


@pytest.mark.parametrize(("launches", "told"), [(1, "launch of a CUDA graph was"), (5, "launches of CUDA graphs were")])
def test_launches_of_whole_graphs_are_told_from_graphs(builder, tmp_path, launches, told):
    for pid in (100, 200):
        thread = builder.process(pid=pid).thread()
        for at in range(0, 100 * launches, 100):
            thread.call("cudaGraphLaunch_v10000", at, at + 5).graph_trace(at + 10, at + 20, graph_exec=2)
        if launches == 1:
            break
    (notice,) = [
        n for n in open_report(builder.write(tmp_path / "r.sqlite")).analysis().warnings if n.code[:5] == "whole"
    ]
    assert notice.count == (1 if launches == 1 else 10)
    assert notice.message.startswith(f"{told} traced whole{'' if launches == 1 else ' (2 graphs)'}: ")


def test_graphs_without_times(builder, thread, said):
    for at in (100, 200):
        thread.call("cudaGraphLaunch_v10000", at, at + 5).graph_trace(0, 0)
    assert said(builder) == [("warning", "untimed-graphs", None, 2)]  # their launches are not lost


# --- what was mended


def test_operations_before_their_call(builder, thread, said):
    thread.call("cudaLaunchKernel_v7000", 100, 105).kernel("gemm", 99, 120)
    thread.call("cudaLaunchKernel_v7000", 200, 205).kernel("gemm", 200, 220)
    assert said(builder) == [("warning", "clock-skew", None, 1)]


def test_reversed_times(builder, thread, said):
    thread.push_pop("backwards", 300, 200)
    thread.call("cudaLaunchKernel_v7000", 100, 105).kernel("gemm", 120, 110)
    assert said(builder) == [("warning", "reversed-times", None, 2)]


def test_calls_told_twice(builder, thread, said):
    for at in (100, 200):
        thread.call("cudaLaunchKernel_v7000", at, at + 5, doubled=True).kernel("gemm", at + 10, at + 20)
    assert said(builder) == [("note", "doubled-calls", None, 2)]


# --- the profiler


@pytest.mark.parametrize("spelling", [INIT, "CUDA profiling initialisation", "Cuda Profiling Init"])
def test_the_profilers_initialisation_inside_a_range(builder, thread, said, spelling):
    thread.push_pop("setup", 1000, 2000)
    thread.profiler_overhead(spelling, 1100, 1900)
    thread.profiler_overhead("TLS allocation", 1950, 1960)
    assert said(builder) == [("note", "profiler-init", "python3: setup", None)]


def test_the_profilers_initialisation_outside_of_ranges(builder, thread, said):
    thread.profiler_overhead(INIT, 1000, 1900)
    thread.process.thread(tid=101).profiler_overhead(INIT, 100, 900)  # on a thread without ranges
    assert said(builder) == []


def test_warnings_come_before_notes(builder, thread, said):
    thread.profiler_overhead(INIT, 100, 900)
    thread.process.orphan_kernel("gemm", 100, 101)
    thread.process.orphan_kernel("gemm", 100, 101)
    assert [level for level, *_ in said(builder)] == ["warning", "warning", "note"]


def test_what_nsys_warned_of(builder, thread, said):
    for severity, text in ((1, "fine"), (2, "Not all events\nwere collected"), (2, "Not all events\nwere collected")):
        builder.diagnostic(severity, text)
    builder.diagnostic(3, "Lost " + "x" * 1000)
    assert said(builder) == [("warning", "nsys-error", None, 1), ("note", "nsys-warning", None, 2)]


def test_ranges_that_nsys_ended_with_the_capture(builder, thread, said):
    builder.capture(5000)
    thread.push_pop("tail", 1100, 5000)
    thread.push_pop("done", 1200, 4999)
    assert said(builder) == [("warning", "unfinished-ranges", "python3: tail", 1)]


def test_stalls_that_cost_something(builder, thread, said):
    for number in range(8):
        start = 10_000 + 1000 * number
        thread.push_pop(f"request {number}", start, start + (900 if number == 5 else 100 + number))
        thread.call("cudaLaunchKernel_v7000", start + 10, start + 12).kernel("gemm", start + 20, start + 30)
    assert ("note", "late-stall", "python3: request", 1) in said(builder)


def test_a_stall_says_when_it_was(builder, thread, analyse):
    for number in range(8):
        start = 10_000 + 1000 * number
        thread.push_pop(f"request {number}", start, start + (900 if number == 5 else 100 + number))
        thread.call("cudaLaunchKernel_v7000", start + 10, start + 12).kernel("gemm", start + 20, start + 30)
    (message,) = [notice.message for notice in analyse(builder).warnings if notice.code == "late-stall"]
    assert "`request`, number 5 at 0.000015 s, took 900 ns" in message


def test_stalls_that_cost_nothing_beside_the_whole(builder, thread, said):
    builder.capture(duration=10_000_000)
    for number in range(8):
        start = 10_000 + 1000 * number
        thread.push_pop(f"request {number}", start, start + (900 if number == 5 else 100 + number))
        thread.call("cudaLaunchKernel_v7000", start + 10, start + 12).kernel("gemm", start + 20, start + 30)
    assert "late-stall" not in [code for _, code, *_ in said(builder)]


def loop_of_ranges(thread, name):
    """Three instances of a loop, each with a kernel and two ranges inside."""
    for number in range(3):
        start = 100_000 * (number + 1)
        thread.push_pop(f"{name} {number}", start, start + 50_000)
        thread.call("cudaLaunchKernel_v7000", start + 10, start + 12).kernel("gemm", start + 20, start + 30)
        for inner in range(2):
            thread.push_pop("op", start + 100 * (inner + 1), start + 100 * (inner + 1) + 50)


def test_ranges_that_cost_their_loop_a_share_of_its_time(builder, thread, said):
    loop_of_ranges(thread, "request")
    assert ("note", "marker-cost", "python3: request", None) in said(builder)


@pytest.mark.parametrize(("around", "expected"), [("warmup", 1), ("CachingAutotuner.benchmark_all_configs", 0)])
def test_ranges_inside_compilers_cost_no_loop_of_the_program(builder, thread, said, around, expected):
    thread.push_pop(around, 50_000, 500_000)
    loop_of_ranges(thread, "candidate")
    assert [code for _, code, *_ in said(builder)].count("marker-cost") == expected


@pytest.mark.parametrize(("length", "end"), [(50, " to record; 3 in all are under 2 us"), (3000, " to record")])
def test_short_ranges_are_counted_where_there_are_some(builder, thread, tmp_path, length, end):
    for number in range(3):
        start = 100_000 * (number + 1)
        thread.push_pop(f"request {number}", start, start + 50_000)
        thread.call("cudaLaunchKernel_v7000", start + 10, start + 12).kernel("gemm", start + 20, start + 30)
        thread.push_pop("op", start + 100, start + 100 + length)
    notices = open_report(builder.write(tmp_path / "report.sqlite")).analysis().warnings
    (cost,) = [notice.message for notice in notices if notice.code == "marker-cost"]
    assert cost.endswith(end)


def test_ranges_that_pile_up(builder, tmp_path):
    thread = builder.process(100).thread()
    for level in range(1000):
        thread.push_pop(f"level {level} of many", level, 100_000 - level)
    thread.call("cudaLaunchKernel_v7000", 5000, 5005).kernel("gemm", 5010, 5020)
    analysis = open_report(builder.write(tmp_path / "deep.sqlite")).analysis()
    assert [(notice.code, notice.count) for notice in analysis.warnings] == [("too-deep", 800)]
    assert [stage.depth for stage in analysis.stages] == list(range(200))
    assert [stage.self.gpu_ops for stage in analysis.stages[-2:]] == [0, 1]


@pytest.mark.parametrize("absurd", [2**63 - 1, -(2**63) + 5, 2**60, -(2**60)])
def test_times_that_cannot_be(builder, tmp_path, absurd):
    thread = builder.process(100).thread()
    for number in range(5):
        thread.push_pop(f"step {number}", 1000 * number, 1000 * number + 100)
        thread.call("cudaLaunchKernel_v7000", 1000 * number + 10, 1000 * number + 15).kernel(
            "gemm", 1000 * number + 20, 1000 * number + 30
        )
    thread.push_pop("step 5", min(absurd, 0), max(absurd, 0))
    thread.call("cudaLaunchKernel_v7000", 4050, 4060).kernel("gemm", min(absurd, 0), max(absurd, 0))
    thread.call("cudaFree_v3020", absurd, absurd + 1 if absurd < 2**62 else absurd)
    analysis = open_report(builder.write(tmp_path / "absurd.sqlite")).analysis()
    (step,) = analysis.stages
    assert (step.instances, step.wall_ns.total, step.kernel_ns, step.busy_ns) == (5, 500, 50, 50)
    assert ("absurd-times", 3) in [(notice.code, notice.count) for notice in analysis.warnings]


def test_times_since_1970_are_times(builder, tmp_path):
    thread, epoch = builder.process(100).thread(), 1_796_035_967_576_584_412
    thread.push_pop("step", epoch, epoch + 100)
    analysis = open_report(builder.write(tmp_path / "epoch.sqlite")).analysis()
    assert analysis.stages[0].wall_ns.total == 100
