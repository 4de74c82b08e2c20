"""The plot of a trend: a quantity of a stage, run by run, with the levels between its changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from nsys_analyze.durations import natural_unit
from nsys_analyze.verdict.trend import Point, Trend
from nsys_analyze.views.history_page import run_name
from nsys_analyze.views.plots.direct import AXIS, LEFT, plain_axes
from nsys_analyze.views.plots.lettering import LINE, SMALL, fitted, safe, width
from nsys_analyze.views.plots.sheet import Heading, Size, new_sheet
from nsys_analyze.views.plots.style import BLUE, MUTED, VERMILLION
from nsys_analyze.views.text import path_text
from nsys_analyze.views.units import ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BODY = 215.0
_MARKED = 60  # runs from which points are small
_NAMES = 2  # lines of names above the axes


def draw(trend: Trend, size: Size | None = None) -> Figure:
    """Draws a trend: a point a run, a bar from its least report to its most, a line a level."""
    notes = ["A point is the median of a run's reports, a bar their range; a line is the level between two changes."]
    heading = Heading(title=f"{trend.title} · {path_text(trend.stage)}", notes=notes)
    sheet = new_sheet(heading, [], size, _BODY)
    is_count = trend.unit == "count"
    factor, unit = (1.0, "count") if is_count else natural_unit(max(point.most for point in trend.points))
    top = sheet.top - min(_NAMES, sum(point.changed for point in trend.points)) * SMALL * LINE
    axes = plain_axes(sheet, sheet.left, sheet.bottom + AXIS, sheet.right, top, f"{trend.title}, {unit}")
    across = sheet.right - sheet.left - LEFT
    _runs(axes, trend.points, factor)
    _levels(axes, trend.points, factor)
    _changes(axes, trend.points, across)
    _run_axis(axes, trend.points, across)
    axes.set_ylim(0, 1.12 * max(point.most for point in trend.points) / factor or 1.0)
    return sheet.finished()


def _runs(axes: Axes, points: Sequence[Point], factor: float) -> None:
    places = range(len(points))
    least, most = ([getattr(point, end) / factor for point in points] for end in ("least", "most"))
    axes.vlines(places, least, most, color=BLUE, linewidth=1.2, alpha=0.5)
    look: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 5 if len(points) <= _MARKED else 3}
    axes.plot(places, [point.value / factor for point in points], linestyle="", **look)


def _levels(axes: Axes, points: Sequence[Point], factor: float) -> None:
    starts = [0, *(place for place, point in enumerate(points) if point.changed), len(points)]
    for begin, end in pairwise(starts):
        axes.hlines(points[begin].level / factor, begin - 0.4, end - 0.6, color=MUTED, linewidth=1.6, zorder=1)


def _changes(axes: Axes, points: Sequence[Point], across: float) -> None:
    """Marks where levels change, and says which run it was where there is room for that."""
    free = [0.0] * _NAMES  # where each line of names is free again
    for place, point in enumerate(points):
        if not point.changed:
            continue
        axes.axvline(place - 0.5, color=VERMILLION, linewidth=1.0, linestyle="--")
        times = f" {ratio(point.ratio)}" if point.ratio is not None else ""
        text = fitted(safe(run_name(point) + times), 0.4 * across, SMALL)
        wide = width(text, SMALL)
        begin = min(across * place / len(points), across - wide)
        line = next((line for line in range(_NAMES) if free[line] <= begin), None)
        if line is not None:
            free[line] = begin + wide + SMALL
            how: dict[str, Any] = {"xytext": (begin, 4 + line * SMALL * LINE), "textcoords": "offset points"}
            axes.annotate(text, (0, 1), xycoords="axes fraction", color=VERMILLION, fontsize=SMALL, **how)


def _run_axis(axes: Axes, points: Sequence[Point], across: float) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    def number(place: float, _: object) -> str:
        whole = round(place)
        return f"#{points[whole].run}" if 0 <= whole < len(points) else ""

    axes.set_xlim(-0.5, len(points) - 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(max(2, int(across / 40)), integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(number))
    axes.set_xlabel("run, in order of saving", labelpad=2)
