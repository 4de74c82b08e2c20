from __future__ import annotations

import functools
import json
import shutil
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import nsys_analyze
from nsys_analyze import cli
from nsys_analyze.durations import exact_duration, parse_duration
from nsys_analyze.verdict.config_file import config_of
from nsys_analyze.verdict.config_text import as_toml
from nsys_analyze.verdict.results import Verdict
from tests.later import first_launches, later


@pytest.fixture
def slower(eager, tmp_path):
    later(tmp_path / eager, tmp_path / "slower.sqlite", first_launches(tmp_path / eager, "step"), 300_000)
    return "slower.sqlite"


@pytest.fixture
def run(command):
    return functools.partial(command, "check")


def configure(tmp_path, text):
    (tmp_path / "pyproject.toml").write_text(f"[tool.nsys-analyze.check]\n{text}\n", encoding="utf-8")


def budget(body):
    return f'[[tool.nsys-analyze.check.budget]]\nstage = "steady/step"\n{body}'


def fail(run, *arguments):
    """The one line that wrong usage prints."""
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("Error: ")
    assert len(err.splitlines()) == 1
    return err


def test_the_verdict_comes_first_and_decides_the_exit_code(run, eager, slower):
    code, out, err = run(eager, "--baseline", eager)
    assert (code, out, err) == (0, "PASSED  17 checks\n17 ok; `-v` lists them\n", "")
    code, out, err = run(slower, "--baseline", eager)
    assert (code, err) == (1, "")
    assert out.startswith("FAILED  4 of 17 checks: startup gap of steady / step grew; first instance")
    assert len(run(eager, "--baseline", eager, "-v")[1].splitlines()) == 18


def test_a_stored_baseline_says_the_same_as_its_reports(run, eager, slower):
    code, out, err = run(eager, eager, "--write-baseline", "base.json")
    assert (code, out, err) == (0, "", "base.json: 2 reports\n")
    stored = json.loads(run(slower, "--baseline", "base.json", "--format", "json")[1])
    Path("main").mkdir()
    shutil.copyfile(eager, "main/a.sqlite")
    shutil.copyfile(eager, "main/b.sqlite")
    direct = json.loads(run(slower, "--baseline", "main", "--format", "json")[1])
    assert (stored.pop("baseline"), direct.pop("baseline")) == (
        ["eager.sqlite", "eager.sqlite (2)"],
        ["a.sqlite", "b.sqlite"],
    )
    assert stored == direct


def test_a_report_result_is_a_baseline_too(run, eager, capsys):
    assert cli.main(["report", eager, "-o", "base.json"]) == 0
    assert run(eager, "--baseline", "base.json")[0] == 0


def test_budgets_come_from_the_configuration(run, eager, tmp_path):
    configure(tmp_path, budget("kernels = 59"))
    code, out, _ = run(eager)
    assert code == 1
    assert "over its budget (pyproject.toml:4)" in out
    code, out, _ = run(eager, "--format", "github")
    assert "::error file=pyproject.toml,line=4,title=" in out
    configure(tmp_path, f'baseline = "{eager}"')
    assert run(eager)[1].startswith("PASSED  17 checks")


def test_every_format_to_a_file_and_one_to_the_terminal(run, eager, slower, tmp_path):
    outputs = [part for name in ("v.json", "v.md", "v.xml", "v.txt") for part in ("-o", name)]
    code, out, _ = run(slower, "--baseline", eager, *outputs)
    assert code == 1
    assert out.startswith("FAILED")
    assert (tmp_path / "v.txt").read_text().startswith("FAILED")
    assert json.loads((tmp_path / "v.json").read_text())["exit_code"] == 1
    assert (tmp_path / "v.md").read_text().startswith("**FAILED")
    assert ET.parse(tmp_path / "v.xml").getroot().get("failures") == "4"


def test_wrong_usage_is_one_line(run, eager, tmp_path):
    (tmp_path / "foreign.json").write_text('{"a": 1}')
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "future.json").write_text('{"schema_version": 9, "tool": {"name": "nsys-analyze"}}')
    (tmp_path / "empty").mkdir()
    assert "no reports" in fail(run)
    assert "nothing to check" in fail(run, eager)
    assert "two baselines" in fail(run, eager, "--baseline", eager, "--baseline", eager)
    assert "no such file" in fail(run, eager, "--baseline", "absent.sqlite")
    assert "cannot be read" in fail(run, eager, "--baseline", "absent.json")
    assert "not results of nsys-analyze" in fail(run, eager, "--baseline", "foreign.json")
    assert "not valid JSON" in fail(run, eager, "--baseline", "broken.json")
    assert "schema version 9, not 1" in fail(run, eager, "--baseline", "future.json")
    assert "a folder without reports" in fail(run, eager, "--baseline", "empty")
    assert "empty name" in fail(run, eager, "--baseline", "")
    assert "empty name" in fail(run, "", "--baseline", eager)
    assert "no format has the suffix" in fail(run, eager, "--baseline", eager, "-o", "v.csv")
    assert "exclude each other" in fail(run, eager, "--calibrate", "--dump-config")
    assert "a baseline is JSON" in fail(run, eager, "--write-baseline", "base.txt")
    configure(tmp_path, "max_increase = 5")
    assert "pyproject.toml:2: max_increase is 5" in fail(run, eager, "--baseline", eager)


def test_nothing_broken_becomes_a_baseline(run, eager):
    with sqlite3.connect(eager) as connection:
        connection.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL")
    assert "cannot be a baseline" in fail(run, eager, "--write-baseline", "base.json")


def test_strict(run, eager, tmp_path):
    with sqlite3.connect(eager) as connection:
        (start,) = connection.execute("SELECT min(start) FROM NVTX_EVENTS WHERE end IS NOT NULL").fetchone()
    another = later(tmp_path / eager, tmp_path / "another.sqlite", [start + 1_000], 200_000_000)
    slow = later(another, tmp_path / "slow.sqlite", first_launches(another, "step"), 30_000)
    code, out, _ = run(slow, "--baseline", eager)
    assert code == 0
    assert "suspect" in out or "too noisy" in out
    assert run(slow, "--baseline", eager, "--strict")[0] == 3


def test_the_configuration_can_be_shown(run, eager, tmp_path):
    configure(tmp_path, budget("kernels = 59"))
    code, out, _ = run("--dump-config")
    assert code == 0
    assert 'kernels = { max = 59, level = "fail" }  # pyproject.toml:4' in out
    out = run(eager, "--baseline", eager, "--dump-config")[1]
    assert "# steady / step: kernels at most 59 (pyproject.toml:4)" in out
    assert "# steady / step: pace against the baseline, +10%" in out


@pytest.mark.parametrize("duration", [0, 1, 999, 1_000, 20_000, 123_456, 1_234_567, 1_234_567_890, 2**53])
def test_durations_are_shown_exactly(duration):
    assert parse_duration(exact_duration(duration)) == duration


def test_a_stage_without_a_steady_instance_is_inconclusive(eager):
    budget = {"stage": "steady/step", "pace": "1 us"}
    found = nsys_analyze.check(eager, baseline=eager, config={"warmup": 100, "budget": [budget]})
    paces = [one for one in found.checks if one.metric == "pace"]
    assert {one.against for one in paces} == {"baseline", "budget"}
    assert {one.state for one in paces} == {"inconclusive"}
    assert all("no instance is steady" in one.reason for one in paces)
    assert any(one.metric == "first_wall" and one.state == "ok" for one in found.checks)


def test_limits_are_shown_as_they_apply():
    config = config_of({"ignore_below": "123456 ns", "max_increase": "2000%"}, "config")
    assert 'ignore_below = "123.456 us"' in as_toml(config)
    assert 'max_increase = "2,000%"' not in as_toml(config)
    assert 'max_increase = "2000%"' in as_toml(config)


def test_noise_is_measured_and_used(run, eager, tmp_path):
    code, out, _ = run(eager, eager, eager, "--calibrate")
    assert code == 0
    assert '["pace"]' in out
    run(eager, eager, "--calibrate", "-o", "noise.toml")
    configure(tmp_path, 'noise = "noise.toml"')
    assert run(eager, "--baseline", eager)[0] == 0
    (tmp_path / "noise.toml").write_text("[pace]\nraw = -1\nsd = 1\n")
    assert "not a noise file" in fail(run, eager, "--baseline", eager)
    assert "two or more reports" in fail(run, eager, "--calibrate")


def test_whoever_reads_the_verdict_does_not_change_it(eager, slower):
    command = [sys.executable, "-m", "nsys_analyze", "check", slower, "--baseline", eager, "-v"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_from_python(eager, slower):
    verdict = nsys_analyze.check([slower], baseline=eager)
    assert isinstance(verdict, Verdict)
    assert isinstance(verdict, nsys_analyze.Verdict)
    assert not verdict.passed
    assert verdict.exit_code == 1
