"""The verb ``capture``: runs an instrumented workload under one or several executors, unprofiled and profiled."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nsys_analyze.cli.options import debug_option, progress
from nsys_analyze.cli.summary import Reader, summarise
from nsys_analyze.driver.request import DTYPES, PARALLEL, WINDOW_STAGES
from nsys_analyze.errors import NsysAnalyzeError, UsageError

if TYPE_CHECKING:
    from nsys_analyze.driver.capture import Capture
    from nsys_analyze.driver.cases import Case

_EPILOG = """\b
Examples:
  nsys-analyze capture llama --executor eager --executor inductor -o out
  nsys-analyze capture vit --train --executor eager --executor inductor -o out
  nsys-analyze capture vit --executor eager --sweep batch=1,4,8,16 -o out
  nsys-analyze capture llama --executor thunder_nvfuser --env PYTORCH_NVFUSER_DISABLE=fma -o out
  nsys-analyze capture llama --ranks 2 --parallel fsdp --from steady -o out
  nsys-analyze capture my_package.models:small --executor inductor -o out
  nsys-analyze capture mlp --device cpu --executor eager -o out      where there is no GPU

WORKLOAD is llama (one decoder layer of Llama 3.2 1B), vit (ViT-B/16), mlp (tiny), a model of timm, or module:function.
Each runs through the stages import, build, compile, warmup and steady, with numbered steps in steady.

Executors: eager, torchscript, aot_eager, inductor, cudagraphs, cudagraph_raw, thunder, thunder_nvfuser, and those that
other packages add through the entry point group nsys_analyze.executors.

A case runs twice: unprofiled, for its time a step and to compare its results with eager mode's, and under nsys. OUT
gets for each case the report (.sqlite) without what tells of machine and user, its results (.json), and a record of
both runs (.case.json); a failed one leaves its log as it is. Cases that were captured before, with the same settings,
are not captured again; where none is left to capture, nsys is not needed. At the end all are compared with the first
executor, as `nsys-analyze summary OUT` does: a table, OUT/comparison.md, comparison.json and pictures.

Exit codes: 0 fine, 2 bad usage or a failed case, 130 interrupted."""


@click.command(epilog=_EPILOG, short_help="Runs a workload under executors, and captures reports of it.")
@click.argument("workload")
@click.option("-o", "--output", "folder", metavar="OUT", required=True, help="The folder for reports and records.")
@click.option("--executor", "executors", metavar="NAME", multiple=True, help="Repeatable.  [default: eager]")
@click.option(
    "--sweep", "sweeps", metavar="NAME=N,...", multiple=True, help="A case for each size: batch=1,4. Repeatable."
)
@click.option(
    "--env", "environments", metavar="NAME=VALUE", multiple=True, help="A case more, with this set. Repeatable."
)
@click.option("--device", type=click.Choice(["cuda", "cpu"]), default="cuda", show_default=True, help="Where it runs.")
@click.option("--dtype", type=click.Choice(DTYPES), default="bf16", show_default=True, help="Of weights and inputs.")
@click.option("--train", is_flag=True, help="Steps are forward, backward and optimizer.")
@click.option("--steps", type=click.IntRange(min=2), default=10, show_default=True, help="Steps that are profiled.")
@click.option("--warmup", type=click.IntRange(min=0), default=3, show_default=True, help="Steps before those.")
@click.option(
    "--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Times to time the steps, unprofiled."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of weights and inputs.")
@click.option("--ops", metavar="PATTERN", help="Ranges around operations of that name: 'linear|nvFusion*'.")
@click.option(
    "--region", "regions", metavar="REGION", multiple=True, help="A range around a module's path or FIRST..LAST."
)
@click.option(
    "--compile-phases/--no-compile-phases",
    default=True,
    show_default=True,
    help="Ranges for the phases of torch.compile, while it compiles.",
)
@click.option("--from", "window", type=click.Choice(WINDOW_STAGES), help="Capture from this stage on.")
@click.option(
    "--from-rank", "window_rank", type=click.IntRange(min=0), metavar="N", help="Rank that begins it.  [default: all]"
)
@click.option("--ranks", type=click.IntRange(min=1), default=1, show_default=True, help="Processes, with torchrun.")
@click.option("--parallel", type=click.Choice(PARALLEL), help="How several ranks share the model.  [default: fsdp]")
@click.option("--report-per-rank", is_flag=True, help="A report for each rank, not one for all.")
@click.option(
    "--cache",
    type=click.Choice(["cold", "warm", "user"]),
    default="cold",
    show_default=True,
    help="What compilers find cached: nothing, what a run before left, or what your own caches hold.",
)
@click.option(
    "--redact",
    "redaction",
    type=click.Choice(["machine", "names", "none"]),
    default="machine",
    show_default=True,
    help="What to leave out of reports, as `slice --redact` does.",
)
@click.option("--keep-rep", is_flag=True, help="Keep the .nsys-rep, too, in which nothing is redacted.")
@click.option("--check/--no-check", default=True, show_default=True, help="Compare results with eager mode's.")
@click.option("--again", is_flag=True, help="Capture finished cases, too.")
@click.option("--timeout", type=click.FloatRange(min=0), metavar="S", help="Seconds that one process may take.")
@click.option("--python", metavar="PROGRAM", help="Interpreter for the workload.  [default: this one]")
@click.option(
    "--nsys-option",
    "nsys_options",
    metavar="OPTION",
    multiple=True,
    help="One more for nsys profile; it takes the place of one of ours. Repeatable.",
)
@debug_option
def capture(**options: Any) -> None:
    """Runs WORKLOAD under each executor, unprofiled and under nsys, and compares them."""
    from nsys_analyze.driver.records import read_records

    folder = Path(options["folder"])
    cases, capturing = _cases(options), _capturing(options, folder)
    reader = Reader(folder)
    failures = _captured(cases, capturing, reader, options)
    records = {record["name"]: record for record in read_records(folder)}
    summarise(reader, [records[case.name] for case in cases if case.name in records])
    if failures:
        raise UsageError(f"{len(failures)} of {len(cases)} cases failed: {', '.join(failures)}")


def _cases(options: dict[str, Any]) -> list[Case]:
    from nsys_analyze.driver.cases import Case, matrix
    from nsys_analyze.driver.request import Request

    several = options["ranks"] > 1
    if not several and (options["parallel"] or options["report_per_rank"] or options["window_rank"] is not None):
        raise UsageError("--parallel, --report-per-rank and --from-rank need several --ranks")
    if options["window_rank"] is not None and options["window"] is None:
        raise UsageError("--from-rank needs --from")
    named = ("workload", "device", "dtype", "train", "steps", "warmup", "repeats", "seed", "check", "compile_phases")
    request = Request(
        **{name: options[name] for name in (*named, "ops", "regions", "window", "window_rank")},
        parallel=(options["parallel"] or "fsdp") if several else None,
    )
    first = Case(
        request=request, ranks=options["ranks"], report_per_rank=options["report_per_rank"], cache=options["cache"]
    )
    return matrix(first, options["executors"] or ("eager",), options["sweeps"], options["environments"])


def _capturing(options: dict[str, Any], folder: Path) -> Capture:
    """Where and how cases are captured, but for the programs that do it: nothing may be left to capture."""
    from nsys_analyze.driver.capture import Capture
    from nsys_analyze.driver.profiling import Profiler

    profiler = Profiler(
        cuda=options["device"] == "cuda", window=options["window"] is not None, options=options["nsys_options"]
    )
    return Capture(
        folder=folder.absolute(),
        python="",
        profiler=profiler,
        redaction=options["redaction"],
        keep_report=options["keep_rep"],
        timeout=options["timeout"],
    )


def _equipped(capturing: Capture, python: str | None) -> Capture:
    """The same with nsys, an interpreter and a folder that is there."""
    from nsys_analyze.driver.profiling import find_nsys, interpreter

    nsys, version = find_nsys()
    if capturing.redaction != "none":
        _check_redacting()
    profiler, found = replace(capturing.profiler, nsys=nsys, version=version), interpreter(python)
    try:
        capturing.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{capturing.folder}: cannot be made ({error.strerror})") from error
    return replace(capturing, python=found, profiler=profiler)


def _check_redacting() -> None:
    """Refuses to capture what could not be redacted afterwards."""
    try:
        import nsys_analyze.report
        import nsys_analyze.slicing  # noqa: F401
    except ImportError as error:
        raise UsageError(f"reports cannot be redacted here: {error}; --redact none leaves them as they are") from error


def _captured(cases: Sequence[Case], capturing: Capture, reader: Reader, options: dict[str, Any]) -> list[str]:
    """Captures the cases one after another, tells about each, and returns the names of those that failed."""
    failures = []
    before = set() if options["again"] else {case.name for case in cases if capturing.is_finished(case)}
    if len(before) < len(cases):
        capturing = _equipped(capturing, options["python"])
    for number, case in enumerate(cases, 1):
        place = f"{number}/{len(cases)} {case.name}"
        if case.name in before:
            click.echo(f"{place}: captured before", err=True)
            continue
        begin = time.monotonic()
        try:
            with progress(f"capturing {place}"):
                record = capturing.run(case)
        except NsysAnalyzeError as error:
            failures.append(case.name)
            click.echo(f"{place}: failed: {error}", err=True)
        else:
            click.echo(f"{place}: captured in {time.monotonic() - begin:.0f} s", err=True)
            reader.read(record)
    return failures
