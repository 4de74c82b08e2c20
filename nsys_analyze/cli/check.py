"""The verb ``check``: whether reports keep their budgets, and are no slower than a baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click

from nsys_analyze.cli import output, saving
from nsys_analyze.cli.options import Reading, chosen_format, debug_option, progress, read, reading_options
from nsys_analyze.errors import UsageError

if TYPE_CHECKING:
    from nsys_analyze.metrics.results import Analysis
    from nsys_analyze.verdict.config import Config
    from nsys_analyze.verdict.records import ReportRecord
    from nsys_analyze.verdict.results import Verdict

SUFFIXES = {".txt": "table", ".json": "json", ".md": "md", ".xml": "junit"}
FORMATS = (*SUFFIXES.values(), "github")

_EPILOG = """\b
Examples:
  nsys-analyze check new/*.sqlite --baseline main/         several captures a side say more than one
  nsys-analyze check new.sqlite                            budgets and baseline of pyproject.toml
  nsys-analyze check main/ --write-baseline base.json      keep a baseline
  nsys-analyze check new/ --baseline base.json -o verdict.xml -o summary.md
  nsys-analyze check new/ --baseline base.json --format github
  nsys-analyze check same/*.sqlite --calibrate -o noise.toml
  nsys-analyze check main/ --save results.db --label main --commit 1a2b3c
  nsys-analyze check new/ --baseline history:main --history results.db

A baseline is a report, a folder of reports, a JSON result (--write-baseline, or report -o base.json), or history:LABEL:
the runs that --save keeps under a label in a database, from their last change on (nsys-analyze history shows them).

pyproject.toml (or nsys-analyze.toml, where the tables are [check], [[check.budget]] and [[check.accept]]):

\b
  [tool.nsys-analyze.check]
  baseline = "base.json"
  max_increase = "10%"       # a regression exceeds this
  ignore_below = "20 us"     # and this
  [[tool.nsys-analyze.check.budget]]
  stage = "steady/step"
  startup_gap_exposed = "50 us"
  kernels = 60

Exit codes: 0 passed, perhaps with warnings; 1 failed: regressed, over budget or missing; 2 bad usage, configuration or
input; 3 cannot tell: not comparable, or an invalid capture; with --strict also when too few captures leave it open.
1 outranks 3. 130 interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line, an attribute an option."""

    reports: tuple[str, ...]
    baseline: tuple[str, ...]
    config: str | None
    strict: bool
    format: str | None
    output: tuple[str, ...]
    verbose: bool
    write_baseline: str | None
    calibrate: bool
    dump_config: bool
    history: str | None
    save: str | None
    label: str | None
    commit: str | None
    reading: Reading
    debug: bool


@click.command(epilog=_EPILOG, short_help="Fails where reports break budgets or got slower.")
@click.argument("reports", metavar="REPORT...", nargs=-1)
@click.option(
    "--baseline", metavar="SOURCE", multiple=True, help="Compare with: a report, folder, JSON result or history:LABEL."
)
@click.option("--history", metavar="FILE", help="The database of history:LABEL.")
@click.option("--config", metavar="FILE", help="Budgets and margins.  [default: nearest pyproject.toml with some]")
@click.option("--strict", is_flag=True, help="Exit with 3 where too few captures leave a question open.")
@click.option("--format", type=click.Choice(FORMATS), help="How to print the verdict.  [default: table]")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    multiple=True,
    help=f"Write it to FILE, too; its suffix picks the format: {' '.join(SUFFIXES)}. Repeatable.",
)
@click.option("-v", "--verbose", is_flag=True, help="List every check, not only those that matter.")
@click.option("--write-baseline", metavar="FILE", help="Keep the reports' numbers as a baseline; check nothing.")
@click.option(
    "--calibrate",
    is_flag=True,
    help="Measure how much reports of the same code vary, as a file for `noise` in the configuration; check nothing.",
)
@click.option("--dump-config", is_flag=True, help="Print what applies, and where it was said; check nothing.")
@click.option("--save", metavar="FILE", help="Add the reports and their verdict to a database, which `history` reads.")
@click.option("--label", metavar="NAME", help="What --save calls the run, such as its branch.")
@click.option("--commit", metavar="ID", help="Which commit ran, for --save.")
@reading_options
@debug_option
@click.pass_context
def check(context: click.Context, /, **options: Any) -> None:
    """Says whether reports keep their budgets, and whether they are slower than a baseline.

    REPORT is what Nsight Systems writes or exports, a folder of such, or a JSON result. Give several captures of the
    same code: one cannot tell a change from the machine's mood.
    """
    context.exit(run(Request(reading=Reading.taken(options), **options)))


def run(request: Request) -> int:
    """Does what was asked for and returns the exit code.

    Raises:
        NsysAnalyzeError: If a report or the configuration cannot be read, or the request makes no sense.
    """
    _check_options(request)
    config = _config(request)
    if request.write_baseline is not None:
        return _write_baseline(request, config, request.write_baseline)
    if request.calibrate:
        return _calibrate(request, config)
    return _dump_config(request, config) if request.dump_config else _check(request, config)


def _check_options(request: Request) -> None:
    other = (request.write_baseline is not None, request.calibrate, request.dump_config)
    if sum(other) > 1:
        raise UsageError("--write-baseline, --calibrate and --dump-config exclude each other")
    if request.save is not None and any(other):
        raise UsageError("--save does not go with --write-baseline, --calibrate and --dump-config")
    if request.save is None and (request.label is not None or request.commit is not None):
        raise UsageError(f"{'--commit' if request.label is None else '--label'} is for --save")
    if not request.reports and not request.dump_config:
        raise UsageError("no reports; see nsys-analyze check --help")
    if len(request.baseline) > 1:
        raise UsageError("two baselines: put their reports into one folder, or into one result by --write-baseline")


def _config(request: Request) -> Config:
    from nsys_analyze.checking import configured

    config = configured(request.config)
    config = replace(config, strict=config.strict or request.strict)
    return replace(config, history=request.history or config.history)


def _check(request: Request, config: Config) -> int:
    formats = [chosen_format(None, target, SUFFIXES) for target in request.output]
    base_sources = _baseline(request, config)
    for target in request.output:
        output.check_target(target, [*request.reports, *base_sources])
    if request.save is not None:
        saving.check(request.save)
        base_sources = [] if saving.begins(request.save, request.label, base_sources, config) else base_sources
    from nsys_analyze.checking import records

    found = records(_analyses(request.reports, request))
    verdict = _verdict(found, base_sources, request, config)
    if verdict is not None:
        _write(verdict, formats, request)
    if request.save is not None:
        saving.save(request.save, found, verdict, label=request.label, commit=request.commit)
    return 0 if verdict is None else verdict.exit_code


def _verdict(
    found: Sequence[ReportRecord], base_sources: Sequence[str], request: Request, config: Config
) -> Verdict | None:
    """The verdict; None where there is nothing to check yet, and the reports are only to be saved."""
    from datetime import date

    from nsys_analyze import checking
    from nsys_analyze.verdict.samples import sample

    new = [sample(report, config.warmup) for report in found]
    if request.save is not None and not base_sources and not checking.has_limits(config):
        return None
    base = checking.baseline_samples(base_sources, new, config, _reader(request))
    with progress("comparing"):
        return checking.check_samples(new, base, config, date.today())


def _write(verdict: Verdict, formats: Sequence[str], request: Request) -> None:
    for target, kind in zip(request.output, formats, strict=True):
        output.write(_drawn(verdict, kind, request, target), target)
    try:
        output.write(_drawn(verdict, request.format or "table", request, None), None)
    except BrokenPipeError:
        output.forget_reader()  # what the verdict is does not depend on who reads it


def _baseline(request: Request, config: Config) -> Sequence[str]:
    return request.baseline or ([config.baseline] if config.baseline else [])


def _analyses(sources: Sequence[str], request: Request) -> list[tuple[str, Analysis]]:
    from nsys_analyze.checking import analyses

    return analyses(sources, _reader(request))


def _reader(request: Request) -> Callable[[str], Analysis]:
    return lambda path: read(path, request.reading).analysis()


def _drawn(verdict: Verdict, kind: str, request: Request, target: str | None) -> str | bytes:
    from nsys_analyze.views import verdict_github, verdict_json, verdict_junit, verdict_markdown, verdict_table

    if kind == "table":
        colour = output.wants_colour(target)
        columns = output.columns(target)
        return verdict_table.render(verdict, columns=columns, colour=colour, everything=request.verbose)
    draw: dict[str, Callable[[Verdict], str | bytes]] = {
        "json": verdict_json.render,
        "md": verdict_markdown.render,
        "junit": verdict_junit.render,
        "github": verdict_github.render,
    }
    return draw[kind](verdict)


def _write_baseline(request: Request, config: Config, target: str) -> int:
    from nsys_analyze.checking import samples
    from nsys_analyze.verdict.comparable import broken
    from nsys_analyze.views import json_view

    if PurePath(target).suffix.lower() != ".json":
        raise UsageError(f"{target}: a baseline is JSON; call it something.json")
    output.check_target(target, request.reports)
    found = _analyses(request.reports, request)
    for problem in broken(samples(found, config)):
        raise UsageError(f"{problem.report}: cannot be a baseline: {problem.message}")
    output.write(json_view.render([analysis for _, analysis in found]), target)
    click.echo(f"{target}: {len(found)} report{'' if len(found) == 1 else 's'}", err=True)
    return 0


def _calibrate(request: Request, config: Config) -> int:
    from nsys_analyze.checking import samples
    from nsys_analyze.ingest.locate import is_table_folder
    from nsys_analyze.verdict.noise import as_toml, calibrate

    if len(request.output) > 1 or any(PurePath(target).suffix.lower() != ".toml" for target in request.output):
        raise UsageError("--calibrate writes one file, noise.toml or the like: -o noise.toml")
    folders = [each for each in request.reports if Path(each).is_dir() and not is_table_folder(Path(each))]
    single = [source for source in request.reports if source not in folders]
    groups = [_analyses(group, request) for group in [*([folder] for folder in folders), single] if group]
    table = calibrate([samples(group, config) for group in groups], config.ignore_below)
    output.write(as_toml(table), request.output[0] if request.output else None)
    return 0


def _dump_config(request: Request, config: Config) -> int:
    from nsys_analyze.checking import baseline_samples, samples
    from nsys_analyze.verdict.config_text import applying, as_toml
    from nsys_analyze.verdict.gates import gates

    text = as_toml(config)
    if request.reports:
        new = samples(_analyses(request.reports, request), config)
        base = baseline_samples(_baseline(request, config), new, config, _reader(request))
        text += "\n" + applying(gates(config, base, new), config)
    output.write(text, None)
    return 0
