"""The plot ``series``: every instance's elapsed time, and its startup gap below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nsys_analyze.durations import natural_unit
from nsys_analyze.metrics.breakdown import HOST_PARTS
from nsys_analyze.metrics.pictures.series import Curve, InstanceSeries, StallMark
from nsys_analyze.views import units
from nsys_analyze.views.plots.direct import AXIS, LEFT, decades, labels_at_end, plain_axes, widest
from nsys_analyze.views.plots.lettering import SMALL, fitted
from nsys_analyze.views.plots.sheet import Heading, Sheet, Size, new_sheet, sentence
from nsys_analyze.views.plots.style import DASHES, INK, LINES, MARKERS, VERMILLION
from nsys_analyze.views.plots.subjects import Subjects

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKED = 60  # points from which a line shows without markers
_BODY = 260.0
_UPPER = 0.6  # of the room is for elapsed times
_BESIDE = 8.0

_Named = tuple[str, InstanceSeries]


def draw(data: Sequence[InstanceSeries | None], subjects: Subjects, size: Size | None) -> Figure:
    """Draws series that were made for these subjects, which are of one stage each."""
    known = [(label, series) for label, series in zip(subjects.labels, data, strict=True) if series]
    named = known[: len(LINES)]
    title = f"Instance by instance · {subjects.common}"
    if not named:
        return sentence(title, subjects.nothing, size)
    note = " ".join([_note(named, len(known)), *_without_gap(named, subjects), *subjects.notes])
    gaps = any(series.gap.index for _, series in named)
    sheet = new_sheet(Heading(title=title, notes=[note]), [], size, _BODY if gaps else _BODY * _UPPER)
    _draw_panels(sheet, named, gaps=gaps)
    return sheet.finished()


def _draw_panels(sheet: Sheet, named: Sequence[_Named], *, gaps: bool) -> None:
    """Draws elapsed times, and startup gaps below them where there are any."""
    names = [label for label, _ in named] if len(named) > 1 else []
    beside = widest(names, 0.3 * sheet.width)
    every = [series for _, series in named]
    right, bottom = sheet.right - beside - _BESIDE, sheet.bottom + AXIS
    middle = bottom + (sheet.top - bottom) * (1 - _UPPER) if gaps else bottom
    usual = max((_highest(each) for each in every), default=0.0)
    elapsed = _panel(sheet, "elapsed", [each.elapsed for each in every], usual, (middle, right, sheet.top))
    panels = [elapsed]
    if gaps:
        longest = max((max(each.gap.high, default=0.0) for each in every), default=0.0)
        gap = _panel(sheet, "startup gap", [each.gap for each in every], longest, (bottom, right, middle - _BESIDE))
        elapsed.axes.tick_params(labelbottom=False)
        _fill_exposed(gap, every)
        panels.append(gap)
    for panel in panels:
        _instance_axis(panel.axes, max(each.instances for each in every), panel.across)
    panels[-1].axes.set_xlabel("instance, in order of start", labelpad=2)
    _scale_elapsed(elapsed, every)
    for place, each in enumerate(every):
        _mark_first(elapsed, each, place)
        _mark_stalls(elapsed, each)
    if names:
        labels_at_end(sheet, elapsed.axes, _ends(elapsed, named), beside, _BESIDE)


@dataclass(frozen=True, slots=True)
class _Panel:
    """Axes, how many nanoseconds their unit is, and how many points they are wide."""

    axes: Axes
    factor: float
    across: float


def _panel(
    sheet: Sheet, what: str, curves: Sequence[Curve], longest: float, edges: tuple[float, float, float]
) -> _Panel:
    """Draws a line a curve between the bottom, right and top edges given, in a unit for times up to ``longest``."""
    bottom, right, top = edges
    factor, unit = natural_unit(longest)
    axes = plain_axes(sheet, sheet.left, bottom, right, top, f"{what}, {unit}")
    for place, curve in enumerate(curves):
        values = [value / factor for value in curve.median]
        marker = MARKERS[place] if len(values) <= _MARKED else ""
        how: dict[str, Any] = {
            "color": LINES[place],
            "linestyle": DASHES[place],
            "marker": marker,
            "markersize": 5,
            "linewidth": 1.4,
        }
        axes.plot(curve.index, values, **how)
        if curve.low != curve.high:
            low, high = ([value / factor for value in each] for each in (curve.low, curve.high))
            axes.fill_between(curve.index, low, high, color=LINES[place], alpha=0.25, linewidth=0)
    axes.set_ylim(0, 1.15 * longest / factor or 1.0)
    return _Panel(axes, factor, right - sheet.left - LEFT)


def _instance_axis(axes: Axes, instances: int, points: float) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(-0.5, max(instances - 0.5, 0.5))
    axes.xaxis.set_major_locator(MaxNLocator(max(2, int(points / 40)), integer=True, min_n_ticks=1))


def _scale_elapsed(panel: _Panel, series: Sequence[InstanceSeries]) -> None:
    """Leaves room above the lines, and for a first instance that is not far above them."""
    highest = max([*(each.first for each in series if not each.first_is_far), *(_highest(each) for each in series)])
    if any(each.needs_log for each in series):
        lowest = min(min(each.elapsed.low) for each in series)
        _logarithmic(panel.axes, lowest / panel.factor / 1.5, 2 * highest / panel.factor)
    else:
        panel.axes.set_ylim(0, 1.3 * (highest or 1.0) / panel.factor)


def _logarithmic(axes: Axes, low: float, high: float) -> None:
    """Makes the y axis logarithmic, with plain numbers beside it."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(decades(low, high))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.12g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _highest(series: InstanceSeries) -> float:
    return max(series.elapsed.high, default=float(series.first))


def _mark_first(panel: _Panel, series: InstanceSeries, place: int) -> None:
    """Draws the first instance hollow; as an arrow at the upper edge where it would flatten the others."""
    top = panel.axes.get_ylim()[1]
    marker, y = ("^", top) if series.first_is_far else (MARKERS[place], series.first / panel.factor)
    _ring(panel, 0, y, marker, size=8, fill="white", edge=LINES[place], clip_on=False)


def _mark_stalls(panel: _Panel, series: InstanceSeries) -> None:
    """Rings every stall, and says of the worst what filled it."""
    for stall in series.stalls:
        _ring(panel, stall.index, stall.elapsed / panel.factor, "o", size=11, fill="none", edge=INK)
    if not series.stalls:
        return
    worst = series.stalls[0]
    late = worst.index > series.instances / 2
    text = fitted(_stall_text(worst), panel.across / 2, SMALL)
    how: dict[str, Any] = {"color": INK, "fontsize": SMALL, "ha": "right" if late else "left", "va": "bottom"}
    at = (worst.index, worst.elapsed / panel.factor)
    panel.axes.annotate(text, at, (-8 if late else 8, 4), textcoords="offset points", **how)


def _ring(panel: _Panel, x: float, y: float, marker: str, *, size: float, fill: str, edge: str, **how: Any) -> None:
    look: dict[str, Any] = {"markerfacecolor": fill, "markeredgecolor": edge, "markeredgewidth": 1.6}
    panel.axes.plot([x], [y], linestyle="", marker=marker, markersize=size, zorder=4, **look, **how)


def _stall_text(stall: StallMark) -> str:
    cause = {**HOST_PARTS, "gpu_after_end": "GPU work after its end"}.get(stall.cause, stall.cause)
    return f"{stall.index}: +{units.duration(stall.excess)}" + (f", {cause}" if cause else "")


def _fill_exposed(panel: _Panel, series: Sequence[InstanceSeries]) -> None:
    """Fills the exposed part of the gap, where there is one series only."""
    if len(series) == 1 and series[0].exposed.index:
        curve = series[0].exposed
        values = [value / panel.factor for value in curve.median]
        panel.axes.fill_between(curve.index, 0, values, color=VERMILLION, alpha=0.35, linewidth=0)
        panel.axes.plot(curve.index, values, color=VERMILLION, linewidth=1.0, linestyle="--")


def _ends(panel: _Panel, named: Sequence[_Named]) -> list[tuple[float, str, str]]:
    found = []
    for place, (label, series) in enumerate(named):
        last = series.elapsed.median[-1] if series.elapsed.median else float(series.first)
        found.append((last / panel.factor, label, LINES[place]))
    return found


def _without_gap(named: Sequence[_Named], subjects: Subjects) -> list[str]:
    """Why series have no startup gap."""
    missing = {label for label, series in named if not series.gap.index}
    idle = dict(zip(subjects.labels, (subject.idle for subject in subjects.shown), strict=True))
    return [f"No startup gap{'' if len(named) == 1 else f' of {label}'}: {idle[label]}." for label in sorted(missing)]


def _note(named: Sequence[_Named], known: int) -> str:
    alone = len(named) == 1
    took = f" and took {units.duration(named[0][1].first)}" if alone else ""
    parts = [f"The first instance is hollow{took}"]
    parts += ["an arrow stands for one far above the rest"] if any(s.first_is_far for _, s in named) else []
    parts += ["stalls have a ring"] if any(series.stalls for _, series in named) else []
    parts += ["the exposed part of the gap is filled"] if alone and named[0][1].exposed.index else []
    parts += [f"{known - len(named)} more reports are left out"] if known > len(named) else []
    return ", ".join(parts) + "."
