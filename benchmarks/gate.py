"""How often `check` cries wolf, and what it notices. python -m benchmarks.gate [--comparisons N]

Simulated reports, with noise drawn from the repeated captures in tests/data: the machine's speed that day, by how much
each quantity of each stage follows it, and what is left of the noise. Every instance is simulated: neighbours resemble
each other, and some are outliers; so are some reports. First, how many comparisons of unchanged code fail that have 50
stages; then how often a change of one quantity is noticed among 17 checks, as tables for docs/check.md.
"""

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from itertools import repeat

import numpy as np
from scipy.signal import lfilter

from nsys_analyze.verdict.compared import LEVEL, Values, compare_times, margin_of
from nsys_analyze.verdict.config import IGNORE_BELOW, INCREASE, Config
from nsys_analyze.verdict.gates import LOOP_METRICS, Gate
from nsys_analyze.verdict.judge import judge
from nsys_analyze.verdict.judged import JUDGED
from nsys_analyze.verdict.noise import NoiseTable, floor_of, noise_name, packaged
from nsys_analyze.verdict.samples import ReportSample, StageSample
from tests.repeats import repeats

INSTANCES = 30
NEIGHBOURS = 0.5  # correlation of an instance with the next
INSTANCE_SD = 0.08
OUTLIERS = 0.03  # of the instances, three times as long
BAD_REPORTS = 0.05  # whose noise is three times as large
STAGES = 50
CHECKS = 17
PART = 25  # comparisons of unchanged code that one process makes at a time
SIDES = (1, 2, 3, 5)
CHANGES = (1.2, 1.3, 1.5, 2.0, 3.0)
POWER = {
    "startup_gap_prelude": "startup gap, prelude",
    "startup_gap": "startup gap",
    "startup_gap_exposed": "startup gap, exposed",
    "pace": "pace",
    "first_wall": "first instance (compiling)",
}
ONCE = ("import", "build", "compile", "warmup")  # beside the simulated stages, in every report
PROGRAM = "inductor"  # whose numbers are typical: 0.9 ms a step, 160 us startup gap
Rows = dict[str, list[StageSample]]


@dataclass(frozen=True)
class Manner:
    """How a quantity varies: what it follows the yardstick by, and what is left of it in the single reports."""

    slopes: list[float]
    left: np.ndarray
    floor: float


def steps(groups: dict[str, list[ReportSample]], path: tuple[str, ...]) -> Rows:
    return {
        name: [stage for report in reports for key, stage in report.stages.items() if key[0] == path]
        for name, reports in groups.items()
    }


def manner(rows: Rows, metric: str, table: NoiseTable) -> Manner:
    quantity, slopes, left = JUDGED[metric], [], []
    floor = floor_of(quantity, rows[PROGRAM][0], IGNORE_BELOW)
    follows = table[noise_name(quantity, rows[PROGRAM][0])].exponent is not None
    for stages in rows.values():
        logs = np.log([stage.values[metric] + floor for stage in stages])
        logs -= logs.mean()
        freedom = len(logs) - 1
        if follows:
            calls = np.log([stage.calls for stage in stages])
            calls -= calls.mean()
            slope = float(calls @ logs / (calls @ calls))
            if freedom > 1:
                slopes.append(slope)
                logs, freedom = logs - slope * calls, freedom - 1
            else:
                continue
        left.append(logs * np.sqrt(len(logs) / freedom))
    return Manner(slopes or [0.0], np.concatenate(left), floor)


class Machine:
    """Draws reports."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        groups = repeats()
        self.circumstances = groups[PROGRAM][0].circumstances
        self.steps = steps(groups, ("steady", "step"))
        table = packaged()
        self.manners = {name: manner(self.steps, name, table) for name in LOOP_METRICS if name != "kernels"}
        self.once = {name: manner(steps(groups, (name,)), "first_wall", table) for name in ONCE}
        self.run_once = {name: steps(groups, (name,))[PROGRAM][2] for name in ONCE}
        calls = [np.log([stage.calls for stage in stages]) for stages in self.steps.values() if len(stages) > 2]
        self.speeds = np.concatenate([one - one.mean() for one in calls])

    def speed(self) -> float:
        return float(self.random.choice(self.speeds) + self.random.normal(0, 0.03))

    def slopes(self) -> dict[str, float]:
        """How one program follows the machine: somewhere between those that were captured."""
        return {name: self.random.uniform(min(one.slopes), max(one.slopes)) for name, one in self.manners.items()}

    def stage(self, name: str, speed: float, bad: bool, changes: dict[str, tuple[float, float]]) -> StageSample:
        """A stage; ``changes`` holds for each quantity how it follows the machine, and how it differs from usual."""
        typical = self.steps[PROGRAM][2]
        values: dict[str, float] = {"kernels": typical.values["kernels"]}
        for metric, (slope, change) in changes.items():
            how = self.manners[metric]
            noise = slope * speed + self.left(how, bad)
            middle = (typical.values[metric] * change + how.floor) * np.exp(noise) - how.floor
            per_instance = JUDGED[metric].each is not None
            values[metric] = self.median(max(middle, 0.0)) if per_instance else max(float(middle), 0.0)
        calls = self.median(typical.calls * np.exp(speed))
        return replace(typical, path=("steady", name), steady=INSTANCES, values=values, calls=calls)

    def stage_once(self, name: str, change: float, bad: bool) -> StageSample:
        """A stage that runs once, its time changed; its GPU work and what is compiled are as usual."""
        typical = self.run_once[name]
        wall = typical.values["first_wall"] * change * float(np.exp(self.left(self.once[name], bad)))
        return replace(typical, values={**typical.values, "first_wall": wall, "wall": wall})

    def left(self, how: Manner, bad: bool) -> float:
        left = float(self.random.choice(how.left) + self.random.normal(0, 0.3 * how.left.std()))
        return 3 * left if bad else left

    def median(self, middle: float) -> float:
        """The median of a report's instances."""
        shocks = self.random.normal(0, INSTANCE_SD * np.sqrt(1 - NEIGHBOURS**2), INSTANCES)
        drift = lfilter([1.0], [1.0, -NEIGHBOURS], shocks)
        stalled = np.where(self.random.random(INSTANCES) < OUTLIERS, 3.0, 1.0)
        return float(np.median(middle * np.exp(drift) * stalled))

    def report(self, label: str, programs: list[dict[str, float]]) -> ReportSample:
        speed, bad = self.speed(), bool(self.random.random() < BAD_REPORTS)
        stages = [
            self.stage(f"part {place}", speed, bad, {name: (slope, 1.0) for name, slope in slopes.items()})
            for place, slopes in enumerate(programs)
        ]
        stages += [self.stage_once(name, 1.0, bad) for name in ONCE]
        return ReportSample(
            label=label,
            circumstances=self.circumstances,
            stages={(stage.path, stage.domains, 0): stage for stage in stages},
        )


def without_yardstick() -> NoiseTable:
    return {name: replace(noise, sd=noise.raw, exponent=None) for name, noise in packaged().items()}


def false_alarms(side: int, comparisons: int, seed: int) -> tuple[int, int, int]:
    """Comparisons of unchanged code that fail, checks that are anything but ok, and all checks."""
    machine = Machine(seed)
    failed = checks = unsure = 0
    for _ in range(comparisons):
        programs = [machine.slopes() for _ in range(STAGES)]
        base, new = ([machine.report(f"{where}{place}", programs) for place in range(side)] for where in "ab")
        verdict = judge(base, new, Config(), packaged(), date(2026, 1, 1))
        failed += verdict.exit_code == 1
        checks += len(verdict.checks)
        unsure += sum(check.warns for check in verdict.checks)
    return failed, unsure, checks


def noticed(metric: str, side: int, yardstick: bool, times: int) -> list[float]:
    """For each change, the share of comparisons in which it counts as a regression, as one of 17 checks."""
    machine, table = Machine(side), packaged() if yardstick else without_yardstick()
    return [sum(_notices(machine, metric, change, side, table) for _ in range(times)) / times for change in CHANGES]


def _notices(machine: Machine, metric: str, change: float, side: int, table: NoiseTable) -> bool:
    quantity = JUDGED[metric]
    slope = machine.slopes().get(metric, 0.0)
    before, after = (list(_drawn(machine, metric, factor, slope, side)) for factor in (1.0, change))
    key = (before[0].path, before[0].domains, 0)
    gate = Gate(key, quantity, True, None, None)
    base, new = (
        Values.of(
            gate, [ReportSample(label="", circumstances=machine.circumstances, stages={key: one}) for one in side]
        )
        for side in (before, after)
    )
    compared = compare_times(gate, base, new, margin_of(gate, base, INCREASE, IGNORE_BELOW), table)
    return compared.exceeds and compared.grew <= LEVEL / CHECKS


def _drawn(machine: Machine, metric: str, change: float, slope: float, side: int) -> Iterator[StageSample]:
    if metric == "first_wall":
        for _ in range(side):
            yield machine.stage_once("compile", change, bool(machine.random.random() < BAD_REPORTS))
        return
    for _ in range(side):
        bad = bool(machine.random.random() < BAD_REPORTS)
        yield machine.stage("step", machine.speed(), bad, {metric: (slope, change)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--comparisons", type=int, default=300, help="of unchanged code, for each number of captures")
    parser.add_argument("--times", type=int, default=200, help="that each change is tried")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes to run")
    arguments = parser.parse_args()
    with ProcessPoolExecutor(arguments.workers) as pool:
        print(f"Unchanged code, {STAGES} stages of {len(LOOP_METRICS)} checks and {len(ONCE)} that run once\n")
        print("| captures a side | comparisons that fail | checks not settled |\n| ---: | ---: | ---: |")
        for side in SIDES[:3]:
            parts = range(-(-arguments.comparisons // PART))
            found = pool.map(false_alarms, repeat(side), repeat(PART), (100 * side + part for part in parts))
            failed, unsure, checks = map(sum, zip(*found, strict=True))
            print(f"| {side} | {failed / (PART * len(parts)):.1%} | {unsure / checks:.1%} |", flush=True)
        print("\nChanges noticed; in brackets without the yardstick\n")
        print("| changed | captures a side | " + " | ".join(f"x{change:g}" for change in CHANGES) + " |")
        print("| --- | ---: |" + " ---: |" * len(CHANGES))
        lines = [(metric, side) for metric in POWER for side in SIDES]
        shares = [
            pool.map(noticed, *zip(*lines, strict=True), repeat(yardstick), repeat(arguments.times))
            for yardstick in (True, False)
        ]
        for (metric, side), by_yardstick, raw in zip(lines, *shares, strict=True):
            cells = [
                f"{share:.0%}" if metric == "first_wall" else f"{share:.0%} ({other:.0%})"
                for share, other in zip(by_yardstick, raw, strict=True)
            ]
            print(f"| {POWER[metric]} | {side} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
