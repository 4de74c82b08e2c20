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


MOMENTS = {
    "a folder is made": """
import tempfile
make = tempfile.mkdtemp
def made(*given, **named):
    path = make(*given, **named)
    end()
    return path
tempfile.mkdtemp = made
""",
    "a file is made": """
import tempfile
make = tempfile.mkstemp
def made(*given, **named):
    handle = make(*given, **named)
    end()
    return handle
tempfile.mkstemp = made
""",
    "an import makes a class": """
class Ending:
    def __set_name__(self, owner, name):
        end()
class Finder:
    def find_spec(self, name, path, target=None):
        if name == "nsys_analyze.slicing":
            type("Made", (), {"field": Ending()})
sys.meta_path.insert(0, Finder())
""",
}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", list(MOMENTS))
@pytest.mark.parametrize("output", ["out.sqlite", "out.sqlite.xz"])
def test_a_signal_waits_where_it_would_be_lost_or_leave_something(
    tmp_path: Path, moment: str, output: str, number: signal.Signals
) -> None:
    """Python tells the program of it between what makes a file and what removes it, or where a class swallows it."""
    folder, temporary = tmp_path / "out", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    end = f"import os, sys\ndef end():\n    os.kill(os.getpid(), {int(number)})\n"
    program = f"{end}{MOMENTS[moment]}\nfrom nsys_analyze.cli import main\nsys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program, "slice", str(REPORT), output],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        check=False,
    )
    done_before = moment == "a file is made" and output == "out.sqlite"  # which is there in a few milliseconds
    assert done.returncode == 128 + number or (done_before and done.returncode == 0), done.stderr
    assert (done.stdout, done.stderr) == (b"", b"")
    assert list(temporary.iterdir()) == []
    assert [path.name for path in folder.iterdir()] == ([] if done.returncode else [output])


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
