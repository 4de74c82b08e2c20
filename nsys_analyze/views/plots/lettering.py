"""Text on a picture: what may be drawn, how wide it is, and what of it fits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from nsys_analyze.views.text import ELLIPSIS, shorten, visible

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties

FONT = "DejaVu Sans"  # comes with matplotlib, so that a picture is the same everywhere
TITLE, BODY, SMALL = 13.0, 11.0, 10.0  # points; a picture of 7 inches shrinks to half of it in a column
LINE = 1.3  # distance of lines, in sizes of the text

_FINE = 10  # at 72 dots an inch, glyphs would be measured as wide as whole dots
_SLACK = 1.03  # a notebook that shows a figure places glyphs on whole dots
_LONGEST = 400  # characters of a name that are looked at


def safe(text: str) -> str:
    r"""Returns ``text`` on one line with what cannot be drawn as an escape, as in ``\u4e2d``; a long one is cut."""
    half = _LONGEST // 2
    cut = text if len(text) <= _LONGEST else text[:half] + ELLIPSIS + text[-half:]
    drawn = _glyphs()
    return "".join(ch if ord(ch) in drawn else ch.encode("unicode_escape").decode("ascii") for ch in visible(cut))


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Returns how wide a text is that `safe` has seen, in points."""
    pixels: float = _ruler().get_text_width_height_descent(text, _font(size, bold), ismath=False)[0]
    return pixels / _FINE * _SLACK


def fitted(text: str, points: float, size: float, *, bold: bool = False) -> str:
    """Returns ``text`` made safe and cut in the middle to fit; "" where not even three characters would."""
    text = safe(text)
    columns = len(text)
    while columns > 2 and width(shorten(text, columns), size, bold=bold) > points:
        columns = min(columns - 1, int(columns * points / width(shorten(text, columns), size, bold=bold)) + 1)
    return shorten(text, columns) if columns > 2 or width(text, size, bold=bold) <= points else ""


def fitting(items: Sequence[str], points: float, size: float) -> str:
    """Returns as many of the items as fit, in order, with a count of the rest; "" where not even the first does."""
    for count in range(len(items), 0, -1):
        more = [f"+{len(items) - count}"] if count < len(items) else []
        text = safe(", ".join([*items[:count], *more]))
        if width(text, size) <= points:
            return text
    return ""


def wrapped(text: str, points: float, size: float) -> list[str]:
    """Returns ``text`` on lines of at most ``points``; a longer word is cut."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer, size) <= points:
            lines[-1] = longer
        else:
            lines.append(fitted(word, points, size))
    return lines


@cache
def _font(size: float, bold: bool) -> FontProperties:
    from matplotlib.font_manager import FontProperties

    return FontProperties(family=FONT, size=size, weight="bold" if bold else "normal")


@cache
def _glyphs() -> frozenset[int]:
    """Characters that the font has, be it bold or not."""
    from matplotlib.font_manager import findfont, get_font

    plain, bold = (get_font(findfont(_font(BODY, bold))).get_charmap() for bold in (False, True))
    return frozenset(plain) & frozenset(bold)


@cache
def _ruler() -> Any:  # a RendererAgg, which has no types
    """Measures text, in fractions of a point."""
    from matplotlib.backends import backend_agg

    backend: Any = backend_agg
    return backend.RendererAgg(10, 10, 72 * _FINE)
