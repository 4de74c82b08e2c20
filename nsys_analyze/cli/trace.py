"""The verb ``trace``: a report as a picture to move about in."""

from __future__ import annotations

import contextlib
import gzip
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from nsys_analyze.cli import output
from nsys_analyze.cli.options import Reading, progress, read, requested
from nsys_analyze.durations import parse_duration
from nsys_analyze.errors import UsageError

if TYPE_CHECKING:
    from nsys_analyze.metrics.excerpt import Window

SUFFIXES = (".pftrace", ".pftrace.gz")
_MANY = 1_000_000  # events: more than that load slowly
_LEVEL = 4  # of gzip

_EPILOG = """\b
Examples:
  nsys-analyze trace report.sqlite -o t.pftrace
  nsys-analyze trace report.sqlite -o t.pftrace.gz --stage steady/step
  nsys-analyze trace report.sqlite -o t.pftrace --window 12.3s:12.4s
  nsys-analyze trace report.sqlite -o t.pftrace --window 250ms:

Open the file at https://ui.perfetto.dev, or drop it there: it stays in the browser, nothing is uploaded.

A stage PATTERN is one of the verb report. The instances of the stages it matches are drawn with what lies below them,
the CUDA calls made meanwhile on their threads and the GPU operations that belong to them.

A window has a start and an end on the report's clock, either of which may be left out; a bare number is seconds. What
overlaps it is drawn, and drawn whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line, an attribute an option."""

    report: str
    output: str
    stage: tuple[str, ...]
    window: str | None
    reading: Reading
    debug: bool


@click.command(epilog=_EPILOG, short_help="Draws ranges, CUDA calls and GPU work for ui.perfetto.dev.")
@click.argument("report", metavar="REPORT")
@click.option(
    "-o", "--output", metavar="FILE", required=True, help=f"Write to FILE, whose suffix is {' or '.join(SUFFIXES)}."
)
@click.option("--stage", metavar="PATTERN", multiple=True, help="Only stages that match, and those below. Repeatable.")
@click.option("--window", metavar="START:END", help="Only what overlaps this time, such as 12.3s:12.4s.")
@requested(Request)
def trace(request: Request) -> None:
    """Draws ranges, CUDA calls and GPU operations as a trace that ui.perfetto.dev opens.

    REPORT is what Nsight Systems writes or exports.
    """
    _check_output(request)
    window = parse_window(request.window)
    from nsys_analyze.cli.selection import check_patterns
    from nsys_analyze.metrics.excerpt import excerpt
    from nsys_analyze.views import trace_view

    report = read(request.report, request.reading)
    with progress(f"analysing {request.report}"):
        analysis = report.analysis()
        check_patterns([analysis], request.stage)
        kept = excerpt(report, request.stage, window)
    if request.window is not None and not (kept.ranges.any() or kept.calls.any() or kept.ops.any()):
        first, last = report.trace.start / 1e9, report.trace.end / 1e9
        raise UsageError(
            f"--window {request.window}: nothing lies in it; the report goes from {first:.6f}s to {last:.6f}s"
        )
    with progress(f"writing {request.output}"), _writing(request.output) as file:
        asked = {"stage": ", ".join(request.stage), "window": request.window}
        rendered = trace_view.render(report, analysis, kept, {name: text for name, text in asked.items() if text})
        for piece in rendered.pieces:
            file.write(piece)
    if rendered.events > _MANY:
        click.echo(
            f"{request.output}: {rendered.events:,} slices and counter values; --window or --stage makes a trace that"
            " opens faster",
            err=True,
        )


def parse_window(text: str | None) -> Window:
    """Reads ``12.3s:12.4s``, ``250ms:`` or ``:3``.

    Raises:
        UsageError: If it is none, or ends before it starts.
    """
    from nsys_analyze.metrics.excerpt import Window

    if text is None:
        return Window()
    start, colon, end = text.partition(":")
    if not colon or not (start.strip() or end.strip()):
        raise UsageError(f"--window {text}: write START:END, such as 12.3s:12.4s; one of them may be left out")
    window = Window(start=_instant(start), end=_instant(end))
    if window.start is not None and window.end is not None and window.end <= window.start:
        raise UsageError(f"--window {text}: ends before it starts")
    return window


def _instant(text: str) -> int | None:
    """An instant in ns, None for nothing; a bare number is seconds, and one before the report's zero has a minus."""
    size = text.strip().removeprefix("-")
    if not size:
        return None
    instant = parse_duration(f"{size}s" if size[-1].isdecimal() or size[-1] == "." else size)
    return -instant if text.strip().startswith("-") else instant


def _check_output(request: Request) -> None:
    if request.output == "-":
        if output.is_terminal(sys.stdout):
            raise UsageError("a trace is no text for a terminal; name a file, such as -o t.pftrace")
        return
    if not request.output.lower().endswith(SUFFIXES):
        raise UsageError(f"{request.output}: a trace's suffix is {' or '.join(SUFFIXES)}")
    output.check_target(request.output, [request.report])


@contextlib.contextmanager
def _writing(target: str) -> Iterator[BinaryIO]:
    with output.writing(target) as file:
        if not target.lower().endswith(".gz"):
            yield file
            return
        with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
            yield cast("BinaryIO", packed)
