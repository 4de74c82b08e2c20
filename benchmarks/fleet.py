"""How many reports a minute a fleet gets through with 1 and 2 workers. fleet.py REPORT [--reports 40] [--times 10]

Makes that many reports of REPORT, each repeated so often in time and of other content than the rest, and runs the
whole command on them, with 1 and 2 workers by turns, and on one of them alone: what starting and ending costs. Prints
for each the best time, the tasks' own time in all, and CPU time; then ratios. CPU time tells a busy machine from a
fleet that does not scale: if two workers spend no more of it than one, the cores were the bound.
"""

import argparse
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from grow import grow

COMMAND = (sys.executable, "-m", "nsys_analyze", "fleet")


class Run(NamedTuple):
    """Seconds of the whole command, of its tasks added up, and of CPU of all processes."""

    whole: float
    tasks: float
    cpu: float


def reports(report: Path, count: int, times: int, folder: Path) -> list[Path]:
    """Makes reports of one size that differ in content."""
    made = [folder / f"r{number:03}.sqlite" for number in range(count)]
    grow(report, times, made[0])
    for number, path in enumerate(made):
        if number:
            shutil.copyfile(made[0], path)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = utcEpochNs + ?", (number,))
    return made


def fleet(paths: list[Path], workers: int, out: Path) -> Run:
    """Runs the command on reports, into a new folder."""
    shutil.rmtree(out, ignore_errors=True)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = (*COMMAND, *map(str, paths), "-o", str(out), "--workers", str(workers))
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    whole, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = (out / "reports.jsonl").read_text().splitlines()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(whole, sum(json.loads(line)["seconds"] for line in lines), cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("--reports", type=int, default=40)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = reports(options.report, options.reports, options.times, folder)
        size = made[0].stat().st_size / 1e6
        print(f"{len(made)} reports of {size:.1f} MB, {len(os.sched_getaffinity(0))} cores")
        asked = {(1, 1): made[:1], (1, len(made)): made, (2, len(made)): made}
        best: dict[tuple[int, int], Run] = {}
        for _ in range(options.repeats):
            for key, paths in asked.items():
                run = fleet(paths, key[0], folder / "out")
                best[key] = min(run, best.get(key, run))
        print(f"{'workers':>8}{'reports':>8}{'whole s':>9}{'tasks s':>9}{'CPU s':>8}{'a minute':>10}")
        for (workers, count), run in best.items():
            rate = 60 * count / run.whole
            print(f"{workers:8}{count:8}{run.whole:9.1f}{run.tasks:9.1f}{run.cpu:8.1f}{rate:10.1f}")
        alone, one, two = best.values()
        print(f"2 workers against 1: {one.whole / two.whole:.2f} times the reports a minute")
        net = (one.whole - alone.whole) / (two.whole - alone.whole)
        print(f"without what one report alone takes: {net:.2f} times; CPU time {two.cpu / one.cpu:.2f} times")


if __name__ == "__main__":
    main()
