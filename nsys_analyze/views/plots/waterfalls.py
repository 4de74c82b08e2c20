"""The plot ``startup``: waterfalls from a range's start to its first GPU operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsys_analyze.durations import natural_unit
from nsys_analyze.metrics.pictures.gaps import Startup, Step, Waterfall
from nsys_analyze.views import units
from nsys_analyze.views.plots import style
from nsys_analyze.views.plots.rows import BAR, Block, Means, Rows, Scale, body, new_rows
from nsys_analyze.views.plots.sheet import Heading, KeyLine, Size, new_sheet, sentence
from nsys_analyze.views.plots.subjects import Subjects

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HIGH = BAR - 2
_KEY = [
    KeyLine(
        title="host",
        entries=[
            ("prelude: until the first launch begins", style.GAP["prelude"]),
            ("launch: that call", style.GAP["launch"]),
            ("queue: until the operation starts", style.GAP["queue"]),
        ],
    ),
    KeyLine(
        title="GPU",
        entries=[
            ("hidden: still busy with earlier work", style.GAP["hidden"]),
            ("exposed: idle, time lost", style.GAP["exposed"]),
        ],
    ),
]


def draw(data: Startup, subjects: Subjects, size: Size | None) -> Figure:
    """Draws waterfalls that were made for these subjects."""
    kept = [(label, fall) for label, fall in zip(subjects.labels, data.stages, strict=True) if fall]
    title = f"Mean startup gap · {subjects.common}"
    if not kept:
        return sentence(title, subjects.nothing, size)
    means = Means.of([fall.instances for _, fall in kept])
    heading = Heading(title=title, notes=[_note(data, means, subjects)])
    blocks = [Block(name=label, beside=["host", "GPU"]) for label, _ in kept]
    sheet = new_sheet(heading, _KEY, size, body(blocks), body(blocks[:1]))
    longest = max(fall.total for _, fall in kept)
    factor, unit = natural_unit(longest) if data.comparable else (None, "%")
    span = (longest / factor if factor else 100.0) or 1.0
    label = f"{unit} after the start of the range" if factor else "% of each startup gap"
    drawn = new_rows(sheet, blocks, Scale(high=span, label=label))
    for (name, fall), tops in zip(kept, drawn.tops, strict=False):
        untold = _draw_fall(drawn, tops, fall, factor or fall.total / 100.0 or 1.0)
        drawn.caption(tops[0], name, f": {units.duration(fall.total)}{means.after(fall.instances)}", untold)
    return sheet.finished()


def _draw_fall(drawn: Rows, tops: list[float], fall: Waterfall, factor: float) -> list[str]:
    """Draws both bars; returns what there was no room to write on them."""
    untold = []
    for top, steps in zip(tops, (fall.host, fall.gpu), strict=True):
        for step in (step for step in steps if step.length):
            look, start, length = style.GAP[step.name], step.start / factor, step.length / factor
            drawn.area(top, _HIGH, start, length, look)
            if not drawn.label(top, _HIGH, start, length, look, _texts(step, fall)):
                untold.append(f"{step.name} {_told(step, fall)}")
    return untold


def _texts(step: Step, fall: Waterfall) -> list[str]:
    time = units.duration(step.length)
    return [f"{step.name} {_told(step, fall)}", _told(step, fall), time]


def _told(step: Step, fall: Waterfall) -> str:
    share = units.share(step.length / fall.total)
    return f"{units.duration(step.length)} ({share})"


def _note(data: Startup, means: Means, subjects: Subjects) -> str:
    lengths = "" if data.comparable else "Every gap is drawn to the same length."
    what = "From the start of a range to its first GPU operation."
    return " ".join(part for part in (what, means.note, lengths, *subjects.notes) if part)
