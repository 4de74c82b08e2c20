from __future__ import annotations

import json
import re
import shutil
import sys
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

import nsys_analyze
from nsys_analyze import cli
from nsys_analyze.driver.records import read_records, unprofiled_times, write_record
from tests.test_cli_capture import capture, stubs

__all__ = ["capture", "stubs"]  # fixtures

SCHEMA = json.loads((resources.files("nsys_analyze") / "comparison.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def run(capsys):
    def run(*arguments):
        code = cli.main([*arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def compared(name="comparison"):
    found = json.loads(Path(f"out/{name}.json").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    return found


def cases(out):
    return [line.split()[0] for line in out.splitlines()[1:-1]]


def is_picture(name):
    return Path("out", name).read_bytes().startswith(b"\x89PNG")


def test_capture_ends_with_a_comparison(capture):
    code, _, err = capture("--executor", "eager", "--executor", "cudagraph_raw", "--env", "FLAG=1")
    assert code == 0
    assert err.splitlines()[-1] == ("wrote out/breakdown.png, out/startup.png, out/comparison.json, out/comparison.md")
    found = compared()
    labels = ["eager", "eager FLAG=1", "cudagraph_raw", "cudagraph_raw FLAG=1"]
    assert [side["label"] for side in found["sides"]] == labels
    assert {side["unprofiled_compile_ns"]["value"] for side in found["sides"]} == {7}
    (stage,) = found["stages"]
    assert stage["path"] == ["steady", "step"]
    figures = stage["rows"][1]["figures"]
    assert (figures["unprofiled"]["value"], figures["unprofiled"]["ratio"]) == (2e6, 1.0)
    overhead = 2e6 - figures["gpu_active"]["value"]
    assert figures["unprofiled_cpu_overhead"]["value"] == pytest.approx(overhead, abs=0.01)
    assert figures["unprofiled_overhead_per_kernel"]["value"] == pytest.approx(overhead / 60, abs=0.01)
    page = Path("out/comparison.md").read_text()
    assert page.startswith("## llama\n")
    assert "| steady / step, unprofiled | time | x |" in page
    assert re.search(r"\| `cudagraph_raw FLAG=1` \| 2\.0+ ms \| 1\.00x \|", page)
    assert re.findall(r"!\[.*\]\((.*)\)", page) == ["breakdown.png", "startup.png"]
    assert is_picture("breakdown.png")
    assert is_picture("startup.png")


def test_sizes_are_compared_apart_and_swept(capture):
    _, out, _ = capture("--executor", "eager", "--executor", "cudagraph_raw", "--sweep", "batch=4,16")
    assert [side["label"] for side in compared("comparison-llama-batch=4")["sides"]] == ["eager", "cudagraph_raw"]
    page = Path("out/comparison.md").read_text()
    assert re.findall("^## (.*)$", page, re.MULTILINE) == ["llama-batch=4", "llama-batch=16"]
    assert "![sweep](sweep.png)" in page
    assert is_picture("sweep.png")
    assert len(cases(out)) == 4


def test_sweeps_over_two_sizes_have_no_picture(capture):
    assert capture("--sweep", "batch=1,2", "--sweep", "seq=3,6")[0] == 0
    assert not Path("out/sweep.png").exists()
    assert Path("out/comparison-llama-batch=2-seq=3.json").is_file()


def test_a_folder_is_summarised_elsewhere(capture, run, monkeypatch):
    _, before, _ = capture("--executor", "cudagraph_raw", "--executor", "eager")
    monkeypatch.setenv("NSYS", "/nowhere/nsys")
    shutil.move("out", "moved")
    Path("moved/comparison.json").unlink()
    code, out, _ = run("summary", "moved")
    assert (code, out) == (0, before)
    assert Path("moved/comparison.json").is_file()
    _, out, _ = run("summary", "moved", "--executor", "eager", "--executor", "cudagraph-raw")
    assert cases(out) == ["llama-eager", "llama-cudagraph_raw"]
    assert json.loads(Path("moved/comparison.json").read_text())["sides"][0]["label"] == "eager"
    assert cases(run("summary", "moved", "--executor", "eager")[1]) == ["llama-eager"]


def test_nsys_is_not_needed_when_nothing_is_left_to_capture(capture, monkeypatch):
    _, before, _ = capture()
    monkeypatch.setenv("NSYS", "/nowhere/nsys")
    code, out, err = capture("--python", "no-such-python")
    assert (code, out) == (0, before)
    assert err.startswith("1/1 llama-eager: captured before\n")
    assert capture("--again")[0] == 2


def test_cases_come_as_they_were_finished(tmp_path):
    times = {"a-16": "2", "a-4": "2", "z": "1", "b": None}
    for name, finished in times.items():
        record = {"schema_version": 1, "name": name, **({"finished": finished} if finished else {})}
        (tmp_path / f"{name}.case.json").write_text(json.dumps(record))
    assert [record["name"] for record in read_records(tmp_path)] == ["b", "z", "a-4", "a-16"]


def test_steps_that_were_timed_count_rather_than_those_of_a_rank_whose_steady_began_before(run, builder, tmp_path):
    for launches in (1, 2):
        thread = builder.process(100 * launches).thread()
        if launches == 2:
            thread.push_pop("steady", 0, 9000, domain="stages")
        for number in range(3):
            at = 1000 * number + 100
            thread.push_pop(f"step {number}", at, at + 800, domain="stages")
            for call in range(at, at + launches):
                thread.call("cudaLaunchKernel_v7000", call, call + 1).kernel("k", call + 100, call + 101)
    builder.write(tmp_path / "mlp.sqlite")
    outcome = {"step_median_ns": 700, "stages_ns": {"compile": 7}, "agreement": None}
    case = {"workload": "mlp", "executor": "eager", "sizes": {}, "env": {}, "train": False}
    outcomes = {"unprofiled": outcome, "profiled": outcome}
    write_record(tmp_path, "mlp", {"name": "mlp", "case": case, **outcomes, "reports": ["mlp.sqlite"]})
    code, out, _ = run("summary", str(tmp_path))
    assert code == 0
    assert out.splitlines()[1].split()[-2:] == ["2", "-"]


def test_a_folder_without_records(run, tmp_path):
    code, _, err = run("summary", str(tmp_path))
    assert (code, err) == (2, f"Error: {tmp_path}: no record of a captured case (.case.json)\n")


def test_no_case_of_an_executor(capture, run):
    capture()
    assert "of these executors" in run("summary", "out", "--executor", "inductor")[2]


def test_what_cannot_be_drawn_here_is_told(capture, monkeypatch):
    monkeypatch.setitem(sys.modules, "nsys_analyze.views.plots.files", None)
    code, _, err = capture("--sweep", "batch=1,2")
    assert code == 0
    told = err.splitlines()
    assert [line.split(":")[0] for line in told[2:5]] == ["out/breakdown.png", "out/startup.png", "out/sweep.png"]
    assert all(": not written: " in line for line in told[2:5])
    assert told[5].startswith("wrote out/comparison-llama-batch=1.json")
    assert "![" not in Path("out/comparison.md").read_text()


def test_reports_that_cannot_be_analysed_here(capture, monkeypatch):
    def lacking(path):
        raise ImportError("No module named 'pyarrow'")

    monkeypatch.setattr(nsys_analyze, "open_report", lacking)
    code, out, err = capture("--sweep", "batch=1,2", "--redact", "none")
    assert code == 0
    assert re.split(r"  +", out.splitlines()[1])[:4] == ["llama-eager-batch=1", "2.00 ms", "2.00 ms", "-"]
    told = err.splitlines()
    assert told[1] == (
        "reports cannot be analysed here: No module named 'pyarrow'; nsys-analyze summary does it elsewhere"
    )
    assert "out/comparison.md: not written: none of the reports can be read here" in told
    assert told[-1] == "wrote out/sweep.png"  # which needs the records alone


def test_a_report_that_is_broken_is_left_out(capture, run):
    capture("--executor", "eager", "--executor", "cudagraph_raw")
    Path("out/llama-eager.sqlite").write_text("not a report")
    code, out, err = run("summary", "out")
    assert code == 0
    assert "llama-eager.sqlite: cannot be analysed: " in err
    assert cases(out) == ["llama-eager", "llama-cudagraph_raw"]
    assert [side["label"] for side in compared()["sides"]] == ["cudagraph_raw"]


def test_compare_takes_times_from_records_beside_reports(capture, run, monkeypatch):
    capture("--executor", "eager", "--executor", "cudagraph_raw")
    code, out, _ = run("compare", "out/llama-eager.sqlite", "out/llama-cudagraph_raw.sqlite")
    assert code == 0
    assert re.search("^steady / step, unprofiled +time", out, re.MULTILINE)
    assert re.search(r"^eager +2\.0+ ms +1\.00x", out, re.MULTILINE)
    for record in Path("out").glob("*.case.json"):
        record.unlink()
    assert "unprofiled" not in run("compare", "out/llama-eager.sqlite", "out/llama-cudagraph_raw.sqlite")[1]


@pytest.mark.parametrize(
    ("report", "known"),
    [
        ("llama.sqlite", True),
        ("llama.sqlite.xz", True),
        ("llama.nsys-rep", True),
        ("llama.rank1.sqlite", True),
        ("llama.rank.sqlite", False),
        ("llama2.sqlite", False),
    ],
)
def test_which_record_is_a_report_s_own(tmp_path, report, known):
    unprofiled = {"step_median_ns": 1500.5, "stages_ns": {"compile": 7}}
    write_record(tmp_path, "llama", {"name": "llama", "unprofiled": unprofiled})
    times = {"steady@stages/step@stages": 1500, "compile@stages": 7}
    assert unprofiled_times(tmp_path / report) == (times if known else {})
