"""The verb ``history``: runs that were saved, and how one quantity went on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nsys_analyze.cli import output, pictures
from nsys_analyze.cli.options import debug_option, destination, output_options, progress, top_option
from nsys_analyze.errors import UsageError

if TYPE_CHECKING:
    from nsys_analyze.verdict.trend import History, Trend

SUFFIXES = {".txt": "table", ".json": "json", ".csv": "csv", ".md": "md"}
_EVERY_SUFFIX = SUFFIXES | pictures.SUFFIXES
ROWS = 20  # runs of a table, unless --top says otherwise

_EPILOG = """\b
Examples:
  nsys-analyze check new/*.sqlite --save results.db --label main --commit 1a2b3c
  nsys-analyze history results.db                                    runs, the newest first
  nsys-analyze history results.db --quantity pace                    of the main loop
  nsys-analyze history results.db --label main --stage steady/step --quantity startup_gap_exposed
  nsys-analyze history results.db --quantity startup_gap -o trend.png
  nsys-analyze check new/ --baseline history:main --history results.db

With --quantity: how it went on from run to run, and where its level changed for good. Runs in another environment (GPU,
CPU, capture flags) than the newest are left out. That takes the package ruptures: pip install 'nsys-analyze[history]'.

Margins and warm-up are those of pyproject.toml or nsys-analyze.toml, as for `check`.

Exit codes: 0 fine, 2 bad usage or input, 130 interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line, an attribute an option."""

    database: str
    label: str | None
    stage: str | None
    quantity: str | None
    top: int
    format: str | None
    output: str | None
    config: str | None
    debug: bool


@click.command(epilog=_EPILOG, short_help="Lists runs that check --save kept, or shows a trend.")
@click.argument("database", metavar="FILE")
@click.option("--label", metavar="NAME", help="Only runs that were saved with this label.")
@click.option("--stage", metavar="PATTERN", help="The stage of the trend.  [default: the loop with most GPU time]")
@click.option("--quantity", metavar="NAME", help="Show its trend: startup_gap, pace, ... (a wrong one lists them all).")
@top_option(ROWS, "The newest runs to list")
@output_options(_EVERY_SUFFIX)
@click.option("--config", metavar="FILE", help="Margins and warm-up.  [default: nearest pyproject.toml with some]")
@debug_option
def history(**options: Any) -> None:
    """Lists the runs in FILE, which `check --save` wrote, or shows how one quantity of a stage went on."""
    run(Request(**options))


def run(request: Request) -> None:
    """Reads the history, draws and writes.

    Raises:
        NsysAnalyzeError: If it cannot be read, or the request does not fit it.
    """
    kind = destination(request.format, request.output, _EVERY_SUFFIX, [request.database], "the history")
    is_picture = kind in pictures.SUFFIXES.values()
    if request.quantity is None and (request.stage is not None or is_picture):
        what = "--stage" if request.stage is not None else f"a {kind} file"
        raise UsageError(f"{what} is of a trend: name its quantity with --quantity, such as --quantity startup_gap")
    with progress(f"reading {request.database}"):
        drawn = _listing(request, kind) if request.quantity is None else _trend(request, request.quantity, kind)
    output.write(drawn, request.output)


def _listing(request: Request, kind: str) -> str:
    from nsys_analyze.checking import configured
    from nsys_analyze.remembering import listed

    found = listed(Path(request.database), request.label, configured(request.config), request.top or None)
    return _DRAW_LIST[kind](found, request)


def _trend(request: Request, quantity: str, kind: str) -> str | bytes:
    from nsys_analyze.checking import configured, noise
    from nsys_analyze.remembering import traced

    config = configured(request.config)
    found = traced(Path(request.database), request.stage, quantity, request.label, config, noise(config))
    if kind in pictures.SUFFIXES.values():
        return _picture(found, kind)
    return _DRAW_TREND[kind](found, request)


def _picture(trend: Trend, kind: str) -> bytes:
    from nsys_analyze.views.plots import trends
    from nsys_analyze.views.plots.files import rendered
    from nsys_analyze.views.plots.style import settings

    with settings():
        figure = trends.draw(trend)
    return rendered(figure, kind)


def _table(document: Any, request: Request) -> str:
    from nsys_analyze.views import table_view

    return table_view.draw(document, output.columns(request.output), output.wants_colour(request.output))


def _list_table(history: History, request: Request) -> str:
    from nsys_analyze.views import history_page

    return _table(history_page.listing(history), request)


def _list_markdown(history: History, _: Request) -> str:
    from nsys_analyze.views import history_page, markdown_view

    return markdown_view.draw(history_page.listing(history))


def _list_csv(history: History, _: Request) -> str:
    from nsys_analyze.views import history_csv

    return history_csv.listing(history)


def _trend_table(trend: Trend, request: Request) -> str:
    from nsys_analyze.views import history_page

    return _table(history_page.composed(trend, request.top or None), request)


def _trend_markdown(trend: Trend, request: Request) -> str:
    from nsys_analyze.views import history_page, markdown_view

    return markdown_view.draw(history_page.composed(trend, request.top or None))


def _trend_csv(trend: Trend, _: Request) -> str:
    from nsys_analyze.views import history_csv

    return history_csv.composed(trend)


def _json(found: History | Trend, _: Request) -> str:
    from nsys_analyze.views import json_view

    return json_view.dump(found)


_DRAW_LIST: dict[str, Callable[[History, Request], str]] = {
    "table": _list_table,
    "json": _json,
    "csv": _list_csv,
    "md": _list_markdown,
}
_DRAW_TREND: dict[str, Callable[[Trend, Request], str]] = {
    "table": _trend_table,
    "json": _json,
    "csv": _trend_csv,
    "md": _trend_markdown,
}
