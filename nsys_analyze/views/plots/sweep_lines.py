"""The plot ``sweep``: executors as multiples of one of them, against a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nsys_analyze.metrics.pictures.sweep import Sweep, SweepLine
from nsys_analyze.views.plots.direct import AXIS, labels_at_end, plain_axes, widest
from nsys_analyze.views.plots.lettering import fitted, safe
from nsys_analyze.views.plots.sheet import Heading, Size, new_sheet, sentence
from nsys_analyze.views.plots.style import DASHES, LINES, MARKERS, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BODY = 215.0
_BESIDE = 8.0


def draw(data: Sweep, parameter: str, what: str, why: str, size: Size | None) -> Figure:
    """Draws a line an executor.

    Args:
        data: The lines.
        parameter: The name of what varies, with its unit if it has one.
        what: What was measured, such as ``steady / step``.
        why: Why reports have no time, "" where that is not known.
        size: Width and height in inches.
    """
    lines = [line for line in data.lines if line.points][: len(LINES)]
    gaps = [
        f"{line.executor} at {', '.join(f'{value:g}' for value in line.left_out)}"
        for line in data.lines
        if line.left_out
    ]
    notes = [f"Time of an instance as a multiple of that of {safe(data.baseline)}; lower is faster."]
    because = f" ({why})" if why else ""
    notes += [f"Without a time to compare{because}: {'; '.join(map(safe, gaps))}."] if gaps else []
    title = " · ".join([f"Sweep over {parameter}", *([what] if what else [])])
    if not lines:
        return sentence(title, f"Nothing to draw: no executor has a time to compare{because}.", size)
    heading = Heading(title=title, notes=notes)
    sheet = new_sheet(heading, [], size, _BODY)
    names = [line.executor for line in lines]
    beside = widest([f"{name} 0.00x" for name in names], 0.35 * sheet.width)
    right = sheet.right - beside - _BESIDE
    name = f"time, multiple of {data.baseline}'s"
    axes = plain_axes(sheet, sheet.left, sheet.bottom + AXIS, right, sheet.top, name)
    for place, line in enumerate(lines):
        _line(axes, place, line)
    _limits(axes, lines, parameter)
    ends = [
        (line.points[-1].ratio, f"{line.executor} {line.points[-1].ratio:.2f}x", LINES[i])
        for i, line in enumerate(lines)
    ]
    labels_at_end(sheet, axes, ends, beside, _BESIDE)
    return sheet.finished()


def _line(axes: Axes, place: int, line: SweepLine) -> None:
    values, ratios = [point.value for point in line.points], [point.ratio for point in line.points]
    dashes: Any = DASHES[place]
    look: dict[str, Any] = {"color": LINES[place], "marker": MARKERS[place], "markersize": 6, "linewidth": 1.6}
    axes.plot(values, ratios, linestyle=dashes, clip_on=False, **look)


def _limits(axes: Axes, lines: list[SweepLine], parameter: str) -> None:
    """A ratio's axis begins at 0; a parameter that doubles gets a logarithmic axis, with a tick at each value."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    values = sorted({point.value for line in lines for point in line.points})
    axes.set_ylim(0, 1.12 * max(point.ratio for line in lines for point in line.points))
    axes.axhline(1, color=MUTED, linewidth=0.8, zorder=1)
    if values[0] > 0 and values[-1] >= 4 * values[0]:
        axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(values))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if len(values) == 1:
        axes.set_xlim(values[0] - 1, values[0] + 1)
    axes.set_xlabel(fitted(parameter, 200, 11), labelpad=2)
