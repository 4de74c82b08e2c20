"""What each worker process of this machine begins with (Dask calls that a preload)."""

from __future__ import annotations

import signal


def dask_setup(_: object) -> None:
    """Leaves Ctrl-C, which reaches all processes of a terminal, to the one that started the workers and ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
