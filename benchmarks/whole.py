"""The whole command on a large report, imports included, against SQLite's own sums. whole.py REPORT ...

For each report: what the yardstick took and what the command took, by the clock and in processor time, both as ratios
to it, and the command's peak memory; then what --help takes beside an empty Python. Yardstick and command take turns,
so that a busy machine slows both sides of a ratio; processor time suffers least from it.
"""

import argparse
import sys
from pathlib import Path

from runs import MB, OURS, best, run
from yardstick import yardstick

ONCE = 1e9  # bytes; larger reports are read once


def measured(report: Path) -> str:
    size = report.stat().st_size
    sums, runs = [], []
    for _ in range(1 if size > ONCE else 3):
        sums.append(yardstick(report, repeats=1))
        runs.append(run([*OURS, str(report)]))
    ours = best(runs)
    wall, cpu = min(each.wall for each in sums), min(each.cpu for each in sums)
    return (
        f"{report.name:20}{size / MB:8.0f}{wall:10.2f}{cpu:8.2f}{ours.wall:9.2f}{ours.cpu:8.2f}"
        f"{ours.wall / wall:9.2f}{ours.cpu / cpu:8.2f}{ours.peak:9.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", type=Path, nargs="+", metavar="REPORT")
    print(f"{'':28}{'SQLite, s':>18}{'whole, s':>17}{'ratio':>17}{'peak':>9}")
    print(f"{'report':20}{'MB':>8}{'wall':>10}{'CPU':>8}{'wall':>9}{'CPU':>8}{'wall':>9}{'CPU':>8}{'MB':>9}")
    for report in parser.parse_args().reports:
        print(measured(report), flush=True)
    empty, shown = (
        best([run(command) for _ in range(5)]) for command in ([sys.executable, "-c", ""], [*OURS, "--help"])
    )
    print(f"\nPython alone {empty.wall:.3f} s, --help {shown.wall:.3f} s")


if __name__ == "__main__":
    main()
