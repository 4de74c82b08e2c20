"""Names in a trace: titles short enough for a slice, with the whole name beside them where that says more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nsys_analyze.arrays import AnyInt
from nsys_analyze.views.text import shorten, visible
from nsys_analyze.views.trace_layout import Argument, Texts

_TITLE = 120  # characters of a slice's name
_FULL = 4_000  # of a name in its arguments


def titled(codes: AnyInt, titles: Sequence[str], names: Sequence[str]) -> tuple[Texts, Argument]:
    """The names of slices, and an argument with the whole name of those whose title is another.

    Only names in use are looked at. Everything unprintable becomes a visible escape.
    """
    used, number = np.unique(codes, return_inverse=True)
    code = number.astype(np.int32)
    short = [shorten(visible(titles[number]), _TITLE) for number in used.tolist()]
    full = [shorten(visible(names[number]), _FULL) for number in used.tolist()]
    differ = np.array([one != other for one, other in zip(short, full, strict=True)], bool)
    return Texts(code, short), Argument(name="full_name", values=Texts(code, full), there=differ[code])


def shown(strings: Sequence[str]) -> list[str]:
    """Texts that are safe to show, none longer than a whole name."""
    return [shorten(visible(string), _FULL) for string in strings]
