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
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from nsys_analyze.errors import UsageError

_MARK = "NSYS_ANALYZE_CHILD"  # in the environment of all that a child starts, also of what leaves its process group
_LEAVE_S, _STOP_S, _LOOK_S = 3.0, 5.0, 0.02
_EMPTY_LOOKS = 5  # a process that starts another and ends may hide it from one look at all processes
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
    child, patience = None, 0.0
    with _stoppable():
        try:
            child = _start(command, log, {**os.environ, **(env or {}), _MARK: mark})
            code = child.wait(timeout)
            patience = _LEAVE_S
        except subprocess.TimeoutExpired as error:
            _note(log, f"took longer than {timeout:g} s (--timeout), so it was ended")
            raise UsageError(f"took longer than {timeout:g} s (--timeout); see {log}") from error
        except KeyboardInterrupt:
            _note(log, "told to stop, so it was ended")
            raise
        finally:
            with _uninterrupted():
                _end(_Family(child, mark), patience)
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


def _note(log: Path | None, what: str) -> None:
    """Adds a line to a log: what programs say when they are ended looks like a failure of theirs."""
    if log is not None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"nsys-analyze: {what}\n")


class _Family:
    """A child and all that it started: what carries its mark or is of its session."""

    def __init__(self, child: subprocess.Popen[bytes] | None, mark: str) -> None:
        self._child, self._needle = child, f"{_MARK}={mark}".encode()

    def running(self) -> set[int]:
        """The processes that a look at all of them finds; one that is started meanwhile may be missed."""
        found = set() if self._child is None or self._child.poll() is not None else {self._child.pid}
        newest_first = sorted((int(path.name) for path in Path("/proc").glob("[0-9]*")), reverse=True)
        for pid in newest_first:  # so that short-lived ones are still there when it is their turn
            with contextlib.suppress(OSError):
                if self._is_of_it(Path("/proc", str(pid))):
                    found.add(pid)
        return found

    def _is_of_it(self, process: Path) -> bool:
        return self._needle in (process / "environ").read_bytes() or self._is_of_session(process)

    def _is_of_session(self, process: Path) -> bool:
        """Whether it runs in the child's session, also with another environment."""
        state, _, _, session = (process / "stat").read_text().rpartition(")")[2].split()[:4]
        return self._child is not None and int(session) == self._child.pid and state not in "ZX"

    def gone_within(self, seconds: float, signalled: Callable[[int], None] = lambda _: None) -> bool:
        """Whether all have left before the time was over, in several looks in a row.

        Args:
            seconds: The time.
            signalled: Is called with each process that a look finds.
        """
        until, empty = time.monotonic() + seconds, 0
        while True:
            left = self.running()
            for pid in left:
                signalled(pid)
            empty = 0 if left else empty + 1
            if empty == _EMPTY_LOOKS:
                return True
            if left and time.monotonic() > until:
                return False
            time.sleep(_LOOK_S)


def _end(family: _Family, patience: float) -> None:
    """Waits ``patience`` seconds for all processes of a family to leave, asks the rest to, then kills them."""
    asked: set[int] = set()

    def ask(pid: int) -> None:
        if pid not in asked:
            _signal(pid, signal.SIGTERM)
            asked.add(pid)

    if not (family.gone_within(patience) or family.gone_within(_STOP_S, ask)):
        family.gone_within(_STOP_S, lambda pid: _signal(pid, signal.SIGKILL))


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
