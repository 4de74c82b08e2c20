"""When a number of a stage changed for good: change points of what runs showed, one after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nsys_analyze.errors import UsageError
from nsys_analyze.verdict.compared import YARDSTICKS, yardstick
from nsys_analyze.verdict.gates import Gate
from nsys_analyze.verdict.judged import Judged
from nsys_analyze.verdict.noise import Noise, NoiseTable, floor_of, noise_name
from nsys_analyze.verdict.samples import ReportSample, StageSample

Float64 = npt.NDArray[np.float64]
_LEAST = 2  # runs that a level lasts: a single one may be an outlier
_PENALTY = 6.0  # standard deviations of a run: under 1% of unchanged series of 6 to 100 runs then show a change
_COUNT = Noise(raw=1e-6, sd=1e-6)  # counts are exact: what does not vary from run to run changed if it changed


def since_last_change(
    runs: Sequence[Sequence[ReportSample]], gates: Sequence[Gate], table: NoiseTable, ignore_below: float
) -> list[ReportSample]:
    """Returns the reports of all runs; each gate's quantity is in those only that came after its last change.

    Args:
        runs: The reports of each run, the oldest run first.
        gates: The quantities that are to be held against them.
        table: The noise to allow for.
        ignore_below: What is too small to matter, ns an instance.
    """
    past: dict[tuple[object, str], set[int]] = {}
    for gate in gates:
        telling = _telling(runs, gate)
        starts = level_starts([stages for _, stages in telling], gate.quantity, table, ignore_below)
        if starts:
            past[gate.key, gate.quantity.name] = {place for place, _ in telling[: starts[-1]]}
    return [_without(report, place, past) for place, reports in enumerate(runs) for report in reports]


def _telling(runs: Sequence[Sequence[ReportSample]], gate: Gate) -> list[tuple[int, list[StageSample]]]:
    """The stages of each run that tell a gate's quantity, with the run's place."""
    found = []
    for place, reports in enumerate(runs):
        stages = [report.stages[gate.key] for report in reports if gate.key in report.stages]
        stages = [stage for stage in stages if gate.quantity.name in stage.values]
        found += [(place, stages)] if stages else []
    return found


def _without(report: ReportSample, place: int, past: dict[tuple[object, str], set[int]]) -> ReportSample:
    stages = {}
    for key, stage in report.stages.items():
        dropped = {name for (of, name), places in past.items() if of == key and place in places}
        kept = {name: value for name, value in stage.values.items() if name not in dropped}
        stages[key] = replace(stage, values=kept) if dropped else stage
    return replace(report, stages=stages)


def level_starts(
    runs: Sequence[Sequence[StageSample]], quantity: Judged, table: NoiseTable, ignore_below: float
) -> list[int]:
    """Returns the places of the runs with which a new level begins, by PELT with an absolute cost.

    Killick, Fearnhead & Eckley 2012, "Optimal detection of changepoints with a linear computational cost". The signal
    is the log of each run, the machine's speed taken out as in a check, in units of its noise: that of a check, or what
    the runs show from one to the next where that is more.

    Args:
        runs: The stage in each report of each run, every one of which tells the quantity; the oldest run first.
        quantity: Which quantity.
        table: The noise to allow for.
        ignore_below: What is too small to matter, ns an instance.

    Raises:
        UsageError: If ruptures is not installed.
    """
    pelt = _pelt()
    if len(runs) < 2 * _LEAST:
        return []
    signal = _scaled(runs, quantity, table, ignore_below)
    if not np.ptp(signal):
        return []
    search = pelt(model="l1", min_size=_LEAST, jump=1).fit(signal)
    starts: list[int] = search.predict(pen=_PENALTY)[:-1]
    return starts


def _pelt() -> Any:
    try:
        from ruptures import Pelt
    except ImportError as error:
        raise UsageError("change points need the package ruptures: pip install 'nsys-analyze[history]'") from error
    return Pelt


def _scaled(runs: Sequence[Sequence[StageSample]], quantity: Judged, table: NoiseTable, ignore_below: float) -> Float64:
    stages = [stage for run in runs for stage in run]
    noise = _COUNT if quantity.is_count else table[noise_name(quantity, stages[-1])]
    noise = noise.with_few(min(stage.steady for stage in stages))
    floor = 1.0 if quantity.is_count else max(floor_of(quantity, stages[-1], ignore_below), 1.0)
    name = None if noise.exponent is None else yardstick(stages)
    noise = noise.by_launch_call() if name == "launch_call" else noise
    logs = np.array([np.median([math.log(stage.values[quantity.name] + floor) for stage in run]) for run in runs])
    sd = noise.raw
    if name is not None and noise.exponent is not None:
        pace = np.array([np.median([math.log(YARDSTICKS[name](stage) or 1.0) for stage in run]) for run in runs])
        logs, sd = logs - noise.exponent * pace, math.hypot(noise.sd, noise.exponent_sd * float(pace.std()))
    steps = np.abs(np.diff(logs))
    seen = 1.4826 * float(np.median(steps)) / math.sqrt(2)  # of a difference of two, as a standard deviation of one
    return np.asarray((logs - logs[0]) / max(sd, seen), np.float64)
