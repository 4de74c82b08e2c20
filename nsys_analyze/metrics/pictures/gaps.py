"""Startup gaps as waterfalls: each part begins where the one before it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsys_analyze.metrics.pictures.bars import comparable
from nsys_analyze.metrics.results import GapMeans, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A part of a gap: where it begins and how long it is, ns after the start of the range."""

    name: str
    start: float
    length: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """The mean gap of the ``instances`` that have one: what the host did, and what the GPU did meanwhile.

    Both lists of steps fill ``total``. How much of a gap was hidden is exact; that it was the first part of it is how
    it is drawn, and true where one piece of earlier work ran out.
    """

    instances: int
    total: float
    host: list[Step]
    gpu: list[Step]


@dataclass(frozen=True, slots=True, kw_only=True)
class Startup:
    """One waterfall a stage, None where nothing ran on a GPU; ``comparable`` as for bars."""

    stages: list[Waterfall | None]
    comparable: bool


def startup(stages: Sequence[Stage]) -> Startup:
    """Returns the mean startup gap of each stage in its parts."""
    falls = [_waterfall(stage) for stage in stages]
    return Startup(stages=falls, comparable=comparable(fall.total for fall in falls if fall))


def _waterfall(stage: Stage) -> Waterfall | None:
    means = stage.gap_means_ns
    if means is None or stage.instances_with_gpu is None:
        return None
    return Waterfall(
        instances=stage.instances_with_gpu,
        total=means.total,
        host=_steps(means, ("prelude", "launch", "queue")),
        gpu=_steps(means, ("hidden", "exposed")),
    )


def _steps(means: GapMeans, names: Sequence[str]) -> list[Step]:
    steps: list[Step] = []
    at = 0.0
    for name in names:
        length = getattr(means, name)
        steps.append(Step(name=name, start=at, length=length))
        at += length
    return steps
