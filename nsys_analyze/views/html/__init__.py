"""The results as one HTML file that needs nothing else: no network, no fonts, no libraries."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources

from nsys_analyze.metrics.results import Analysis, KernelAnalysis, RankedProgram
from nsys_analyze.views.html import page
from nsys_analyze.views.html.content import Page
from nsys_analyze.views.html.pictures import pictures
from nsys_analyze.views.tables import labelled
from nsys_analyze.views.text import visible


def render(
    analyses: Sequence[Analysis],
    *,
    ranks: Sequence[RankedProgram] = (),
    kernels: Sequence[KernelAnalysis] = (),
    top: int | None = None,
    plots: bool = True,
) -> str:
    """Returns the page about one or several reports.

    Args:
        analyses: What is said about each.
        ranks: The ranks of their programs, for a table of them.
        kernels: The kernels of each report's stages, for the details of those that have any; none for no kernels.
        top: How many stages of each the tree may have, 0 for any number; None bounds the page, whatever the report.
        plots: Whether to draw plots, which takes matplotlib.
    """
    kept, total = page.bounded(analyses, top), sum(len(analysis.stages) for analysis in analyses)
    drawn = pictures(kept) if plots else []
    return draw(page.compose(labelled(kept), total=total, ranks=ranks, kernels=kernels, pictures=drawn))


def draw(content: Page) -> str:
    """Returns a composed page as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    environment = Environment(
        loader=PackageLoader("nsys_analyze.views.html", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"visible": visible, "breakable": lambda text: escape(text).replace("::", Markup("::<wbr>"))}
    style, script = _asset("page.css"), _asset("page.js")
    return environment.get_template("page.html").render(
        page=content, style=style, script=script, style_hash=_hash(style), script_hash=_hash(script)
    )


@cache
def _asset(name: str) -> str:
    return (resources.files("nsys_analyze.views.html") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What the page's policy allows: this text and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
