"""What an annotation costs, beside bare nvtx and torch.cuda.nvtx, with and without nsys attached.

    python benchmarks/annotate.py [--nsys nsys]

Prints nanoseconds for a call, less the call itself, and the ratio to bare nvtx. With ``--nsys`` everything is measured
once more inside `nsys profile --trace nvtx`. Ways that this machine cannot run are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path

CALLS, ROUNDS = 1_000, 150
PAIRS = {
    "decorator": "nvtx decorator",
    "reused context manager": "nvtx reused context manager",
    "context manager": "nvtx context manager",
    "torch.cuda.nvtx": "nvtx context manager",
}


def nothing() -> None:
    pass


def ways() -> dict[str, Callable[[], None]]:
    """Ways to put a range around nothing, by what they are called in the table."""
    import nvtx

    import nsys_analyze
    from nsys_analyze import annotate

    ours, theirs = annotate("ours", domain="bench"), nvtx.annotate("theirs", domain="bench")

    def reused() -> None:
        with ours:
            pass

    def nvtx_reused() -> None:
        with theirs:
            pass

    def fresh() -> None:
        with nsys_analyze.annotate("ours", domain="bench"):
            pass

    def nvtx_fresh() -> None:
        with nvtx.annotate("theirs", domain="bench"):
            pass

    found = {
        "call": nothing,
        "decorator": ours(nothing),
        "nvtx decorator": theirs(nothing),
        "reused context manager": reused,
        "nvtx reused context manager": nvtx_reused,
        "context manager": fresh,
        "nvtx context manager": nvtx_fresh,
    }
    return {**found, **torch_ways()}


def torch_ways() -> dict[str, Callable[[], None]]:
    try:
        from torch.cuda import nvtx

        nvtx.range_push("try")
        nvtx.range_pop()
    except (ImportError, RuntimeError):
        return {}

    def ranged() -> None:
        with nvtx.range("theirs"):
            pass

    return {"torch.cuda.nvtx": ranged}


def measured() -> dict[str, float]:
    """Nanoseconds of each way: the best of many rounds, in which all ways take turns."""
    timers = {name: timeit.Timer(way) for name, way in ways().items()}
    best = dict.fromkeys(timers, float("inf"))
    for _ in range(ROUNDS):
        for name, timer in timers.items():
            best[name] = min(best[name], timer.timeit(CALLS) / CALLS * 1e9)
    return best


def measured_apart(prefix: list[str], environment: dict[str, str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "measured.json")
        command = [*prefix, sys.executable, __file__, "--into", str(out)]
        subprocess.run(command, env={**os.environ, **environment}, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return json.loads(out.read_text())


def show(title: str, times: dict[str, float]) -> None:
    call = times["call"]
    print(f"{title}: an undecorated call takes {call:.0f} ns")
    for name, bare in PAIRS.items():
        if name in times:
            cost, yardstick = times[name] - call, times[bare] - call
            ratio = f"{times[name] / times[bare]:.2f} of the {bare}"
            print(f"  {name:24} {cost:7.0f} ns   {bare:28} {yardstick:7.0f} ns   whole calls: {ratio}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nsys", help="measure under this nsys, too")
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.into:
        options.into.write_text(json.dumps(measured()))
        return
    show("switched off (NSYS_ANALYZE_ANNOTATE=0)", measured_apart([], {"NSYS_ANALYZE_ANNOTATE": "0"}))
    show("no tool attached", measured_apart([], {}))
    if options.nsys:
        profile = [options.nsys, "profile", "--trace", "nvtx", "--sample", "none", "--cpuctxsw", "none"]
        show("nsys attached", measured_apart([*profile, "--output", "bench"], {}))


if __name__ == "__main__":
    main()
