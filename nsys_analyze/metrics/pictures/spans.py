"""Spans of a timeline, with those that would be thinner than a pixel run together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import AnyInt, Int64, order_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Something from ``start`` to ``end``, ns after the window's start; ``count`` things where it stands for several.

    ``name`` is that of the first of them. ``filled`` is in how much of the span at least one of them lasted, as a
    share of the span, or of a column where that is longer.
    """

    start: int
    end: int
    kind: str
    count: int
    name: str
    filled: float = 1.0


@dataclass(frozen=True, slots=True)
class Window:
    """The time that is drawn, ns on the report's clock, and how many columns it is drawn in."""

    start: int
    end: int
    columns: int

    @property
    def pixel(self) -> float:
        """What a column stands for, ns."""
        return max((self.end - self.start) / self.columns, 1.0)


def merged(window: Window, start: Int64, end: Int64, code: AnyInt, names: Sequence[str], kind: str) -> list[Span]:
    """Returns the intervals that show in the window, cut to it, in order of start.

    Neighbours thinner than a column are one span where less than a column lies between them, so that there are at
    most about twice as many spans as columns.

    Args:
        window: What is drawn.
        start: Shape (n,), ns on the report's clock, in any order.
        end: Shape (n,), ns.
        code: Shape (n,), where the name of each is in ``names``.
        names: The names.
        kind: What all of them are.
    """
    shown = np.flatnonzero((end > window.start) & (start < window.end))
    shown = shown[order_by(start[shown])]
    if not len(shown):
        return []
    low, high = np.maximum(start[shown], window.start), np.minimum(end[shown], window.end)
    thin = high - low < window.pixel
    apart = low[1:] - np.maximum.accumulate(high)[:-1] >= window.pixel
    opens = np.append(True, apart | ~thin[1:] | ~thin[:-1])
    first = np.flatnonzero(opens)
    last = np.maximum.reduceat(high, first)
    count = np.diff(np.append(first, len(shown)))
    begin, end = low[first] - window.start, last - window.start
    filled = _lasted(low, high, first) / np.maximum(end - begin, window.pixel)
    columns = (begin.tolist(), end.tolist(), count.tolist(), code[shown[first]].tolist(), filled.tolist())
    return [
        Span(start=at, end=to, kind=kind, count=n, name=names[name], filled=share)
        for at, to, n, name, share in zip(*columns, strict=True)
    ]


def _lasted(low: Int64, high: Int64, first: Int64) -> Int64:
    """How long at least one interval of each group lasted; ``first`` is where groups begin, in order of ``low``."""
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(low))))
    apart = group * (high.max() - low[0] + 1)  # moves groups so far that none reaches into the next
    over = np.append(low[0], np.maximum.accumulate(high + apart)[:-1]) - apart
    lasted: Int64 = np.add.reduceat(np.maximum(high - np.maximum(low, over), 0), first)
    return lasted
