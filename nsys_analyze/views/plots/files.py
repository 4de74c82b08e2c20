"""Figures as the bytes of a file, the same every time."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from nsys_analyze.views.plots.style import settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_UNDATED: dict[str, dict[str, Any]] = {  # the moment and matplotlib's version would make every file another
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def rendered(figure: Figure, kind: str) -> bytes:
    """Returns the figure as a png, svg or pdf file."""
    with settings():
        if kind == "png":
            return _png(figure)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, metadata=_UNDATED[kind])
        return buffer.getvalue()


def _png(figure: Figure) -> bytes:
    """A png of 256 colours, a third of the size of one of all colours: no colour is off by more than a few of 255."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    buffer = io.BytesIO()
    few = pixels.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(buffer, "png", dpi=(figure.dpi, figure.dpi))
    return buffer.getvalue()
