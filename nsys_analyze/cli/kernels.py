"""The verb ``kernels``: what stages put on the GPU, by kernel, by label or by operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import click

from nsys_analyze.cli import output
from nsys_analyze.cli.options import Reading, destination, output_options, progress, read, requested

if TYPE_CHECKING:
    from nsys_analyze.metrics.results import Analysis, KernelAnalysis, Stage
    from nsys_analyze.report import Report

SUFFIXES = {".txt": "table", ".json": "json", ".csv": "csv", ".md": "md"}
_ROWS = 20  # of a stage's table, unless --top says otherwise
_LOOPS = 5  # as on the page of the verb report

_EPILOG = """\b
Examples:
  nsys-analyze kernels report.sqlite                       the kernels of the loops
  nsys-analyze kernels report.sqlite --stage steady/step --by operation
  nsys-analyze kernels report.sqlite --stage backward --sort launch-call --top 5
  nsys-analyze kernels eager.sqlite inductor.sqlite --stage steady/step --format md

A label is the innermost range inside the stage that an operation belongs to: a line of a Thunder trace, an operator of
PyTorch's emit_nvtx, or any range of the program's own. Its operation is what it calls: the label
"t0 = torch.nn.functional.linear(x, w)" has the operation torch.nn.functional.linear.

A stage PATTERN is as the verb report takes it; only the stages that it matches are listed, with all that is inside.

Exit codes: 0 fine, 2 bad usage or input, 130 interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line, an attribute an option."""

    reports: tuple[str, ...]
    format: str | None
    output: str | None
    stage: tuple[str, ...]
    by: Literal["name", "label", "operation"]
    top: int | None
    sort: str | None
    reading: Reading
    debug: bool


@click.command(epilog=_EPILOG, short_help="Lists the kernels, labels or operations of stages.")
@click.argument("reports", metavar="REPORT...", nargs=-1, required=True)
@output_options(SUFFIXES)
@click.option("--stage", metavar="PATTERN", multiple=True, help="The stages to list; loops if left out. Repeatable.")
@click.option(
    "--by",
    type=click.Choice(["name", "label", "operation"]),
    default="name",
    show_default=True,
    help="What a row stands for: a kernel, a range inside the stage, or what such ranges call.",
)
@click.option("--top", type=click.IntRange(min=0), metavar="N", help=f"Rows of a table, 0 for all.  [default: {_ROWS}]")
@click.option("--sort", metavar="COLUMN", help="Largest first: total, count, launch-call, ... (a wrong one lists all).")
@requested(Request)
def kernels(request: Request) -> None:
    """Lists what stages put on the GPU: kernels, copies, memsets, graphs, with their time and what launching them took.

    REPORT is what Nsight Systems writes or exports.
    """
    kind = destination(request.format, request.output, SUFFIXES, request.reports)
    reports = [read(path, request.reading) for path in request.reports]
    with progress("analysing"):
        analyses, chosen = _chosen([report.analysis(digest=kind == "json") for report in reports], request)
        found = [_kernels(*each, request, kind) for each in zip(reports, analyses, strict=True)]
    output.write(_drawn(analyses, found, chosen, kind, request), request.output)


def _chosen(analyses: Sequence[Analysis], request: Request) -> tuple[list[Analysis], str]:
    """The analyses with only the stages to list, and which these are."""
    from nsys_analyze.cli.selection import check_patterns
    from nsys_analyze.metrics.patterns import matches

    if request.stage:
        check_patterns(analyses, request.stage)

        def asked_for(stage: Stage) -> bool:
            return any(matches(pattern, stage.path, stage.domains) for pattern in request.stage)

        found = [[stage for stage in analysis.stages if asked_for(stage)] for analysis in analyses]
        return _with_stages(analyses, found), "Stages: those asked for, each with all that is inside."
    return _by_default(analyses)


def _by_default(analyses: Sequence[Analysis]) -> tuple[list[Analysis], str]:
    """The loops of the page; the top level where no report has one."""
    from nsys_analyze.metrics.loops import main_loops

    loops = [main_loops(analysis.stages, _LOOPS) for analysis in analyses]
    if any(loops):
        return _with_stages(analyses, loops), "Stages: the loops with most GPU time; --stage PATTERN lists others."
    if not any(analysis.stages for analysis in analyses):
        return list(analyses), "Stages: none, as there are no ranges; each program as a whole."
    top_level = [[stage for stage in analysis.stages if len(stage.path) == 1] for analysis in analyses]
    return _with_stages(
        analyses, top_level
    ), "Stages: the top level, as there is no loop; --stage PATTERN lists others."


def _with_stages(analyses: Sequence[Analysis], stages: Sequence[list[Stage]]) -> list[Analysis]:
    return [replace(analysis, stages=some) for analysis, some in zip(analyses, stages, strict=True)]


def _kernels(report: Report, analysis: Analysis, request: Request, kind: str) -> KernelAnalysis:
    """The stages' operations, with the rows in the order and number asked for."""
    from nsys_analyze.cli.selection import ordered
    from nsys_analyze.views.columns import KERNEL

    orders = [name for name in KERNEL if name != "kind"]
    top = request.top if request.top is not None or kind in ("json", "csv") else _ROWS
    found = report.kernel_analysis(analysis, request.by, outside=not request.stage)
    stages = [
        replace(stage, rows=ordered(stage.rows, KERNEL, orders, request.sort)[: top or None]) for stage in found.stages
    ]
    return replace(found, stages=stages)


def _drawn(
    analyses: Sequence[Analysis], found: Sequence[KernelAnalysis], chosen: str, kind: str, request: Request
) -> str:
    if kind == "json":
        from nsys_analyze.views import json_view

        return json_view.render_kernels(found)
    if kind == "csv":
        from nsys_analyze.views import csv_view
        from nsys_analyze.views.flat_rows import kernel_rows

        return csv_view.render(kernel_rows(found))
    from nsys_analyze.views import kernel_tables, markdown_view, table_view

    document = kernel_tables.compose([_with_warnings(analysis) for analysis in analyses], found, chosen)
    if kind == "md":
        return markdown_view.draw(document)
    return table_view.draw(document, output.columns(request.output), output.wants_colour(request.output))


def _with_warnings(analysis: Analysis) -> Analysis:
    """The analysis without its notes, which are about stages as a whole."""
    return replace(analysis, warnings=[each for each in analysis.warnings if each.level == "warning"])
