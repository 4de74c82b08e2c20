"""One quantity of one stage against a baseline: what the reports show, and what that says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nsys_analyze.verdict.gates import Gate
from nsys_analyze.verdict.noise import Noise, NoiseTable, floor_of, noise_name, spread
from nsys_analyze.verdict.samples import ReportSample, StageSample
from nsys_analyze.verdict.statistics import Difference, Margin, Side, difference, raw_difference

LEVEL = 0.05  # of significance, for all checks together
_FEW = 5  # instances: with fewer, one report says nothing about their typical value
_SAME_LAUNCHES = 0.02  # relative difference up to which two sides make the same launches
_LEAST_LAUNCHES = 5  # an instance, for their median to be a yardstick
_RAW_SHARE = 0.2  # of the level goes to the times as they are, so that a yardstick cannot hide a change of its own


@dataclass(frozen=True, slots=True)
class Values:
    """A quantity's value in each report of a side that has the stage and can tell it.

    ``stages_without`` are those that cannot; ``lost`` counts the reports' launches whose GPU work is missing.
    """

    stages: Sequence[StageSample]
    values: Sequence[float]
    stages_without: Sequence[StageSample]
    reports: int
    without_stage: int
    lost: int

    @classmethod
    def of(cls, gate: Gate, reports: Sequence[ReportSample]) -> Values:
        """Takes a gate's values out of reports."""
        stages = [report.stages[gate.key] for report in reports if gate.key in report.stages]
        name = gate.quantity.name
        telling = [stage for stage in stages if name in stage.values]
        return cls(
            stages=telling,
            values=[stage.values[name] for stage in telling],
            stages_without=[stage for stage in stages if name not in stage.values],
            reports=len(reports),
            without_stage=len(reports) - len(stages),
            lost=sum(report.lost for report in reports),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A time on two sides.

    ``raw`` compares it as it is, ``adjusted`` with the machine's speed taken out by the ``yardstick``, whose ratio is
    ``yardstick_ratio``; without one, that is the same. ``grew`` and ``shrank`` are p values, not yet corrected.
    ``share`` is how much of the usual noise they allow for.
    """

    raw: Difference
    adjusted: Difference
    yardstick: str | None
    yardstick_ratio: float | None
    grew: float
    shrank: float
    settled: bool
    share: float

    @property
    def exceeds(self) -> bool:
        """Whether the time as it is lies beyond the margin."""
        return self.raw.beyond > 0

    @property
    def unexplained(self) -> bool:
        """Whether it lies beyond the margin when the machine's speed is taken out, too."""
        return self.exceeds and self.adjusted.beyond > 0


def margin_of(gate: Gate, base: Values, increase: float, ignore_below: int) -> Margin:
    """The margin for a time: what is too small to matter is small for each kernel where the time is one kernel's."""
    floor = floor_of(gate.quantity, base.stages[0], ignore_below)
    own = gate.margin.increase if gate.margin else None
    return Margin(relative=increase if own is None else own, absolute=floor, floor=max(floor, 1.0))


def compare_times(
    gate: Gate, base: Values, new: Values, margin: Margin, table: NoiseTable, share: float = 1.0
) -> Compared:
    """Compares a time of both sides, allowing for a ``share`` of the noise between reports."""
    steady = min(stage.steady for stage in (*base.stages, *new.stages))
    noise = _of_instances(gate, [*base.stages, *new.stages], table, margin.floor).shrunk_to(share).with_few(steady)
    plain = Side(np.array(base.values), None), Side(np.array(new.values), None)
    raw = raw_difference(*plain, noise, margin)
    of_instances = gate.quantity.each is not None and base.stages[0].loop
    settled = not of_instances or steady >= _FEW or min(len(base.values), len(new.values)) > 1
    name = yardstick([*base.stages, *new.stages]) if noise.exponent is not None else None
    if name is None:
        return Compared(
            raw=raw,
            adjusted=raw,
            yardstick=None,
            yardstick_ratio=None,
            grew=raw.grew,
            shrank=raw.shrank,
            settled=settled,
            share=share,
        )
    before, after = (
        Side(np.array(side.values), np.array([YARDSTICKS[name](stage) for stage in side.stages]))
        for side in (base, new)
    )
    adjusted = difference(before, after, noise if name == "cuda_calls" else noise.by_launch_call(), margin)
    means = [float(np.log(side.yardstick).mean()) for side in (before, after) if side.yardstick is not None]
    return Compared(
        raw=raw,
        adjusted=adjusted,
        yardstick=name,
        yardstick_ratio=float(np.exp(means[1] - means[0])),
        grew=_either(raw.grew, adjusted.grew),
        shrank=_either(raw.shrank, adjusted.shrank),
        settled=settled,
        share=share,
    )


def _of_instances(gate: Gate, stages: Sequence[StageSample], table: NoiseTable, floor: float) -> Noise:
    """The noise of a quantity, with what these reports' own instances show of theirs."""
    noise = table[noise_name(gate.quantity, stages[0])]
    series = [stage.series[gate.quantity.name] for stage in stages if gate.quantity.name in stage.series]
    if not stages[0].loop or not series or min(map(len, series)) < _FEW:
        return noise
    return replace(noise, instance=max(spread(values, floor) for values in series))


def _either(raw: float, adjusted: float) -> float:
    """The p value of two tests together, of which one gets most of the level (Bonferroni with weights)."""
    return min(1.0, raw / _RAW_SHARE, adjusted / (1 - _RAW_SHARE))


YARDSTICKS: dict[str, Callable[[StageSample], float | None]] = {
    "cuda_calls": lambda stage: stage.calls,
    "launch_call": lambda stage: stage.values.get("launch_call"),
}


def yardstick(stages: Sequence[StageSample]) -> str | None:
    """Returns which yardstick stages have: all CUDA calls if they make the same ones, else what one launch takes."""
    launches = [stage.launches for stage in stages]
    if not all(stage.loop and stage.calls for stage in stages):
        return None
    if max(launches) <= min(launches) * (1 + _SAME_LAUNCHES):
        return "cuda_calls"
    enough = min(launches) >= _LEAST_LAUNCHES and all(stage.values.get("launch_call") for stage in stages)
    return "launch_call" if enough else None


def typical(values: Sequence[float]) -> float | None:
    """The typical value of several reports: their median."""
    return float(np.median(values)) if values else None
