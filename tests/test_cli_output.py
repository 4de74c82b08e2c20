from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from nsys_analyze.cli import output
from nsys_analyze.errors import UsageError


def names(folder):
    return [path.name for path in folder.iterdir()]


def test_a_file_is_written_whole(tmp_path):
    target = tmp_path / "out.json"
    output.write("números\n", str(target))
    assert target.read_bytes() == "números\n".encode()
    assert names(tmp_path) == ["out.json"]


def test_a_new_file_gets_the_usual_mode_and_an_old_one_keeps_its_own(tmp_path):
    target = tmp_path / "out.md"
    previous = os.umask(0o027)
    try:
        output.write("a", str(target))
    finally:
        os.umask(previous)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    target.chmod(0o604)
    output.write("b", str(target))
    assert stat.S_IMODE(target.stat().st_mode) == 0o604
    assert target.read_text() == "b"


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    target = tmp_path / "out.csv"
    target.write_text("old")

    def fail(self, other):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(UsageError, match=r"out\.csv: cannot write: No space left on device"):
        output.write("new", str(target))
    assert target.read_text() == "old"
    assert names(tmp_path) == ["out.csv"]


def test_an_interruption_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupt(self, other):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        output.write("new", str(tmp_path / "out.csv"))
    assert names(tmp_path) == []


def test_text_that_cannot_be_encoded_leaves_nothing_behind(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        output.write("\ud800", str(tmp_path / "out.txt"))
    assert names(tmp_path) == []


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.md").write_text("old")
    (tmp_path / "link.md").symlink_to("real.md")
    output.write("new", str(tmp_path / "link.md"))
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_text() == "new"


def test_a_pipe_is_written_to_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    output.write("through", str(pipe))
    reader.join(timeout=10)
    assert received == ["through"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("target", ["missing/out.md", "."])
def test_a_place_that_cannot_be_written_is_one_line(tmp_path, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="cannot write"):
        output.write("x", target)


def test_a_report_is_never_written_over(tmp_path):
    report = tmp_path / "report.sqlite"
    report.write_text("x")
    (tmp_path / "alias.json").symlink_to("report.sqlite")
    for target in ("report.sqlite", "alias.json"):
        with pytest.raises(UsageError, match="is one of the reports"):
            output.check_target(str(tmp_path / target), [str(report), "absent.sqlite"])
    output.check_target(str(tmp_path / "new.json"), [str(report)])


def test_a_terminal_that_knows_ascii_only_gets_ascii(capfdbinary, monkeypatch):
    with open(1, "w", encoding="ascii", closefd=False) as narrow:
        monkeypatch.setattr(sys, "stdout", narrow)
        output.write("a · b … 名\n", None)
    assert capfdbinary.readouterr().out == b"a - b ~ \\u540d\n"


def test_a_closed_standard_output_is_one_line(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(UsageError, match="standard output is closed"):
        output.write("x", None)


@pytest.mark.parametrize(("given", "expected"), [("72", 72), ("", 160), ("0", 160), ("wide", 160)])
@pytest.mark.parametrize("target", [None, "out.txt"])
def test_columns_come_from_the_environment_or_are_many(monkeypatch, given, expected, target):
    monkeypatch.setenv("COLUMNS", given)
    monkeypatch.setattr(sys, "__stdout__", None)
    assert output.columns(target) == expected


@pytest.mark.parametrize(
    ("terminal", "environment", "target", "expected"),
    [
        (True, {}, None, True),
        (False, {}, None, False),
        (True, {"NO_COLOR": "1"}, None, False),
        (True, {"NO_COLOR": ""}, None, True),
        (True, {"TERM": "dumb"}, None, False),
        (True, {}, "out.txt", False),
    ],
)
def test_colour_is_for_terminals_that_want_it(monkeypatch, terminal, environment, target, expected):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
    assert output.wants_colour(target) is expected


def test_bytes_reach_files_and_standard_output_as_they_are(tmp_path, capfdbinary):
    output.write(b"\x89PNG\r\n\xff", str(tmp_path / "out.png"))
    output.write(b"\x89PNG\r\n\xff", None)
    assert (tmp_path / "out.png").read_bytes() == b"\x89PNG\r\n\xff"
    assert capfdbinary.readouterr().out == b"\x89PNG\r\n\xff"
