"""The plots of the page."""

from __future__ import annotations

from collections.abc import Sequence

from nsys_analyze.metrics.results import Analysis
from nsys_analyze.views import plots
from nsys_analyze.views.html.content import Picture
from nsys_analyze.views.html.inline_svg import inline

_TITLES = {
    "breakdown": "Where the time went",
    "startup": "Mean startup gaps: from a range's start to its first GPU operation",
    "series": "Every instance of the main loop",
}


def pictures(analyses: Sequence[Analysis]) -> list[Picture]:
    """Returns the page's plots as SVG."""
    drawn = {"breakdown": plots.breakdown, "startup": plots.startup, "series": plots.series}
    return [
        Picture(title=title, svg=inline(drawn[name](list(analyses)), f"{name}-", title))
        for name, title in _TITLES.items()
    ]
