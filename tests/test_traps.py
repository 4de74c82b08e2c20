"""What goes wrong with exports: each trap as a small one, the right answer worked out by hand."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from nsys_analyze import open_report
from tests.exports import DOMAIN_CREATE, IMPORTED_PUSH_POP, IMPORTED_START_END, WITH_BACKTRACE, ExportBuilder, Thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from nsys_analyze.metrics.results import Analysis, Stage

    Analyse = Callable[..., Analysis]

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"


@pytest.fixture
def thread(builder: ExportBuilder) -> Thread:
    return builder.process(pid=100).thread()


def launch(thread: Thread, at: int, start: int, end: int, **place: int) -> None:
    """Launch a kernel by a call of 5 ns."""
    thread.call("cudaLaunchKernel_v7000", at, at + 5).kernel("gemm", start, end, **place)


def by_path(analysis: Analysis) -> dict[str, Stage]:
    return {" / ".join(stage.path): stage for stage in analysis.stages}


def test_kernels_of_instances_that_launch_more_or_less(thread, builder, analyse):
    for begin, kernels in ((0, 5), (1000, 1), (2000, 2)):
        thread.push_pop("step", begin, begin + 500)
        for number in range(kernels):
            at = begin + 10 + 20 * number
            launch(thread, at, at + 5, at + 15)
    spread = by_path(analyse(builder))["step"].kernels_per_instance
    assert (spread.min, spread.median, spread.max) == (1, 2.0, 5)


# --- ids


def test_correlation_ids_collide_across_processes(builder, analyse):
    for pid, took in ((100, 10), (200, 70)):
        thread = builder.process(pid).thread()
        thread.push_pop("step", 0, 100)
        launch(thread, 10, 20, 20 + took)
    assert [(s.process, s.gpu_ops, s.kernel_ns) for s in analyse(builder).stages] == [(100, 1, 10), (200, 1, 70)]


@pytest.mark.parametrize("backtrace_first", [False, True])
def test_a_call_with_a_backtrace_is_there_twice(thread, builder, analyse, backtrace_first):
    thread.push_pop("step", 0, 100)
    rows = [("cudaLaunchKernel_v7000", 10, 20, 0), ("cudaLaunchKernel", 9, 23, WITH_BACKTRACE)]
    for name, start, end, event_class in rows[::-1] if backtrace_first else rows:
        call = thread.call(name, start, end, correlation=1, event_class=event_class)
    call.kernel("gemm", 30, 40)
    step = by_path(analyse(builder))["step"]
    assert (step.launches, step.gpu_ops, step.kernel_launches) == (1, 1, 1)
    assert (step.startup_gap_ns.prelude, step.startup_gap_ns.launch) == (10, 10)


@pytest.mark.parametrize("gone", ["globalPid", "globalPid graphNodeId"])
@pytest.mark.parametrize("pids", [(100,), (100, 200)])
def test_kernels_that_do_not_tell_their_process(analyse, pids, gone):
    builder = ExportBuilder(without={KERNELS: gone})
    for number, pid in enumerate(pids):
        thread = builder.process(pid).thread()
        thread.push_pop("step", 0, 100)
        thread.call("cudaLaunchKernel_v7000", 10, 20, correlation=7 + number).kernel("gemm", 30, 40 + number)
    assert [(s.process, s.kernel_ns) for s in analyse(builder).stages] == list(zip(pids, (10, 11), strict=False))


def test_kernels_of_an_unknown_process_are_not_guessed(analyse):
    builder = ExportBuilder(without={KERNELS: "globalPid"})
    for pid in (100, 200):
        thread = builder.process(pid).thread()
        thread.push_pop("step", 0, 100)
        thread.call("cudaLaunchKernel_v7000", 10, 20, correlation=7)
    builder.process(300).orphan(7).kernel("gemm", 30, 40)
    analysis = analyse(builder)
    assert [s.gpu_ops for s in analysis.stages] == [None, None]  # nothing is known, which is not 0
    assert analysis.coverage.no_launch_row == 1


@pytest.mark.parametrize("ids", [(1, 2, 3), (7, 4_000_000_000, 5_000), (-5, 0, 9)])
def test_correlation_ids_may_be_dense_or_sparse_or_missing(builder, thread, analyse, ids):
    thread.push_pop("step", 0, 100)
    for number, correlation in enumerate(ids):
        call = thread.call("cudaLaunchKernel_v7000", 10 * number, 10 * number + 5, correlation=correlation)
        call.kernel("gemm", 50, 51 + number)
    known = [number for number, correlation in enumerate(ids) if correlation > 0]
    step = by_path(analyse(builder))["step"]
    assert (step.launches, step.kernel_ns) == (len(known), sum(1 + number for number in known))


def test_unknown_tables_and_columns_are_ignored(tmp_path):
    builder = ExportBuilder("2.9.1", extra={"NVTX_EVENTS": "name:TEXT", KERNELS: "later"})
    thread = builder.process(100).thread()
    thread.push_pop("step", 0, 100, name="not this")
    launch(thread, 10, 20, 30)
    path = builder.write(tmp_path / "report.sqlite")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE SOMETHING_NEW (start INTEGER)")
        connection.execute("CREATE INDEX somebody_elses ON NVTX_EVENTS (start)")
        connection.commit()
    assert [(s.path, s.kernels) for s in open_report(path).analysis().stages] == [(["step"], 1)]


# --- NVTX


def test_where_the_name_of_a_range_is(thread, builder, analyse):
    thread.push_pop("text", 0, 10)
    thread.push_pop("registered", 10, 20, registered=True)
    thread.push_pop("text wins", 20, 30, textId=builder.string("not this"))
    thread.push_pop("", 30, 40)
    thread.push_pop(None, 40, 50)
    counts = {path: stage.instances for path, stage in by_path(analyse(builder)).items()}
    assert counts == {"text": 1, "registered": 1, "text wins": 1, "": 2}


def test_domains_have_rows_or_lack_them(builder, thread, analyse):
    thread.process.domain("lost", row=False)
    other = builder.process(200).thread()
    other.process.domain("theirs")  # the same number in another process
    for start, domain in enumerate(("", "lost", "named")):
        thread.push_pop("step", start, start + 1, domain=domain)
    assert [(s.process, s.domain) for s in analyse(builder).stages] == [(100, ""), (100, "domain 1"), (100, "named")]


def test_two_domains_of_one_name_are_one(builder, thread, analyse):
    process = thread.process
    thread.push_pop("step", 0, 10, domain="stages")
    process.domains["once more"] = 9
    domain = {"globalTid": thread.global_tid, "domainId": 9, "textId": builder.string("stages")}
    builder.row("NVTX_EVENTS", start=0, eventType=DOMAIN_CREATE, text=None, **domain)
    thread.push_pop("step", 20, 40, domain="once more")
    (stage,) = analyse(builder).stages
    assert (stage.domain, stage.instances, stage.wall_ns.total) == ("stages", 2, 30)


def test_a_range_without_an_end_ends_with_the_capture(builder, thread, analyse):
    thread.push_pop("step 1", 0, 100)
    thread.push_pop("step 2", 100, 250)
    thread.push_pop("step 3", 250, None)
    builder.capture(duration=1000)
    step = by_path(analyse(builder))["step"]
    assert (step.instances, step.unfinished, step.wall_ns.total, step.wall_ns.median) == (3, 1, 1000, 125)
    assert (step.pace_ns, step.cold_start_ns, step.wall_ns.max) == (125, -50, 150)


@pytest.mark.parametrize("table", ["NVTX_EVENTS_V2", "NVTX_EVENTS_V3"])
def test_the_table_of_ranges_may_carry_a_version(analyse, table):
    builder = ExportBuilder(nvtx_table=table)
    builder.process(100).thread().push_pop("step", 0, 10)
    assert list(by_path(analyse(builder))) == ["step"]


@pytest.mark.parametrize("schema", ["3.25.0", "3.20.3", "3.6.0", "3.0.0", "2.9.1", "unstamped"])
def test_every_layout_gives_the_same_numbers(analyse, schema):
    builder = ExportBuilder(schema)
    thread = builder.process(100).thread()
    thread.push_pop("step 1", 0, 100, domain="stages", registered=True)
    thread.call("cudaLaunchKernel_v7000", 10, 20).kernel("gemm", 30, 70)
    thread.call("cudaMemcpyAsync_v3020", 40, 50).memcpy(80, 90)
    (step,) = analyse(builder).stages
    assert (step.path, step.domain, step.gpu_ops, step.launches, step.busy_ns) == (["step"], "stages", 2, 2, 50)
    assert (step.startup_gap_ns.prelude, step.startup_gap_ns.launch, step.startup_gap_ns.queue) == (10, 10, 10)


def test_a_range_that_another_thread_ends_belongs_to_the_one_that_began_it(builder, thread, analyse):
    helper = thread.process.thread(tid=101)
    helper.start_end("request", 0, 100, end_thread=thread)
    launch(helper, 50, 60, 70)
    launch(thread, 55, 80, 90)
    stage = by_path(analyse(builder, attribution="thread"))["request"]
    assert (stage.gpu_ops, stage.kernel_ns) == (1, 10)


def test_imported_ranges_count_as_well(builder, thread, analyse):
    thread.push_pop("outer", 0, 100, event_type=IMPORTED_PUSH_POP)
    thread.start_end("inner", 10, 20, event_type=IMPORTED_START_END)
    assert list(by_path(analyse(builder))) == ["outer", "outer / inner"]


def test_equal_bounds_keep_their_levels(builder, thread, analyse):
    for name in ("c", "a", "b"):
        thread.push_pop(name, 0, 100)
    launch(thread, 10, 20, 30)
    stages = by_path(analyse(builder))
    assert {path: (s.gpu_ops, s.self.gpu_ops) for path, s in stages.items()} == {
        "c": (1, 0),
        "c / a": (1, 0),
        "c / a / b": (1, 1),
    }


def test_partly_overlapping_ranges_are_not_each_others_ancestors(builder, thread, analyse):
    thread.start_end("early", 0, 50)
    thread.start_end("late", 20, 100)
    for at in (10, 30, 60):
        launch(thread, at, at + 6, at + 9)
    stages = by_path(analyse(builder))
    assert {path: (s.gpu_ops, s.self.gpu_ops) for path, s in stages.items()} == {"early": (2, 1), "late": (2, 2)}


def test_ranges_are_half_open(builder, thread, analyse):
    thread.push_pop("a", 0, 50)
    thread.push_pop("b", 50, 100)
    for at in (0, 50, 100):
        launch(thread, at, 200 + at, 210 + at)
    analysis = analyse(builder)
    assert {path: s.gpu_ops for path, s in by_path(analysis).items()} == {"a": 1, "b": 1}
    assert analysis.coverage.outside_ranges == 1


@pytest.mark.parametrize("registered", [False, True])
def test_names_need_not_be_utf8(builder, thread, analyse, registered):
    thread.push_pop(b"caf\xe9 1", 0, 100, registered=registered)
    thread.call("cudaLaunchKernel_v7000", 10, 20)
    assert list(by_path(analyse(builder))) == ["caf\ufffd"]


def test_times_may_be_negative(builder, thread, analyse):
    thread.push_pop("step", -100, -20)
    thread.push_pop("open", -15, None)
    launch(thread, -90, -70, -40)
    launch(thread, -10, -8, -3)
    stages = by_path(analyse(builder))
    assert (stages["step"].startup_gap_ns.total, stages["step"].busy_ns) == (30, 30)
    assert stages["open"].wall_ns.total == 12


# --- GPU operations


def test_a_graph_by_node_is_one_launch_of_many_operations(builder, thread, analyse):
    thread.push_pop("step", 0, 1000)
    for at, took in ((100, 40), (200, 6)):
        call = thread.call("cudaGraphLaunch_v10000", at, at + took)
        for node, start in enumerate((at + 50, at + 60, at + 70)):
            call.kernel(f"k{node}", start, start + 5, graph_node=3 << 32 | node)
        call.memcpy(at + 80, at + 90, graph_node=3 << 32 | 9)
    step = by_path(analyse(builder))["step"]
    assert (step.gpu_ops, step.kernels, step.launches, step.kernel_launches) == (8, 6, 2, 2)
    assert (step.launch_call_ns.count, step.launch_call_ns.median, step.launch_call_ns.first_total) == (1, 6, 40)
    assert step.queue_delay_ns.median == (10 + 44) / 2


@pytest.mark.parametrize("node", [None, 0])
def test_kernels_outside_of_graphs_have_no_graph_node_or_0(builder, thread, analyse, node):
    thread.push_pop("step", 0, 1000)
    for at, name in ((10, "gemm"), (20, "relu")):
        thread.call("cudaLaunchKernel_v7000", at, at + 5).kernel(name, at + 6, at + 9, graph_node=node)
    assert by_path(analyse(builder))["step"].launch_call_ns.first_count == 2  # of two functions, not of one graph


def test_a_graph_traced_whole_is_one_operation_of_unknown_kernels(builder, thread, analyse):
    thread.push_pop("step", 0, 1000)
    thread.call("cudaGraphLaunch_v10000", 10, 20).graph_trace(50, 80)
    thread.call("cudaGraphLaunch_v10000", 100, 107).graph_trace(150, 170)
    step = by_path(analyse(builder))["step"]
    assert (step.gpu_ops, step.kernels, step.kernel_launches, step.kernel_ns, step.busy_ns) == (2, None, 2, None, 50)
    assert (step.launch_call_ns.median, step.launch_call_ns.first_total, step.overhead_per_kernel_ns) == (7, 10, None)


def test_a_graph_without_times_is_left_out(builder, thread, analyse):
    thread.push_pop("step", 10, 100)
    thread.call("cudaGraphLaunch_v10000", 20, 30).graph_trace(0, 0)
    launch(thread, 40, 50, 60)
    step = by_path(analyse(builder))["step"]
    assert (step.gpu_ops, step.startup_gap_ns.total, step.elapsed_ns.total) == (1, 40, 90)


def test_captured_launches_are_not_lost(builder, thread, analyse):
    thread.stream_capture(10, 100)
    for at in (20, 50):
        thread.call("cudaLaunchKernel_v7000", at, at + 5)
    thread.process.thread(tid=101).call("cudaLaunchKernel_v7000", 30, 35)  # of another thread: not captured
    thread.call("cudaLaunchKernel_v7000", 110, 115)
    assert analyse(builder).coverage.launches_without_gpu_op == 2


def test_kernels_without_a_launch_row_are_told_and_hide_gaps(builder, thread, analyse):
    thread.push_pop("step", 0, 100)
    launch(thread, 10, 50, 60)
    thread.process.orphan_kernel("from before", 5, 25)
    analysis = analyse(builder)
    assert (analysis.coverage.no_launch_row, analysis.coverage.gpu_time_ns.no_launch_row) == (1, 20)
    gap = by_path(analysis)["step"].startup_gap_ns
    assert (gap.exposed, gap.hidden) == (30, 20)


def test_stream_numbers_repeat_across_devices(builder, thread, analyse):
    thread.push_pop("step", 0, 100)
    for device, end in ((0, 60), (1, 50)):
        launch(thread, 10 + device, 30, end, device=device, stream=7)
    step = by_path(analyse(builder))["step"]
    assert (step.busy_ns, step.active_ns, step.kernel_ns) == (50, 30, 50)


def test_two_processes_that_see_the_same_gpu_hide_each_others_gaps(builder, analyse):
    first, second = builder.process(100), builder.process(200)
    first.device(0, gpu_id=3)
    second.device(0, gpu_id=2)
    second.device(1, gpu_id=3)
    first.thread().push_pop("step", 0, 100)
    launch(first.thread(), 10, 50, 60)
    second.orphan_kernel("same gpu", 20, 35, device=1)
    second.orphan_kernel("another gpu", 0, 50, device=0)
    gap = by_path(analyse(builder))["step"].startup_gap_ns
    assert (gap.total, gap.exposed, gap.hidden) == (50, 35, 15)


def test_a_device_without_a_known_gpu_keeps_its_ordinal(builder, thread, analyse):
    builder.row("TARGET_INFO_CUDA_DEVICE", gpuId=None, cudaId=0, pid=100)
    launch(thread, 10, 50, 60)
    assert analyse(builder).report.processes[0].gpus == [0]


def test_an_operation_that_starts_before_its_call_is_clamped(builder, thread, analyse):
    thread.push_pop("step", 100, 200)
    launch(thread, 120, 90, 150)
    step = by_path(analyse(builder))["step"]
    gap = step.startup_gap_ns
    assert (gap.total, gap.prelude, gap.launch, gap.queue, gap.exposed, gap.hidden) == (0, 0, 0, 0, 0, 0)
    assert (step.gpu_ops, step.queue_delay_ns.median, step.elapsed_ns.total) == (1, 0, 100)
