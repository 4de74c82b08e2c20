"""The results of the verb ``report``, drawn in each format."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nsys_analyze.cli import output
from nsys_analyze.cli.options import progress

if TYPE_CHECKING:
    from nsys_analyze.cli.report import Request, Results
    from nsys_analyze.metrics.results import Instance, Stage
    from nsys_analyze.views.flat_rows import FlatRows

ROWS = 20  # of a table, unless --top says otherwise
LOOPS = 5  # on a page, likewise


def draw(kind: str, results: Results, request: Request) -> str | bytes:
    """Returns the results in a format."""
    return _DRAW[kind](results, request)


def _table(results: Results, request: Request) -> str:
    from nsys_analyze.views import table_view

    return table_view.render(
        results.analyses,
        _layout(request),
        columns=output.columns(request.output),
        colour=output.wants_colour(request.output),
        ranks=results.ranks or (),
    )


def _markdown(results: Results, request: Request) -> str:
    from nsys_analyze.views import markdown_view

    return markdown_view.render(results.analyses, _layout(request), results.ranks or ())


def _json(results: Results, request: Request) -> str:
    from nsys_analyze.views import json_view

    return json_view.render(results.analyses, instances=request.by == "instance", ranks=results.ranks)


def _csv(results: Results, request: Request) -> str:
    from nsys_analyze.views import csv_view

    return csv_view.render(_flat(results, request))


def _parquet(results: Results, request: Request) -> bytes:
    from nsys_analyze.views import parquet_view

    return parquet_view.render(_flat(results, request))


def _flat(results: Results, request: Request) -> FlatRows:
    from nsys_analyze.cli.column_names import chosen_columns
    from nsys_analyze.views.flat_rows import flat_rows, rank_rows
    from nsys_analyze.views.named_columns import short_names

    if results.ranks is not None:
        table = rank_rows(results.ranks)
        return table.only(chosen_columns(request.columns, table.header, {}))
    table = flat_rows(results.analyses, instances=request.by == "instance", derived=request.columns is not None)
    return table.only(chosen_columns(request.columns, table.header, short_names(_kind(request))))


def _html(results: Results, request: Request) -> str:
    from nsys_analyze.metrics.ranks import merge_ranks
    from nsys_analyze.views import html

    ranks = results.ranks
    if ranks is None:  # the processes of one report may be ranks; those of several are if one says so
        ranks = merge_ranks(results.analyses) if len(results.analyses) == 1 and request.by == "path" else []
    with progress("drawing"):
        return html.render(results.analyses, ranks=ranks, kernels=results.kernels, top=request.top)


def _kind(request: Request) -> type[Stage | Instance]:
    """What a row stands for."""
    from nsys_analyze.metrics.results import Instance, Stage

    return Instance if request.by == "instance" else Stage


def _layout(request: Request) -> Any:
    from nsys_analyze.cli.column_names import number_columns
    from nsys_analyze.views.page import Layout

    return Layout(
        by=request.by,
        top=ROWS if request.top is None else request.top,
        loops=LOOPS if request.top is None else request.top,
        listing=bool(request.stage or request.depth),
        ordered=request.sort is not None,
        breakdown=request.breakdown,
        look=bool(request.stage),
        columns=number_columns(request.columns, _kind(request)),
    )


_DRAW: dict[str, Callable[[Results, Request], str | bytes]] = {
    "table": _table,
    "json": _json,
    "csv": _csv,
    "md": _markdown,
    "html": _html,
    "parquet": _parquet,
}
