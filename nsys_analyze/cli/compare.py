"""The verb ``compare``: reports held against the first of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from nsys_analyze.cli import output
from nsys_analyze.cli.options import Reading, destination, output_options, progress, read, requested

if TYPE_CHECKING:
    from nsys_analyze.verdict.comparison import Comparison

SUFFIXES = {".txt": "table", ".json": "json", ".csv": "csv", ".md": "md"}

_EPILOG = """\b
Examples:
  nsys-analyze compare eager.sqlite inductor.sqlite thunder.sqlite
  nsys-analyze compare main/ branch/                        several runs a side: medians, and how far they spread
  nsys-analyze compare base.json new.sqlite                 with results that -o base.json saved
  nsys-analyze compare a.sqlite b.sqlite --stage build --stage steady/step
  nsys-analyze compare a.sqlite b.sqlite --map train/iteration=steady/step

Without --stage, the loops are compared that matter and that at least two sides have, by their paths and domains. A
stage that a side lacks reads "absent".

Where the record of a case that `capture` made lies beside its report, times without the profiler are compared, too.

Environment variables are compared by an allow-list (CUDA_*, NCCL_*, NVFUSER_*, PYTORCH_*, TORCH*, TRITON_*): their
names, and the values of those that can hold no secret. --env adds to it.

Exit codes: 0 fine, 2 bad usage or input, 130 interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line, an attribute an option."""

    sides: tuple[str, ...]
    format: str | None
    output: str | None
    stage: tuple[str, ...]
    label: tuple[str, ...]
    map: tuple[str, ...]
    env: tuple[str, ...]
    reading: Reading
    debug: bool


@click.command(epilog=_EPILOG, short_help="Holds reports against the first of them.")
@click.argument("sides", metavar="SIDE...", nargs=-1, required=True)
@output_options(SUFFIXES)
@click.option("--stage", metavar="PATTERN", multiple=True, help="Compare the stages that match. Repeatable.")
@click.option("--label", metavar="NAME", multiple=True, help="What to call a side, once for each, in their order.")
@click.option(
    "--map", metavar="OLD=NEW", multiple=True, help="What the other sides call OLD is NEW in the first. Repeatable."
)
@click.option(
    "--env", metavar="PREFIX", multiple=True, help="Compare environment variables that begin so, too. Repeatable."
)
@requested(Request)
def compare(request: Request) -> None:
    """Says how reports differ from the first of them: stage by stage, and in what stands around them.

    SIDE is a report, a folder of reports that are runs of the same thing, or results saved as JSON.
    """
    kind = destination(request.format, request.output, SUFFIXES, request.sides)
    from nsys_analyze.comparing import compare_sources

    with progress("comparing"):
        comparison = compare_sources(
            request.sides,
            stages=request.stage,
            labels=request.label,
            renamings=request.map,
            opened=lambda path: read(str(path), request.reading, environment=request.env),
        )
    output.write(_DRAW[kind](comparison, request), request.output)


def _table(comparison: Comparison, request: Request) -> str:
    from nsys_analyze.views import compare_page, table_view

    colour = output.wants_colour(request.output)
    return table_view.draw(compare_page.compose(comparison), output.columns(request.output), colour)


def _markdown(comparison: Comparison, _: Request) -> str:
    from nsys_analyze.views import compare_page, markdown_view

    return markdown_view.draw(compare_page.compose(comparison))


def _json(comparison: Comparison, _: Request) -> str:
    from nsys_analyze.views import json_view

    return json_view.dump(comparison)


def _csv(comparison: Comparison, _: Request) -> str:
    from nsys_analyze.views import compare_csv

    return compare_csv.render(comparison)


_DRAW: dict[str, Callable[[Comparison, Request], str]] = {
    "table": _table,
    "json": _json,
    "csv": _csv,
    "md": _markdown,
}
