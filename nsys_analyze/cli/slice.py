"""The verb ``slice``: a part of a report, or a redacted one, as a report of its own."""

from __future__ import annotations

import contextlib
import lzma
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

import click

from nsys_analyze.cli import output
from nsys_analyze.cli.options import Reading, progress, read, requested
from nsys_analyze.cli.trace import parse_window
from nsys_analyze.errors import ReportError, UsageError
from nsys_analyze.temporary import temporary_folder

if TYPE_CHECKING:
    from nsys_analyze.report import Report
    from nsys_analyze.slicing import Slice
    from nsys_analyze.store.redaction import Removed

SUFFIXES = (".sqlite", ".sqlite.xz")
_COPY_BYTES = 1 << 20

_EPILOG = """\b
Examples:
  nsys-analyze slice big.sqlite small.sqlite --stage steady
  nsys-analyze slice big.nsys-rep small.sqlite --window 12.3s:12.4s
  nsys-analyze slice report.sqlite share.sqlite.xz --redact
  nsys-analyze slice big.sqlite share.sqlite.xz --stage steady/step --redact=names

A stage PATTERN is one of the verb report. The numbers of the stages that it matches, and of those below, are the same
in the slice, whatever the attribution; but for cold start, which the slice only knows of itself. Ranges around them are
kept so that the stages keep their place, and hold only what is in the slice.

A window has a start and an end on the report's clock, either of which may be left out; a bare number is seconds. What
lies in it as a whole has the same numbers.

--redact leaves out environment variables, command line, host, user, paths, other processes, messages, samples' names
and every table and column that is not known to be harmless; what was removed is listed on standard error. What the
numbers need stays: GPUs, driver, versions, capture settings, the program's base name, and those variables that
`compare` shows. --redact=names also replaces the names of ranges, domains and kernels by labels, and keeps those of
compilers' ranges and of kernels that communicate."""


class _Command(click.Command):
    """Takes ``--redact`` without a value wherever it stands."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(context, ["--redact=machine" if word == "--redact" else word for word in args])


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line, an attribute an option."""

    report: str
    target: str
    stage: tuple[str, ...]
    window: str | None
    redact: Literal["machine", "names"] | None
    reading: Reading
    debug: bool


@click.command(cls=_Command, epilog=_EPILOG, short_help="Writes a part of a report, or a redacted one, to share.")
@click.argument("report", metavar="REPORT")
@click.argument("target", metavar="OUT.sqlite")
@click.option("--stage", metavar="PATTERN", multiple=True, help="Only stages that match, and those below. Repeatable.")
@click.option("--window", metavar="START:END", help="Only what overlaps this time, such as 12.3s:12.4s.")
@click.option(
    "--redact",
    metavar="[=names]",
    type=click.Choice(["machine", "names"]),
    help="Leave out what tells of machine, user and program; with =names, names of ranges and kernels too.",
)
@requested(Request)
def slice(request: Request) -> None:  # noqa: A001 - the verb's name
    """Writes a part of a report, or a redacted one, as a SQLite export of its own, to OUT.sqlite or OUT.sqlite.xz.

    REPORT is what Nsight Systems writes or exports; it stays as it is. Without --stage and --window, all of it is
    written.
    """
    if not request.target.lower().endswith(SUFFIXES):
        raise UsageError(f"{request.target}: a slice's suffix is {' or '.join(SUFFIXES)}")
    output.check_target(request.target, [request.report], "the report", "slice")
    from nsys_analyze.ingest.locate import located
    from nsys_analyze.slicing import Slice, write_slice_of

    window = None if request.window is None else parse_window(request.window)
    wanted = Slice(stages=request.stage, window=window, redact=request.redact)
    if Path(request.report).is_dir():
        raise UsageError(f"{request.report}: a folder; a slice is cut from the SQLite export or the .nsys-rep")
    with temporary_folder() as folder:
        made = folder / "slice.sqlite"
        with located(request.report) as export:
            report = _read(request, export)
            with progress(f"cutting {request.report}"):
                removed = write_slice_of(report, export, made, wanted, request.report, request.reading.fold)
        if removed is None:
            raise UsageError(_nothing(request, wanted, report))
        with progress(f"writing {request.target}"), made.open("rb") as file, _writing(request.target) as target:
            shutil.copyfileobj(file, target, _COPY_BYTES)
    if request.redact:
        click.echo(_account(request.target, removed), err=True)


def _read(request: Request, export: Path) -> Report:
    """Reads the export behind the report, and checks that the stages asked for are in it."""
    from nsys_analyze.cli.selection import check_patterns

    try:
        report = read(str(export), request.reading)
    except ReportError as error:
        raise ReportError(str(error).replace(str(export), request.report)) from error
    if request.stage:
        with progress(f"analysing {request.report}"):
            check_patterns([report.analysis()], request.stage)
    return report


def _nothing(request: Request, wanted: Slice, report: Report) -> str:
    asked = f"--window {request.window}" if wanted.window is not None else f"--stage {', '.join(request.stage)}"
    first, last = report.trace.start / 1e9, report.trace.end / 1e9
    within = " of these stages" if wanted.window is not None and wanted.stages else ""
    return f"{asked}: nothing{within} lies in it; the report goes from {first:.6f}s to {last:.6f}s"


def _account(target: str, removed: Sequence[Removed]) -> str:
    """Says what was removed, a line a column."""
    from nsys_analyze.views.text import visible

    lines = [f"{target}: redacted; this was left out or replaced:"]
    for each in removed:
        name = each.table if each.column is None else f"{each.table}.{each.column}"
        unit = ("row" if each.column is None else "value") + ("" if each.count == 1 else "s")
        lines.append(f"  {each.count:>9,} {unit:<6}  {visible(name)}")
    return "\n".join(lines)


@contextlib.contextmanager
def _writing(target: str) -> Iterator[BinaryIO]:
    with output.writing(target) as file:
        if not target.endswith(".xz"):
            yield file
            return
        with lzma.open(file, "wb") as packed:
            yield cast("BinaryIO", packed)
