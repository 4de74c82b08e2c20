"""Names on the page: short enough for a row, in full on hover up to a bound."""

from __future__ import annotations

from nsys_analyze.views.text import shorten

_SHOWN = 72  # columns of a name in a table
_FULL = 400  # and where it is shown in full


def short(name: str) -> str:
    """Returns a name as a row shows it, cut in the middle."""
    return shorten(name, _SHOWN)


def bounded(name: str) -> str:
    """Returns a name in full, up to a bound."""
    return shorten(name, _FULL)


def full(name: str) -> str:
    """Returns a name in full, up to a bound; empty where the row shows all of it."""
    return "" if short(name) == name else bounded(name)
