"""Axes with a block of bars for each stage, one below the other; vertical lengths are points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nsys_analyze.views.plots.lettering import BODY, LINE, SMALL, fitted, fitting, safe, width
from nsys_analyze.views.plots.sheet import Sheet
from nsys_analyze.views.plots.style import INK, MUTED, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CAPTION, BAR, SPACE = 17.0, 17.0, 8.0
AXIS = 2 * BODY * LINE + 8.0
_TICK, _PAD = 10.0, 3.0
_NAME = 0.5  # of a caption is for the name at least, however much is to be said of it
_APART = 12.0  # a name and the remarks on it
_STRETCH = 1.6  # as much thicker bars may be where there is more room than they need


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A stage's name, what stands before each of its bars, and how high a bar is."""

    name: str
    beside: Sequence[str]
    bar: float = BAR

    @property
    def height(self) -> float:
        """All that the block takes."""
        return CAPTION + len(self.beside) * self.bar + SPACE


@dataclass(frozen=True, slots=True)
class Means:
    """Over how many instances means are: said once where it is the same for all rows, else after each name."""

    note: str
    each: bool

    @classmethod
    def of(cls, instances: Sequence[int]) -> Means:
        """Takes the number of instances of every row."""
        numbers = set(instances)
        if len(numbers) > 1:
            return cls("", True)
        return cls("".join(f"Means over {number:,} instances." for number in numbers if number > 1), False)

    def after(self, instances: int) -> str:
        """Returns what to write after the name of a row."""
        return f", mean of {instances:,}" if self.each and instances > 1 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The x axis: from ``low`` to ``high``, and what it says."""

    high: float
    label: str
    low: float = 0.0
    log: bool = False


@dataclass
class Rows:
    """Axes that are ``across`` points wide, with bars whose tops are ``tops[block][bar]``."""

    axes: Axes
    across: float
    before: float
    scale: Scale
    tops: list[list[float]]

    def points(self, length: float) -> float:
        """How long something is on a linear axis."""
        return length / self.scale.high * self.across

    def area(self, y: float, high: float, start: float, length: float, look: Look) -> None:
        """Fills a part of a bar."""
        how: dict[str, Any] = {"color": look.fill, "hatch": look.hatch, "edgecolor": "white", "linewidth": 0.6}
        self.axes.barh(y, length, high, start, align="edge", **how)

    def label(self, y: float, high: float, start: float, length: float, look: Look, texts: Sequence[str]) -> bool:
        """Writes the first of the texts that fits into a part of a bar; returns whether one did."""
        fits = [text for text in texts if width(text, SMALL) + 2 * _PAD <= self.points(length)]
        if not fits:
            return False
        box = {"facecolor": look.fill, "edgecolor": "none", "pad": 0.8} if look.hatch else None
        how: dict[str, Any] = {"ha": "center", "va": "center_baseline", "color": look.text, "fontsize": SMALL}
        self.axes.text(start + length / 2, y + high / 2, fits[0], bbox=box, **how)
        return True

    def caption(self, top: float, name: str, after: str, remarks: Sequence[str]) -> None:
        """Writes a block's name above it with what comes right after, and at the right as many remarks as fit."""
        room = self.across + self.before
        least = ", ".join([*remarks[:1], *([f"+{len(remarks) - 1}"] if len(remarks) > 1 else [])])
        wanted = width(safe(least), SMALL - 1) + _APART if remarks else 0.0
        for_name = max(room - wanted, _NAME * room) - width(after, BODY, bold=True)
        bold = fitted(name, for_name, BODY, bold=True) + after
        self._beside(-self.before, top - 4.5, bold, BODY, color=INK, weight="bold", ha="left")
        rest = fitting(remarks, room - width(bold, BODY, bold=True) - _APART, SMALL - 1)
        self._beside(self.across, top - 4.5, rest, SMALL - 1, color=MUTED, ha="right")

    def _beside(self, points: float, y: float, text: str, size: float, **how: Any) -> None:
        transform = self.axes.get_yaxis_transform()
        clear = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}  # of the grid's lines
        at = points / self.across
        self.axes.text(at, y, text, fontsize=size, va="baseline", transform=transform, bbox=clear, **how)


def body(blocks: Sequence[Block]) -> float:
    """How high axes for these blocks are with all that stands around them."""
    return sum(block.height for block in blocks) + AXIS


def new_rows(sheet: Sheet, blocks: Sequence[Block], scale: Scale) -> Rows:
    """Adds axes that fill the sheet's free room, with as many of the blocks as it holds, one at least."""
    from matplotlib.ticker import MaxNLocator

    room = sheet.top - sheet.bottom - AXIS
    tops: list[list[float]] = []
    top = 0.0
    for block in blocks:
        if tops and top + block.height > room + 0.5:
            break
        tops.append([top + CAPTION + place * block.bar for place in range(len(block.beside))])
        top += block.height
    ticks = [
        (y + block.bar / 2, safe(text))
        for block, ys in zip(blocks, tops, strict=False)
        for y, text in zip(ys, block.beside, strict=True)
    ]
    left = sheet.left + max((width(text, SMALL) for _, text in ticks), default=0.0) + 2 * _PAD
    right, bottom = sheet.right - _TICK, sheet.bottom + AXIS
    axes = sheet.axes(left, bottom, right, sheet.top)
    if scale.log:
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(max(2, int((right - left) / 60)), steps=[1, 2, 2.5, 5, 10]))
    axes.set_xlim(scale.low, scale.high)
    axes.set_ylim(max(top, room / _STRETCH), 0)
    axes.set_yticks([y for y, _ in ticks], [text for _, text in ticks])
    axes.tick_params(axis="y", length=0, pad=_PAD)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    axes.set_xlabel(fitted(scale.label, right - left, BODY), labelpad=2)
    return Rows(axes, right - left, left - sheet.left, scale, tops)
