"""Sample reports made of what a capture left."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nsys_analyze
from nsys_analyze import cli
from nsys_analyze.comparing import with_recorded_times
from nsys_analyze.driver.records import write_record

ROOT = Path(cli.__file__).parents[2]


@pytest.fixture
def folder(tmp_path, sample_report):
    """What a capture leaves: two cases, not redacted."""
    folder = tmp_path / "out"
    folder.mkdir()
    unprofiled = {"step_median_ns": 2e6, "stages_ns": {"compile": 7}, "agreement": None}
    for name in ("llama-eager", "llama-thunder"):
        shutil.copy(sample_report("llama_eager"), folder / f"{name}.sqlite")
        case = {"executor": name.partition("-")[2], "env": {}, "sizes": {}}
        profiled = {"step_median_ns": 3e6, "stages_ns": {}}
        record = {"name": name, "case": case, "unprofiled": unprofiled, "profiled": profiled}
        write_record(folder, name, {**record, "reports": [f"{name}.sqlite"]})
    return folder


@pytest.fixture
def make(tmp_path):
    def make(*arguments):
        command = [sys.executable, str(ROOT / "benchmarks" / "make_samples.py"), *map(str, arguments)]
        return subprocess.run(
            [*command, "--into", str(tmp_path / "samples")],
            env={"PYTHONPATH": str(ROOT)},
            check=False,
            capture_output=True,
            text=True,
        )

    return make


def test_a_case_becomes_a_sample(folder, make, tmp_path):
    done = make(folder, "--case", "llama-eager")
    assert done.returncode == 0, done.stderr
    samples = tmp_path / "samples"
    assert {path.name for path in samples.iterdir()} == {"llama-eager.case.json", "llama-eager.sqlite.xz"}
    record = json.loads((samples / "llama-eager.case.json").read_text())
    assert (record["redaction"], record["reports"]) == ("machine", ["llama-eager.sqlite.xz"])
    sample = samples / "llama-eager.sqlite.xz"
    analysis = with_recorded_times(nsys_analyze.open_report(sample).analysis(), sample)
    original = nsys_analyze.open_report(folder / "llama-eager.sqlite").analysis()
    (step,) = (stage for stage in analysis.stages if stage.name == "step")
    assert step.unprofiled_ns == 2e6
    assert [stage.kernels for stage in analysis.stages] == [stage.kernels for stage in original.stages]


def test_a_summary_of_samples(folder, make, tmp_path, capsys):
    assert make(folder).returncode == 0
    assert cli.main(["summary", str(tmp_path / "samples")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert (tmp_path / "samples" / "llama-eager.json").is_file()


def test_what_is_refused(folder, make):
    assert make(folder, "--limit", "0.05").returncode == 1
    assert make(folder, folder).stderr.startswith("llama-eager: in ")
    assert make(folder, "--case", "vit-eager").stderr == "no case vit-eager in these folders\n"
