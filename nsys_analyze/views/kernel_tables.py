"""The page of ``kernels``: a table a stage, a row a kernel, a label or an operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsys_analyze.metrics.results import Analysis, Communication, KernelAnalysis, KernelRow, StageKernels
from nsys_analyze.views import units
from nsys_analyze.views.columns import KERNEL
from nsys_analyze.views.document import Document, Name, Remarks, Row, Table
from nsys_analyze.views.naming import flat_names, process_labels
from nsys_analyze.views.remarks import heading, remarks
from nsys_analyze.views.tables import Entry, Report, labelled, left_out, table
from nsys_analyze.views.text import path_text, visible

_ROWS = {"name": "kernel", "label": "label", "operation": "operation"}  # what a row is called
_NAME_KEPT = 34  # kernels' names are long, and say most


@dataclass(frozen=True, slots=True)
class _Shown:
    """A stage of a report, what its table is called, and what a row is."""

    report: Report
    stage: StageKernels
    title: str
    what: str


def compose(analyses: Sequence[Analysis], kernels: Sequence[KernelAnalysis], chosen: str) -> Document:
    """Returns the page.

    Args:
        analyses: What is said about each report, with the stages that are shown.
        kernels: The operations of these stages.
        chosen: A sentence on why these stages are shown.
    """
    reports = labelled(analyses)
    shown = [each for report, found in zip(reports, kernels, strict=True) for each in _stages(report, found)]
    titles = dict.fromkeys(each.title for each in shown if each.stage.rows)
    several = len(reports) > 1
    after = [remarks(report, several=several) for report in reports]
    idle = [_idle(each, several=several) for each in shown if not each.stage.rows]
    return Document(
        headings=[heading(report) for report in reports],
        tables=[_table(reports, title, [each for each in shown if each.title == title]) for title in titles],
        remarks=[Remarks(heading="", sentences=[chosen, *idle], notes=[]), *after],
    )


def _stages(report: Report, kernels: KernelAnalysis) -> list[_Shown]:
    names = [name.text for name in flat_names(report.analysis.stages)]
    names += [path_text(stage.elements) for stage in kernels.stages[len(names) :]]
    processes = process_labels(report.analysis, kernels.stages)
    return [
        _Shown(report, stage, name + (f" ({process})" if process else ""), _ROWS[kernels.by])
        for stage, name in zip(kernels.stages, names, strict=True)
        for process in [processes.get(stage.process)]
    ]


def _table(reports: Sequence[Report], title: str, shown: Sequence[_Shown]) -> Table:
    """One table of a stage, with a group of rows for each report that has it."""
    several = len(reports) > 1
    entries = [[entry for each in shown if each.report is report for entry in _entries(each)] for report in reports]
    footer = [line for each in shown for line in _below(each, several=several)]
    kinds = {row.kind for each in shown for row in each.stage.rows}
    hidden = set() if len(kinds) > 1 else {"kind"}
    if all(each.stage.scope != "stage" for each in shown):
        hidden.add("per-instance")
    measures = [measure for name, measure in KERNEL.items() if name not in hidden]
    return replace(table(title, reports, entries, measures, footer), name_kept=_NAME_KEPT)


def _entries(shown: _Shown) -> list[Entry[KernelRow]]:
    titles = [visible(row.title) for row in shown.stage.rows]
    return [Entry(row, Row(Name(title, full=title))) for row, title in zip(shown.stage.rows, titles, strict=True)]


def _below(shown: _Shown, *, several: bool) -> list[str]:
    """What stands below a stage's rows: all operations together, communication, what is left out."""
    stage, where = shown.stage, f"{shown.report.label}: " if several else ""
    rest = left_out(stage.rows_in_all, len(stage.rows), shown.what, "--top 0 lists all")
    lines = [*(f"{units.duration(stage.time_left_out_ns)} in {line}" for line in rest), _whole(stage)]
    if stage.graph_ops:
        lines.append(f"{stage.graph_ops:,} of them in CUDA graphs.")
    if stage.benchmark_kernels:
        lines.append(_tuning(stage.benchmark_kernels))
    if stage.communication is not None:
        lines.append(_communication(stage.communication))
    return [f"{where}{line}" for line in lines]


def _whole(stage: StageKernels) -> str:
    ops = stage.gpu_ops or 0
    said = f"{units.duration(stage.gpu_time_ns or 0)} in all: {ops:,} GPU operation{'' if ops == 1 else 's'}"
    if stage.scope != "stage":
        return f"{said}."
    return f"{said} in {stage.instances:,} instance{'' if stage.instances == 1 else 's'}."


def _tuning(kernels: int) -> str:
    were = "kernel was" if kernels == 1 else "kernels were"
    return f"autotuning: {kernels:,} {were} launched only to be timed."


def _communication(communication: Communication) -> str:
    """How long a stage communicated, how much of it ran under compute, and what it was."""
    total, overlapped = units.split(communication.busy_ns, [communication.overlapped_ns])
    overlapped = overlapped if communication.overlapped_ns else "none"
    found = sorted(communication.collectives.items(), key=lambda item: -item[1].kernel_ns)
    parts = ", ".join(f"{each.kernels:,} {name} {units.duration(each.kernel_ns)}" for name, each in found)
    return f"communication {total}, {overlapped} of it under compute: {parts}."


def _idle(shown: _Shown, *, several: bool) -> str:
    where = f" in {shown.report.label}" if several else ""
    if shown.stage.gpu_ops is None:
        return f"What `{shown.title}` put on the GPU{where} is not known."
    return f"`{shown.title}` put nothing on the GPU{where}."
