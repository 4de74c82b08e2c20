"""A sheet: a figure with a heading at its top, a key at its bottom, and room for axes between. Lengths are points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nsys_analyze.views.plots.lettering import BODY, LINE, SMALL, TITLE, fitted, safe, width, wrapped
from nsys_analyze.views.plots.style import INK, MUTED, Look

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Size = tuple[float, float]  # inches

INCH = 72.0
DPI = 200
WIDTH = 7.0  # inches, unless asked for otherwise
_MARGIN = 8.0
_SWATCH, _GAP = 13.0, 5.0
_TICK_PAD, _TICK_WIDTH, _TICK_LENGTH = 3.0, 0.8, 3.5  # pad: between an axis and its numbers

_Cell = tuple[float, str, Look | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLine:
    """A group of the key: what it is of, and its entries."""

    title: str
    entries: Sequence[tuple[str, Look]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A picture's title, and sentences below it on how to read it."""

    title: str
    notes: Sequence[str] = ()


@dataclass
class Sheet:
    """A figure of which the parts between ``top`` and ``bottom`` are free, in points from below.

    It is laid out ``1 / zoom`` times as large as it will be, and `finished` makes all of it smaller.
    """

    figure: Figure
    width: float
    height: float
    top: float
    zoom: float = 1.0
    bottom: float = _MARGIN
    left: float = field(default=_MARGIN, init=False)

    @property
    def right(self) -> float:
        """Where the free room ends."""
        return self.width - _MARGIN

    def axes(self, left: float, bottom: float, right: float, top: float) -> Axes:
        """Adds axes with these edges."""
        box = (left / self.width, bottom / self.height, (right - left) / self.width, (top - bottom) / self.height)
        return self.figure.add_axes(box)

    def text(self, x: float, y: float, text: str, size: float = BODY, **how: Any) -> None:
        """Writes a text that is known to fit, its baseline at ``y``."""
        self.figure.text(x / self.width, y / self.height, text, fontsize=size, **how)

    def finished(self) -> Figure:
        """Returns the figure in its final size; all that is measured in points shrinks with it."""
        if self.zoom < 1:
            self.figure.set_size_inches(self.width * self.zoom / INCH, self.height * self.zoom / INCH)
            for artist in self.figure.findobj():
                _shrink(artist, self.zoom)
            for axes in self.figure.axes:
                _shrink_ticks(axes, self.zoom)
        return self.figure


def new_sheet(
    heading: Heading, key: Sequence[KeyLine], size: Size | None, body: float, least: float | None = None
) -> Sheet:
    """Returns a sheet whose heading and key are written.

    Args:
        heading: The heading.
        key: The lines of the key.
        size: What the figure is to measure, in inches; None for 7 wide and as high as it needs to be.
        body: How high what stands between heading and key likes to be.
        least: How high it must be at least: ``body``, if left out. Where a size leaves less, or is narrower than 7
            inches, all of the picture is drawn smaller.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from nsys_analyze.views.plots.figure import ShownFigure

    wide, high = (length * INCH for length in size or (WIDTH, 0.0))
    zoom = min(1.0, wide / (WIDTH * INCH))
    notes, rows, used = _laid_out(heading, key, wide / zoom)
    if size:
        zoom = min(zoom, high / (used + (body if least is None else least)))
        notes, rows, _ = _laid_out(heading, key, wide / zoom)
    else:
        high = used + body
    figure = ShownFigure(figsize=(wide / zoom / INCH, high / zoom / INCH), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    sheet = Sheet(figure, wide / zoom, high / zoom, high / zoom - _MARGIN, zoom)
    _write_heading(sheet, heading.title, notes)
    _draw_key(sheet, rows)
    return sheet


def _laid_out(heading: Heading, key: Sequence[KeyLine], wide: float) -> tuple[list[str], list[list[_Cell]], float]:
    """The lines of the notes and of the key at a width, and how high they are with the title."""
    notes = [line for note in heading.notes for line in wrapped(safe(note), wide - 2 * _MARGIN, SMALL)]
    indent = max((width(line.title, SMALL, bold=True) for line in key), default=0.0) + 2 * _GAP
    rows = [row for line in key for row in _key_rows(line, indent, wide - 2 * _MARGIN)]
    used = 2 * _MARGIN + TITLE * LINE + len(notes) * SMALL * LINE + _GAP + len(rows) * BODY * LINE
    return notes, rows, used


def sentence(title: str, text: str, size: Size | None) -> Figure:
    """Returns a figure that only says why there is nothing to draw."""
    sheet = new_sheet(Heading(title=title), [], size, body=60.0)
    for line in wrapped(safe(text), sheet.right - sheet.left, BODY):
        sheet.top -= BODY * LINE
        sheet.text(sheet.left, sheet.top, line, color=INK)
    return sheet.finished()


def _shrink(artist: Artist, zoom: float) -> None:
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.text import Annotation, Text

    if isinstance(artist, Text):
        artist.set_fontsize(float(artist.get_fontsize()) * zoom)
        if isinstance(artist, Annotation):
            artist.xyann = (artist.xyann[0] * zoom, artist.xyann[1] * zoom)
    elif isinstance(artist, Line2D):
        artist.set_linewidth(artist.get_linewidth() * zoom)
        artist.set_markersize(artist.get_markersize() * zoom)
        artist.set_markeredgewidth(artist.get_markeredgewidth() * zoom)
    elif isinstance(artist, Patch):
        artist.set_linewidth(artist.get_linewidth() * zoom)
    elif isinstance(artist, Collection):
        artist.set_linewidth([float(each) * zoom for each in np.atleast_1d(artist.get_linewidth())])


def _shrink_ticks(axes: Axes, zoom: float) -> None:
    axes.xaxis.labelpad *= zoom
    axes.tick_params(pad=_TICK_PAD * zoom, width=_TICK_WIDTH * zoom)
    axes.tick_params(axis="x", length=_TICK_LENGTH * zoom)


def _write_heading(sheet: Sheet, title: str, notes: Sequence[str]) -> None:
    sheet.top -= TITLE
    sheet.text(sheet.left, sheet.top, fitted(title, sheet.right - sheet.left, TITLE, bold=True), TITLE, weight="bold")
    sheet.top -= TITLE * (LINE - 1)
    for note in notes:
        sheet.top -= SMALL * LINE
        sheet.text(sheet.left, sheet.top, note, SMALL, color=MUTED)
    sheet.top -= _GAP


def _key_rows(line: KeyLine, indent: float, points: float) -> list[list[_Cell]]:
    """Where each entry stands on as many lines as it takes."""
    rows: list[list[_Cell]] = [[(0.0, line.title, None)]]
    at = indent
    for text, look in line.entries:
        wide = _SWATCH + _GAP + width(safe(text), SMALL)
        if at + wide > points and at > indent:
            rows.append([])
            at = indent
        rows[-1].append((at, fitted(text, points - at - _SWATCH - _GAP, SMALL), look))
        at += wide + 3 * _GAP
    return rows


def _draw_key(sheet: Sheet, rows: Sequence[Sequence[_Cell]]) -> None:
    from matplotlib.patches import Rectangle

    for row in reversed(rows):
        for at, text, look in row:
            x = sheet.left + at
            if look is None:
                sheet.text(x, sheet.bottom + 2, text, SMALL, weight="bold")
                continue
            box = Rectangle(
                (x / sheet.width, (sheet.bottom + 1) / sheet.height),
                _SWATCH / sheet.width,
                SMALL / sheet.height,
                transform=sheet.figure.transFigure,
                facecolor=look.fill,
                hatch=look.hatch,
                edgecolor=MUTED,
                linewidth=0.4,
            )
            sheet.figure.add_artist(box)
            sheet.text(x + _SWATCH + _GAP, sheet.bottom + 2, text, SMALL)
        sheet.bottom += BODY * LINE
