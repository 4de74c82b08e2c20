from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from nsys_analyze import cli
from tests.driver_stubs import Stubs

COMPARED = {"comparison.json", "comparison.md", "breakdown.png", "startup.png", "sweep.png"}
MARKS = {"NSYS_ANALYZE_CHILD", "TEST"}  # of what a capture starts, and of what one test does


@pytest.fixture
def stubs(tmp_path, sample_report, monkeypatch):
    folder = tmp_path / "stubs"
    folder.mkdir()
    shutil.copy(sample_report("llama_eager"), folder / "export.sqlite")
    stubs = Stubs(folder, folder / "export.sqlite")
    monkeypatch.setenv("NSYS", str(stubs.nsys))
    monkeypatch.chdir(tmp_path)
    return stubs


@pytest.fixture
def capture(stubs, capsys):
    """Runs ``capture llama`` into the folder out; returns exit code, standard output and standard error."""

    def capture(*arguments):
        code = cli.main(["capture", "llama", "-o", "out", "--python", str(stubs.python), *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return capture


def record(name):
    return json.loads(Path("out", f"{name}.case.json").read_text())


def names():
    """The files of the folder but for the comparison at the end."""
    return sorted(path.name for path in Path("out").iterdir() if path.name not in COMPARED)


def test_a_case_is_run_unprofiled_and_profiled(capture, stubs):
    code, out, err = capture("--steps", "4", "--ops", "linear|mm", "--region", "mm..mm")
    assert code == 0, err
    assert err.startswith("1/1 llama-eager: captured in ")
    assert names() == ["llama-eager.case.json", "llama-eager.json", "llama-eager.sqlite"]
    (profile,) = stubs.calls("nsys")
    assert profile[: profile.index("--output")] == [
        *("profile", "--trace", "cuda,nvtx", "--cuda-graph-trace", "node"),
        *("--sample", "none", "--cpuctxsw", "none"),
    ]
    assert profile[profile.index("--output") + 2 :][:4] == ["--force-overwrite", "true", "--export", "sqlite"]
    plain, profiled = [call[2:] for call in stubs.calls("python")]
    assert {"--check", "--repeats", "5"} <= set(plain)
    assert not {"--ops", "--region", "--compile-phases"} & set(plain)
    assert {"--ops", "linear|mm", "--region", "mm..mm", "--compile-phases"} <= set(profiled)
    assert "--check" not in profiled
    found = record("llama-eager")
    assert found["unprofiled"]["step_median_ns"] == 2e6
    assert found["unprofiled"]["agreement"]["agrees"]
    assert found["nsys"]["version"] == "2025.3.1.90"
    assert found["nsys"]["command"][:2] == ["nsys", "profile"]
    assert str(Path.cwd()) not in json.dumps(found)
    head, row, note = out.splitlines()
    assert re.split(r"  +", head) == [
        *("case", "step", "profiled", "CPU overhead", "profiled", "per kernel", "GPU active", "exposed", "compile"),
        *("kernels", "agrees"),
    ]
    assert re.split(r"  +", row) == [
        *("llama-eager", "2.00 ms", "1.67 ms", "1.72 ms", "1.39 ms", "28.7 us", "277 us", "1.15 us", "7 ns"),
        *("60", "yes"),
    ]
    assert "without nsys" in note


def test_results_lie_beside_the_report(capture):
    assert capture()[0] == 0
    results = json.loads(Path("out/llama-eager.json").read_text())
    assert results["report"]["file"] == "llama-eager.sqlite"
    assert results["report"]["sha256"] == hashlib.sha256(Path("out/llama-eager.sqlite").read_bytes()).hexdigest()
    (step,) = [stage for stage in results["stages"] if stage["name"] == "step"]
    assert step["unprofiled_ns"] == 2e6
    Path("out/llama-eager.json").unlink()
    assert cli.main(["summary", "out"]) == 0
    assert json.loads(Path("out/llama-eager.json").read_text()) == results


SECRET = "/home/someone/secret"


@pytest.fixture
def secretive(stubs):
    """The export that the stub yields holds a secret."""
    with contextlib.closing(sqlite3.connect(stubs.export)) as database, database:
        database.execute("INSERT INTO StringIds VALUES ((SELECT max(id) + 1 FROM StringIds), ?)", (SECRET,))


def test_reports_are_redacted(capture, secretive):
    assert capture()[0] == 0
    assert not [name for name in names() if SECRET.encode() in Path("out", name).read_bytes()]
    assert record("llama-eager")["redaction"] == "machine"
    assert "captured in" in capture("--redact", "none", "--keep-rep")[2]
    assert SECRET.encode() in Path("out/llama-eager.sqlite").read_bytes()
    assert names()[2:] == ["llama-eager.nsys-rep", "llama-eager.sqlite"]
    assert "captured before" in capture("--redact", "none", "--keep-rep")[2]
    assert "captured in" in capture("--redact", "names")[2]  # nothing that was not redacted may stay
    assert names() == ["llama-eager.case.json", "llama-eager.json", "llama-eager.sqlite"]
    domains = {
        domain
        for stage in json.loads(Path("out/llama-eager.json").read_text())["stages"]
        for domain in stage["domains"]
    }
    assert "stages" not in domains
    assert "captured in" in capture("--redact", "names", "--keep-rep")[2]  # the report is gone


def test_what_cannot_be_redacted_is_no_capture(capture, monkeypatch):
    monkeypatch.setenv("STUB_NSYS", "bad export")
    code, _, err = capture()
    assert code == 2
    assert "llama-eager.sqlite: cannot be redacted: " in err
    assert "; --redact none does without" in err
    assert names() == ["llama-eager.log"]


def test_redacting_needs_packages_before_anything_runs(capture, stubs, monkeypatch):
    monkeypatch.setitem(sys.modules, "nsys_analyze.slicing", None)
    code, _, err = capture()
    assert code == 2
    assert "reports cannot be redacted here: " in err
    assert stubs.calls("python") == []


def test_each_rank_may_have_a_report(capture, stubs):
    ranks = ("--ranks", "3", "--parallel", "ddp", "--train", "--from", "steady", "--from-rank", "1")
    assert capture(*ranks, "--report-per-rank")[0] == 0
    stem = "llama-train-eager-ddp=3"
    reports = [f"{stem}.rank{rank}.sqlite" for rank in range(3)]
    assert record(stem)["reports"] == reports
    assert names() == sorted([f"{stem}.case.json", *reports, *(f"{stem}.rank{rank}.json" for rank in range(3))])
    results = [json.loads(Path("out", f"{stem}.rank{rank}.json").read_text()) for rank in range(3)]
    assert {stage["unprofiled_ns"] for each in results for stage in each["stages"] if stage["name"] == "step"} == {2e6}
    assert len(stubs.calls("nsys")) == 3
    plain, *profiled = stubs.calls("python")
    assert plain[1:6] == ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3"]
    assert all(call[call.index("--window-rank") + 1] == "1" for call in profiled)
    assert capture(*ranks)[0] == 0
    assert names() == [f"{stem}.case.json", f"{stem}.json", f"{stem}.sqlite"]
    (profile,) = stubs.calls("nsys")[3:]
    assert "torch.distributed.run" in profile


def test_every_combination_is_a_case(capture, stubs):
    code, out, err = capture(
        *("--executor", "eager", "--executor", "cudagraph-raw", "--sweep", "batch=1,4", "--env", "FLAG='a b' OTHER=2")
    )
    assert code == 0, err
    assert [line.split()[0] for line in out.splitlines()[1:-1]] == [
        f"llama-{executor}-batch={batch}{env}"
        for batch in (1, 4)
        for executor in ("eager", "cudagraph_raw")
        for env in ("", "-FLAG=a_b-OTHER=2")
    ]
    assert record("llama-eager-batch=4-FLAG=a_b-OTHER=2")["case"]["env"] == {"FLAG": "a b", "OTHER": "2"}
    flags = [call[0]["FLAG"] for call in stubs.calls("python")]
    assert flags == [None, None, "a b", "a b"] * 4
    assert [call[call.index("--size") + 1] for call in stubs.calls("python")] == ["batch=1"] * 8 + ["batch=4"] * 8


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        (signal.SIGSEGV, "its process was ended by SIGSEGV (it said: nothing); see "),
        (0, "its process ended before its steps did (it said: nothing)"),
    ],
)
def test_how_a_process_ended_is_told(capture, monkeypatch, ending, told):
    monkeypatch.setenv("STUB_ENDING", str(int(ending)))
    code, _, err = capture("--executor", "eager")
    assert code == 2
    assert told in err.splitlines()[0]


def test_a_failure_is_told_and_the_others_go_on(capture, stubs):
    executors = [word for name in ("torchscript", "aot_eager", "thunder", "eager") for word in ("--executor", name)]
    code, out, err = capture(*executors)
    assert code == 2
    told = err.splitlines()
    assert told[0] == "1/4 llama-torchscript: failed: torchscript: not today"
    assert (
        "2/4 llama-aot_eager: failed: its process ended with exit code 1 (it said: ZeroDivisionError: a bug); see "
        in told[1]
    )
    assert "its output differs from eager mode's by 50.00% (allowed: 2.00%); --no-check" in told[2]
    assert told[3].startswith("4/4 llama-eager: captured")
    assert told[4].startswith("wrote out/breakdown.png, ")
    assert told[5] == "Error: 3 of 4 cases failed: llama-torchscript, llama-aot_eager, llama-thunder"
    assert len(out.splitlines()) == 3
    assert [name for name in names() if name.endswith(".log")] == [
        "llama-aot_eager.log",
        "llama-thunder.log",
        "llama-torchscript.log",
    ]
    assert not [name for name in names() if name.startswith(".")]


def test_finished_cases_are_not_captured_again(capture, stubs):
    assert capture()[0] == 0
    before = len(stubs.calls("python"))
    code, out, err = capture()
    assert (code, err.splitlines()[0]) == (0, "1/1 llama-eager: captured before")
    assert "llama-eager" in out
    assert len(stubs.calls("python")) == before
    assert "captured in" in capture("--again")[2]
    assert "captured in" in capture("--steps", "20")[2]  # another setting, so not the same case
    Path("out/llama-eager.sqlite").unlink()
    assert "captured in" in capture("--steps", "20")[2]


def test_a_failure_leaves_an_earlier_capture_alone(capture, stubs, monkeypatch):
    capture()
    before = record("llama-eager")
    monkeypatch.setenv("STUB_NSYS", "no report")
    code, _, err = capture("--again")
    assert code == 2
    assert "nsys made no report (it said: Importer error: it broke); see " in err
    assert record("llama-eager") == before
    assert Path("out/llama-eager.sqlite").is_file()


def test_caches(capture, stubs):
    def caches():
        found = [call[0]["TORCHINDUCTOR_CACHE_DIR"] for call in stubs.calls("python")]
        stubs.calls_file.unlink()
        return found

    capture("--cache", "cold")
    plain, profiled = caches()
    assert plain != profiled
    capture("--cache", "warm")
    assert len(set(found := caches())) == 1
    assert len(found) == 3
    capture("--cache", "user")
    assert caches() == [os.environ.get("TORCHINDUCTOR_CACHE_DIR")] * 2


def test_a_window_and_more_options(capture, stubs):
    assert capture("--from", "steady", "--nsys-option=--delay=1")[0] == 0
    (profile,) = stubs.calls("nsys")
    assert {"--capture-range", "cudaProfilerApi", "--capture-range-end", "stop", "--delay=1"} <= set(profile)
    plain, profiled = stubs.calls("python")
    assert "--window" not in plain
    assert profiled[profiled.index("--window") + 1] == "steady"


@pytest.mark.parametrize(
    ("words", "gone", "value"),
    [
        (["--cuda-graph-trace=graph"], "--cuda-graph-trace", "node"),
        (["--cuda-graph-trace", "graph"], "--cuda-graph-trace", "node"),
        (["-t", "cuda,nvtx,osrt"], "--trace", "cuda,nvtx"),
        (["--trace=cuda,nvtx,osrt"], "--trace", "cuda,nvtx"),
        (["-scpu"], "--sample", "none"),
    ],
)
def test_an_option_of_nsys_takes_the_place_of_ours(capture, stubs, words, gone, value):
    assert capture(*(f"--nsys-option={word}" for word in words))[0] == 0
    (profile,) = stubs.calls("nsys")
    assert all(word in profile for word in words)
    assert (gone, value) not in itertools.pairwise(profile)
    assert profile.count(gone) == words.count(gone)
    assert "--cpuctxsw" in profile
    assert "captured before" in capture(*(f"--nsys-option={word}" for word in words))[2]
    assert "captured in" in capture()[2]  # with our own options it is another capture


@pytest.mark.parametrize("word", ["--output=x", "-o", "-ox", "--export=none"])
def test_where_reports_go_is_not_for_options_of_nsys(capture, stubs, word):
    code, _, err = capture(f"--nsys-option={word}")
    assert (code, err) == (2, f"Error: --nsys-option={word}: other options say where reports go\n")


def test_without_a_gpu_only_ranges_are_traced(capture, stubs):
    assert capture("--device", "cpu")[0] == 0
    (profile,) = stubs.calls("nsys")
    assert profile[1:3] == ["--trace", "nvtx"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sweep", "batch"], "--sweep batch: write NAME=N"),
        (["--sweep", "batch=1,x"], "--sweep batch=1,x: write NAME=N"),
        (["--sweep", "batch=0"], "--sweep batch=0: write NAME=N"),
        (["--env", "FLAG=a b", "--env", "FLAG='a b'", "--env", "FLAG=a_b"], "--env FLAG=a b: write NAME=VALUE"),
        (["--env", "FLAG='a b'", "--env", "FLAG=a_b"], "llama-eager-FLAG=a_b: two cases would have this name"),
        (["--env", "FLAG"], "--env FLAG: write NAME=VALUE"),
        (["--env", "A='1"], "--env A='1: No closing quotation"),
        (["--parallel", "ddp"], "need several --ranks"),
        (["--ranks", "2", "--from-rank", "1"], "--from-rank needs --from"),
        (["--python", "no-such-python"], "--python no-such-python: no such program"),
        (["--steps", "1"], "Invalid value for '--steps'"),
    ],
)
def test_what_makes_no_sense_is_refused(capture, stubs, arguments, message):
    code, out, err = capture(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert stubs.calls("python") == []


def test_without_nsys_nothing_runs(capture, stubs, monkeypatch):
    monkeypatch.setenv("NSYS", "/nowhere/nsys")
    assert capture()[2] == (
        "Error: NSYS names /nowhere/nsys, which is no program; install Nsight Systems, or set NSYS to its nsys\n"
    )
    monkeypatch.delenv("NSYS")
    monkeypatch.setenv("PATH", "/nowhere")
    assert "nsys is not on PATH" in capture()[2]
    assert stubs.calls("python") == []


def test_a_process_that_takes_too_long_is_ended(capture, stubs, marked):
    code, _, err = capture("--executor", "cudagraphs", "--timeout", "1.5")
    assert code == 2
    assert "took longer than 1.5 s (--timeout)" in err
    assert Path("out/llama-cudagraphs.log").read_text().splitlines()[-1] == (
        "nsys-analyze: took longer than 1.5 s (--timeout), so it was ended"
    )
    assert marked() == []


@pytest.fixture
def marked(tmp_path, monkeypatch):
    """Tells the processes that captures of this test started and that still run; other tests run at the same time."""
    monkeypatch.setenv("TEST", str(tmp_path))

    def marked():
        found = [(process, environment(process)) for process in psutil.process_iter()]
        return [process for process, has in found if set(has) >= MARKS and has["TEST"] == str(tmp_path)]

    return marked


def environment(process):
    try:
        return process.environ()
    except psutil.Error:
        return {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopping_leaves_finished_cases_and_no_process(stubs, marked, number):
    command = [sys.executable, "-m", "nsys_analyze", "capture", "llama", "-o", "out", "--python", str(stubs.python)]
    child = subprocess.Popen(
        [*command, "--executor", "eager", "--executor", "cudagraphs"],
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])},
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 30
    while not Path(f"{stubs.calls_file}.sleeping").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert len(marked()) >= 2
    child.send_signal(number)
    _, err = child.communicate(timeout=20)
    assert child.returncode == 130
    assert "Traceback" not in err
    assert marked() == []
    assert [name for name in names() if not name.endswith(".log")] == [
        *("llama-eager.case.json", "llama-eager.json", "llama-eager.sqlite")
    ]


@pytest.fixture
def run(stubs, capfd):
    """Runs ``run`` with a program of its own that ends with ``ends``."""
    Path("train.py").write_text("import sys; print('training'); sys.exit(int(sys.argv[1]))")

    def run(*arguments, ends=0):
        code = cli.main(["run", *arguments, "--", sys.executable, "train.py", str(ends)])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run


def test_run_profiles_a_program_and_analyses_it(run, stubs):
    code, out, err = run()
    assert (code, err) == (0, "training\n")
    assert out.startswith("train.sqlite · NVIDIA H200")
    assert "steady / step" in out
    assert Path("train.nsys-rep").is_file()
    profile, export = stubs.calls("nsys")
    assert profile[1:5] == ["--trace", "cuda,nvtx", "--cuda-graph-trace", "node"]
    assert profile[-3:] == [sys.executable, "train.py", "0"]
    assert export[:3] == ["export", "--type", "sqlite"]


def test_run_keeps_what_is_there(run, stubs):
    assert run("--report", "mine.nsys-rep", "-o", "mine.json")[0] == 0
    assert json.loads(Path("mine.json").read_text())["report"]["file"] == "mine.sqlite"
    code, _, err = run("--report", "mine.nsys-rep")
    assert code == 2
    assert "mine.nsys-rep: exists; --overwrite replaces it" in err
    assert run("--report", "mine.nsys-rep", "--overwrite")[0] == 0


def test_run_tells_of_a_program_that_failed(run):
    code, out, err = run(ends=3)
    assert code == 2
    assert "steady / step" in out
    assert err.splitlines()[-1].endswith(": ended with exit code 3; its report is train.nsys-rep")


def test_run_without_a_report(run, monkeypatch):
    monkeypatch.setenv("STUB_NSYS", "no report")
    code, out, err = run()
    assert (code, out) == (2, "")
    assert f"nsys made no report of {sys.executable} (exit code 1)" in err
    code, out, err = run("--window")
    assert f"nsys made no report of {sys.executable}, as nothing called cudaProfilerStart (exit code 1)" in err
    assert not list(Path().glob(".train*"))


@pytest.mark.parametrize(
    ("target", "message"), [("x.sqlite", "the name ends in .nsys-rep"), ("no/x.nsys-rep", "there is no folder no")]
)
def test_run_refuses_targets(run, target, message):
    assert message in run("--report", target)[2]
