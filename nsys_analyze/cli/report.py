"""The verb ``report``: what each stage of one or several reports cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import click

from nsys_analyze.cli import drawing, output, pictures
from nsys_analyze.cli.options import Reading, destination, output_options, progress, read, requested
from nsys_analyze.cli.unprofiled import applied, parsed, unprofiled_option
from nsys_analyze.errors import UsageError

if TYPE_CHECKING:
    from nsys_analyze.cli.selection import Selection
    from nsys_analyze.metrics.rank_clocks import Align
    from nsys_analyze.metrics.results import Analysis, KernelAnalysis, RankedProgram
    from nsys_analyze.report import Report

SUFFIXES = {
    ".txt": "table",
    ".json": "json",
    ".csv": "csv",
    ".md": "md",
    ".html": "html",
    ".parquet": "parquet",
}
_EVERY_SUFFIX = SUFFIXES | pictures.SUFFIXES

_EPILOG = """\b
Examples:
  nsys-analyze report.sqlite
  nsys-analyze report.sqlite --stage 'steady/step'
  nsys-analyze report.sqlite --stage compile --depth 1 --breakdown
  nsys-analyze report.sqlite --by instance --stage step --sort gap --top 5
  nsys-analyze eager.sqlite inductor.sqlite -o both.md
  nsys-analyze report_pqtdir/ -o report.html
  nsys-analyze report.sqlite -o steps.csv --columns path,instances,pace_ns,startup_gap_exposed_median_ns
  nsys-analyze rank0.sqlite rank1.sqlite --merge-ranks
  nsys-analyze report.sqlite --unprofiled steady/step=0.71ms
  nsys-analyze report.sqlite -o report.png
  nsys-analyze report.sqlite -o step.svg --plot timeline --stage steady/step --instance 3

A stage PATTERN names the end of a path, element by element: step and steady/step both match the stage "steady / step",
and what lies below a matched stage comes with it (--depth 1: without). * stands for any characters and ? for one;
nothing else is special. name@domain asks for an NVTX domain too. A name may hold / itself: every way to split the
pattern is tried.

\b
Plots, with -o FILE.png, FILE.svg or FILE.pdf; of several reports, the main loop of each unless --stage names another:
  breakdown  where the time of each stage went: the host's beside each GPU's (the default)
  startup    from a range's start to its first GPU operation: prelude, launch, queue; hidden and exposed
  series     every instance: elapsed time with the first one and stalls marked, the startup gap below
  launches   how long launch calls took, first launches apart
  timeline   one instance: ranges, calls, streams, idle times
  sweep      executors against a parameter; the reports are named like eager_batch=4.sqlite, the first is the baseline

Compile rules tell ranges in which a compiler works. Their FILE is TOML, with a table for each rule; the pattern, a
regular expression, must match a whole range name. Rules of the file go before those that come with the package.

\b
  [[rule]]
  tool = "my compiler"
  phase = "codegen"    # or trace, segment, lower, compile, load, autotune, other
  pattern = "emit_\\w+"
  module = true        # may be left out: one match is one compiled module

Exit codes: 0 fine, 2 bad usage or input, 130 interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line, an attribute an option."""

    reports: tuple[str, ...]
    format: str | None = None
    output: str | None = None
    stage: tuple[str, ...] = ()
    by: Literal["path", "name", "instance"] = "path"
    depth: int | None = None
    top: int | None = None
    sort: str | None = None
    columns: str | None = None
    reading: Reading
    unprofiled: tuple[str, ...] = ()
    breakdown: bool = False
    merge_ranks: bool = False
    align: Align | None = None
    plot: str | None = None
    instance: int | None = None
    debug: bool = False

    @property
    def picture(self) -> pictures.Picture:
        """What of it is about pictures."""
        of_tables = {
            "--breakdown": self.breakdown,
            "--by": self.by != "path",
            "--sort": self.sort is not None,
            "--top": self.top is not None,
            "--merge-ranks": self.merge_ranks,
            "--unprofiled": bool(self.unprofiled),
            "--columns": self.columns is not None,
        }
        return pictures.Picture(
            plot=self.plot,
            stage=self.stage,
            depth=self.depth,
            instance=self.instance,
            of_tables=[option for option, given in of_tables.items() if given],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What there is to draw; ``ranks`` are those of all reports together, None unless asked for.

    ``kernels`` are those of each report, where the format shows them.
    """

    analyses: list[Analysis]
    ranks: list[RankedProgram] | None
    kernels: list[KernelAnalysis]


@click.command(epilog=_EPILOG, short_help="Says what every stage cost; the default verb.")
@click.argument("reports", metavar="REPORT...", nargs=-1, required=True)
@output_options(_EVERY_SUFFIX)
@click.option("--stage", metavar="PATTERN", multiple=True, help="Only stages that match, and those below. Repeatable.")
@click.option("--by", type=click.Choice(["path", "name", "instance"]), default="path", help="What a row stands for.")
@click.option(
    "--depth", type=click.IntRange(min=1), metavar="N", help="List N levels of stages, from the top or a match."
)
@click.option(
    "--top", type=click.IntRange(min=0), metavar="N", help=f"Rows of a table, 0 for all.  [default: {drawing.ROWS}]"
)
@click.option("--sort", metavar="COLUMN", help="Largest first: exposed, gap, wall, ... (a wrong one lists them all).")
@click.option(
    "--columns", metavar="A,B,...", help="Only these columns, in this order, as in csv's header; also n, pace, gap, ..."
)
@unprofiled_option
@click.option("--breakdown", is_flag=True, help="Say where the time of each listed stage went: host, GPUs, compiling.")
@click.option(
    "--merge-ranks", is_flag=True, help="Hold the ranks of a job against each other: processes that run one program."
)
@click.option(
    "--align",
    type=click.Choice(["auto", "wall", "iteration"]),
    help="With --merge-ranks, what puts several reports on one clock.  [default: auto]",
)
@click.option(
    "--plot", metavar="KIND", help=f"What a picture shows: {', '.join(pictures.KINDS)}.  [default: breakdown]"
)
@click.option(
    "--instance", type=click.IntRange(min=0), metavar="N", help="Of --plot timeline, from 0.  [default: the median one]"
)
@requested(Request)
def report(request: Request) -> None:
    """Says for each NVTX stage how long until its first GPU work, what each launch cost and what the GPU did.

    REPORT is what Nsight Systems writes or exports: a .nsys-rep, a .sqlite, also packed by xz, or the folder of a
    Parquet or Arrow export.
    """
    run(request)


def run(request: Request) -> None:
    """Reads the reports, selects, draws and writes.

    Raises:
        NsysAnalyzeError: If a report cannot be read, or the request does not fit it.
    """
    kind = destination(request.format, request.output, _EVERY_SUFFIX, request.reports)
    _check(request, kind)
    times = parsed(request.unprofiled)
    from nsys_analyze.cli.selection import Selection, select

    selection = Selection(
        patterns=request.stage,
        depth=request.depth,
        sort=request.sort,
        top=request.top if kind in ("json", "csv", "parquet") else None,
        instances=request.by == "instance",
    )
    if kind in pictures.SUFFIXES.values():
        opened = [_analyse(path, request, kind) for path in request.reports]
        chosen = select([analysis for _, analysis in opened], selection)
        picture = pictures.draw(request.picture, kind, [report for report, _ in opened], chosen)
        output.write(picture, request.output)
        return
    reports: list[Report] = []
    analyses = []
    for path in request.reports:
        opened_report, analysis = _analyse(path, request, kind)
        reports += [opened_report] if kind == "html" and request.by == "path" else []  # else its arrays can go
        analyses.append(analysis)
    analyses = applied(analyses, times)
    selected = select(analyses, selection)
    results = Results(
        analyses=selected,
        ranks=_ranks(analyses, selection, request.align or "auto") if request.merge_ranks else None,
        kernels=_kernels(reports, selected, request.top) if reports else [],
    )
    output.write(drawing.draw(kind, results, request), request.output)


def _kernels(reports: Sequence[Report], analyses: Sequence[Analysis], top: int | None) -> list[KernelAnalysis]:
    """The kernels of the stages that a page tells all about."""
    from nsys_analyze.views.html.page import detailed

    return [report.kernel_analysis(analysis) for report, analysis in zip(reports, detailed(analyses, top), strict=True)]


def _ranks(analyses: Sequence[Analysis], selection: Selection, align: Align) -> list[RankedProgram]:
    """The ranks that the reports hold, with the stages asked for.

    Raises:
        UsageError: If there is no program that several processes run.
    """
    from nsys_analyze.cli.selection import check_patterns, select_ranks
    from nsys_analyze.metrics.ranks import merge_ranks

    check_patterns(analyses, selection.patterns)
    programs = select_ranks(merge_ranks(analyses, align), selection)
    if not programs:
        raise UsageError(
            "--merge-ranks: no two processes of one name share a stage, so that there are no ranks to merge"
        )
    return programs


def _check(request: Request, kind: str) -> None:
    if request.output is not None and request.reading.compile_rules is not None:
        output.check_target(request.output, [request.reading.compile_rules], "the file of compile rules")
    if request.depth and request.by == "name":
        raise UsageError("--depth needs paths: it does not go with --by name")
    pictures.check(request.picture, kind, request.reports)
    _check_kind(request, kind)
    if request.breakdown:
        _check_breakdown(request, kind)
    if request.merge_ranks:
        _check_merge(request)
    elif request.align:
        raise UsageError("--align is of ranks: it goes with --merge-ranks")


def _check_kind(request: Request, kind: str) -> None:
    """Refuses what the format asked for has no place for."""
    if kind == "html" and (request.by == "instance" or request.sort):
        option = "--by instance" if request.by == "instance" else "--sort"
        raise UsageError(f"{option} does not go with html, whose page lists stages and sorts them by a click")
    if request.columns is None:
        return
    if kind in ("json", "html"):
        why = "whose fields are always the same" if kind == "json" else "whose page has them all"
        raise UsageError(f"--columns is for table, md, csv and parquet, not {kind}, {why}")
    if request.merge_ranks and kind in ("table", "md"):
        raise UsageError(f"--columns with --merge-ranks is for csv and parquet, not {kind}")


def _check_breakdown(request: Request, kind: str) -> None:
    if kind == "html":
        raise UsageError("--breakdown: the page of html has it anyway")
    if kind not in ("table", "md"):
        raise UsageError(f"--breakdown is for table and md, not {kind}: JSON has all of its numbers anyway")
    if request.by == "instance":
        raise UsageError("--breakdown is of stages: it does not go with --by instance")


def _check_merge(request: Request) -> None:
    if request.by == "instance":
        raise UsageError("--merge-ranks is of stages: it does not go with --by instance")
    if request.breakdown or request.sort:
        option = "--breakdown" if request.breakdown else "--sort"
        raise UsageError(f"{option} is of each process's stages: it does not go with --merge-ranks")


def _analyse(path: str, request: Request, kind: str) -> tuple[Report, Analysis]:
    report = read(path, request.reading)
    with progress(f"analysing {path}"):
        return report, report.analysis(
            by="name" if request.by == "name" else "path",
            instances=request.by == "instance",
            digest=kind == "json",
        )
