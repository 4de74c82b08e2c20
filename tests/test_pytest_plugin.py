from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from nsys_analyze import open_report
from nsys_analyze.verdict.records import record
from tests.driver_stubs import Stubs
from tests.history_samples import fill
from tests.later import first_launches, later

ROOT = Path(__file__).parent.parent


@pytest.fixture
def outcome(pytester, sample_report):
    """Runs tests, each given by its body, beside a report, in a process of their own; returns the result."""
    shutil.copyfile(sample_report("llama_eager"), pytester.path / "eager.sqlite")

    def outcome(*bodies, arguments=()):
        tests = [f"def test_{place}(nsys_report):\n    {body}\n" for place, body in enumerate(bodies)]
        pytester.makepyfile("\n\n".join(tests))
        plugin = ["-p", "no:nsys_analyze", "-p", "nsys_analyze.pytest_plugin"]
        return pytester.runpytest_subprocess(*plugin, "-p", "no:cacheprovider", *arguments)

    return outcome


@pytest.fixture
def slower(pytester, outcome):
    eager = pytester.path / "eager.sqlite"
    later(eager, pytester.path / "slower.sqlite", first_launches(eager, "step"), 300_000)


def test_a_budget(outcome):
    result = outcome(
        'nsys_report("eager.sqlite").assert_budget("steady/step", startup_gap_exposed="50 us", kernels=60)',
        'nsys_report("eager.sqlite").assert_budget("steady/step", startup_gap="50 us", kernels=60)',
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "> *assert_budget(*",
            "E *AssertionError: FAILED  1 of 2 checks: startup gap of steady / step is over budget",
            "E *over budget  steady / step  startup gap * of 50.0 us*over its budget (assert_budget)",
        ]
    )
    assert "pytest_plugin.py:" not in result.stdout.str()


def test_what_makes_no_sense(outcome):
    limits = ("startup_gap=50", 'startup="50 us"', "kernels=60.5", "")
    result = outcome(
        *(f'nsys_report("eager.sqlite").assert_budget("steady/step", {some})' for some in limits),
        'nsys_report("eager.sqlite").assert_budget("stady/step", kernels=60)',
        'nsys_report("eager.sqlite").assert_no_regression("eager.sqlite", max_increase=9)',
        'nsys_report("absent.sqlite")',
        "nsys_report()",
    )
    result.assert_outcomes(failed=8)
    result.stdout.fnmatch_lines(
        [
            "E *UsageError: assert_budget: startup_gap is 50; it takes a duration with its unit*",
            "E *UsageError: assert_budget: startup is not known here; there are: stage, *level, wall, elapsed, pace*",
            "E *UsageError: assert_budget: kernels is 60.5; it takes a whole number*",
            "E *UsageError: assert_budget: budget needs a limit*",
            "E *'stady/step' matches no stage *nearest: *steady*",
            "E *UsageError: assert_no_regression: max_increase is 9; it takes a percentage*",
            "E *ReportError: *absent.sqlite*",
            "E *UsageError: *takes the path of a report*",
        ]
    )


def test_a_regression_against_the_baseline_of_the_command_line(outcome, slower):
    body = 'nsys_report("slower.sqlite").assert_no_regression()'
    result = outcome(body, body.replace("slower", "eager"), arguments=["--nsys-baseline", "eager.sqlite"])
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["E *FAILED  4 of 17 checks: startup gap of steady / step grew; *", "E *regressed *"])
    outcome(body).assert_outcomes(skipped=1)


def test_one_baseline_only(outcome):
    result = outcome("pass", arguments=["--nsys-baseline", "a.sqlite", "--nsys-baseline", "b.sqlite"])
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --nsys-baseline a.sqlite and b.sqlite: give one*"])


def test_settings_of_a_comparison(outcome, slower, pytester):
    same = 'nsys_report("slower.sqlite").assert_no_regression("eager.sqlite", {})'
    settings = ('ignore_below="1 ms"', 'metrics=["kernels"]', "", 'ignore_below="20 us"')
    bodies = [same.format(some) for some in settings]
    outcome(*bodies).assert_outcomes(passed=2, failed=2)
    (pytester.path / "nsys-analyze.toml").write_text('[check]\nignore_below = "1 ms"\n', encoding="utf-8")
    outcome(*bodies).assert_outcomes(passed=3, failed=1)


def test_a_history_is_a_baseline(outcome, pytester):
    eager = record(open_report(pytester.path / "eager.sqlite").analysis(), "eager.sqlite")
    fill(pytester.path / "results.db", [[eager]])
    body = 'nsys_report("eager.sqlite").assert_no_regression()'
    result = outcome(body, arguments=["--nsys-baseline", "history:main", "--nsys-history", "results.db"])
    result.assert_outcomes(passed=1)


def test_a_program_is_captured(outcome, pytester, monkeypatch):
    stubs = Stubs(pytester.path, pytester.path / "eager.sqlite")
    monkeypatch.setenv("NSYS", str(stubs.nsys))
    body = f'nsys_report.capture(["{sys.executable}", "-c", "{{}}"]).assert_budget("steady/step", kernels=60)'
    result = outcome(body.format("pass"), body.format("exit(3)"))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["E *UsageError: *ended with exit code 3*"])
    assert "--trace" in stubs.calls("nsys")[0]
    monkeypatch.setenv("NSYS", str(pytester.path / "absent"))
    outcome(body.format("pass")).assert_outcomes(skipped=1)


def test_pytest_finds_it_and_it_is_cheap():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (name,) = project["entry-points"]["pytest11"].values()
    assert importlib.import_module(name).nsys_report
    code = f"import sys, pytest; before = set(sys.modules); import {name}; print(*set(sys.modules) - before)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {module.partition(".")[0] for module in loaded} <= {"nsys_analyze", "__future__"}
