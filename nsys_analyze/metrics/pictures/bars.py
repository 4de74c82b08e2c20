"""Stacked bars: what the host and each GPU did in a stage, beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nsys_analyze.metrics.breakdown import Kind, Part, Split, splits
from nsys_analyze.metrics.results import Stage

HOST_ORDER = ("launch", "graph", "memory", "sync", "cuda_other", "compile", "profiler", "helpers", "code")
GPU_ORDER = ("idle_startup", "own", "other", "idle_between", "idle_tail")

_MOST_DEVICES = 4
_SPREAD = 20  # how often the shortest bar may fit into the longest, for one axis to serve both


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A mean time in ns and its parts, in an order that is the same for every bar of its kind."""

    kind: Kind
    device: int | None
    instances: int
    whole: float
    parts: list[Part]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """The bars of one stage: its host's, then one a GPU. ``devices_left_out`` counts GPUs beyond the first four."""

    instances: int
    bars: list[Bar]
    devices_left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """One entry a stage. Where the bars are not ``comparable``, an axis of time would hide the short ones."""

    stages: list[Bars]
    comparable: bool


def breakdown(stages: Sequence[Stage]) -> Breakdown:
    """Returns where each stage's time went, as means over its instances."""
    found = [_bars(stage) for stage in stages]
    return Breakdown(stages=found, comparable=comparable(bar.whole for group in found for bar in group.bars))


def comparable(lengths: Iterable[float]) -> bool:
    """Whether bars of these lengths can share an axis: the longest is at most 20 times the shortest."""
    positive = [length for length in lengths if length > 0]
    return not positive or max(positive) <= _SPREAD * min(positive)


def _bars(stage: Stage) -> Bars:
    wanted = [split for split in splits(stage) if split.kind in (Kind.HOST, Kind.GPU)]
    gpus = [split for split in wanted if split.kind is Kind.GPU]
    left_out = gpus[_MOST_DEVICES:]
    bars = [_bar(split.per_instance()) for split in wanted if split not in left_out]
    return Bars(instances=stage.instances, bars=bars, devices_left_out=len(left_out))


def _bar(split: Split) -> Bar:
    order = HOST_ORDER if split.kind is Kind.HOST else GPU_ORDER
    return Bar(
        kind=split.kind,
        device=split.device,
        instances=split.instances,
        whole=split.whole.time,
        parts=sorted(split.parts, key=lambda part: order.index(part.name)),
    )
