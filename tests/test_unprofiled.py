"""CPU overhead from times that were measured without a profiler."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest

from nsys_analyze import cli, open_report
from nsys_analyze.errors import UsageError
from nsys_analyze.views.stage_remarks import unprofiled_remark

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nsys_analyze.metrics.results import Stage

LAUNCH = "cudaLaunchKernel_v7000"


@pytest.fixture
def path(builder, tmp_path: Path) -> Path:
    """Three steps 1,000 ns apart, each with two kernels of 100 ns; and a warm-up with a step of its own."""
    thread = builder.process(100).thread()
    thread.push_pop("warmup", 0, 900)
    thread.push_pop("steady", 1000, 3950)
    for number in range(4):
        at = 1000 * number
        thread.push_pop(f"step {number}", at + 10, at + 810)
        for offset in (100, 300):
            thread.call(LAUNCH, at + offset, at + offset + 10).kernel("gemm", at + offset + 20, at + offset + 120)
    return builder.write(tmp_path / "report.sqlite")


@pytest.fixture
def stages(path) -> Callable[[dict[str, int]], dict[str, Stage]]:
    def of(unprofiled: dict[str, int]) -> dict[str, Stage]:
        return {" / ".join(stage.path): stage for stage in open_report(path).analysis(unprofiled=unprofiled).stages}

    return of


def stated(stage: Stage) -> tuple[float | None, ...]:
    return stage.unprofiled_ns, stage.unprofiled_cpu_overhead_ns, stage.unprofiled_overhead_per_kernel_ns


def test_overhead_is_what_the_gpus_work_leaves_of_the_time(stages):
    found = stages({"steady/step": 700})
    assert stated(found["steady / step"]) == (700, 500, 250)
    assert stated(found["warmup / step"]) == stated(found["steady"]) == (None, None, None)
    step = found["steady / step"]
    assert step.pace_ns == pytest.approx(2800 / 3)
    assert step.profiler_share_ns == pytest.approx(2800 / 3 - 700)


@pytest.mark.parametrize(("kernel", "left"), [("gemm", 0), ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", None)])
def test_where_kernels_wait_for_other_ranks_nothing_can_be_left(builder, tmp_path, kernel, left):
    thread = builder.process(100).thread()
    for number in range(3):
        at = 1000 * number
        thread.push_pop(f"step {number}", at, at + 800)
        thread.call(LAUNCH, at + 100, at + 110).kernel(kernel, at + 120, at + 720)
    report = open_report(builder.write(tmp_path / "waiting.sqlite"))
    enough, short = (report.analysis(unprofiled={"step": time}).stages[0] for time in (700, 500))
    assert stated(enough) == (700, 100, 100)
    assert stated(short) == (500, left, left)


def test_the_last_pattern_that_matches_counts(stages):
    found = stages({"step": 700, "steady/step": 600})
    assert [found[name].unprofiled_ns for name in ("warmup / step", "steady / step")] == [700, 600]
    assert stages({"steady/step": 600, "step": 700})["steady / step"].unprofiled_ns == 700


def test_a_pattern_is_for_the_stage_not_for_what_lies_below(stages):
    assert {name for name, stage in stages({"st*": 700}).items() if stage.unprofiled_ns} == {
        "steady",
        "steady / step",
        "warmup / step",
    }
    assert {name for name, stage in stages({"steady": 700}).items() if stage.unprofiled_ns} == {"steady"}


def test_overhead_is_never_negative(stages):
    assert stated(stages({"steady/step": 150})["steady / step"]) == (150, 0, 0)


def test_an_unknown_pattern(stages):
    with pytest.raises(UsageError, match=r"unprofiled stpe: matches no stage \(nearest: step, "):
        stages({"stpe": 700})


def test_without_gpu_work_nothing_is_said_of_overhead(builder, tmp_path):
    builder.process(100).thread().push_pop("step", 0, 1000)
    (step,) = open_report(builder.write(tmp_path / "r.sqlite")).analysis(unprofiled={"step": 700}).stages
    assert stated(step) == (700, None, None)
    assert unprofiled_remark(step) == [["0.700 us unprofiled", "the profiler adds 0.300 us each time"]]


def test_the_remark(stages):
    step = stages({"steady/step": 700})["steady / step"]
    milliseconds = {"pace_ns": 1.682e6, "unprofiled_ns": 711_000, "unprofiled_cpu_overhead_ns": 506_622.1}
    told = dataclasses.replace(step, **milliseconds, unprofiled_overhead_per_kernel_ns=29_801.3)
    assert unprofiled_remark(told) == [
        ["0.711 ms unprofiled: CPU overhead 0.507 ms, 29.8 us/kernel", "the profiler adds 0.971 ms each time"]
    ]


def test_the_remark_where_the_profiler_costs_nothing(stages):
    (remark,) = unprofiled_remark(stages({"steady/step": 2000})["steady / step"])
    assert remark[1] == "the profiler seems to save 1.067 us each time"


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    code = cli.main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_on_the_command_line(path, capsys):
    code, out, _ = run(capsys, path, "--unprofiled", "steady/step=0.7us", "--format", "json")
    assert code == 0
    assert [stage["unprofiled_ns"] for stage in json.loads(out)["stages"]] == [None, None, None, 700]
    code, out, _ = run(capsys, path, "--unprofiled", "steady/step=0.7us")
    assert "\n  700 ns unprofiled: CPU overhead 500 ns, 0.250 us/kernel; the profiler adds 233 ns each time" in out


def test_of_several_reports_one_must_have_the_stage(path, builder, tmp_path, capsys):
    builder.process(200).thread().push_pop("other", 0, 10)
    other = builder.write(tmp_path / "other.sqlite")
    assert run(capsys, path, other, "--unprofiled", "other=5ns", "--format", "csv")[0] == 0
    code, _, err = run(capsys, path, other, "--unprofiled", "nobody=5ns")
    assert code == 2
    assert err.startswith("Error: --unprofiled nobody: matches no stage (nearest: ")


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("step", "write PATTERN=TIME, such as step=0.71ms"),
        ("=1ms", "write PATTERN=TIME, such as step=0.71ms"),
        ("step=5", "the duration '5' has no unit; it takes ns, us, ms or s"),
        ("step=0ms", "nothing takes no time"),
    ],
)
def test_what_is_no_unprofiled_time(path, capsys, option, why):
    assert run(capsys, path, "--unprofiled", option) == (2, "", f"Error: --unprofiled {option}: {why}\n")
