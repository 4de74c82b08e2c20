"""The tables of what is no stage: instances, and processes as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from nsys_analyze.metrics.results import Instance, Program
from nsys_analyze.views.columns import INSTANCE, PROGRAM
from nsys_analyze.views.document import Name, Row, Table
from nsys_analyze.views.tables import Entry, Report, left_out, table
from nsys_analyze.views.text import path_text, visible


def instances(reports: Sequence[Report], top: int) -> Table:
    """Returns the first ``top`` instances of each report, all of them for ``top`` 0."""
    shown = [_instances(report, top) for report in reports]
    total = sum(len(report.analysis.instances) for report in reports)
    footer = left_out(total, sum(map(len, shown)), "instance", "--top 0 lists all")
    return table("Instances", reports, shown, list(INSTANCE.values()), footer)


def programs(reports: Sequence[Report]) -> Table:
    """Returns the processes of each report that have no stage, so that every process says something."""
    return table("Program", reports, [_programs(report) for report in reports], list(PROGRAM.values()))


def _instances(report: Report, top: int) -> list[Entry[Instance]]:
    return [
        Entry(instance, Row(_instance_name(instance), report.process(instance.process)))
        for instance in report.analysis.instances[: top or None]
    ]


def _instance_name(instance: Instance) -> Name:
    path = path_text([*instance.path[:-1], instance.name])
    return Name(path, full=path)


def _programs(report: Report) -> list[Entry[Program]]:
    staged = {stage.process for stage in report.analysis.stages}
    return [
        Entry(program, Row(_program_name(program)))
        for program in report.analysis.programs
        if program.process not in staged
    ]


def _program_name(program: Program) -> Name:
    text = visible(f"{program.name} ({program.process})")
    return Name(text, full=text)
