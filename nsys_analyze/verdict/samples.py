"""What a report contributes to a verdict: one value for each stage and quantity, and the circumstances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nsys_analyze.verdict.judged import JUDGED
from nsys_analyze.verdict.records import Circumstances, ReportRecord, StageId, StageRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSample:
    """One stage of one report.

    ``values`` holds a number for each quantity that the report can tell, the median of the steady instances where there
    are instances; ``series`` those instances, ``steady`` how many there are. ``calls`` is what an instance spends in
    CUDA calls, ns, and ``launches`` how many kernel launches it makes: the yardstick of the machine's speed. ``loop``
    says that the stage repeats and has GPU work, and ``holds_loop`` that such a stage takes most of its time;
    ``active`` is how long it kept GPUs busy, ns. ``never_steady`` says that it has several instances, none of them
    steady: then all count as if they were.
    """

    path: tuple[str, ...]
    domains: tuple[str, ...]
    loop: bool
    holds_loop: bool
    active: int
    steady: int
    unfinished: int
    calls: float | None
    launches: float
    values: Mapping[str, float]
    series: Mapping[str, Sequence[float]] = field(default_factory=dict)
    never_steady: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSample:
    """One report. ``broken`` says why it cannot be judged, if so; ``lost`` counts launches without their GPU work."""

    label: str
    circumstances: Circumstances
    stages: Mapping[StageId, StageSample]
    broken: str | None = None
    lost: int = 0


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
        path=stage.path,
        domains=stage.domains,
        loop=stage.loop,
        holds_loop=stage.holds_loop,
        active=stage.active,
        steady=max(stage.finished - warmup, 0),
        unfinished=stage.unfinished,
        launches=stage.launches,
        calls=float(np.median(calls)) or None if calls else None,
        values=values,
        series=series,
        never_steady=1 < stage.finished <= warmup,
    )


def _steady(values: Sequence[float | None], warmup: int) -> list[float]:
    """The values of the instances after the first ones; of those, where there are no others."""
    return [float(value) for value in values[warmup:] or values if value is not None]
