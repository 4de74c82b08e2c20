from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from nsys_analyze import open_report
from nsys_analyze.checking import check_samples, record, sample
from nsys_analyze.errors import ReportError, UsageError
from nsys_analyze.remembering import past_samples, traced
from nsys_analyze.store import database
from nsys_analyze.store.loading import count, load
from nsys_analyze.store.saving import save
from nsys_analyze.verdict.changes import level_starts
from nsys_analyze.verdict.config import Config
from nsys_analyze.verdict.config_file import config_of
from nsys_analyze.verdict.judged import JUDGED
from nsys_analyze.verdict.noise import packaged
from nsys_analyze.verdict.results import Outcome, State
from tests.history_samples import START, STEP, fill
from tests.history_samples import record as made

DATA = Path(__file__).parent / "data"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.db"


def new(**given):
    return [sample(made(**given), 1)]


def past(path, label="main", reports=None):
    return past_samples(path, label, reports or new(), Config(), packaged())


def gaps(path):
    found = (report.stages[STEP].values for report in past(path))
    return [values["startup_gap"] for values in found if "startup_gap" in values]


def noisy(*levels, seed=1):
    """A run for each level, its gap 3% off or so."""
    rng = random.Random(seed)
    return [[made(gap=level * rng.lognormvariate(0, 0.03))] for level in levels]


def test_what_was_saved_is_what_is_loaded(path, sample_report):
    real = record(open_report(sample_report("llama_eager")).analysis(), "eager.sqlite")
    broken = made(broken="it has no NVTX ranges", lost=7, circumstances={"sampling": None, "driver": None})
    verdict = check_samples(new(gap=1e9), new(), Config(), START.date())
    assert save(path, [real, broken], None, label=None, commit=None, now=START) == 1
    assert save(path, [made(gap=1e9)], verdict, label="main", commit="1a2b", now=START) == 2
    first, second = load(path)
    assert (first.number, first.label, first.commit, first.outcome, first.headline) == (1, None, None, None, None)
    assert list(first.reports) == [real, broken]
    assert first.made_at == "2026-06-01T00:00:00+00:00"
    assert (second.label, second.commit, second.outcome) == ("main", "1a2b", Outcome.FAILED)
    assert second.headline == verdict.headline
    assert second.states[STEP, "startup_gap"] is State.REGRESSED
    assert second.states[STEP, "kernels"] is State.OK
    assert [run.number for run in load(path, label="main")] == [2]
    assert [run.number for run in load(path, newest=1)] == [2]
    assert load(path, quantities=["pace"])[1].reports[0].stages[STEP].each == {"pace": [2e6] * 30}


def test_no_host_is_stored_and_environments_only_once(path):
    fill(path, [[made(), made(gap=1)], [made(gap=2, circumstances={"driver": "590"})]])
    with sqlite3.connect(path) as connection:
        environments = connection.execute("SELECT driver, sampling, context_switches FROM environments").fetchall()
        columns = {row[1] for table in ("runs", "reports") for row in connection.execute(f"PRAGMA table_info({table})")}
    assert environments == [("580", 0, None), ("590", 0, None)]
    assert columns.isdisjoint({"host", "hostname", "path"})


def test_warm_up_is_decided_when_runs_are_read(path):
    fill(path, [[made(gap=100e3)]])
    (run,) = load(path)
    assert len(sample(run.reports[0], 3).stages[STEP].series["startup_gap"]) == 28
    assert sample(run.reports[0], 0).stages[STEP].series["startup_gap"][0] == 500e3


def test_a_report_that_is_saved_again_is_no_other_capture(path):
    fill(path, [[made()], [made(label="copy.sqlite"), made(gap=1)]])
    assert [len(run.reports) for run in load(path)] == [1, 1]
    assert [len(run.reports) for run in load(path, distinct=False)] == [1, 2]


def test_a_baseline_begins_after_the_last_change(path):
    runs = noisy(*[200e3] * 6, *[400e3] * 4)
    fill(path, runs)
    assert gaps(path) == [report.stages[STEP].each["startup_gap"][1] for run in runs[6:] for report in run]
    assert len(past(path)) == 10
    paces = [report.stages[STEP].values.get("pace") for report in past(path)]
    assert paces == [2e6] * 10  # what did not change counts from the start


def test_what_failed_is_no_baseline(path):
    config, today = Config(baseline="history:main"), START.date()
    fill(path, noisy(*[200e3] * 3))
    for seed in (2, 3, 4):
        (slow,) = noisy(500e3, seed=seed)
        base = past(path)
        assert [report.label for report in base] == [f"main #{place} r.sqlite" for place in (1, 2, 3)]
        found = check_samples([sample(report, 1) for report in slow], base, config, today)
        assert found.exit_code == 1
        fill(path, [slow], verdict=found)
    assert len(load(path)) == 6  # trends show them
    (slow,) = noisy(500e3, seed=5)
    limit = {"stage": "step", "up_to": "1 ms", "reason": "meant"}
    accept = config_of({"accept": [limit | {"metric": name} for name in ("startup_gap", "startup_gap_prelude")]}, "c")
    accepted = check_samples([sample(report, 1) for report in slow], past(path), accept, today)
    assert accepted.exit_code == 0
    fill(path, [slow], verdict=accepted)
    assert [report.label for report in past(path)][3:] == ["main #7 r.sqlite"]


def test_a_label_whose_runs_all_failed(path):
    failed = check_samples(new(kernels=70), new(), Config(), START.date())
    assert failed.exit_code == 1
    fill(path, [[made(kernels=70)]], verdict=failed)
    with pytest.raises(UsageError, match="every run with the label 'main' failed its check"):
        past(path)
    fill(path, [[made(kernels=70)]])  # the same report, saved without a check
    assert [report.label for report in past(path)] == ["main #2 r.sqlite"]


def test_one_odd_run_is_no_change(path):
    fill(path, noisy(*[200e3] * 5, 900e3, *[200e3] * 4))
    assert len(gaps(path)) == 10


def test_counts_change_by_one(path):
    fill(path, [[made(kernels=60, gap=200e3 + place)] for place in range(4)])
    fill(path, [[made(kernels=61, gap=200e3 - 1 - place)] for place in range(2)])
    kernels = [report.stages[STEP].values.get("kernels") for report in past(path)]
    assert kernels == [None] * 4 + [61.0] * 2
    config, today = Config(), START.date()
    assert check_samples(new(kernels=61), past(path), config, today).exit_code == 0
    assert check_samples(new(kernels=62), past(path), config, today).exit_code == 1


def test_few_unchanged_histories_show_a_change():
    rng = random.Random(7)
    found = 0
    for _ in range(60):
        series = []
        for _ in range(30):
            gap = 200e3 * rng.lognormvariate(0, 0.05 * (3 if rng.random() < 0.05 else 1))
            series.append([sample(made(gap=gap), 1).stages[STEP]])
        found += bool(level_starts(series, JUDGED["startup_gap"], packaged(), 20_000))
    assert found <= 2


@pytest.mark.parametrize(("calls", "counting"), [(825_000, 9), (500_000, 4)])  # 1.65 ** 1.394 is 2
def test_the_speed_of_the_machine_is_no_change(path, calls, counting):
    slow = made(pace=4e6)
    slow = replace(slow, stages={STEP: replace(slow.stages[STEP], calls=[calls] * 31)})
    fill(path, [*noisy(*[200e3] * 5), *([replace(slow, lost=place)] for place in range(4))])
    assert sum("pace" in report.stages[STEP].values for report in past(path)) == counting


def test_what_cannot_be_compared_is_no_baseline(path):
    other = {"gpus": ("NVIDIA A100",)}
    fill(path, [[made(gap=1, circumstances=other), made(broken="it is cut short")], [made(gap=2)]])
    assert [report.label for report in past(path)] == ["main #2 r.sqlite"]
    only_other = new(circumstances={"gpus": ("NVIDIA L4",)})
    verdict = check_samples(only_other, past(path, reports=only_other), Config(), START.date())
    assert verdict.exit_code == 3
    assert "the GPU differs" in verdict.headline


def test_a_label_without_runs(path):
    fill(path, [[made()]], label="main")
    fill(path, [[made()]], label="topic")
    with pytest.raises(UsageError, match="no run has the label 'mian'; there are: topic, main"):
        past(path, "mian")
    assert (count(path, None), count(path, "topic")) == (2, 1)


def test_a_trend_leaves_out_what_cannot_be_compared(path):
    fill(path, [[made(gap=5, circumstances={"gpus": ("NVIDIA A100",)})], *noisy(100e3, 110e3, 300e3, 310e3, 290e3)])
    found = traced(path, "step", "startup_gap", None, Config(), packaged())
    assert (found.left_out, [point.run for point in found.points]) == (1, [2, 3, 4, 5, 6])
    assert [point.run for point in found.points if point.changed] == [4]
    change = found.points[2]
    assert change.ratio == pytest.approx(change.level / found.points[0].level)
    assert change.level == pytest.approx(sorted(point.value for point in found.points[2:])[1])


def test_without_ruptures_it_says_what_to_install(path, monkeypatch):
    fill(path, [[made()]])
    monkeypatch.setitem(sys.modules, "ruptures", None)
    with pytest.raises(UsageError, match=r"pip install 'nsys-analyze\[history\]'"):
        traced(path, None, "pace", None, Config(), packaged())
    with pytest.raises(UsageError, match="ruptures"):
        past(path)


# Several processes, crashes, and files of other kinds.


def test_two_jobs_that_write_at_once_lose_nothing(path):
    command = [sys.executable, "-m", "tests.history_samples", str(path)]
    jobs = [subprocess.Popen([*command, label, "12"], stderr=subprocess.PIPE, text=True) for label in ("a", "b")]
    assert [job.communicate(timeout=60)[1] for job in jobs] == ["", ""]
    runs = load(path, distinct=False)
    assert sorted(run.number for run in runs) == list(range(1, 25))
    assert [len(run.reports) for run in runs] == [1] * 24
    assert sum(run.label == "a" for run in runs) == 12


_KILLED = """
import os, signal, sys
from pathlib import Path
from nsys_analyze.store import database, saving
from tests.history_samples import START, record

save_report = saving._save_report
def killed(database, run, report):
    save_report(database, run, report)
    if report.label == "last":
        os.kill(os.getpid(), signal.SIGKILL)

def connected(path, mode, connect=database._connected):
    connection = connect(path, mode)
    connection.execute("PRAGMA cache_size = 1")  # so that pages reach the file before the end
    return connection

database._connected = connected
saving._save_report = killed
reports = [record(gap=place) for place in range(30)] + [record(label="last")]
saving.save(Path(sys.argv[1]), reports, None, label="main", commit=None, now=START)
"""


def test_a_job_that_is_killed_leaves_what_was_there(path):
    fill(path, [[made(gap=1)]])
    before = path.stat().st_size
    done = subprocess.run([sys.executable, "-c", _KILLED, str(path)], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert path.stat().st_size > before  # it was in the middle of it
    assert [run.number for run in load(path)] == [1]
    fill(path, [[made(gap=2)]])
    assert [run.number for run in load(path)] == [1, 2]
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_database_of_the_first_version_is_brought_up_to_date(path):
    with sqlite3.connect(path) as connection:
        connection.executescript((DATA / "history_1.sql").read_text(encoding="utf-8"))
    (run,) = load(path)
    assert (run.label, run.commit, run.outcome, run.states) == ("main", "c1", None, {})
    assert list(run.reports) == [made()]
    verdict = check_samples(new(), new(), Config(), START.date())
    assert save(path, [made(gap=1)], verdict, label="main", commit=None, now=START) == 2
    assert load(path)[1].outcome is Outcome.PASSED


def test_what_is_no_history_is_refused(path, tmp_path, monkeypatch, sample_report):
    with pytest.raises(ReportError, match="no such history"):
        load(path)
    path.write_bytes(b"no database" * 100)
    with pytest.raises(ReportError, match="no history of nsys-analyze, or a damaged one"):
        load(path)
    report = sample_report("llama_eager")
    for refused in (lambda: load(report), lambda: save(report, [], None, label=None, commit=None, now=START)):
        with pytest.raises(ReportError, match="a database, but no history"):
            refused()
    later = tmp_path / "later.db"
    fill(later, [[made()]])
    with sqlite3.connect(later) as connection:
        connection.execute("INSERT INTO _sqlite_migrations(migration_set, name) VALUES ('nsys-analyze', '9: more')")
    with pytest.raises(ReportError, match="later version of nsys-analyze"):
        load(later)
    with pytest.raises(ReportError, match="cannot be read or written"):
        load_folder = tmp_path / "folder.db"
        load_folder.mkdir()
        save(load_folder, [], None, label=None, commit=None, now=START)


def test_whoever_waits_too_long_says_so(path, monkeypatch):
    fill(path, [[made()]])
    monkeypatch.setattr(database, "PATIENCE", 0.1)
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ReportError, match="another process has been writing"):
            fill(path, [[made()]])
        other.execute("ROLLBACK")
