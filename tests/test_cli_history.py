from __future__ import annotations

import json
import subprocess
import sys

import jsonschema
import pytest

import nsys_analyze
from nsys_analyze.store.loading import load
from tests.history_samples import fill
from tests.history_samples import record as made
from tests.test_cli_check import configure


@pytest.fixture
def filled(tmp_path, monkeypatch):
    """A history whose startup gap doubles with its fifth run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    levels = (200e3, 205e3, 198e3, 201e3, 402e3, 398e3, 405e3)
    fill(tmp_path / "results.db", [[made(gap=gap), made(gap=gap + 1)] for gap in levels])
    return "results.db"


@pytest.fixture
def run(command):
    return command


def fail(run, *arguments):
    """The one line that wrong usage prints."""
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("Error: ")
    assert len(err.splitlines()) == 1
    return err


def test_a_check_is_saved_and_serves_as_baseline(run, eager, tmp_path):
    code, out, err = run("check", eager, "--save", "r.db", "--label", "main", "--commit", "1a2b")
    assert (code, out, err) == (0, "", "r.db: run 1, 1 report; nothing was checked\n")
    code, out, err = run("check", eager, "--baseline", "history:main", "--history", "r.db", "--save", "r.db")
    assert (code, err) == (0, "r.db: run 2, 1 report\n")
    assert out.startswith("PASSED  17 checks")
    configure(tmp_path, 'baseline = "history:main"\nhistory = "r.db"')
    assert run("check", eager)[1].startswith("PASSED  17 checks")
    assert "# steady / step: pace against the baseline" in run("check", eager, "--dump-config")[1]
    assert nsys_analyze.check(eager, baseline="history:main", history="r.db").baseline == ["main #1 eager.sqlite"]
    assert [(each.label, each.commit, each.outcome) for each in load(tmp_path / "r.db")] == [
        ("main", "1a2b", None),
        (None, None, "passed"),
    ]


def test_the_first_run_of_a_baseline_needs_none(run, eager):
    command = ("check", eager, "--baseline", "history:main", "--history", "r.db", "--save", "r.db", "--label", "main")
    code, out, err = run(*command)
    assert (code, out) == (0, "")
    assert err.startswith("r.db: this run is the first of main; nothing to compare it with\n")
    assert run(*command)[1].startswith("PASSED")
    command = ("check", eager, "--baseline", "history:other", "--history", "r.db", "--save", "r.db", "--label", "main")
    assert "no run has the label 'other'; there are: main" in fail(run, *command)


def test_runs_are_listed_newest_first(run, filled):
    code, out, err = run("history", filled)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "7 runs · steady / step"
    assert lines[3].split()[:6] == ["#7", "2026-06-07", "00:00", "main", "c7", "-"]
    assert "2.00 ms" in lines[3]
    out = run("history", filled, "--top", "2")[1]
    assert "#5" not in out
    assert "5 more runs: --top 0 lists all" in out
    rows = run("history", filled, "--format", "csv")[1].splitlines()
    assert rows[0].endswith("reports,stage,pace_ns,cpu_overhead_ns,startup_gap_exposed_ns,kernels")
    assert "| `#7 2026-06-07 00:00 main c7` |" in run("history", filled, "--format", "md")[1]


def test_a_trend_shows_its_changes(run, filled):
    out = run("history", filled, "--quantity", "startup_gap")[1]
    assert out.splitlines()[0] == "steady / step · startup gap · 7 runs"
    assert "#5 main c5: from 201 us to 402 us, 2.00x." in out
    assert out.splitlines()[-1].startswith("#5 main c5")
    assert "No change of level." in run("history", filled, "--quantity", "pace", "--stage", "step")[1]
    document = json.loads(run("history", filled, "--quantity", "startup_gap", "--format", "json")[1])
    assert [point["changed"] for point in document["points"]] == [False] * 4 + [True] + [False] * 2
    rows = run("history", filled, "--quantity", "startup_gap", "--format", "csv")[1].splitlines()
    assert rows[5].startswith("steady / step,startup_gap,ns,5,")


def test_json_follows_its_schema(run, filled):
    from importlib import resources

    schema = json.loads((resources.files("nsys_analyze") / "history.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for more in ((), ("--quantity", "startup_gap"), ("--quantity", "kernels")):
        jsonschema.validate(json.loads(run("history", filled, *more, "--format", "json")[1]), schema)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_trend_is_drawn(run, filled, tmp_path, suffix):
    for name in (f"a.{suffix}", f"b.{suffix}"):
        assert run("history", filled, "--quantity", "startup_gap", "-o", name) == (0, "", "")
    drawn = (tmp_path / f"a.{suffix}").read_bytes()
    assert drawn[:5] in (b"\x89PNG\r", b"<?xml")
    assert drawn == (tmp_path / f"b.{suffix}").read_bytes()


def test_wrong_usage_is_one_line(run, eager, filled, tmp_path):
    (tmp_path / "text.db").write_text("no database")
    assert "no such history" in fail(run, "history", "absent.db")
    assert "no history of nsys-analyze" in fail(run, "history", "text.db")
    assert "a database, but no history" in fail(run, "history", eager)
    assert "no run has the label 'x'; there are: main" in fail(run, "history", filled, "--label", "x")
    assert "no such quantity; there are: wall, " in fail(run, "history", filled, "--quantity", "x")
    assert "no stage matches (nearest: " in fail(run, "history", filled, "--quantity", "pace", "--stage", "x")
    assert "--stage is of a trend" in fail(run, "history", filled, "--stage", "step")
    assert "a png file is of a trend" in fail(run, "history", filled, "-o", "a.png")
    assert "is the history" in fail(run, "history", filled, "-o", filled, "--format", "csv")
    assert "needs --history FILE" in fail(run, "check", eager, "--baseline", "history:main")
    assert "no such history" in fail(run, "check", eager, "--baseline", "history:main", "--history", "absent.db")
    assert "no history of nsys-analyze" in fail(run, "check", eager, "--save", "text.db")
    assert "a database, but no history" in fail(run, "check", eager, "--save", eager)
    assert "there is no folder" in fail(run, "check", eager, "--save", "absent/r.db")
    assert "--label is for --save" in fail(run, "check", eager, "--label", "main")
    assert "does not go with --write-baseline" in fail(run, "check", eager, "--save", "r.db", "--calibrate")


def test_only_histories_load_what_they_need():
    code = (
        "import sys\nbefore = set(sys.modules)\n"
        "from nsys_analyze.cli import main\nmain(['check', '--help'])\nmain(['history', '--help'])\n"
        "print(sorted({name.split('.')[0] for name in set(sys.modules) - before}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"sqlite3", "sqlite_utils", "ruptures", "numpy"} & set(done.stderr.split("'"))
