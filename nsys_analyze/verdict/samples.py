"""What a report contributes to a verdict: one value for each stage and quantity, and the circumstances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from nsys_analyze.verdict.judged import JUDGED
from nsys_analyze.verdict.records import ReportOf, ReportRecord, StageFacts, StageRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSample(StageFacts):
    """One stage of one report.

    ``values`` holds a number for each quantity that the report can tell, the median of the steady instances where there
    are instances; ``series`` those instances, ``steady`` how many there are. ``calls`` is what an instance spends in
    CUDA calls, ns: with ``launches``, the yardstick of the machine's speed. ``never_steady`` says that it has several
    instances, none of them steady: then all count as if they were.
    """

    steady: int
    calls: float | None
    values: Mapping[str, float]
    series: Mapping[str, Sequence[float]] = field(default_factory=dict)
    never_steady: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSample(ReportOf[StageSample]):
    """One report with what it contributes to a verdict."""


def sample(report: ReportRecord, warmup: int) -> ReportSample:
    """Takes the sample of a report, of which ``warmup`` instances of each stage are not steady yet."""
    return ReportSample(
        label=report.label,
        circumstances=report.circumstances,
        stages={key: _stage(stage, warmup) for key, stage in report.stages.items()},
        broken=report.broken,
        lost=report.lost,
    )


def _stage(stage: StageRecord, warmup: int) -> StageSample:
    values: dict[str, float] = {}
    series: dict[str, Sequence[float]] = {}
    for name in JUDGED:
        steady = _steady(stage.each.get(name, ()), warmup)
        if steady:
            series[name] = steady
            values[name] = float(np.median(steady))
        elif name in stage.whole:
            values[name] = stage.whole[name]
    calls = stage.calls[warmup:]
    return StageSample(
        **{fact.name: getattr(stage, fact.name) for fact in fields(StageFacts)},
        steady=max(stage.finished - warmup, 0),
        calls=float(np.median(calls)) or None if calls else None,
        values=values,
        series=series,
        never_steady=1 < stage.finished <= warmup,
    )


def _steady(values: Sequence[float | None], warmup: int) -> list[float]:
    """The values of the instances after the first ones; of those, where there are no others."""
    return [float(value) for value in values[warmup:] or values if value is not None]
