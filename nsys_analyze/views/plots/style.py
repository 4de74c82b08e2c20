"""What things look like: the colour-blind-safe palette of Okabe and Ito, hatches, and matplotlib's settings."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nsys_analyze.views.plots.lettering import BODY, FONT, SMALL

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
INK, MUTED, FAINT = "#222222", "#5A5A5A", "#DDDDDD"


@dataclass(frozen=True, slots=True)
class Look:
    """How an area is filled, and the colour of text on it."""

    fill: str
    hatch: str = ""
    text: str = INK


HOST = {
    "launch": Look(BLUE, text="white"),
    "graph": Look(BLUE, "...", text="white"),
    "memory": Look(SKY, "\\\\\\"),
    "sync": Look(SKY),
    "cuda_other": Look("#8C8C8C"),
    "compile": Look(PURPLE),
    "profiler": Look(YELLOW, "xxx"),
    "helpers": Look(ORANGE, "///"),
    "code": Look("#E3E3E3"),
}
GPU = {
    "idle_startup": Look(VERMILLION, text="white"),
    "own": Look(GREEN, text="white"),
    "other": Look("#A9DCCB", "///"),
    "idle_between": Look("#F6DCC8"),
    "idle_tail": Look("#F6DCC8", "..."),
}
GAP = {
    "prelude": Look(SKY),
    "launch": Look(BLUE, text="white"),
    "queue": Look(ORANGE),
    "hidden": Look("#FFFFFF", "////"),
    "exposed": Look(VERMILLION, text="white"),
}
UNKNOWN = Look("#EFEFEF", "\\\\\\")
LINES = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), "-")

_SETTINGS: dict[str, Any] = {
    "text.parse_math": False,
    "text.usetex": False,
    "font.family": [FONT],
    "font.size": BODY,
    "text.hinting": "none",  # text is as wide at 60 dots an inch as at 600
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.labelsize": BODY,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": False,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": [-9, 9],  # no power of ten above an axis, where its name stands
    "grid.color": FAINT,
    "grid.linewidth": 0.8,
    "hatch.color": "#00000066",
    "hatch.linewidth": 0.7,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.labelsize": SMALL,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.labelsize": SMALL,
    "svg.hashsalt": "nsys-analyze",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}
_OF_THE_USER = ("backend", "backend_fallback", "interactive", "toolbar", "timezone", "date.epoch", "tk.", "webagg.")


@contextlib.contextmanager
def settings() -> Iterator[None]:
    """Draws with these settings of matplotlib's, whatever the user's own are, which come back afterwards."""
    import matplotlib as mpl

    plain: dict[Any, Any] = {
        name: value for name, value in mpl.rcParamsDefault.items() if not name.startswith(_OF_THE_USER)
    }
    with mpl.rc_context(plain | _SETTINGS):
        yield
