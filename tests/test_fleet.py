"""Fleets: many reports at once with Dask, whatever happens to workers, files and the one who waits."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pandas as pd
import polars
import pyarrow.parquet as pq
import pytest

from nsys_analyze import cli, open_report
from nsys_analyze.cli import fleet as verb
from nsys_analyze.errors import UsageError
from nsys_analyze.fleet import cluster, engine, running
from nsys_analyze.fleet.columns import QUANTITY_COLUMNS
from nsys_analyze.fleet.finding import find_reports
from nsys_analyze.fleet.folder import opened
from nsys_analyze.fleet.identity import digest, fingerprint
from nsys_analyze.fleet.task import Job, analyse
from nsys_analyze.metrics.quantities import QUANTITIES
from tests.exports import ExportBuilder
from tests.folder_exports import as_folder

DAY = 86_400 * 10**9
STARTED = 1_767_225_600 * 10**9  # 2026-01-01 in UTC
READING = {"attribution": "process", "fold": True, "fold_patterns": (), "domains": None, "compile_rules": None}


def write(path, *, host="node1", day=0, slow=1.0, rank=None, steps=6):
    """A report with a `step` of about 1 ms, a kernel in each; `slow` is how many times longer they take."""
    builder = ExportBuilder()
    builder.session(STARTED + day * DAY, host)
    builder.gpu(0)
    for name, value in (("RANK", rank), ("WORLD_SIZE", 8)) if rank is not None else ():
        builder.row("META_DATA_CAPTURE", name="PROCESS_0:ENVIRONMENT_VARIABLE", value=f"{name}={value}")
    thread = builder.process(pid=100).thread()
    for number in range(steps):
        start = int(number * 1_000_000 * slow)
        thread.push_pop(f"step {number}", start, start + int(900_000 * slow))
        call = thread.call("cudaLaunchKernel_v7000", start + 10_000, start + 20_000)
        call.kernel("gemm", start + 30_000, start + 30_000 + int(500_000 * slow))
    path.parent.mkdir(parents=True, exist_ok=True)
    return builder.write(path)


@pytest.fixture(scope="module")
def client():
    with cluster.local(2, None) as found:
        yield found


@pytest.fixture
def workers(client, monkeypatch):
    """The command takes the workers that are there, and not new ones each time."""
    monkeypatch.setattr(verb, "_workers", lambda _: lambda: contextlib.nullcontext(client))


@pytest.fixture
def runs(tmp_path):
    """Twelve reports of two hosts and three days, and the folder that they are in."""
    for number in range(12):
        where = tmp_path / "runs" / f"day{number % 3}"
        write(where / f"r{number:02}.sqlite", host=f"node{number % 2}", day=number % 3, slow=1 + number / 1000)
    return tmp_path / "runs"


def journal(out):
    lines = [json.loads(line) for line in (out / "reports.jsonl").read_text().splitlines()]
    return {Path(line["path"]).name: line for line in lines}


def parts(out):
    return sorted(path.name for path in (out / "stages").rglob("*") if path.is_file())


def nobody():
    raise AssertionError("nothing was left to do")


# --- the dataset


@pytest.mark.usefixtures("workers")
def test_a_fleet_is_one_dataset_that_everybody_reads(runs, tmp_path, capsys):
    (runs / "history.sqlite").write_bytes(b"not a report at all")
    out = tmp_path / "out"
    assert cli.main(["fleet", str(runs / "**/*.sqlite"), "-o", str(out)]) == 1
    printed, told = capsys.readouterr()
    assert "history.sqlite: not an Nsight Systems export" in told
    assert printed.startswith("13 reports · 1 failed · 2 hosts · 2026-01-01 to 2026-01-03\n")
    assert (out / "summary.md").read_text().startswith("**`13 reports`** · 1 failed · 2 hosts")

    by_pandas = pd.read_parquet(out / "stages")
    assert len(by_pandas) == 12
    assert sorted(by_pandas["date"].unique()) == ["2026-01-01", "2026-01-02", "2026-01-03"]
    by_polars = polars.read_parquet(out / "stages/**/*.parquet", hive_partitioning=True)
    query = f"SELECT host, count(*), median(pace_ns) FROM '{out}/stages/**/*.parquet' GROUP BY host ORDER BY host"
    expected = by_pandas.groupby("host")["pace_ns"].median()
    assert duckdb.sql(query).fetchall() == [("node0", 6, expected["node0"]), ("node1", 6, expected["node1"])]
    assert by_polars.group_by("host").agg(polars.col("pace_ns").median()).sort("host").rows() == [*expected.items()]

    reports = pd.read_parquet(out / "reports.parquet").set_index("file")
    assert reports["state"].value_counts().to_dict() == {"done": 12, "failed": 1}
    assert reports.loc[str(runs / "day1/r01.sqlite"), ["host", "date", "gpu"]].tolist() == [
        "node1",
        "2026-01-02",
        "NVIDIA H200",
    ]


def test_every_part_has_one_schema_and_the_numbers_of_the_analysis(tmp_path, sample_report):
    schemas, empty = [], ExportBuilder()
    empty.process(pid=1).thread().push_pop("alone", 0, 10)
    for path in (empty.write(tmp_path / "empty.sqlite"), sample_report("llama_eager")):
        outcome = analyse(Job(path=str(path), file=path.name, reading=READING))
        (tmp_path / "part.parquet").write_bytes(outcome.table)
        schemas.append(pq.read_schema(tmp_path / "part.parquet"))
    assert schemas[0] == schemas[1]
    rows = pd.read_parquet(tmp_path / "part.parquet")
    stages = open_report(sample_report("llama_eager")).analysis().stages
    for name, column in QUANTITY_COLUMNS.items():
        values = rows[column].astype(object).where(rows[column].notna(), None)
        assert values.tolist() == [QUANTITIES[name].of(stage) for stage in stages]


@pytest.mark.usefixtures("workers")
def test_a_report_without_a_date_is_read_too(tmp_path, capsys):
    builder = ExportBuilder()
    builder.process(pid=1).thread().push_pop("alone", 0, 10)
    builder.write(tmp_path / "undated.sqlite")
    write(tmp_path / "dated.sqlite")
    out = tmp_path / "out"
    assert cli.main(["fleet", str(tmp_path / "*.sqlite"), "-o", str(out)]) == 0
    assert "No two reports" in capsys.readouterr().out
    query = f"SELECT path[1], CAST(date AS VARCHAR) FROM '{out}/stages/**/*.parquet' ORDER BY 1"
    assert duckdb.sql(query).fetchall() == [("alone", "unknown"), ("step", "2026-01-01")]
    frame = polars.read_parquet(out / "stages/**/*.parquet", hive_partitioning=True)
    assert sorted(frame["date"]) == ["2026-01-01", "unknown"]
    assert sorted(pd.read_parquet(out / "stages")["date"]) == ["2026-01-01", "unknown"]


# --- workers that die


def dies_once(job):
    """Kills its worker in the middle of the first report that it meets."""
    mark = Path(job.path).parent.parent / "died"
    with contextlib.suppress(FileExistsError):
        mark.touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)
    return analyse(job)


def dies_of_poison(job):
    """Kills its worker whenever it meets a report called poison."""
    if "poison" in job.path:
        os.kill(os.getpid(), signal.SIGKILL)
    return analyse(job)


def run_fleet(client, runs, out, connect=None):
    reports = find_reports([str(runs)], out)
    with opened(out) as folder:
        connect = connect or (lambda: contextlib.nullcontext(client))
        return running.run(folder, reports, READING, connect, lambda *_: None)


def test_a_report_that_is_a_folder_counts_as_one(tmp_path):
    """A change in one of its tables is a change of the report."""
    (tmp_path / "runs").mkdir()
    tables = as_folder(write(tmp_path / "a.sqlite"), tmp_path / "runs" / "a_pqtdir", ".parquet")
    write(tmp_path / "runs" / "b.sqlite")
    assert find_reports([str(tmp_path / "runs")], tmp_path / "out") == [tables, tmp_path / "runs" / "b.sqlite"]
    assert find_reports([str(tmp_path / "runs" / "*")], tmp_path / "out") == [tables, tmp_path / "runs" / "b.sqlite"]
    glance, content = fingerprint(tables), digest(tables)
    assert digest(tables) == content
    (tables / "NVTX_EVENTS.parquet").unlink()
    assert fingerprint(tables) != glance
    assert digest(tables) != content


def test_a_worker_killed_in_the_middle_loses_nothing(client, runs, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "analyse", dies_once)
    found = run_fleet(client, runs, tmp_path / "out")
    assert (runs / "died").exists()
    assert (found.done, found.failed, found.left) == (12, 0, 0)
    assert len(parts(tmp_path / "out")) == 12


def test_a_report_that_kills_each_worker_fails_and_its_neighbours_do_not(client, runs, tmp_path, monkeypatch):
    write(runs / "day0/poison.sqlite", day=9)
    monkeypatch.setattr(engine, "analyse", dies_of_poison)
    found = run_fleet(client, runs, tmp_path / "out")
    assert (found.done, found.failed, found.left) == (12, 1, 0)
    assert "its workers died" in journal(tmp_path / "out")["poison.sqlite"]["error"]


def test_what_raises_is_tried_again_and_then_recorded(client, runs, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "analyse", raises)
    found = run_fleet(client, runs / "day1", tmp_path / "out")
    assert (found.done, found.failed) == (3, 1)
    (line,) = [line for line in journal(tmp_path / "out").values() if line["error"]]
    assert line["error"].endswith("r01.sqlite: ValueError: always")


def raises(job):
    """Raises on one report always, and on another the first time."""
    if "r01" in job.path:
        raise ValueError("always")
    mark = Path(job.path).with_suffix(".tried")
    if "r04" in job.path and not mark.exists():
        mark.touch()
        raise OSError("once")
    return analyse(job)


# --- the same again


def test_what_is_done_is_not_done_again(client, runs, tmp_path):
    out = tmp_path / "out"
    run_fleet(client, runs, out)
    before = parts(out)
    assert run_fleet(client, runs, out, nobody).skipped == 12
    (runs / "day0/r00.sqlite").touch()
    (runs / "day0/r03.sqlite").rename(runs / "day0/moved.sqlite")
    write(runs / "day1/r01.sqlite", slow=3)
    found = run_fleet(client, runs, out)
    assert (found.skipped, found.done) == (11, 1)
    assert len(set(before) & set(parts(out))) == 11
    assert len(parts(out)) == 12
    with opened(out) as folder:
        names = {Path(path).name for path in folder.entries}
    assert "moved.sqlite" in names
    assert "r03.sqlite" not in names


def test_two_files_of_one_content_count_once(client, runs, tmp_path):
    shutil.copy(runs / "day0/r00.sqlite", runs / "day0/copy.sqlite")
    found = run_fleet(client, runs, tmp_path / "out")
    assert found.done == 13
    assert len(parts(tmp_path / "out")) == 12


def test_what_failed_is_tried_again(client, runs, tmp_path):
    out = tmp_path / "out"
    (runs / "bad.sqlite").write_bytes(b"cut")
    assert run_fleet(client, runs, out).failed == 1
    write(runs / "bad.sqlite", day=7)
    found = run_fleet(client, runs, out)
    assert (found.skipped, found.done, found.failed) == (12, 1, 0)


@pytest.mark.usefixtures("workers")
def test_other_options_do_it_again_or_are_refused(runs, tmp_path, capsys):
    out = tmp_path / "out"
    assert cli.main(["fleet", str(runs), "-o", str(out)]) == 0
    assert cli.main(["fleet", str(runs), "-o", str(out), "--no-fold"]) == 0
    assert len(pd.read_parquet(out / "stages")) == 72
    capsys.readouterr()
    assert cli.main(["fleet", str(runs / "day0"), "-o", str(out)]) == 2
    assert "holds results of 8 reports" in capsys.readouterr().err


def test_a_run_that_crashed_leaves_nothing_that_is_in_the_way(client, runs, tmp_path):
    out = tmp_path / "out"
    run_fleet(client, runs, out)
    with (out / "reports.jsonl").open("a") as file:
        file.write('{"path": "/cut sho')
    (out / "stages/date=2026-01-01/0123.parquet").write_bytes(b"without a line")
    (out / "stages/date=2026-01-01/.4567.parquet-x.tmp").write_bytes(b"half")
    assert run_fleet(client, runs, out, nobody).skipped == 12
    assert len(parts(out)) == 12


def test_a_second_fleet_is_refused(client, runs, tmp_path):
    out = tmp_path / "out"
    with opened(out), pytest.raises(UsageError, match=r"another fleet is writing to it \(process \d+ on .*\)"):
        run_fleet(client, runs, out)
    assert run_fleet(client, runs, out).done == 12


# --- whoever waits


def test_ctrl_c_keeps_what_is_finished_and_the_same_command_goes_on(tmp_path):
    for number in range(60):
        write(tmp_path / "runs" / f"r{number:02}.sqlite", slow=1 + number / 1000)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "nsys_analyze", "fleet", str(tmp_path / "runs"), "-o", str(out), "--workers", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not ((out / "reports.jsonl").exists() and journal(out)):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    printed, told = process.communicate(timeout=30)
    assert (process.returncode, printed) == (130, b"")
    assert b"Traceback" not in told
    kept = len(journal(out))
    assert 0 < kept < 60
    assert len(pd.read_parquet(out / "reports.parquet")) == kept
    assert b"what is finished is kept" in told
    with pytest.raises(ProcessLookupError):
        for _ in range(200):  # who is dead may wait to be buried
            os.killpg(process.pid, 0)
            time.sleep(0.1)
    with opened(out) as folder:
        assert all((out / entry.part).exists() for entry in folder.entries.values())


@pytest.mark.parametrize("after", ["a worker is started", "a worker is there"])
def test_ctrl_c_while_workers_start_is_quiet(runs, tmp_path, after):
    command = [sys.executable, "-m", "nsys_analyze", "fleet", str(runs), "-o", str(tmp_path / "out"), "--workers", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not workers_of(process.pid):
        time.sleep(0.01)
    time.sleep(0.1 if after == "a worker is started" else 1)
    os.killpg(process.pid, signal.SIGINT)
    printed, told = process.communicate(timeout=60)
    assert (process.returncode, printed) == (130, b"")
    assert told.decode().split("\n")[-2:] == ["stopped: what is finished is kept, the same command goes on", ""]
    assert b"Traceback" not in told


def test_a_worker_that_ends_while_it_starts_is_told_in_a_line(runs, tmp_path):
    command = [sys.executable, "-m", "nsys_analyze", "fleet", str(runs), "-o", str(tmp_path / "out"), "--workers", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (found := workers_of(process.pid)):
        time.sleep(0.01)
    os.kill(found[0], signal.SIGKILL)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    assert b"Error: the workers did not start: " in told
    assert b"Traceback" not in told


def workers_of(parent):
    """Processes that Dask started for workers; multiprocessing's own helper is not among them."""
    children = Path(f"/proc/{parent}/task").glob("*/children")
    pids = [int(pid) for each in children for pid in each.read_text().split()]
    return [pid for pid in pids if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


# --- what goes wrong before anything runs


def test_folders_patterns_and_files(runs, tmp_path):
    out = tmp_path / "runs/out"
    shutil.copy(runs / "day0/r00.sqlite", runs / "day0/r00.nsys-rep")
    (out / "x").mkdir(parents=True)
    shutil.copy(runs / "day0/r00.sqlite", out / "x/r.sqlite")
    (runs / "day0/notes.txt").write_text("no report")
    every = find_reports([str(runs)], out)
    assert len(every) == 12
    assert find_reports([str(runs / "**")], out) == every
    assert find_reports([str(runs / "day*")], out) == every
    assert [path.name for path in find_reports([str(runs / "**/*.nsys-rep")], out)] == ["r00.nsys-rep"]
    assert len(find_reports([str(runs / "day0/*.sqlite"), str(runs / "day0/r00.sqlite")], out)) == 4
    odd = write(runs / "odd[1].sqlite")
    assert find_reports([str(odd)], out) == [odd]
    for nothing in (str(tmp_path / "nothing/*.sqlite"), ""):
        with pytest.raises(UsageError, match="no report there"):
            find_reports([str(runs), nothing], out)
    with pytest.raises(UsageError, match="lies in the folder for results"):
        find_reports([str(runs)], tmp_path)


def test_parquet_files_that_are_no_export_are_passed_over(client, runs, tmp_path):
    run_fleet(client, runs, runs / "earlier")
    assert list((runs / "earlier/stages").rglob("*.parquet"))
    for pattern in (runs, runs / "*"):
        assert len(find_reports([str(pattern)], tmp_path / "out")) == 12


def test_what_failed_is_told_with_its_file(client, runs, tmp_path):
    out = tmp_path / "out"
    with opened(out) as folder:
        running.run(
            folder,
            find_reports([str(runs / "day0/r00.sqlite")], out),
            {**READING, "domains": ("none",)},
            lambda: contextlib.nullcontext(client),
            lambda *_: None,
        )
    assert journal(out)["r00.sqlite"]["error"].startswith(f"{runs / 'day0/r00.sqlite'}: --domain none: no such")


def test_dask_is_only_asked_for_when_needed(runs, tmp_path, monkeypatch, capsys):
    code = "import sys; from nsys_analyze import cli; cli.main(['fleet', '--help']); print('dask' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert cli.main(["fleet", str(runs), "-o", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err == "Error: a fleet needs Dask: pip install 'nsys-analyze[fleet]'\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scheduler", "tcp://127.0.0.1:1", "--workers", "2"], "they do not go with --scheduler"),
        (["--memory", "lots"], "--memory lots: not a size such as 4GB"),
        (["--memory", "100MB"], "--memory 100MB: too little for a worker, which takes 256MB at least"),
    ],
)
def test_what_cannot_be(runs, tmp_path, capsys, arguments, message):
    assert cli.main(["fleet", str(runs), "-o", str(tmp_path / "out"), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_full_disk_is_told_with_the_folder(client, runs, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="out: No space left on device; what is finished is kept"):
        run_fleet(client, runs, tmp_path / "out")


def test_a_folder_of_something_else_is_left_alone(runs, tmp_path, capsys):
    write(tmp_path / "mine/r.sqlite")
    assert cli.main(["fleet", str(runs), "-o", str(tmp_path / "mine")]) == 2
    assert "a folder with other files" in capsys.readouterr().err


def test_workers_of_a_cluster_need_the_same_version():
    for found, what in (("none", "no nsys-analyze"), ("0.0.1", "nsys-analyze 0.0.1")):
        with pytest.raises(UsageError, match=f"worker tcp://x: has {what}; install"):
            cluster._check_versions(SimpleNamespace(run=lambda _, found=found: {"tcp://x": found}))


def test_a_scheduler_that_people_run_serves_as_well(client, runs, tmp_path):
    with cluster.remote(client.scheduler.address) as found:
        assert run_fleet(found, runs, tmp_path / "out").done == 12
