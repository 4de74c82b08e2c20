"""Child processes that leave nothing behind, whatever they start and however this one is stopped."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from nsys_analyze.errors import UsageError

_MARK = "NSYS_ANALYZE_CHILD"  # in the environment of all that a child starts, also of what leaves its process group
_LEAVE_S, _STOP_S, _LOOK_S = 3.0, 5.0, 0.05
_PROGRESS = re.compile(r"\[[=\s\d]+%|^Generat(ing|ed)\b|^\s*$")


def run_child(
    command: Sequence[str], log: Path | None, *, env: Mapping[str, str] | None = None, timeout: float | None = None
) -> int:
    """Runs a program in a process group of its own and returns its exit code.

    When this returns or raises, nothing that the program started runs any more.

    Args:
        command: Program and arguments.
        log: The file that standard output and error are added to; None sends both to this process's standard error,
            and lets the program read standard input.
        env: Variables set on top of this process's own.
        timeout: Seconds after which it is ended; None waits.

    Raises:
        UsageError: If it cannot be started, or took too long.
        KeyboardInterrupt: If this process was told to stop, by Ctrl-C or SIGTERM.
    """
    mark = uuid.uuid4().hex
    with _stoppable():
        child = _start(command, log, {**os.environ, **(env or {}), _MARK: mark})
        patience = 0.0
        try:
            code = child.wait(timeout)
            patience = _LEAVE_S
        except subprocess.TimeoutExpired as error:
            raise UsageError(f"took longer than {timeout:g} s (--timeout); see {log}") from error
        finally:
            with _uninterrupted():
                _end(child, mark, patience)
    return code


def _start(command: Sequence[str], log: Path | None, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    source = subprocess.DEVNULL if log else None
    try:
        with contextlib.nullcontext(sys.stderr.fileno()) if log is None else log.open("ab") as output:
            return subprocess.Popen(
                list(command), env=environment, stdin=source, stdout=output, stderr=output, start_new_session=True
            )
    except OSError as error:
        raise UsageError(f"{command[0]}: cannot be started ({error.strerror or error})") from error


def last_words(log: Path) -> str:
    """Returns the line of a log that most likely says what went wrong, or "nothing"."""
    text = log.read_text(encoding="utf-8", errors="replace").replace("\r", "\n") if log.is_file() else ""
    lines = [line.strip() for line in text.splitlines() if not _PROGRESS.search(line)]
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Interrupt)\b", line)]
    loud = [line for line in lines if "error" in line.lower()]
    return (errors or loud or lines or ["nothing"])[-1][:300]


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """Has SIGTERM (of `timeout`, of a scheduler) end children as Ctrl-C does, while it lasts."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Holds Ctrl-C back while it lasts: a second one must not keep processes alive."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(child: subprocess.Popen[bytes], mark: str, patience: float) -> None:
    """Waits ``patience`` seconds for all marked processes to leave, asks the rest to, then kills them."""
    for number, seconds in ((None, patience), (signal.SIGTERM, _STOP_S), (signal.SIGKILL, _STOP_S)):
        left = _running(child, mark)
        if number is not None:
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        until = time.monotonic() + seconds
        while _running(child, mark) and time.monotonic() < until:
            time.sleep(_LOOK_S)
        if not _running(child, mark):
            break


def _running(child: subprocess.Popen[bytes], mark: str) -> set[int]:
    """The child, unless it has ended, and all processes that carry the mark."""
    found = set() if child.poll() is not None else {child.pid}
    needle = f"{_MARK}={mark}".encode()
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if needle in environ.read_bytes():
                found.add(int(environ.parent.name))
    return found
