"""Programs that are run and leave nothing behind."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import psutil
import pytest

from nsys_analyze.driver import processes
from nsys_analyze.driver.processes import run_child
from nsys_analyze.errors import UsageError

# each ignores SIGTERM, starts the next one, which goes to a session of its own, and ends
HOPPING = """
import os, signal, sys, time
from pathlib import Path
signal.signal(signal.SIGTERM, signal.SIG_IGN)
until = time.monotonic() + 15
Path("hopping").touch()
while time.monotonic() < until:
    time.sleep(0.02)
    if os.fork():
        os._exit(0)
    os.setsid()
"""
# ignores SIGTERM, and starts a program that does so, too, without the environment
STUBBORN = """
import os, signal, sys, time
from pathlib import Path
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if sys.argv[1:] != ["inner"]:
    os.spawnve(os.P_NOWAIT, sys.executable, [sys.executable, __file__, "inner"], {})
    Path("stubborn").touch()
time.sleep(60)
"""


@pytest.mark.parametrize(("name", "source"), [("hopping", HOPPING), ("stubborn", STUBBORN)])
def test_nothing_stays_of_programs_that_do_not_want_to_go(tmp_path, monkeypatch, name, source):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(processes, "_STOP_S", 0.5)
    script = tmp_path / f"{name}.py"
    script.write_text(source)
    with contextlib.suppress(UsageError):  # the first of them ends by itself, or takes too long
        run_child([sys.executable, str(script)], tmp_path / "log", timeout=1)
    assert Path(name).exists()
    assert not [each for each in psutil.process_iter() if str(script) in command_line(each)]


def test_a_look_that_finds_nothing_is_not_trusted(monkeypatch):
    looks = iter([{1}, set(), {2}, *[set()] * 4, {3}, *[set()] * 5])
    monkeypatch.setattr(processes._Family, "running", lambda _: next(looks))
    signalled = []
    assert processes._Family(None, "mark").gone_within(5, signalled.append)
    assert signalled == [1, 2, 3]
    assert list(looks) == []


def command_line(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_a_program_that_cannot_be_started(tmp_path):
    with pytest.raises(UsageError, match=r"/nowhere: cannot be started \(No such file or directory\)"):
        run_child(["/nowhere"], tmp_path / "log")
