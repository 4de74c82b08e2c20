"""Stacked bars of a stage: the host's, then one a GPU, all to one scale."""

from __future__ import annotations

from collections.abc import Sequence

from nsys_analyze.metrics.breakdown import Kind, Split
from nsys_analyze.metrics.pictures import bars as pictures
from nsys_analyze.metrics.results import Stage
from nsys_analyze.views import units
from nsys_analyze.views.html.content import Bar, Segment
from nsys_analyze.views.wording import part_name, whole_name

_ROOM = 1000.0  # how long the longest bar is
_LEAST = 1.5  # what is shorter cannot be seen

Part = tuple[str, float]


def stage_bars(stage: Stage) -> list[Bar]:
    """Returns the bars of a stage, of means over its instances; the longest fills its room."""
    found = pictures.breakdown([stage]).stages[0]
    longest = max((bar.whole for bar in found.bars), default=0.0)
    left_out = f"{found.devices_left_out:,} more GPUs used" if found.devices_left_out else ""
    return [_bar(bar, longest, stage, left_out if bar.kind is Kind.HOST else "") for bar in found.bars]


def looks(kind: Kind) -> list[tuple[str, str]]:
    """Returns the parts of a kind in the order of bars, each with its name on the page."""
    order = pictures.HOST_ORDER if kind is Kind.HOST else pictures.GPU_ORDER
    return [(look(kind, name), part_name(kind, name)) for name in order]


def look(kind: Kind, name: str) -> str:
    """Returns the name of the look that a part has."""
    return f"{kind.value}-{name.replace('_', '-')}"


def split_bar(split: Split) -> Bar | None:
    """Returns the parts of a split as a bar that fills its room, in the order of ``looks``; None if it has none."""
    if split.kind not in (Kind.HOST, Kind.GPU):
        return None
    order = pictures.HOST_ORDER if split.kind is Kind.HOST else pictures.GPU_ORDER
    parts = sorted(split.parts, key=lambda part: order.index(part.name))
    return stacked([(look(split.kind, part.name), part.share) for part in parts], 1.0, "")


def stacked(parts: Sequence[Part], whole: float, words: str) -> Bar:
    """Returns a bar of named parts, of which ``whole`` fills the room."""
    segments, at = [], 0.0
    for name, size in parts:
        length = size / whole * _ROOM if whole else 0.0
        if length >= _LEAST:
            segments.append(Segment(look=name, start=round(at, 1), length=round(length, 1)))
        at += length
    return Bar(words=words, segments=segments)


def _bar(bar: pictures.Bar, longest: float, stage: Stage, left_out: str) -> Bar:
    only_loading = stage.only_loads
    title = whole_name(bar.kind) + ("" if bar.device is None else f" {bar.device}")
    mean = f", mean of {bar.instances:,}" if bar.instances > 1 else ""
    parts = [
        f"{part_name(bar.kind, part.name, only_loading=only_loading)} {units.duration(part.time)} "
        f"({units.share(part.share)})"
        for part in sorted(bar.parts, key=lambda part: part.time, reverse=True)
    ]
    words = [f"{title} {units.duration(bar.whole)}{mean}", *parts, *([left_out] if left_out else [])]
    return stacked([(look(bar.kind, part.name), part.time) for part in bar.parts], longest, "\n".join(words))
