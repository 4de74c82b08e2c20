"""The verb ``summary``: what the cases in a folder of ``capture`` cost, as a table, a comparison and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nsys_analyze.cli import output
from nsys_analyze.cli.options import debug_option, progress
from nsys_analyze.cli.summary_files import Finished, files
from nsys_analyze.errors import NsysAnalyzeError, UsageError

if TYPE_CHECKING:
    from nsys_analyze.driver.records import Record
    from nsys_analyze.metrics.results import Analysis, Stage
    from nsys_analyze.report import Report

_EPILOG = """\b
Examples:
  nsys-analyze summary out
  nsys-analyze summary out --executor eager --executor inductor     only these; eager comes first

`capture` ends with the same. It needs neither nsys nor a GPU, so a folder can be captured on one machine and compared
on another.

OUT gets the results of each report, CASE.json, and comparison.md, comparison.json (comparison-NAME.json for each where
cases differ in more than executor and environment), breakdown.png, startup.png, and where cases differ in one size
sweep.png: unprofiled times as multiples of the first executor's.

Exit codes: 0 fine, 2 bad usage or input, 130 interrupted."""

_COLUMNS = (
    *("case", "step", "profiled", "CPU overhead", "profiled", "per kernel", "GPU active", "exposed", "compile"),
    *("kernels", "agrees"),
)
_NOTE = (
    "step, CPU overhead, per kernel, compile: without nsys; `profiled` is the same with it; the rest is from the report"
)


@click.command(epilog=_EPILOG, short_help="Compares the cases that capture left in a folder.")
@click.argument("folder", metavar="OUT")
@click.option(
    "--executor", "executors", metavar="NAME", multiple=True, help="Only cases of these, in this order. Repeatable."
)
@debug_option
def summary(folder: str, executors: tuple[str, ...], **_: Any) -> None:
    """Says what each case in the folder OUT of `capture` costs, and compares them with the first executor.

    Cases come in the order in which they were captured, unless --executor says otherwise.
    """
    from nsys_analyze.driver.records import read_records

    records = _chosen(read_records(Path(folder)), executors)
    if not records:
        raise UsageError(
            f"{folder}: no record of a captured case (.case.json){' of these executors' * bool(executors)}"
        )
    summarise(Reader(Path(folder)), records)


def _chosen(records: Sequence[Record], executors: Sequence[str]) -> list[Record]:
    """The records of those executors, those of the first before those of the second; all if none is named."""
    order = [executor.replace("-", "_") for executor in executors]
    if not order:
        return list(records)
    chosen = [record for record in records if record["case"]["executor"] in order]
    return sorted(chosen, key=lambda record: order.index(record["case"]["executor"]))


def summarise(reader: Reader, records: Sequence[Record]) -> None:
    """Prints a table of the cases and writes their comparison into the folder, as far as this machine can.

    Args:
        reader: What reads the cases of that folder.
        records: The cases to speak of, in this order.
    """
    if not records:
        return
    finished = [reader.read(record) for record in records]
    output.write(_table(finished), None)
    written = []
    for name, make in files(reader.folder, finished):
        target = reader.folder / name
        try:
            with progress(f"writing {target}"):
                output.write(make(), str(target))
        except (NsysAnalyzeError, ImportError) as error:
            click.echo(f"{target}: not written: {error}", err=True)
        else:
            written.append(str(target))
    if written:
        click.echo(f"wrote {', '.join(written)}", err=True)


class Reader:
    """Reads the reports of a folder's cases, once each, and writes beside each what it says: CASE.json."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, Finished] = {}
        self._lacking = False  # whether packages are

    def read(self, record: Record) -> Finished:
        """Returns a case with its report, or without where that cannot be read here, which is told once."""
        name = record["name"]
        if name not in self._read:
            path, *others = (self.folder / report for report in record["reports"])
            report, analysis = self._analysed(path)
            for other in others:
                self._analysed(other)
            self._read[name] = Finished(record=record, path=path, report=report, analysis=analysis)
        return self._read[name]

    def _analysed(self, path: Path) -> tuple[Report, Analysis] | tuple[None, None]:
        if self._lacking:
            return None, None
        try:
            with progress(f"reading {path.name}"):
                return _written(path)
        except NsysAnalyzeError as error:
            click.echo(f"{path.name}: cannot be analysed: {error}", err=True)
        except ImportError as error:
            self._lacking = True
            click.echo(f"reports cannot be analysed here: {error}; nsys-analyze summary does it elsewhere", err=True)
        return None, None


def _written(path: Path) -> tuple[Report, Analysis]:
    """Analyses a report and writes its results beside it."""
    import nsys_analyze
    from nsys_analyze.comparing import with_recorded_times
    from nsys_analyze.driver.records import results_path
    from nsys_analyze.views import json_view

    report = nsys_analyze.open_report(path)
    analysis = with_recorded_times(report.analysis(digest=True), path)
    output.write(json_view.render([analysis]), str(results_path(path)))
    return report, analysis


def _table(finished: Sequence[Finished]) -> str:
    """A line a case; the times that need no report are there without one."""
    table = [_COLUMNS, *map(_row, finished)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join((row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:]))).rstrip() for row in table]
    return "\n".join([*lines, _NOTE, ""])


def _row(case: Finished) -> tuple[str, ...]:
    """The cells of a case; a dash is what its report cannot tell."""
    from nsys_analyze.views.units import duration

    unprofiled, profiled = case.record["unprofiled"], case.record["profiled"]
    agreement, step = unprofiled["agreement"], _step(case)
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
        case.record["name"],
        *("-" if time is None else duration(time) for time in times),
        "-" if step is None or step.kernels is None else f"{step.kernels / step.instances:g}",
        "-" if agreement is None else "yes" if agreement["agrees"] else "no",
    )


def _step(case: Finished) -> Stage | None:
    """The stage of the steps in a case's report, None where the report cannot be read here.

    Rather the one that was timed without nsys: a window that another rank opened cuts the range around the steps.
    """
    stages = case.analysis.stages if case.analysis else []
    steps = [stage for stage in stages if stage.name == "step"]
    return max(steps, key=lambda stage: stage.unprofiled_ns is not None, default=None)
