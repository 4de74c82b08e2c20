"""The command line: one file a verb, each of which parses, calls the API and picks a view."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from types import FrameType

INTERRUPTED = 130  # as shells say it: 128 and the number of SIGINT
_SIGNAL = 128
_UNDISTURBED = frozenset(("importlib._bootstrap", "_frozen_importlib", "nsys_analyze.temporary"))
_AGAIN = 0.01  # seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code; see `nsys_analyze.cli.app.main`.

    Without ``arguments``, those of the process are taken, and the process is ours: what ends it by a signal cleans up
    as Ctrl-C does, and Ctrl-C while Python itself is ending is too late to matter.
    """
    try:
        if arguments is None:
            for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(ending, _leave)
        from nsys_analyze.cli import app

        return app.main(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        if arguments is None:
            signal.setitimer(signal.ITIMER_REAL, 0)  # what waits comes too late
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _leave(number: int, frame: FrameType | None) -> None:
    """Ends the command, once no import (which may swallow it) runs and no temporary folder comes or goes."""
    while frame is not None:
        if frame.f_globals.get("__name__") in _UNDISTURBED:
            signal.signal(signal.SIGALRM, lambda _, later: _leave(number, later))
            signal.setitimer(signal.ITIMER_REAL, _AGAIN)
            return
        frame = frame.f_back
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(_SIGNAL + number)
