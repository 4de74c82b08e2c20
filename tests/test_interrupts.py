"""Runs that are ended from outside, or find no room, at whatever moment: nothing of them is left."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import REPORTS

REPORT = REPORTS / "llama_cudagraphs.sqlite.xz"
READY = "import sys; from nsys_analyze.cli import main; print('ready', flush=True); sys.exit(main())"
VERBS = {
    "report": ["report", str(REPORT), "-o", "out.json"],
    "slice": ["slice", str(REPORT), "out.sqlite", "--redact"],
    "trace": ["trace", str(REPORT), "-o", "out.pftrace.gz"],
}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("after", [0.05, 0.6])
@pytest.mark.parametrize("verb", list(VERBS))
def test_a_signal_at_some_moment(tmp_path: Path, verb: str, after: float, number: signal.Signals) -> None:
    folder, temporary = tmp_path / "out", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", READY, *VERBS[verb]],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": str(Path(__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    process.stdout.readline()
    time.sleep(after)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode in (0, 128 + number), err  # it may have been done already
    assert out == b""
    assert list(temporary.iterdir()) == []
    made = [path.name for path in folder.iterdir()]
    assert made == ([VERBS[verb][2 if verb == "slice" else 3]] if process.returncode == 0 else [])
    assert err == b"" or (verb == "slice" and process.returncode == 0)


@pytest.mark.parametrize("kilobytes", [4, 200])
def test_no_room_for_a_slice(tmp_path: Path, sample_report: object, kilobytes: int) -> None:
    """A limit on files stands for a full disk: SQLite finds no room in the middle, or at the end."""
    report = shutil.copy(sample_report("llama_cudagraphs"), tmp_path / "report.sqlite")  # type: ignore[operator]
    (tmp_path / "temporary").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "nsys_analyze", "slice", str(report), str(tmp_path / "out.sqlite")],
        env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024,) * 2),
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("; set TMPDIR to a roomier place\n")
    assert len(done.stderr.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.sqlite", "temporary"]
    assert list((tmp_path / "temporary").iterdir()) == []
