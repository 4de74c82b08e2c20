"""The verb ``doctor``: what a report, or this machine, can and cannot answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from nsys_analyze.cli import output
from nsys_analyze.cli.options import debug_option, destination, output_options, progress

if TYPE_CHECKING:
    from nsys_analyze.doctor import Diagnosis

SUFFIXES = {".txt": "table", ".json": "json", ".md": "md"}
HEALTHY, UNHEALTHY, UNREADABLE = 0, 1, 2

_EPILOG = """\b
Examples:
  nsys-analyze doctor report.sqlite             what can be answered, and which flags of nsys would answer more
  nsys-analyze doctor *.sqlite --format json    the same of several, for a script
  nsys-analyze doctor                           what this machine has to capture with

Exit codes: 0 stages, startup gaps and launch overhead can be told (this machine: nsys and a driver are there), 1 they
cannot, 2 not readable or bad usage, 130 interrupted."""


@click.command(epilog=_EPILOG, short_help="Says what a report can and cannot answer, and what would help.")
@click.argument("reports", metavar="[REPORT]...", nargs=-1)
@output_options(SUFFIXES)
@debug_option
def doctor(reports: tuple[str, ...], **options: Any) -> None:
    """Says what can and cannot be answered from each REPORT, and with which flags nsys would have recorded it.

    Without a REPORT it looks at this machine: whether nsys, the driver and packages are there and fit together.
    """
    target = options["output"]
    chosen = destination(options["format"], target, SUFFIXES, reports)
    with progress("examining"):
        from nsys_analyze.doctor import examine, examine_machine

        diagnoses = [examine(path) for path in reports] or [examine_machine()]
    output.write(_drawn(diagnoses, chosen, target), target)
    raise click.exceptions.Exit(max(map(_code, diagnoses)))


def _code(diagnosis: Diagnosis) -> int:
    if not diagnosis.readable:
        return UNREADABLE
    return HEALTHY if diagnosis.healthy else UNHEALTHY


def _drawn(diagnoses: Sequence[Diagnosis], kind: str, target: str | None) -> str:
    from nsys_analyze.views import doctor_view

    if kind == "json":
        return doctor_view.render_json(diagnoses)
    if kind == "md":
        return doctor_view.render_markdown(diagnoses)
    return doctor_view.render(diagnoses, output.columns(target))
