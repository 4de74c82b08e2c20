"""Reports of real programs, and copies of them in which the program was slower."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

import nsys_analyze
from nsys_analyze.verdict.config import Budget, Config, Place
from nsys_analyze.verdict.results import Outcome, State
from tests.later import first_launches, later

LLAMA = ("llama_eager", "llama_inductor", "llama_cudagraphs", "llama_thunder_torch", "llama_thunder_nvfuser")
DEFAULTS = Config()


def check(new, base=None, config=DEFAULTS):
    return nsys_analyze.check(new, baseline=base, config=config)


def bounds(report, name):
    """When the first instance of a stage starts and ends."""
    stages = nsys_analyze.open_report(report).analysis().stages
    series = next(stage.series for stage in stages if stage.path == [name])
    return series.start_ns[0], series.start_ns[0] + series.wall_ns[0]


def inside(report, name, after=None):
    """A moment in a stage: its middle, or so long after its start."""
    begin, end = bounds(report, name)
    return (begin + end) // 2 if after is None else begin + after


def states(verdict, stage, metric):
    return [check.state for check in verdict.checks if check.stage == stage and check.metric == metric]


def with_budget(**limits):
    place = Place(file="pyproject.toml", line=1)
    return Config(
        budgets=[Budget(stage="step", metric=name, maximum=most, place=place) for name, most in limits.items()]
    )


@pytest.mark.parametrize("name", LLAMA)
def test_a_report_against_itself_passes(sample_report, name):
    verdict = check(sample_report(name), sample_report(name))
    assert (verdict.outcome, verdict.exit_code) == (Outcome.PASSED, 0)
    assert {one.state for one in verdict.checks} == {State.OK}
    assert len(verdict.checks) >= 14


@pytest.mark.parametrize("delay", [100_000, 300_000])
@pytest.mark.parametrize("name", LLAMA)
def test_a_later_first_kernel_fails(sample_report, tmp_path, name, delay):
    report = sample_report(name)
    copy = later(report, tmp_path / "copy.sqlite", first_launches(report, "step"), delay)
    verdict = check(copy, report)
    assert (verdict.outcome, verdict.exit_code) == (Outcome.FAILED, 1)
    assert "startup gap of steady / step grew" in verdict.headline
    assert states(verdict, ["steady", "step"], "kernels") == [State.OK]
    assert "prelude" in verdict.hints[0]
    assert "as the stages beside it and CUDA calls took the same time" in verdict.checks[0].reason


@pytest.mark.parametrize("name", LLAMA)
def test_longer_compiling_fails(sample_report, tmp_path, name):
    report = sample_report(name)
    copy = later(report, tmp_path / "copy.sqlite", [inside(report, "compile")], 2_000_000_000)
    verdict = check(copy, report)
    assert "first instance, wall of compile grew" in verdict.headline
    assert verdict.exit_code == 1


@pytest.mark.parametrize(
    ("stage", "delay", "grown", "metric"),
    [
        ("step", 100_000, ["steady", "step"], "startup_gap_prelude"),
        ("compile", 2_000_000_000, ["compile"], "first_wall"),
    ],
)
def test_between_real_runs_what_is_small_beside_the_stage_takes_more_captures(
    sample_report, tmp_path, stage, delay, grown, metric
):
    """Importing that took 10% longer shows that there was noise between the runs."""
    report = sample_report("llama_thunder_nvfuser")
    another = later(report, tmp_path / "another.sqlite", [inside(report, "import")], 1_000_000_000)
    moments = first_launches(another, "step") if stage == "step" else [inside(another, stage)]
    slower = later(another, tmp_path / "slower.sqlite", moments, delay)
    one = check(slower, report)
    assert one.outcome is Outcome.PASSED
    assert states(one, grown, metric) == [State.INCONCLUSIVE]
    assert check([slower] * 10, [report] * 10).outcome is Outcome.FAILED
    assert check([another] * 10, [report] * 10).outcome is Outcome.PASSED


def test_what_lies_beside_the_loop_in_its_stage_is_checked(sample_report, tmp_path):
    report = sample_report("llama_eager")
    copy = later(report, tmp_path / "copy.sqlite", [inside(report, "steady", 1_000)], 5_000_000)
    assert check(copy, report).headline == "1 of 17 checks: wall outside its loop of steady grew"
    copy = later(report, tmp_path / "copy.sqlite", [inside(report, "steady", 1_000)], 2_000_000_000)
    assert check(copy, report).headline == "1 of 17 checks: wall outside its loop of steady grew"


@pytest.mark.parametrize("stage", ["steady", "warmup"])
def test_longer_kernels_fail(sample_report, tmp_path, stage):
    """Even where the host does not wait for them."""
    report = sample_report("llama_eager")
    copy = later(report, tmp_path / "copy.sqlite", [], 0)
    begin, end = bounds(report, stage)
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute(
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start - (end - start) / 4 WHERE start BETWEEN ? AND ?",
            (begin, end),
        )
    verdict = check(copy, report)
    assert f"GPU active of {stage}" in verdict.headline
    assert verdict.exit_code == 1


def test_another_executor_is_told_by_its_startup_gap(sample_report):
    verdict = check(sample_report("llama_thunder_torch"), sample_report("llama_eager"))
    assert "startup gap of steady / step grew" in verdict.headline
    assert states(verdict, ["steady", "step"], "kernels") == [State.OK]


def test_a_report_with_no_stage_in_common_cannot_be_told(sample_report, builder, tmp_path):
    process = builder.process(100)
    process.thread().push_pop("other", 0, 10_000)
    process.thread().call("cudaLaunchKernel_v7000", 100, 200).kernel("k", 300, 400)
    stranger = builder.write(tmp_path / "stranger.sqlite")
    verdict = check(stranger, sample_report("llama_eager"))
    assert (verdict.outcome, verdict.exit_code, verdict.checks) == (Outcome.CANNOT_TELL, 3, [])
    assert [problem.code for problem in verdict.problems] == ["no-common-stage"]


@pytest.mark.parametrize("condition", ["1", "rowid % 2", "rowid > 500"])
def test_a_capture_that_lost_kernels_never_passes(sample_report, tmp_path, condition):
    report = sample_report("llama_eager")
    copy = later(report, tmp_path / "copy.sqlite", [], 0)
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute(f"DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE {condition}")
    for verdict in (check(copy, report), check(report, copy), check(copy, config=with_budget(kernels=100))):
        assert (verdict.outcome, verdict.exit_code) == (Outcome.CANNOT_TELL, 3)
        assert verdict.problems[0].report == "copy.sqlite"


def test_a_single_lost_kernel_is_no_improvement(sample_report, tmp_path):
    report = sample_report("llama_eager")
    copy = later(report, tmp_path / "copy.sqlite", [], 0)
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute(
            "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid IN (SELECT max(rowid) FROM CUPTI_ACTIVITY_KIND_KERNEL)"
        )
    verdict = check(copy, report)
    assert [warning.code for warning in verdict.warnings] == ["launches-without-ops"]
    assert check(copy, config=with_budget(kernels=100)).exit_code == 3


def test_a_capture_cut_short_never_passes(sample_report, tmp_path):
    report = sample_report("llama_eager")
    copy = later(report, tmp_path / "copy.sqlite", [], 0)
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute(
            "UPDATE NVTX_EVENTS SET end = NULL WHERE start = (SELECT max(start) FROM NVTX_EVENTS WHERE end > 0)"
        )
    verdict = check(copy, report)
    assert verdict.exit_code == 3
    assert "cut short" in verdict.problems[0].message


def test_budgets_alone(sample_report):
    report = sample_report("llama_eager")
    assert check(report, config=with_budget(kernels=60, pace=5_000_000)).outcome is Outcome.PASSED
    verdict = check(report, config=with_budget(kernels=59, pace=5_000_000))
    assert verdict.headline == "1 of 2 checks: kernels of steady / step is over budget"
    (failed, fine) = verdict.checks
    assert (failed.state, failed.new, failed.limit, fine.state) == (State.OVER_BUDGET, 60, 59, State.OK)
    with pytest.raises(nsys_analyze.UsageError, match="nothing to check"):
        check(report)


def test_gpu_timings_of_another_mode_are_not_compared(sample_report):
    verdict = check(sample_report("inductor_compile_phases"), sample_report("llama_inductor"))
    assert verdict.exit_code in (1, 3)
    compared = [one for one in verdict.checks if one.state not in (State.MISSING, State.NEW)]
    assert {one.state for one in compared} == {State.INCOMPARABLE}
    assert "CUDA graph tracing differs" in compared[0].reason
