"""The verb ``run``: profiles any program and says what its stages cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from nsys_analyze.cli.options import Reading, debug_option, output_options, progress, reading_options
from nsys_analyze.cli.report import SUFFIXES, Request
from nsys_analyze.cli.report import run as report
from nsys_analyze.errors import UsageError

_EPILOG = """\b
Examples:
  nsys-analyze run -- python train.py
  nsys-analyze run --report train.nsys-rep -o train.json -- python train.py --epochs 1
  nsys-analyze run --window -- python serve.py          between cudaProfilerStart and Stop
  nsys-analyze run --nsys-option=--gpu-metrics-devices=all -- ./program

What the program writes goes to standard error; results go to standard output. The report stays, and so does its export:
read them again with nsys-analyze train.sqlite.

Exit codes: 0 fine, 2 bad usage or a program that failed, 130 interrupted."""


@click.command(epilog=_EPILOG, short_help="Profiles any program, and says what its stages cost.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- PROGRAM [ARGUMENT]...")
@click.option("--report", "target", metavar="FILE", help="The report to make.  [default: the program's name.nsys-rep]")
@click.option("--overwrite", is_flag=True, help="Write over an earlier report of that name.")
@click.option("--window", is_flag=True, help="Capture only from cudaProfilerStart to cudaProfilerStop.")
@click.option("--no-cuda", is_flag=True, help="Trace NVTX ranges alone, where there is no CUDA.")
@click.option(
    "--nsys-option",
    "nsys_options",
    metavar="OPTION",
    multiple=True,
    help="One more for nsys profile; it takes the place of one of ours. Repeatable.",
)
@output_options(SUFFIXES)
@click.option("--stage", metavar="PATTERN", multiple=True, help="Only stages that match, and those below. Repeatable.")
@click.option("--breakdown", is_flag=True, help="Say where the time of each listed stage went.")
@reading_options
@debug_option
def run(**options: Any) -> None:
    """Profiles PROGRAM with nsys and flags that suit these numbers, exports the report, and analyses it."""
    reading = Reading.taken(options)
    made = _report_path(options["target"], options["command"], overwrite=options["overwrite"])
    code, export = _profiled(options, made)
    report(
        Request(
            reports=(str(export),),
            format=options["format"],
            output=options["output"],
            stage=options["stage"],
            reading=reading,
            breakdown=options["breakdown"],
            debug=options["debug"],
        )
    )
    if code:
        raise UsageError(f"{options['command'][0]}: ended with exit code {code}; its report is {made}")


def _profiled(options: dict[str, Any], made: Path) -> tuple[int, Path]:
    """Runs the program under nsys; returns its exit code and the path of the exported report."""
    from nsys_analyze.driver.capture import capture_program
    from nsys_analyze.driver.profiling import Profiler, find_nsys
    from nsys_analyze.ingest.nsys import export_report

    nsys, version = find_nsys()
    profiler = Profiler(
        nsys=nsys,
        version=version,
        cuda=not options["no_cuda"],
        window=options["window"],
        export=False,
        options=options["nsys_options"],
    )
    code = capture_program(options["command"], made, profiler)
    with progress(f"exporting {made}"):
        return code, export_report(made, made.parent)


def _report_path(target: str | None, command: tuple[str, ...], *, overwrite: bool) -> Path:
    """Where the report goes: as asked for, else named after the script or program, in the working folder."""
    if target is None:
        scripts = [word for word in command[1:] if word.endswith(".py")]
        path = Path(f"{Path(scripts[0] if scripts else command[0]).stem}.nsys-rep")
    else:
        path = Path(target)
        if path.suffix != ".nsys-rep":
            raise UsageError(f"--report {target}: the name ends in .nsys-rep")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}; make it first")
    for each in (path, path.with_suffix(".sqlite")):
        if each.exists() and not overwrite:
            raise UsageError(f"{each}: exists; --overwrite replaces it, --report names another")
    return path
