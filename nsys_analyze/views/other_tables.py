"""The tables of what is no stage: instances, processes as a whole, and GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from nsys_analyze.metrics.results import DeviceUse, Instance, Program
from nsys_analyze.metrics.wording import program_name
from nsys_analyze.views.columns import DEVICE, INSTANCE, PROGRAM
from nsys_analyze.views.document import Name, Row, Table
from nsys_analyze.views.named_columns import measures
from nsys_analyze.views.naming import process_name
from nsys_analyze.views.tables import Entry, Report, left_out, table
from nsys_analyze.views.text import path_text, visible


def instances(reports: Sequence[Report], top: int, columns: Sequence[str] = ()) -> Table:
    """Returns the first ``top`` instances of each report, all of them for ``top`` 0; all columns for none."""
    shown = [_instances(report, top) for report in reports]
    total = sum(len(report.analysis.instances) for report in reports)
    footer = left_out(total, sum(map(len, shown)), "instance", "--top 0 lists all")
    return table("Instances", reports, shown, measures(Instance, columns) or list(INSTANCE.values()), footer)


def programs(reports: Sequence[Report]) -> Table:
    """Returns the processes of each report that have no stage, so that every process says something."""
    return table("Program", reports, [_programs(report) for report in reports], list(PROGRAM.values()))


def devices(reports: Sequence[Report], *, single: bool) -> Table:
    """Returns the GPUs of each report that used several of them, or also of those that used a ``single`` one."""
    return table("GPUs", reports, [_devices(report, single) for report in reports], list(DEVICE.values()))


def _devices(report: Report, single: bool) -> list[Entry[DeviceUse]]:
    used = report.analysis.devices
    return [Entry(device, Row(_device_name(device))) for device in used] if single or len(used) > 1 else []


def _device_name(device: DeviceUse) -> Name:
    text = visible(f"GPU {device.device}, {device.name}" if device.name else f"GPU {device.device}")
    return Name(text, full=text)


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
    name = program_name(program.name)
    text = visible(f"{name} ({program.process})" if name else process_name("", program.process))
    return Name(text, full=text)
