"""The verb ``fleet``: many reports at once, on all cores or on a cluster, as one dataset with a summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nsys_analyze.cli import output
from nsys_analyze.cli.options import Reading, counting, debug_option, progress, reading_options, top_option
from nsys_analyze.errors import UsageError

if TYPE_CHECKING:
    from distributed import Client

    from nsys_analyze.fleet.folder import Entry, Folder
    from nsys_analyze.fleet.running import Progress

_SOME_FAILED = 1
ROWS = 20  # of what stands out, and of what failed

_EPILOG = """\b
Examples:
  nsys-analyze fleet 'runs/**/*.nsys-rep' -o out/
  nsys-analyze fleet runs/ -o out/ --workers 8 --memory 6GB       a folder: all reports in it and below
  nsys-analyze fleet runs/ -o out/ --stage steady/step            sum up this stage instead of the main ones
  nsys-analyze fleet 'runs/**/*.sqlite.xz' -o out/ --scheduler tcp://head:8786

The same command again goes on where it stopped: what was analysed in the same way, and has the same content, is not
analysed again; what failed is.

\b
OUT gets
  stages/             a Parquet dataset by day: a row a stage and report
  reports.parquet     a row a file, also of those that failed
  findings.parquet    reports, hosts, ranks and days beyond the fleet's median
  summary.md          the page that is printed

It takes Dask: pip install 'nsys-analyze[fleet]'. Workers of a cluster need this package in the same version, and see
the reports by the same paths; what they find is written from here.

Exit codes: 0 fine, 1 some reports failed and the rest is there, 2 bad usage or input, 130 interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line, an attribute an option."""

    reports: tuple[str, ...]
    output: str
    workers: int | None
    memory: str | None
    scheduler: str | None
    stage: tuple[str, ...]
    top: int
    reading: Reading
    debug: bool


@click.command(epilog=_EPILOG, short_help="Analyses many reports at once, into one dataset.")
@click.argument("reports", metavar="REPORT...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="OUT", required=True, help="The folder for results: new, or of an earlier run.")
@click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="Processes on this machine.  [default: one a core]"
)
@click.option("--memory", metavar="SIZE", help="What each of them may take, such as 4GB.  [default: its share]")
@click.option("--scheduler", metavar="ADDRESS", help="Use the Dask cluster at this address instead.")
@click.option("--stage", metavar="PATTERN", multiple=True, help="Sum up the stages that match. Repeatable.")
@top_option(ROWS, "Rows of what stands out")
@reading_options
@debug_option
@click.pass_context
def fleet(context: click.Context, /, **options: Any) -> None:
    """Analyses many reports, each a task of Dask, and says which reports, hosts, ranks or days stand out.

    REPORT is a report, a folder, or a pattern in quotes.
    """
    context.exit(run(Request(reading=Reading.taken(options), **options)))


def run(request: Request) -> int:
    """Finds the reports, analyses those that are new, sums up and writes; returns the exit code.

    Raises:
        NsysAnalyzeError: If nothing is found, the folder or the workers are not to be had, or an option does not fit.
    """
    if request.scheduler is not None and (request.workers or request.memory):
        raise UsageError("--workers and --memory are of this machine: they do not go with --scheduler")
    from nsys_analyze.fleet import closing
    from nsys_analyze.fleet.finding import find_reports
    from nsys_analyze.fleet.folder import opened
    from nsys_analyze.fleet.running import run as run_fleet

    with progress("looking for reports"):
        reports = find_reports(request.reports, Path(request.output))
    with opened(Path(request.output)) as folder:
        try:
            with counting("starting") as show:
                made = run_fleet(folder, reports, request.reading.arguments, _workers(request), partial(_tell, show))
        except KeyboardInterrupt:
            click.echo("stopped: what is finished is kept, the same command goes on", err=True)
            raise
        finally:
            closing.write_reports(folder)
        _close(folder, request)
    return _SOME_FAILED if made.failed else 0


def _workers(request: Request) -> Callable[[], AbstractContextManager[Client]]:
    from nsys_analyze.fleet import cluster

    if request.scheduler is not None:
        return partial(cluster.remote, request.scheduler)
    return lambda: cluster.local(request.workers or cluster.default_workers(), request.memory)


def _tell(show: Callable[[str], None], so_far: Progress, entry: Entry | None) -> None:
    """Shows how far it is, and at once what failed."""
    if entry is not None and entry.error is not None:
        click.echo(entry.error, err=True)
    counts = [f"{so_far.done + so_far.skipped:,} of {so_far.reports:,} reports"]
    counts += [f"{so_far.skipped:,} of them before"] if so_far.skipped else []
    counts += [f"{so_far.failed:,} failed"] if so_far.failed else []
    show(", ".join(counts))


def _close(folder: Folder, request: Request) -> None:
    """Sums up, writes and prints."""
    from nsys_analyze.fleet import closing
    from nsys_analyze.fleet.folder import put
    from nsys_analyze.views import fleet_page, markdown_view, table_view

    with progress("summing up"):
        summary = closing.summed(folder, request.stage)
        closing.write_findings(folder, summary.findings)
        page = fleet_page.compose(summary, _headline(list(folder.entries.values())), request.top)
        put(folder.path / "summary.md", markdown_view.draw(page).encode("utf-8"))
    output.write(table_view.draw(page, output.columns(None), output.wants_colour(None)), None)


def _headline(entries: Sequence[Entry]) -> Any:
    from nsys_analyze.views.fleet_page import Headline

    facts = [entry.facts for entry in entries if entry.facts]
    return Headline(
        files=[entry.file for entry in entries],
        failed=[(entry.file, entry.error or "") for entry in entries if entry.state == "failed"],
        hosts=len({each["host"] for each in facts if each["host"]}),
        days=sorted({each["date"] for each in facts if each["date"]}),
    )
