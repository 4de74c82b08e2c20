"""The plot ``launches``: how long launch calls took, a histogram a stage, first launches below the line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nsys_analyze.metrics.pictures.launch_times import Histogram
from nsys_analyze.views import units
from nsys_analyze.views.plots.direct import decades
from nsys_analyze.views.plots.rows import Block, Rows, Scale, body, new_rows
from nsys_analyze.views.plots.sheet import Heading, KeyLine, Size, new_sheet, sentence
from nsys_analyze.views.plots.style import BLUE, INK, MUTED, ORANGE, Look
from nsys_analyze.views.plots.subjects import Subjects, count_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NOTE = "Each histogram is as high as its fullest bin; a black line is the median."
_BAR = 46.0
_USUAL, _FIRST = Look(BLUE), Look(ORANGE, "////")
_KEY = (("all but first launches", _USUAL), ("first launch of each function (may load it)", _FIRST))
_UP = 0.62  # of a histogram's height is above its line


def draw(data: Sequence[Histogram], subjects: Subjects, size: Size | None) -> Figure:
    """Draws histograms that were made for these subjects."""
    pairs = zip(subjects.labels, data, strict=True)
    kept = [(label, found) for label, found in pairs if found.calls or found.first_calls]
    title = f"Duration of kernel launch calls · {subjects.common}"
    if not kept:
        return sentence(title, subjects.nothing, size)
    heading = Heading(title=title, notes=[" ".join([_NOTE, *subjects.notes])])
    blocks = [Block(name=label, beside=[""], bar=_BAR if found.first_calls else _BAR * _UP) for label, found in kept]
    present = (True, any(found.first_calls for _, found in kept))
    key = KeyLine(title="calls", entries=[entry for entry, some in zip(_KEY, present, strict=True) if some])
    sheet = new_sheet(heading, [key], size, body(blocks), body(blocks[:1]))
    low, high = _limits(kept[0][1].edges)
    drawn = new_rows(sheet, blocks, Scale(low=low, high=high, label="duration of the call", log=True))
    _time_ticks(drawn.axes)
    for (label, found), tops in zip(kept, drawn.tops, strict=False):
        base = tops[0] + _BAR * _UP - 2
        _columns(drawn, found, base)
        drawn.caption(tops[0], label, "", _remarks(found))
    return sheet.finished()


def _limits(edges: Sequence[float]) -> tuple[float, float]:
    """Where the axis begins and ends: with all bins, and at least a decade long."""
    more = max(1.0, (10 * edges[0] / edges[-1]) ** 0.5)
    return edges[0] / more, edges[-1] * more


def _columns(drawn: Rows, found: Histogram, base: float) -> None:
    """Draws the columns, each sort as high as its fullest bin allows, and a tick at each median."""
    sorts = (
        (found.counts, _USUAL, -_BAR * _UP + 5, found.median),
        (found.first_counts, _FIRST, _BAR * (1 - _UP) - 3, found.first_median),
    )
    for counts, look, room, median in sorts:
        most = max(counts, default=0)
        if not most:
            continue
        for low, high, count in zip(found.edges, found.edges[1:], counts, strict=False):
            if count:
                height = room * count / most
                how: dict[str, Any] = {"color": look.fill, "hatch": look.hatch, "edgecolor": "white", "linewidth": 0.5}
                drawn.axes.bar(low, height, high - low, base, align="edge", **how)
        if median:
            drawn.axes.plot([median, median], [base, base + room], color=INK, linewidth=1.6)
    drawn.axes.plot(drawn.axes.get_xlim(), [base, base], color=MUTED, linewidth=0.8)


def _remarks(found: Histogram) -> list[str]:
    out = []
    if found.median is not None and found.p95 is not None:
        median, p95 = units.duration(found.median), units.duration(found.p95)
        out.append(f"{count_of(found.calls, 'call')}: median {median}, p95 {p95}")
    if found.first_median is not None:
        out.append(f"{found.first_calls:,} first: median {units.duration(found.first_median)}")
    return out


def _time_ticks(axes: Axes) -> None:
    """Decades as people say them: 1 us, 10 us, 100 us, 1 ms."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.xaxis.set_major_locator(decades(*axes.get_xlim()))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: units.duration(value).replace(".00", "").replace(".0", ""))
    )
    axes.xaxis.set_minor_formatter(NullFormatter())
