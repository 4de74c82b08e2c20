"""The table of ``--breakdown``: a row for each part of each stage's host, GPU and compile time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nsys_analyze.metrics.breakdown import Kind, Part, Split, splits
from nsys_analyze.metrics.results import Stage
from nsys_analyze.views import units
from nsys_analyze.views.columns import Measure
from nsys_analyze.views.document import Name, Row, Table
from nsys_analyze.views.naming import flat_names
from nsys_analyze.views.tables import Entry, Report, table
from nsys_analyze.views.units import Number
from nsys_analyze.views.wording import modules, part_name

_WHOLES = {
    Kind.HOST: "host",
    Kind.COMPILE_SOURCES: "compiling, by source",
    Kind.COMPILE_PHASES: "compiling, by phase",
    Kind.COMPILE_TOOLS: "compiling, by tool",
}

_Write = Callable[[Sequence[float | None]], list[Number | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """The numbers of a row; what it has none of stays blank."""

    time: float | None = None
    share: float | None = None
    united: float | None = None


def _blanks(write: _Write) -> _Write:
    """Writes nothing, rather than that the number is missing, where a row is not for it."""
    return lambda values: [number or Number("") for number in write(values)]


_MEASURES: list[Measure[_Line]] = [
    Measure(title="time", get=lambda line: line.time, write=_blanks(units.durations)),
    Measure(title="share", get=lambda line: line.share, write=_blanks(units.shares)),
    Measure(title="united", get=lambda line: line.united, write=_blanks(units.durations)),
]


def breakdown_table(reports: Sequence[Report], stages: Sequence[Sequence[Stage]]) -> Table:
    """Returns what the time of each report's ``stages`` consists of, as means over a stage's instances."""
    entries = [_entries(report, group) for report, group in zip(reports, stages, strict=True)]
    footer = []
    if any(stage.instances > 1 for group in stages for stage in group):
        footer.append("Where a stage has several instances, times are means over them.")
    if any(entry.item.united is not None for group in entries for entry in group):
        footer.append("Phases and tools: time adds up threads; united counts once what they did at once.")
    return table("Breakdown", reports, entries, _MEASURES, footer)


def _entries(report: Report, stages: Sequence[Stage]) -> list[Entry[_Line]]:
    found = []
    for stage, name in zip(stages, flat_names(stages), strict=True):
        found.append(Entry(_Line(), Row(_stage_name(stage, name), report.process(stage.process))))
        for split in splits(stage):
            found += [Entry(line, Row(name)) for name, line in _lines(split, stage)]
    return found


def _stage_name(stage: Stage, name: Name) -> Name:
    if stage.instances == 1:
        return name
    return Name(f"{name.text}, {stage.instances:,} instances", full=f"{name.full}, {stage.instances:,} instances")


def _lines(split: Split, stage: Stage) -> Iterator[tuple[Name, _Line]]:
    """The whole and its parts, on one line where there is only one."""
    mean, whole = split.per_instance(), _whole_name(split, stage)
    if len(mean.parts) == 1:
        text = f"{whole}: {_name(split, mean.parts[0])}"
        yield Name(text, 1, full=text), _line(mean.parts[0], share=None)
    else:
        yield Name(whole, 1, full=whole), _line(mean.whole, share=None)
        for part in mean.parts:
            text = _name(split, part)
            yield Name(text, 2, full=f"{whole}: {text}"), _line(part, share=part.share)
    if split.kind is Kind.COMPILE_PHASES and stage.compile_ns is not None and stage.compile_ns.module_ns is not None:
        text = f"compilation of {modules(stage.compile_ns.modules)}, each"
        yield Name(text, 1, full=text), _Line(time=stage.compile_ns.module_ns)


def _line(part: Part, share: float | None) -> _Line:
    return _Line(time=part.time, share=share, united=part.united_if_less)


def _name(split: Split, part: Part) -> str:
    return part_name(split.kind, part.name)


def _whole_name(split: Split, stage: Stage) -> str:
    if split.kind is not Kind.GPU:
        return _WHOLES[split.kind]
    some = f", {split.instances:,} of {stage.instances:,} instances" if split.instances < stage.instances else ""
    return f"GPU {split.device}{some}"
