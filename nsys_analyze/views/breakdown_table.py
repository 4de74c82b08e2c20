"""The table of ``--breakdown``: a row for each part of each stage's host, GPU and compile time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from nsys_analyze.metrics.breakdown import Kind, Part, Split, splits
from nsys_analyze.metrics.results import Stage
from nsys_analyze.views import units
from nsys_analyze.views.columns import Measure
from nsys_analyze.views.document import Name, Row, Table
from nsys_analyze.views.naming import flat_names
from nsys_analyze.views.stage_remarks import code_remarks, look_remarks
from nsys_analyze.views.tables import Entry, Report, table
from nsys_analyze.views.units import Number
from nsys_analyze.views.wording import modules, part_name, tells_modules, whole_name

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
    threads = any(entry.item.united is not None for group in entries for entry in group)
    footer = ["Phases and tools add threads up; united counts once what several did at once."] if threads else []
    return table("Breakdown", reports, entries, _MEASURES, footer)


def _entries(report: Report, stages: Sequence[Stage]) -> list[Entry[_Line]]:
    found = []
    for stage, name in zip(stages, flat_names(stages), strict=True):
        found.append(Entry(_Line(), Row(_stage_name(stage, name), report.process(stage.process), look_remarks(stage))))
        for split in splits(stage):
            found += [Entry(line, _told_apart(row, name)) for row, line in _lines(split, stage)]
    return found


def _told_apart(row: Row, stage: Name) -> Row:
    """A row whose remarks may stand elsewhere says in full whose they are."""
    return replace(row, name=replace(row.name, full=f"{stage.full}: {row.name.full}")) if row.remarks else row


def _stage_name(stage: Stage, name: Name) -> Name:
    if stage.instances == 1:
        return name
    return _named(f"{name.text}, mean of {stage.instances:,}", 0)


def _lines(split: Split, stage: Stage) -> Iterator[tuple[Row, _Line]]:
    """The whole and its parts, on one line where there is only one."""
    compiling, mean = stage.compile_ns, split.per_instance()
    only_loading = stage.only_loads
    whole = whole_name(split.kind, only_loading=only_loading) + _device(split, stage)
    names = [part_name(split.kind, part.name, only_loading=only_loading) for part in split.parts]
    if len(names) == 1:
        name = _named(f"{whole}: {names[0]}", 1)
        yield Row(name, remarks=_remarks(split, split.parts[0], stage)), _line(mean.parts[0], share=None)
    else:
        yield Row(_named(whole, 1)), _line(mean.whole, share=None)
        for text, part in zip(names, mean.parts, strict=True):
            name = Name(text, 2, full=f"{whole}: {text}")
            yield Row(name, remarks=_remarks(split, part, stage)), _line(part, share=part.share)
    if compiling is not None and tells_modules(split.kind, compiling):
        count, each = modules(compiling.modules), compiling.module_ns
        yield Row(_named(count if each is None else f"compilation of {count}, each", 1)), _Line(time=each)


def _remarks(split: Split, part: Part, stage: Stage) -> list[list[str]]:
    """What more is known of a part: of host code, what it consists of."""
    return code_remarks(stage) if (split.kind, part.name) == (Kind.HOST, "code") else []


def _line(part: Part, share: float | None) -> _Line:
    return _Line(time=part.time, share=share, united=part.united_if_less)


def _named(text: str, indent: int) -> Name:
    return Name(text, indent, full=text)


def _device(split: Split, stage: Stage) -> str:
    if split.device is None:
        return ""
    some = f", {split.instances:,} of {stage.instances:,} instances" if split.instances < stage.instances else ""
    return f" {split.device}{some}"
