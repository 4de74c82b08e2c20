"""The tools that measure work; nothing is timed here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nsys_analyze import open_report

if TYPE_CHECKING:
    from collections.abc import Callable

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def run(tool: str, *arguments: object) -> str:
    command = [sys.executable, str(BENCHMARKS / tool), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("sample", ["vit_train_eager", "llama_thunder_nvfuser"])
def test_a_grown_report_is_the_report_several_times(
    sample: str, sample_report: Callable[[str], Path], tmp_path: Path
) -> None:
    report, grown = sample_report(sample), tmp_path / "grown.sqlite"
    run("grow.py", report, 3, grown)
    once, thrice = (open_report(path).analysis() for path in (report, grown))
    assert [stage.path for stage in thrice.stages] == [stage.path for stage in once.stages]
    for before, after in zip(once.stages, thrice.stages, strict=True):
        assert after.instances == 3 * before.instances
        assert after.kernel_ns == 3 * (before.kernel_ns or 0)
        assert after.wall_ns.total == 3 * before.wall_ns.total
    assert thrice.coverage.gpu_ops == 3 * once.coverage.gpu_ops
    assert thrice.coverage.thread == 3 * once.coverage.thread
    assert thrice.coverage.process == 3 * once.coverage.process
    assert (thrice.report.duration_ns or 0) > 2 * (once.report.duration_ns or 0)


def test_the_whole_command_is_measured(sample_report: Callable[[str], Path]) -> None:
    assert "llama_eager.sqlite" in run("whole.py", sample_report("llama_eager"))


def test_peers_that_are_not_there_are_left_out(sample_report: Callable[[str], Path]) -> None:
    report = sample_report("llama_eager")
    beside = sorted(report.parent.iterdir())
    said = run("peers.py", report, "--runs", 1, "--nsys", "no-such-nsys", "--nsys-ai", "no-such-tool")
    assert [line.split(" | ")[:3] for line in said.splitlines()[2:]] == [["| llama_eager", "nsys-analyze", "1.0"]]
    assert sorted(report.parent.iterdir()) == beside
