"""Runs commands and says what they took: wall time, processor time and peak memory, their children included."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

OURS = (sys.executable, "-m", "nsys_analyze")
MB = 1e6
_KIB = 1024  # ru_maxrss is in KiB


class Run(NamedTuple):
    """Seconds by the clock and of processors, and the largest resident set of any one process, MB."""

    wall: float
    cpu: float
    peak: float


def run(command: Sequence[str], folder: Path | None = None) -> Run:
    """Runs a command, its output thrown away."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        if status:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines()
            raise SystemExit(f"{' '.join(command)}: failed: {said[-1] if said else 'it says nothing'}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _KIB / MB)


def best(runs: Sequence[Run]) -> Run:
    """Least times, largest memory."""
    return Run(min(r.wall for r in runs), min(r.cpu for r in runs), max(r.peak for r in runs))
