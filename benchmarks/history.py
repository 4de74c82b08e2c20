"""How often a history shows a change where there is none, and how soon one that there is. python -m benchmarks.history

Simulated runs of one report each, whose startup gap has the noise that a check allows for, or twice that; one run in
twenty has three times as much. The figures of docs/history.md.
"""

import argparse
import math
import random
from collections.abc import Iterator, Sequence

from nsys_analyze.verdict.changes import level_starts
from nsys_analyze.verdict.judged import JUDGED
from nsys_analyze.verdict.noise import packaged
from nsys_analyze.verdict.samples import StageSample, sample
from tests.history_samples import STEP, record

LENGTHS = (6, 8, 10, 15, 20, 30, 50, 70, 100)
GAP = 200_000.0  # ns
FLOOR = 20_000  # ns: ignore_below
SD = packaged()["startup_gap"].sd
BAD_RUNS = 0.05  # with three times the noise
BEFORE = 20  # runs before a change
CHANGE = 5  # standard deviations


def runs(rng: random.Random, levels: Sequence[float], noise: float) -> Iterator[list[StageSample]]:
    """A run for each level, which is in standard deviations of the logarithm of what a check looks at."""
    for level in levels:
        sd = SD * noise * (3 if rng.random() < BAD_RUNS else 1)
        gap = (GAP + FLOOR) * math.exp(level * SD + rng.gauss(0, sd)) - FLOOR
        yield [sample(record(gap=gap), 1).stages[STEP]]


def starts(rng: random.Random, levels: Sequence[float], noise: float = 1.0) -> list[int]:
    return level_starts(list(runs(rng, levels, noise)), JUDGED["startup_gap"], packaged(), FLOOR)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--histories", type=int, default=70, help="of each length")
    parser.add_argument("--times", type=int, default=300, help="that a change is tried")
    arguments = parser.parse_args()
    rng = random.Random(1)
    for noise in (1.0, 2.0):
        found = sum(bool(starts(rng, [0.0] * length, noise)) for length in LENGTHS for _ in range(arguments.histories))
        print(f"unchanged, noise x{noise:g}: {found} of {len(LENGTHS) * arguments.histories} histories show a change")
    for after in (2, 3, 5):
        levels = [0.0] * BEFORE + [float(CHANGE)] * after
        hits = sum(BEFORE in starts(rng, levels) for _ in range(arguments.times))
        print(f"changed by {CHANGE} standard deviations, {after} runs ago: {hits / arguments.times:.0%} found")


if __name__ == "__main__":
    main()
