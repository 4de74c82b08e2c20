"""When a number of a stage changed for good: change points of what runs showed, one after the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nsys_analyze.errors import UsageError
from nsys_analyze.verdict.compared import YARDSTICKS, yardstick
from nsys_analyze.verdict.judged import JUDGED, Judged
from nsys_analyze.verdict.noise import Noise, NoiseTable, floor_of, noise_name
from nsys_analyze.verdict.records import StageId
from nsys_analyze.verdict.samples import ReportSample, StageSample

Float64 = npt.NDArray[np.float64]
_LEAST = 2  # runs that a level lasts: a single one may be an outlier
_PENALTY = 6.0  # standard deviations of a run: under 1% of unchanged series of 6 to 100 runs then show a change
_COUNT = Noise(raw=1e-6, sd=1e-6)  # counts are exact: what does not vary from run to run changed if it changed


def since_last_change(
    runs: Sequence[Sequence[ReportSample]], keys: Set[StageId], table: NoiseTable, ignore_below: float
) -> list[ReportSample]:
    """Returns the reports of all runs; each quantity is in those only that came after its last change.

    Args:
        runs: The reports of each run, the oldest run first.
        keys: The stages that matter; of the others, nothing is left that noise could be measured of.
        table: The noise to allow for.
        ignore_below: What is too small to matter, ns an instance.
    """
    first = {
        (key, quantity.name): _after_last_change(runs, key, quantity, table, ignore_below)
        for key in keys
        for quantity in JUDGED.values()
    }
    return [_since(report, place, first) for place, reports in enumerate(runs) for report in reports]


def _after_last_change(
    runs: Sequence[Sequence[ReportSample]], key: StageId, quantity: Judged, table: NoiseTable, ignore_below: float
) -> int:
    """The place of the run from which on the quantity has been as it is."""
    found = [
        (place, [stage for report in reports if (stage := report.stages.get(key)) and quantity.name in stage.values])
        for place, reports in enumerate(runs)
    ]
    telling = [(place, stages) for place, stages in found if stages]
    starts = level_starts([stages for _, stages in telling], quantity, table, ignore_below)
    return telling[starts[-1]][0] if starts else 0


def _since(report: ReportSample, place: int, first: Mapping[tuple[StageId, str], int]) -> ReportSample:
    stages = {}
    for key, stage in report.stages.items():
        kept = {name: value for name, value in stage.values.items() if place >= first.get((key, name), place + 1)}
        stages[key] = replace(stage, values=kept)
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
