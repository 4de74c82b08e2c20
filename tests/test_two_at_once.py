"""Two runs at once on one report, each a process of its own; for a history, see `test_history`."""

from __future__ import annotations

import json
import lzma
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.exports import ExportBuilder
from tests.test_ingest_nsys import HEADER, install

SLOWLY = """
import time
target = arguments[arguments.index("--output") + 1]
with open({export!r}, "rb") as source, open(target, "wb") as file:
    while piece := source.read(1000):
        file.write(piece)
        file.flush()
        time.sleep(0.01)
"""


@pytest.fixture
def export(builder: ExportBuilder, tmp_path: Path) -> Path:
    thread = builder.process(7).thread()
    for step in range(50):
        thread.push_pop("step", 100 * step, 100 * step + 50)
        thread.call("cudaLaunchKernel_v7000", 100 * step, 100 * step + 9).kernel("gemm", 100 * step, 100 * step + 20)
    return builder.write(tmp_path / "export.sqlite")


@pytest.fixture(params=["export", "packed", "report", "unfinished"])
def report(request: pytest.FixtureRequest, export: Path, builder: ExportBuilder, tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    if request.param == "packed":
        path = folder / "report.sqlite.xz"
        path.write_bytes(lzma.compress(export.read_bytes()))
    elif request.param == "report":
        path = folder / "report.nsys-rep"
        path.write_bytes(HEADER + bytes(100))
    elif request.param == "unfinished":
        path = builder.write(folder / "report.sqlite", wal=True)
    else:
        path = Path(shutil.copy(export, folder / "report.sqlite"))
    return path


def started(tmp_path: Path, export: Path, *arguments: object) -> subprocess.Popen[str]:
    nsys = install(tmp_path / "bin" / "nsys", SLOWLY.format(export=str(export)))
    (tmp_path / "temporary").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "nsys_analyze", *map(str, arguments)],
        env=os.environ | {"NSYS": str(nsys), "TMPDIR": str(tmp_path / "temporary")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_runs_on_one_report(tmp_path: Path, export: Path, report: Path) -> None:
    before = {path.name: path.read_bytes() for path in report.parent.iterdir()}
    runs = [started(tmp_path, export, report, "--format", "json") for _ in range(2)]
    (one, said), (other, said_too) = (run.communicate(timeout=300) for run in runs)
    assert (said, said_too, [run.returncode for run in runs]) == ("", "", [0, 0])
    assert one == other
    assert json.loads(one)["stages"][0]["instances"] == 50
    assert {path.name: path.read_bytes() for path in report.parent.iterdir()} == before
    assert list((tmp_path / "temporary").iterdir()) == []


def test_two_runs_that_write_one_file(tmp_path: Path, export: Path) -> None:
    """Either's file is there, whole."""
    target = tmp_path / "out" / "result.json"
    target.parent.mkdir()
    runs = [started(tmp_path, export, export, "-o", target, *more) for more in ((), ("--by", "instance"))]
    assert [run.communicate(timeout=300) for run in runs] == [("", ""), ("", "")]
    assert len(json.loads(target.read_text()).get("instances", [])) in (0, 50)
    assert [path.name for path in target.parent.iterdir()] == ["result.json"]
