"""Results as pages for notebooks and chats: what the command writes with ``--format md``."""

from __future__ import annotations

from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.results import Analysis
from nsys_analyze.report import Report
from nsys_analyze.verdict.comparison import Comparison
from nsys_analyze.verdict.results import Verdict

_ROWS = 20  # of a table, as on the page of the command


class Page(str):
    """Markdown, which a notebook draws and ``print`` writes as it is."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def show(*results: Report | Analysis | Comparison | Verdict, breakdown: bool = False) -> Page:
    """Lays results out as the command does with ``--format md``.

    Args:
        results: One or several reports (or their analyses), side by side; or one comparison; or one verdict.
        breakdown: Whether to say where the time of the stages of reports went, as ``--breakdown`` does.

    Raises:
        UsageError: Nothing to show, or a comparison or a verdict among others or with ``breakdown``.
    """
    from nsys_analyze.views import compare_page, markdown_view, verdict_markdown
    from nsys_analyze.views.page import Layout

    if not results:
        raise UsageError("nothing to show: name a report, a comparison or a verdict")
    first = results[0]
    if isinstance(first, (Comparison, Verdict)):
        if len(results) > 1 or breakdown:
            raise UsageError("a comparison or a verdict is shown alone, and has no breakdown")
        if isinstance(first, Verdict):
            return Page(verdict_markdown.render(first))
        return Page(markdown_view.draw(compare_page.compose(first)))
    return Page(markdown_view.render([_analysis(each) for each in results], Layout(top=_ROWS, breakdown=breakdown)))


def _analysis(result: Report | Analysis | Comparison | Verdict) -> Analysis:
    if isinstance(result, (Comparison, Verdict)):
        raise UsageError("a comparison or a verdict is shown alone, and has no breakdown")
    return result.analysis() if isinstance(result, Report) else result
