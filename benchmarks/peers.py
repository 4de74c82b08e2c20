"""This tool beside others that read the same reports. peers.py REPORT ... [--nsys nsys] [--nsys-ai nsys-ai]

Each tool gets a copy of the report in a folder of its own, so that none finds what another, or an earlier run, left
there. All take turns. What cannot be found is left out. Times are ratios to this tool's, by the clock and of
processors; memory is that of the largest process, as a ratio too.

nsys answers with two reports: nvtx_gpu_proj_trace for GPU time by range, cuda_kern_exec_trace for launches and queue
times. nsys-ai's summary lists kernels and idle time of a GPU, and nothing of ranges or launches.
"""

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from runs import OURS, Run, best, run

NSYS = ("stats", "--format", "csv", "--output", "out", "--force-export", "false")
NSYS_REPORTS = ("--report", "nvtx_gpu_proj_trace", "--report", "cuda_kern_exec_trace")


def tools(nsys: str, nsys_ai: str) -> dict[str, list[str]]:
    """The commands by name, less the report, which comes last."""
    found = {"nsys-analyze": list(OURS)}
    if path := shutil.which(nsys):
        found["nsys stats, both reports"] = [str(Path(path).absolute()), *NSYS, *NSYS_REPORTS]
    if path := shutil.which(nsys_ai):
        found["nsys-ai summary"] = [str(Path(path).absolute()), "summary"]
    return found


def measured(report: Path, command: Sequence[str]) -> Run:
    with tempfile.TemporaryDirectory(dir=report.parent) as folder:
        copy = shutil.copy(report, folder)
        return run([*command, str(Path(copy).absolute())], Path(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", type=Path, nargs="+", metavar="REPORT")
    parser.add_argument("--nsys", default="nsys", help="the nsys to run (nsys on PATH)")
    parser.add_argument("--nsys-ai", default="nsys-ai", help="the nsys-ai to run (nsys-ai on PATH)")
    parser.add_argument("--runs", type=int, default=3, help="how often each runs (3)")
    options = parser.parse_args()
    commands = tools(options.nsys, options.nsys_ai)
    print("| report | tool | wall | CPU | memory | wall, s | CPU, s | MB |", "| --- | --- |" + " ---: |" * 6, sep="\n")
    for report in options.reports:
        runs: dict[str, list[Run]] = {name: [] for name in commands}
        for _ in range(options.runs):
            for name, command in commands.items():
                runs[name].append(measured(report, command))
        ours = best(runs["nsys-analyze"])
        for name, taken in runs.items():
            its = best(taken)
            ratios = " | ".join(f"{one / other:.1f}" for one, other in zip(its, ours, strict=True))
            print(
                f"| {report.stem} | {name} | {ratios} | {its.wall:.2f} | {its.cpu:.2f} | {its.peak:.0f} |", flush=True
            )


if __name__ == "__main__":
    main()
