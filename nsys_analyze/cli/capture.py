"""The verb ``capture``: runs an instrumented workload under one or several executors, unprofiled and profiled."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nsys_analyze.cli import output
from nsys_analyze.cli.options import debug_option, progress
from nsys_analyze.driver.request import DTYPES, PARALLEL, WINDOW_STAGES
from nsys_analyze.errors import NsysAnalyzeError, UsageError

if TYPE_CHECKING:
    from nsys_analyze.driver.capture import Capture
    from nsys_analyze.driver.cases import Case
    from nsys_analyze.metrics.results import Stage

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
gets for each case the report (.nsys-rep and .sqlite) and a record of both runs (.case.json); a failed one leaves its
log. Cases that were captured before, with the same settings, are not captured again.

Exit codes: 0 fine, 2 bad usage or a failed case, 130 interrupted."""

_COLUMNS = (
    *("case", "step", "profiled", "CPU overhead", "profiled", "per kernel", "GPU active", "exposed", "compile"),
    *("kernels", "agrees"),
)
_NOTE = (
    "step, CPU overhead, per kernel, compile: without nsys; `profiled` is the same with it; the rest is from the report"
)


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
@click.option("--check/--no-check", default=True, show_default=True, help="Compare results with eager mode's.")
@click.option("--again", is_flag=True, help="Capture finished cases, too.")
@click.option("--timeout", type=click.FloatRange(min=0), metavar="S", help="Seconds that one process may take.")
@click.option("--python", metavar="PROGRAM", help="Interpreter for the workload.  [default: this one]")
@click.option(
    "--nsys-option", "nsys_options", metavar="OPTION", multiple=True, help="One more for nsys profile. Repeatable."
)
@debug_option
def capture(**options: Any) -> None:
    """Runs WORKLOAD under each executor, unprofiled and under nsys, and compares them."""
    folder = Path(options["folder"])
    cases, capturing = _cases(options), _capturing(options, folder)
    failures = _captured(cases, capturing, again=options["again"])
    output.write(summarise(folder, [case.name for case in cases]), None)
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
    from nsys_analyze.driver.capture import Capture
    from nsys_analyze.driver.profiling import Profiler, find_nsys, interpreter

    nsys, version = find_nsys()
    profiler = Profiler(
        nsys=nsys,
        version=version,
        cuda=options["device"] == "cuda",
        window=options["window"] is not None,
        options=options["nsys_options"],
    )
    python = interpreter(options["python"])
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made ({error.strerror})") from error
    return Capture(folder=folder.absolute(), python=python, profiler=profiler, timeout=options["timeout"])


def _captured(cases: Sequence[Case], capturing: Capture, *, again: bool) -> list[str]:
    """Captures the cases one after another, tells about each, and returns the names of those that failed."""
    failures = []
    for number, case in enumerate(cases, 1):
        place = f"{number}/{len(cases)} {case.name}"
        if not again and capturing.is_finished(case):
            click.echo(f"{place}: captured before", err=True)
            continue
        begin = time.monotonic()
        try:
            with progress(f"capturing {place}"):
                capturing.run(case)
        except NsysAnalyzeError as error:
            failures.append(case.name)
            click.echo(f"{place}: failed: {error}", err=True)
        else:
            click.echo(f"{place}: captured in {time.monotonic() - begin:.0f} s", err=True)
    return failures


def summarise(folder: Path, names: Sequence[str]) -> str:
    """Says what the cases of a folder cost. The one place that a comparison of executors and its plots plug into.

    Args:
        folder: Where `Capture` wrote.
        names: The cases to speak of, in this order; what was not captured is left out.
    """
    from nsys_analyze.driver.records import read_records

    records = {record["name"]: record for record in read_records(folder)}
    rows = [_row(folder, records[name]) for name in names if name in records]
    if not rows:
        return ""
    table = [_COLUMNS, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join((row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:]))).rstrip() for row in table]
    return "\n".join([*lines, _NOTE, ""])


def _row(folder: Path, record: dict[str, Any]) -> tuple[str, ...]:
    """The cells of a case; a dash is what its report cannot tell."""
    from nsys_analyze.views.units import duration

    unprofiled, profiled, agreement = record["unprofiled"], record["profiled"], record["unprofiled"]["agreement"]
    step = _step(folder / record["reports"][0], unprofiled["step_median_ns"])
    gap = step.startup_gap_ns if step else None
    times = (
        unprofiled["step_median_ns"],
        profiled["step_median_ns"] if step is None or step.pace_ns is None else step.pace_ns,
        step.unprofiled_cpu_overhead_ns if step else None,
        step.cpu_overhead_ns if step else None,
        step.unprofiled_overhead_per_kernel_ns if step else None,
        step.active_mean_ns if step else None,
        gap.exposed_median if gap else None,
        unprofiled["stages_ns"]["compile"],
    )
    return (
        record["name"],
        *("-" if time is None else duration(time) for time in times),
        "-" if step is None or step.kernels is None else f"{step.kernels / step.instances:g}",
        "-" if agreement is None else "yes" if agreement["agrees"] else "no",
    )


def _step(report: Path, unprofiled_ns: float) -> Stage | None:
    """The stage of the steps in a case's report, or None where the report cannot be read here, which is then told."""
    import nsys_analyze

    try:
        with progress(f"reading {report.name}"):
            analysis = nsys_analyze.open_report(report).analysis(unprofiled={"steady/step": round(unprofiled_ns)})
    except (NsysAnalyzeError, ImportError) as error:
        click.echo(f"{report.name}: cannot be analysed here: {error}", err=True)
        return None
    return next((stage for stage in analysis.stages if stage.name == "step"), None)
