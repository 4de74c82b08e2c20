"""The figure that every plot is: matplotlib's, which a notebook draws as the value of a cell."""

from __future__ import annotations

from matplotlib.figure import Figure

from nsys_analyze.views.plots.files import rendered

_INCH = 100  # pixels of a page in a browser, where a figure of 7 inches fits beside its cell's number


class ShownFigure(Figure):
    """A figure that pyplot does not know, and that shows itself where pyplot would have to."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """The picture, and how large to show it."""
        width, height = self.get_size_inches()
        return rendered(self, "png"), {"width": round(width * _INCH), "height": round(height * _INCH)}
