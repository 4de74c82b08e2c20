"""Axes with lines that carry their names at their ends; vertical lengths are points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nsys_analyze.views.plots.lettering import BODY, LINE, SMALL, fitted, width
from nsys_analyze.views.plots.sheet import Sheet
from nsys_analyze.views.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.ticker import LogLocator

LEFT = 46.0  # what the numbers beside a y axis take
AXIS = 2 * BODY * LINE + 8.0  # what an x axis takes with its numbers and its name
NAME = BODY * LINE + 3.0  # what the name of a y axis takes, which stands above it
_FEW_DECADES = 200  # an axis that ends at fewer times its beginning is short


def plain_axes(sheet: Sheet, left: float, bottom: float, right: float, top: float, name: str) -> Axes:
    """Adds axes whose y axis is named above it, inside the edges given."""
    from matplotlib.ticker import MaxNLocator

    axes = sheet.axes(left + LEFT, bottom, right, top - NAME)
    axes.yaxis.set_major_locator(MaxNLocator(max(2, int((top - NAME - bottom) / 26)), steps=[1, 2, 2.5, 5, 10]))
    axes.grid(axis="y")
    sheet.text(left, top - BODY, fitted(name, right - left, BODY), color=INK)
    return axes


def labels_at_end(sheet: Sheet, axes: Axes, ends: Sequence[tuple[float, str, str]], points: float, x: float) -> None:
    """Writes names beside the right ends of lines, as close to them as they can stand without overlap.

    Args:
        sheet: What the axes are on.
        axes: The axes, whose limits are final.
        ends: For each line its y, its name and its colour.
        points: How wide a name may be.
        x: Where the names begin, in points right of the axes.
    """
    across = axes.get_position().width * sheet.width
    high = axes.get_position().height * sheet.height
    places = [axes.transLimits.transform(axes.transScale.transform((1.0, y)))[1] * high for y, _, _ in ends]
    for (_, name, colour), place in zip(ends, apart(places, SMALL * LINE, 0.0, high), strict=True):
        text = fitted(name, points, SMALL)
        how: dict[str, Any] = {"color": colour, "fontsize": SMALL, "va": "center_baseline"}
        axes.text(1 + x / across, place / high, text, transform=axes.transAxes, **how)


def apart(places: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Returns the places moved so that neighbours are ``distance`` apart and all lie between ``low`` and ``high``.

    Where there is no room for that, they are as far apart as they can be.
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    distance = min(distance, (high - low) / max(len(places) - 1, 1))
    moved = [min(max(places[i], low), high) for i in order]
    for i in range(1, len(moved)):
        moved[i] = max(moved[i], moved[i - 1] + distance)
    for i in range(len(moved) - 1, -1, -1):
        limit = high if i == len(moved) - 1 else moved[i + 1] - distance
        moved[i] = min(moved[i], limit)
    out = [0.0] * len(places)
    for i, place in zip(order, moved, strict=True):
        out[i] = place
    return out


def widest(names: Sequence[str], most: float) -> float:
    """How wide names are beside their lines, at most ``most`` points."""
    return min(max((width(fitted(name, most, SMALL), SMALL) for name in names), default=0.0), most)


def decades(low: float, high: float) -> LogLocator:
    """Ticks of a logarithmic axis: at powers of ten, and where it is short at 2 and 5 times them as well."""
    from matplotlib.ticker import LogLocator

    return LogLocator(subs=(1.0,) if high > _FEW_DECADES * low else (1.0, 2.0, 5.0), numticks=12)
