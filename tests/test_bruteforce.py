"""The oracle against the reference numbers of real reports, and against the invariants that any attribution keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests import strategies
from tests.bruteforce import OUTCOMES, Analysis, analyse
from tests.bruteforce_load import Element, fold, load
from tests.exports import ExportBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bruteforce import Attribution
    from tests.bruteforce_numbers import Stage, StageKey

EXPECTED = json.loads((Path(__file__).parent / "data" / "expected.json").read_text())
REPORTS = (
    "inductor_compile_phases",
    "llama_cudagraphs",
    "llama_eager",
    "llama_inductor",
    "llama_thunder_nvfuser",
    "llama_thunder_torch",
    "vit_train_eager",
)
DEEPEST_LISTED = {"llama_thunder_nvfuser": 2, "inductor_compile_phases": 2}

both_attributions = pytest.mark.parametrize("attribution", ["thread", "process"])
examples = settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])


# --- real reports


@both_attributions
@pytest.mark.parametrize("name", REPORTS)
def test_reference_numbers(name: str, attribution: Attribution, sample_report: Callable[[str], Path]) -> None:
    expected = EXPECTED[name][attribution]
    analysis = analyse(sample_report(name), attribution)
    assert analysis.coverage == expected["coverage"]
    deepest = DEEPEST_LISTED.get(name, 3)
    listed = [reference_row(key, stage) for key, stage in analysis.stages.items() if len(key[1]) <= deepest]
    assert listed == expected["stages"]


def reference_row(key: StageKey, stage: Stage) -> dict[str, Any]:
    gap = stage.startup_gap
    parts = ("total", "prelude", "launch", "queue", "exposed", "hidden", "median", "exposed_median")
    return {
        "process": key[0],
        "path": [f"{domain}:{name}" if domain else name for domain, name in key[1]],
        "instances": stage.instances,
        "instances_with_gpu": stage.instances_with_gpu,
        "wall_ns": stage.wall,
        "elapsed_ns": stage.elapsed,
        "pace_ns": None if stage.pace is None else round(stage.pace),
        "gpu_ops": stage.gpu_ops,
        "kernels": stage.kernels,
        "launches": stage.launches,
        "kernel_ns": stage.kernel_ns,
        "busy_ns": stage.busy,
        "self_gpu_ops": stage.self_gpu_ops,
        "startup_gap_ns": None if gap is None else {part: getattr(gap, part) for part in parts},
    }


# --- generated reports


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("generated") / "report.sqlite"


@both_attributions
@examples
@given(builder=strategies.exports(ties=True))
def test_conservation(report: Path, attribution: Attribution, builder: ExportBuilder) -> None:
    analysis = analyse(builder.write(report), attribution)
    operations = load(report).operations
    for totals, everything in (
        (analysis.coverage, len(operations)),
        (analysis.gpu_time, sum(operation.duration for operation in operations)),
    ):
        assert totals["gpu_ops"] == everything == sum(totals[outcome] for outcome in OUTCOMES)
    for stage in analysis.stages.values():
        check_stage(stage)
    attributed = analysis.coverage["thread"] + analysis.coverage["process"]
    assert sum(stage.self_gpu_ops for stage in analysis.stages.values()) == attributed


def check_stage(stage: Stage) -> None:
    assert 0 <= stage.self_gpu_ops <= stage.gpu_ops
    assert stage.kernel_launches <= stage.launches <= stage.gpu_ops
    assert stage.active <= stage.busy
    assert stage.wall <= stage.elapsed
    assert stage.via_process <= stage.gpu_ops
    assert stage.launch_call.count + stage.launch_call.first_count == stage.kernel_launches
    if gap := stage.startup_gap:
        parts = (gap.prelude, gap.launch, gap.queue, gap.exposed, gap.hidden)
        assert min(parts) >= 0
        assert gap.total == sum(parts[:3]) == sum(parts[3:])


@both_attributions
@examples
@given(builder=strategies.exports(nested=True))
def test_roots_hold_what_is_attributed_where_ranges_nest(
    report: Path, attribution: Attribution, builder: ExportBuilder
) -> None:
    analysis = analyse(builder.write(report), attribution)
    roots = [stage for (_, path), stage in analysis.stages.items() if len(path) == 1]
    everywhere = analysis.stages.values()
    assert sum(s.gpu_ops for s in roots) == sum(s.self_gpu_ops for s in everywhere)
    assert sum(s.kernels for s in roots) == sum(s.self_kernels for s in everywhere)
    assert sum(s.kernel_ns for s in roots) == sum(s.self_kernel_ns for s in everywhere)


@both_attributions
@examples
@given(builder=strategies.exports(), seed=strategies.permutations())
def test_row_order_is_irrelevant(report: Path, attribution: Attribution, builder: ExportBuilder, seed: int) -> None:
    in_order = analyse(builder.write(report), attribution)
    assert analyse(builder.write(report, shuffle=seed), attribution) == in_order


@examples
@given(builder=strategies.exports())
def test_process_attribution_only_adds(report: Path, builder: ExportBuilder) -> None:
    builder.write(report)
    by_thread, by_process = analyse(report, "thread"), analyse(report, "process")
    assert by_thread.coverage["process"] == by_thread.coverage["ambiguous_thread"] == 0
    for outcome in ("thread", "no_launch_row"):
        assert by_process.coverage[outcome] == by_thread.coverage[outcome]
    for stage in by_thread.stages.values():
        assert stage.via_process == 0


# --- small cases, worked out by hand


@pytest.fixture
def builder() -> ExportBuilder:
    return ExportBuilder()


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("step 12", "step"),
        ("step -1", "step"),
        ("request #7", "request"),
        ("layer=3", "layer"),
        ("train_step_3", "train_step"),
        ("conv_2", "conv_2"),
        ("/ArgMax_1", "/ArgMax_1"),
        ("Torch-Compiled Region: 0/0", "Torch-Compiled Region: 0/0"),
        ("aten::add, seq = 5, op_id = 6, sizes = [[2, 3], []], input_op_ids = [(1,0)]", "aten::add"),
        ("aten::add, sizes = [[2, 3]", "aten::add, sizes = [[2, 3]"),
        ("12", "12"),
        ("", ""),
    ],
)
def test_folding(name: str, folded: str) -> None:
    assert fold(name) == folded


def stages_of(analysis: Analysis) -> dict[str, Stage]:
    def written(path: tuple[Element, ...]) -> str:
        return " / ".join(name for _, name in path)

    return {written(path): stage for (_, path), stage in analysis.stages.items()}


def test_one_step_in_full(builder: ExportBuilder, report: Path) -> None:
    thread = builder.process(pid=100).thread()
    for number, start in enumerate((1000, 2000, 3000)):
        thread.push_pop(f"step {number}", start, start + 500)
        call = thread.call("cudaLaunchKernel_v7000", start + 100, start + 120)
        call.kernel("gemm", start + 150, start + 550 + 50 * number)
    step = stages_of(analyse(builder.write(report), "thread"))["step"]
    assert (step.instances, step.kernels, step.launches, step.kernel_ns) == (3, 3, 3, 400 + 450 + 500)
    assert (step.wall, step.elapsed) == (1500, 550 + 600 + 650)
    assert step.pace == pytest.approx((3650 - 1000) / 3)
    assert step.cpu_overhead == pytest.approx((3650 - 1000) / 3 - 450)
    assert step.overhead_per_kernel == step.cpu_overhead
    assert step.startup_gap is not None
    assert (step.startup_gap.prelude, step.startup_gap.launch, step.startup_gap.queue) == (300, 60, 90)
    assert (step.startup_gap.exposed, step.startup_gap.hidden) == (450, 0)
    assert (step.launch_call.count, step.launch_call.first_count, step.launch_call.median) == (2, 1, 20)
    assert step.queue_delay_median == 30
    assert step.cold_start == 550 - 625


def test_what_another_process_runs_on_the_same_gpu_hides_the_gap(builder: ExportBuilder, report: Path) -> None:
    first, second = builder.process(pid=100), builder.process(pid=200)
    first.device(0, gpu_id=1)
    second.device(1, gpu_id=1)
    first.thread().push_pop("step", 0, 100)
    first.thread().call("cudaLaunchKernel_v7000", 10, 20).kernel("gemm", 50, 90, device=0)
    second.orphan_kernel("gemm", 30, 60, device=1)
    second.orphan_kernel("gemm", 0, 30, device=0)
    gap = stages_of(analyse(builder.write(report), "thread"))["step"].startup_gap
    assert gap is not None
    assert (gap.total, gap.exposed, gap.hidden) == (50, 30, 20)


def test_a_helper_threads_range_hangs_under_the_main_threads(builder: ExportBuilder, report: Path) -> None:
    process = builder.process(pid=100)
    main, helper = process.thread(), process.thread(tid=101)
    main.push_pop("step", 0, 100)
    main.push_pop("backward", 10, 60)
    helper.push_pop("autograd", 20, 90)
    helper.call("cudaLaunchKernel_v7000", 70, 75).kernel("gemm", 80, 85)
    helper.call("cudaLaunchKernel_v7000", 95, 97).kernel("gemm", 98, 99)
    analysis = analyse(builder.write(report), "process")
    counts = {path: (stage.gpu_ops, stage.via_process) for path, stage in stages_of(analysis).items()}
    assert counts == {"step": (2, 2), "step / backward": (1, 1), "step / backward / autograd": (1, 0)}
    assert (analysis.coverage["thread"], analysis.coverage["process"]) == (1, 1)


def test_two_helpers_with_ranges_are_ambiguous(builder: ExportBuilder, report: Path) -> None:
    process = builder.process(pid=100)
    for tid in (101, 102):
        process.thread(tid).push_pop("server", 0, 100)
    process.thread(103).call("cudaLaunchKernel_v7000", 10, 20).kernel("gemm", 30, 40)
    process.thread(103).call("cudaLaunchKernel_v7000", 110, 120).kernel("gemm", 130, 140)
    coverage = analyse(builder.write(report), "process").coverage
    assert (coverage["ambiguous_thread"], coverage["outside_ranges"]) == (1, 1)


def test_an_operation_in_partly_overlapping_ranges_counts_for_both(builder: ExportBuilder, report: Path) -> None:
    thread = builder.process(pid=100).thread()
    thread.start_end("early", 0, 50)
    thread.start_end("late", 20, 100)
    thread.call("cudaLaunchKernel_v7000", 30, 40).kernel("gemm", 45, 60)
    stages = stages_of(analyse(builder.write(report), "thread"))
    assert {path: (s.gpu_ops, s.self_gpu_ops) for path, s in stages.items()} == {"early": (1, 0), "late": (1, 1)}


def test_an_open_range_ends_with_the_capture_and_stays_out_of_medians(builder: ExportBuilder, report: Path) -> None:
    thread = builder.process(pid=100).thread()
    thread.push_pop("step 1", 0, 100)
    thread.push_pop("step 2", 100, None)
    builder.capture(duration=1000)
    step = stages_of(analyse(builder.write(report), "thread"))["step"]
    assert (step.instances, step.wall, step.wall_median, step.cold_start) == (2, 1000, 100, None)


def test_a_call_with_a_backtrace_is_one_launch(builder: ExportBuilder, report: Path) -> None:
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 100)
    thread.call("cudaLaunchKernel_v7000", 10, 20, doubled=True).kernel("gemm", 30, 40)
    export = load(builder.write(report))
    assert [call.name for call in export.calls] == ["cudaLaunchKernel_v7000"]


def test_a_graph_by_node_is_one_launch_and_cold_once(builder: ExportBuilder, report: Path) -> None:
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 1000)
    for start, took in ((100, 50), (200, 5), (300, 7)):
        launch = thread.call("cudaGraphLaunch_v10000", start, start + took)
        launch.kernel("gemm", start + 60, start + 65, graph_node=5 << 32)
        launch.kernel("copy", start + 70, start + 75, graph_node=5 << 32 | 1)
    step = stages_of(analyse(builder.write(report), "thread"))["step"]
    assert (step.gpu_ops, step.launches, step.kernel_launches) == (6, 3, 3)
    assert (step.launch_call.count, step.launch_call.median, step.launch_call.first_total) == (2, 6, 50)


def test_a_graph_without_times_is_left_out(builder: ExportBuilder, report: Path) -> None:
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 10, 100)
    thread.call("cudaGraphLaunch_v10000", 20, 30).graph_trace(0, 0)
    step = stages_of(analyse(builder.write(report), "thread"))["step"]
    assert (step.gpu_ops, step.kernel_launches, step.kernels, step.busy) == (0, 0, 0, 0)
    assert step.startup_gap is None


def test_blocking_copies_have_no_queue_delay(builder: ExportBuilder, report: Path) -> None:
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 1000)
    thread.call("cudaMemcpy_v3020", 10, 20).memcpy(500, 510)
    thread.call("cudaMemcpyAsync_v3020", 30, 40).memcpy(47, 50)
    thread.call("cudaLaunchKernel_v7000", 60, 70).kernel("gemm", 65, 80)
    step = stages_of(analyse(builder.write(report), "thread"))["step"]
    assert step.launches == 3
    assert step.queue_delay_median == 3.5
