"""The whole command on a large report, imports included, against SQLite's own sums. whole.py LARGE [SMALLER ...]

Prints, for each report, the time of the yardstick, the command's best time and its ratio to it, and the command's peak
memory; then what a small report and --help take beside an empty Python. All in one run, so that a busy machine slows
both sides of a ratio.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from yardstick import yardstick

COMMAND = (sys.executable, "-m", "nsys_analyze")
MIB = 1024  # ru_maxrss is in KiB


class Run(NamedTuple):
    """Best of several runs of a command: seconds, and the largest resident set, MiB."""

    seconds: float
    peak: float


def best(*command: str, repeats: int = 3) -> Run:
    """Runs a command several times, its output thrown away."""
    runs = []
    for _ in range(repeats):
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        if status:
            raise SystemExit(f"{' '.join(command)}: failed")
        runs.append(Run(seconds, usage.ru_maxrss / MIB))
    return Run(min(run.seconds for run in runs), max(run.peak for run in runs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", type=Path, nargs="+", metavar="REPORT")
    print(f"{'report':32}{'MB':>8}{'SQLite s':>10}{'whole s':>9}{'ratio':>7}{'peak MiB':>10}")
    for report in parser.parse_args().reports:
        before, run, after = yardstick(report), best(*COMMAND, str(report)), yardstick(report)
        sums = min(before, after)
        size = report.stat().st_size / 1e6
        print(f"{report.name:32}{size:8.1f}{sums:10.3f}{run.seconds:9.2f}{run.seconds / sums:7.2f}{run.peak:10.0f}")
    empty = best(sys.executable, "-c", "pass", repeats=5)
    shown = best(*COMMAND, "--help", repeats=5)
    print(f"\nPython alone {empty.seconds:.3f} s, --help {shown.seconds:.3f} s")


if __name__ == "__main__":
    main()
