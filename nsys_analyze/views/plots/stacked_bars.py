"""The plot ``breakdown``: the host's time beside each GPU's, in stacked bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nsys_analyze.durations import natural_unit
from nsys_analyze.metrics.breakdown import Kind
from nsys_analyze.metrics.pictures.bars import GPU_ORDER, HOST_ORDER, Bar, Bars, Breakdown
from nsys_analyze.views import units
from nsys_analyze.views.plots import style
from nsys_analyze.views.plots.rows import BAR, Block, Means, Rows, Scale, body, new_rows
from nsys_analyze.views.plots.sheet import Heading, KeyLine, Size, new_sheet, sentence
from nsys_analyze.views.plots.subjects import Subjects, count_of
from nsys_analyze.views.wording import part_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS = {Kind.HOST: style.HOST, Kind.GPU: style.GPU}
_ORDERS = {Kind.HOST: HOST_ORDER, Kind.GPU: GPU_ORDER}
_TITLES = {Kind.HOST: "host", Kind.GPU: "GPU"}
_SHORT = {"idle_startup": "exposed", "idle_between": "idle between", "idle_tail": "idle after"}
_HIGH = BAR - 2  # of a bar, in the room it has


def draw(data: Breakdown, subjects: Subjects, size: Size | None) -> Figure:
    """Draws bars that were made for these subjects."""
    kept = [(label, bars) for label, bars in zip(subjects.labels, data.stages, strict=True) if bars.bars]
    title = f"Where the time went · {subjects.common}"
    if not kept:
        return sentence(title, subjects.nothing, size)
    means = Means.of([bars.instances for _, bars in kept])
    heading = Heading(title=title, notes=_notes(data, means, subjects))
    blocks = [Block(name=label, beside=[_beside(bar) for bar in bars.bars]) for label, bars in kept]
    every = [bar for _, bars in kept for bar in bars.bars]
    sheet = new_sheet(heading, _key(every), size, body(blocks), body(blocks[:1]))
    factor, unit = natural_unit(max(bar.whole for bar in every)) if data.comparable else (None, "%")
    span = max(bar.whole for bar in every) / factor if factor else 100.0
    drawn = new_rows(sheet, blocks, Scale(high=span, label=unit if factor else "% of the time of each bar"))
    for (label, bars), tops in zip(kept, drawn.tops, strict=False):
        untold = [
            told
            for bar, top in zip(bars.bars, tops, strict=True)
            for told in _draw_bar(drawn, top, bar, factor or bar.whole / 100.0)
        ]
        drawn.caption(tops[0], label, means.after(bars.instances), _remarks(bars, untold))
    return sheet.finished()


def _draw_bar(drawn: Rows, top: float, bar: Bar, factor: float) -> list[tuple[float, str]]:
    """Draws a bar; returns what there was no room to write on it, each with its time."""
    untold: list[tuple[float, str]] = []
    at = 0.0
    for part in bar.parts:
        look, length = _LOOKS[bar.kind][part.name], part.time / factor
        time, share = units.duration(part.time), units.share(part.share)
        drawn.area(top, _HIGH, at, length, look)
        if not drawn.label(top, _HIGH, at, length, look, [f"{time} · {share}", time, share.replace(".0%", "%")]):
            untold.append((part.time, f"{_SHORT.get(part.name) or part_name(bar.kind, part.name)} {time} ({share})"))
        at += length
    return untold


def _beside(bar: Bar) -> str:
    return f"{_TITLES[bar.kind]}{'' if bar.device is None else f' {bar.device}'}  {units.duration(bar.whole)}"


def _remarks(bars: Bars, untold: Sequence[tuple[float, str]]) -> list[str]:
    more = [count_of(bars.devices_left_out, "more GPU")] if bars.devices_left_out else []
    fewer = [f"GPU {bar.device}: {bar.instances:,} instances" for bar in bars.bars if bar.instances < bars.instances]
    return [*fewer, *(text for _, text in sorted(untold, reverse=True)), *more]


def _key(bars: Sequence[Bar]) -> list[KeyLine]:
    """What the colours of the bars stand for, without those that no bar has."""
    lines = []
    for kind, order in _ORDERS.items():
        present = {part.name for bar in bars if bar.kind is kind for part in bar.parts}
        entries = [(part_name(kind, name), _LOOKS[kind][name]) for name in order if name in present]
        if entries:
            lines.append(KeyLine(title=_TITLES[kind], entries=entries))
    return lines


def _notes(data: Breakdown, means: Means, subjects: Subjects) -> list[str]:
    lengths = "" if data.comparable else "Every bar is drawn to the same length."
    code = "Host code is what no call, compiler or profiler explains."
    return [" ".join(part for part in (means.note, lengths, code, *subjects.notes) if part)]
