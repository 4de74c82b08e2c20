"""Who owns an operation, and the traps in the numbers: small exports, the answers worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsys_analyze.verdict.judged import JUDGED
from tests.exports import ExportBuilder, Thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from nsys_analyze.metrics.results import Analysis, Stage

    Analyse = Callable[..., Analysis]


@pytest.fixture
def main(builder: ExportBuilder) -> Thread:
    return builder.process(pid=100).thread()


def launch(thread: Thread, at: int, start: int, end: int, *, took: int = 5, name: str = "gemm", **place: int) -> None:
    thread.call("cudaLaunchKernel_v7000", at, at + took).kernel(name, start, end, **place)


def by_path(analysis: Analysis) -> dict[str, Stage]:
    return {" / ".join(stage.path): stage for stage in analysis.stages}


def counts(analysis: Analysis) -> dict[str, tuple[int, int, int]]:
    """Inclusive operations, those that came by the process rule, and self operations of each stage."""
    return {path: (s.gpu_ops, s.via_process, s.self.gpu_ops) for path, s in by_path(analysis).items()}


# --- threads


@pytest.mark.parametrize(("rule", "step", "how"), [("process", (2, 1, 2), "process"), ("thread", (1, 0, 1), "thread")])
def test_a_thread_without_ranges_belongs_to_the_main_threads(builder, main, analyse, rule, step, how):
    main.push_pop("step", 0, 100)
    launch(main, 10, 20, 30)
    autograd = main.process.thread(tid=101)
    launch(autograd, 40, 50, 60)
    launch(autograd, 100, 110, 120)  # the step is over
    analysis = analyse(builder, attribution=rule)
    assert counts(analysis) == {"step": step}
    assert analysis.coverage.process == (how == "process")
    assert (analysis.coverage.thread, analysis.coverage.outside_ranges) == (1, 2 if rule == "thread" else 1)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("process", {"step": (1, 1, 0), "step / backward": (1, 1, 0), "step / backward / autograd": (1, 0, 1)}),
        ("thread", {"step": (0, 0, 0), "step / backward": (0, 0, 0), "autograd": (1, 0, 1)}),
    ],
)
def test_a_helpers_outermost_range_hangs_under_what_was_open_at_its_start(builder, main, analyse, rule, expected):
    main.push_pop("step", 0, 100)
    main.push_pop("backward", 10, 40)
    helper = main.process.thread(tid=101)
    helper.push_pop("autograd", 20, 90)
    launch(helper, 70, 75, 80)  # backward is over by then
    analysis = analyse(builder, attribution=rule)
    assert counts(analysis) == expected
    assert (analysis.coverage.thread, analysis.coverage.process) == (1, 0)


def test_only_the_outermost_range_of_a_helper_hangs(builder, main, analyse):
    helper = main.process.thread(tid=101)
    helper.push_pop("worker", 0, 100)
    main.push_pop("step", 10, 90)
    helper.push_pop("task", 20, 30)
    launch(helper, 25, 40, 50)
    assert counts(analyse(builder)) == {"worker": (1, 0, 0), "worker / task": (1, 0, 1), "step": (0, 0, 0)}


def test_a_helpers_range_may_start_with_the_mains_but_not_at_its_end(builder, main, analyse):
    main.push_pop("step", 0, 50)
    helper = main.process.thread(tid=101)
    helper.push_pop("early", 0, 10)
    helper.push_pop("late", 50, 60)
    launch(main, 5, 6, 7)
    assert set(counts(analyse(builder))) == {"step", "step / early", "late"}


@pytest.mark.parametrize(
    ("rule", "how"), [("process", {"ambiguous_thread": 1, "outside_ranges": 1}), ("thread", {"outside_ranges": 2})]
)
def test_two_other_threads_with_ranges_are_ambiguous(builder, main, analyse, rule, how):
    for tid in (101, 102):
        main.process.thread(tid).push_pop("server", 0, 100)
    idle = main.process.thread(103)
    launch(idle, 10, 20, 30)
    launch(idle, 100, 120, 130)
    analysis = analyse(builder, attribution=rule)
    assert counts(analysis) == {"server": (0, 0, 0)}
    assert {name: getattr(analysis.coverage, name) for name in how} == how


@pytest.mark.parametrize(("rule", "expected"), [("process", (1, 1, 1)), ("thread", (0, 0, 0))])
def test_the_only_other_thread_with_a_range_owns_it(builder, main, analyse, rule, expected):
    main.push_pop("done", 0, 5)
    main.process.thread(101).push_pop("server", 6, 100)
    main.process.thread(102).push_pop("closed", 0, 10)
    launch(main.process.thread(103), 10, 20, 30)
    assert counts(analyse(builder, attribution=rule))["server"] == expected


def test_the_main_thread_too_may_belong_to_the_only_other_one(builder, main, analyse):
    main.process.thread(101).push_pop("server", 0, 100)
    launch(main, 10, 20, 30)
    assert counts(analyse(builder)) == {"server": (1, 1, 1)}


def test_another_processs_ranges_own_nothing(builder, main, analyse):
    main.push_pop("step", 0, 100)
    launch(builder.process(200).thread(), 10, 20, 30)
    analysis = analyse(builder)
    assert (counts(analysis), analysis.coverage.outside_ranges) == ({"step": (0, 0, 0)}, 1)


# --- elapsed, busy, active


def test_a_short_range_with_a_long_kernel_has_no_negative_overhead(builder, main, analyse):
    main.push_pop("step", 0, 10_000)
    launch(main, 1_000, 5_000, 105_000)
    step = by_path(analyse(builder))["step"]
    assert (step.wall_ns.total, step.elapsed_ns.total, step.active_ns) == (10_000, 105_000, 100_000)
    assert (step.cpu_overhead_ns, step.overhead_per_kernel_ns) == (5_000, 5_000)


def test_kernels_that_overlap_on_two_streams_count_once_in_busy(builder, main, analyse):
    main.push_pop("step", 0, 100)
    launch(main, 0, 20, 60, stream=7)
    launch(main, 5, 30, 80, stream=13)
    step = by_path(analyse(builder))["step"]
    assert (step.kernel_ns, step.busy_ns, step.active_ns) == (90, 60, 60)


def test_busy_adds_devices_and_active_unites_them(builder, main, analyse):
    main.push_pop("step", 0, 200)
    for device, start, end in ((0, 20, 60), (1, 30, 80), (0, 50, 70), (1, 90, 95)):
        launch(main, start - 15, start, end, device=device)
    step = by_path(analyse(builder))["step"]
    assert (step.kernel_ns, step.busy_ns, step.active_ns) == (115, 50 + 55, 60 + 5)


# --- pace and cold start


def test_pace_is_over_the_parents_that_hold_a_loop(builder, main, analyse):
    for start, steps in ((0, 3), (1000, 2), (2000, 1)):
        main.push_pop("epoch 1", start, start + 900)
        for number in range(steps):
            main.push_pop("step", start + 100 * number, start + 100 * number + 60)
    launch(main, 150, 170, 175)  # in the second step: completes before the third one ends
    launch(main, 1110, 1120, 1250)  # in the last one of the second epoch, and it outlasts it
    stages = by_path(analyse(builder))
    assert stages["epoch / step"].pace_ns == ((260 - 0) + (1250 - 1000)) / 5
    assert stages["epoch"].pace_ns == (2900 - 0) / 3


def test_instances_that_overlap_have_no_pace(builder, main, analyse):
    for number in range(3):
        main.start_end(f"request {number}", 50 * number, 50 * number + 80)
    request = by_path(analyse(builder))["request"]
    assert (request.instances, request.pace_ns) == (3, None)
    assert request.cpu_overhead_ns is None  # nothing is known of the GPU either


def test_instances_that_touch_have_a_pace(builder, main, analyse):
    for number in range(3):
        main.push_pop(f"step {number}", 50 * number, 50 * number + 50)
    assert by_path(analyse(builder))["step"].pace_ns == 50


def test_a_cold_start_is_on_the_row_of_the_first_instance(builder, main, analyse):
    main.push_pop("warmup", 0, 2000)
    main.push_pop("steady", 2000, 4000)
    for start, took in ((100, 900), (1500, 30), (2000, 10), (3000, 20)):
        main.push_pop("step 1", start, start + took)
    stages = by_path(analyse(builder))
    assert stages["warmup / step"].cold_start_ns == 900 - 20
    assert stages["steady / step"].cold_start_ns is None
    assert stages["warmup"].cold_start_ns is None  # there is no other to hold it against


def test_what_the_cold_instance_took_is_given_too(builder, main, analyse):
    for start, took in ((0, 90), (100, 30), (200, 10)):
        main.push_pop("step 1", start, start + took)
    step = by_path(analyse(builder))["step"]
    assert (step.cold_start_ns, step.cold_first_ns, step.cold_others_median_ns) == (70, 90, 20)


# --- calls


def test_the_first_launch_of_each_function_stands_apart(builder, main, analyse):
    main.push_pop("step", 0, 1000)
    for at, took, name in ((0, 50, "a"), (100, 4, "a"), (200, 70, "b"), (300, 6, "a"), (400, 8, "b")):
        launch(main, at, at + 80, at + 90, took=took, name=name)
    calls = by_path(analyse(builder))["step"].launch_call_ns
    assert (calls.count, calls.median, calls.max, calls.first_count, calls.first_total) == (3, 6, 8, 2, 120)


def test_the_first_launch_may_be_outside_the_stage(builder, main, analyse):
    launch(main, 0, 60, 70, took=50)
    main.push_pop("step", 100, 200)
    launch(main, 110, 130, 140, took=4)
    calls = by_path(analyse(builder))["step"].launch_call_ns
    assert (calls.count, calls.median, calls.first_count, calls.first_total) == (1, 4, 0, 0)


def test_blocking_copies_stay_out_of_call_and_queue_statistics(builder, main, analyse):
    main.push_pop("step", 0, 1000)
    launch(main, 0, 8, 10)
    launch(main, 20, 35, 40)
    main.call("cudaMemcpy_v3020", 100, 400).memcpy(600, 700)
    main.call("cudaMemcpyAsync_v3020", 800, 810).memcpy(830, 840)
    step = by_path(analyse(builder))["step"]
    assert (step.launches, step.kernel_launches, step.gpu_ops) == (4, 2, 4)
    assert (step.launch_call_ns.count, step.launch_call_ns.max) == (1, 5)
    assert step.queue_delay_ns.median == 10  # of 3, 10 and 20: that of the async copy is a delay like others


# --- CPU overhead


def test_the_profilers_time_is_no_overhead(builder, main, analyse):
    for number in range(2):
        at = 1000 * number
        main.push_pop("step", at, at + 900)
        launch(main, at + 10, at + 700, at + 800)
    main.profiler_overhead("TLS allocation", 100, 500)
    main.process.thread(tid=101).profiler_overhead("TLS allocation", 500, 600)  # on no thread of theirs
    step = by_path(analyse(builder))["step"]
    assert step.pace_ns == 950
    assert step.cpu_overhead_ns == step.overhead_per_kernel_ns == 950 - 100 - 200
    assert step.series.profiler_ns == [400, 0]
    assert JUDGED["cpu_overhead"].each(step) == [1000 - 100 - 400]
    assert step.profiler_mean_ns == 200


# --- the startup gap


def test_a_gap_splits_twice(builder, main, analyse):
    main.push_pop("step", 100, 500)
    main.process.orphan_kernel("before", 50, 130)
    launch(main, 150, 240, 300, took=40)
    gap = by_path(analyse(builder))["step"].startup_gap_ns
    assert (gap.total, gap.prelude, gap.launch, gap.queue) == (140, 50, 40, 50)
    assert (gap.exposed, gap.hidden) == (110, 30)


def test_a_gap_ends_inside_the_call_that_ends_it(builder, main, analyse):
    main.push_pop("step", 0, 500)
    launch(main, 10, 30, 60, took=90)
    gap = by_path(analyse(builder))["step"].startup_gap_ns
    assert (gap.total, gap.prelude, gap.launch, gap.queue) == (30, 10, 20, 0)


def test_the_launch_of_a_gap_is_the_earliest_one(builder, main, analyse):
    main.push_pop("step", 0, 500)
    launch(main, 10, 90, 100, stream=7)
    launch(main, 20, 40, 50, stream=13)
    gap = by_path(analyse(builder))["step"].startup_gap_ns
    assert (gap.total, gap.prelude, gap.launch, gap.queue) == (40, 10, 5, 25)


def test_the_profilers_time_in_the_gap_is_given_beside_it(builder, main, analyse):
    main.push_pop("step", 100, 500)
    main.profiler_overhead("CUDA profiling initialization", 50, 130)
    main.profiler_overhead("TLS allocation", 120, 150)
    main.profiler_overhead("CUPTI Resource Management", 190, 260)
    main.process.thread(tid=101).profiler_overhead("TLS allocation", 150, 170)
    launch(main, 180, 200, 210)
    gap = by_path(analyse(builder))["step"].startup_gap_ns
    assert (gap.total, gap.profiler, gap.without_profiler) == (100, 50 + 10, 40)


def test_kernels_of_graphs_traced_whole_are_unknown_not_none(builder, main, analyse):
    main.push_pop("eager", 0, 100)
    launch(main, 10, 20, 30)
    main.push_pop("graphs", 200, 300)
    launch(main, 210, 220, 230)
    main.call("cudaGraphLaunch_v10000", 240, 245).graph_trace(250, 290)
    eager, graphs = analyse(builder).stages
    assert (eager.kernels, eager.graphs, eager.kernel_ns) == (1, 0, 10)
    assert (graphs.kernels, graphs.kernel_ns, graphs.kernels_per_instance, graphs.overhead_per_kernel_ns) == (None,) * 4
    assert (graphs.graphs, graphs.gpu_ops, graphs.busy_ns) == (1, 2, 50)
