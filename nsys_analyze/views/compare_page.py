"""The page about a comparison: for each stage a row a side, ratios to the first one, kernels that differ, words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from nsys_analyze.model.kernel_names import titles
from nsys_analyze.verdict.comparison import Comparison, Figure, KernelChange, Row, Side, StageComparison
from nsys_analyze.views import document, units
from nsys_analyze.views.columns import Measure, columns
from nsys_analyze.views.compare_words import cautions, label, readings, stage_name, surroundings, unlike
from nsys_analyze.views.document import Document, Group, Name, Remarks, Table
from nsys_analyze.views.tables import left_out
from nsys_analyze.views.text import visible
from nsys_analyze.views.units import Number

_KERNELS = 3  # of a side that are listed


@dataclass(frozen=True, slots=True)
class _Line:
    """A row with its side, so that both are found for a column."""

    row: Row
    side: Side


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """A column of the table: what it shows, how it is written, and how early it goes when room is short."""

    title: str
    name: str
    write: Callable[[Sequence[float | None]], list[Number | None]] = units.durations
    drop: int = 0
    scale: str = ""

    def figure(self, line: _Line) -> Figure | None:
        """The figure of a line, None where the side lacks the stage."""
        found = {_COMPILE: line.side.compile_ns, _UNPROFILED_COMPILE: line.side.unprofiled_compile_ns}
        return found.get(self.name) or line.row.figures.get(self.name)


_COMPILE, _UNPROFILED_COMPILE = "compile", "unprofiled_compile"
_SHOWN = (
    _Shown(title="pace", name="pace", scale="each"),
    _Shown(title="elapsed", name="elapsed", scale="each"),
    _Shown(title="CPU overhead", name="cpu_overhead", drop=2, scale="each"),
    _Shown(title="GPU active", name="gpu_active", drop=6, scale="each"),
    _Shown(title="kernel time", name="kernel_time", drop=8, scale="each"),
    _Shown(title="kernels", name="kernels", write=units.counts, drop=3),
    _Shown(title="us/kernel", name="overhead_per_kernel", write=units.microseconds),
    _Shown(title="startup gap", name="startup_gap", drop=5, scale="gap"),
    _Shown(title="exposed", name="startup_gap_exposed", scale="gap"),
    _Shown(title="compile*", name=_COMPILE, drop=4),
)
_UNPROFILED = (
    _Shown(title="time", name="unprofiled", scale="each"),
    _Shown(title="CPU overhead", name="unprofiled_cpu_overhead", scale="each", drop=2),
    _Shown(title="us/kernel", name="unprofiled_overhead_per_kernel", write=units.microseconds, drop=1),
    _Shown(title="compile", name=_UNPROFILED_COMPILE, drop=3),
)
_UNPROFILED_FOOTER = "measured without nsys, as the records of the captures say; CPU overhead is that less GPU active"


def compose(comparison: Comparison) -> Document:
    """Returns the page."""
    several = len(comparison.stages) > 1
    first = comparison.sides[0].label
    names = [stage_name(stage, comparison.stages) for stage in comparison.stages]
    not_alike = unlike(comparison)
    return Document(
        headings=[_heading(comparison)],
        tables=[
            table
            for stage, name in zip(comparison.stages, names, strict=True)
            for table in _tables(stage, name, comparison)
        ],
        remarks=[
            Remarks(heading="", sentences=cautions(comparison), notes=[]),
            *(
                Remarks(heading=name if several else "", sentences=said, notes=[])
                for stage, name in zip(comparison.stages, names, strict=True)
                if (said := readings(stage, first, not_alike))
            ),
            Remarks(heading="", sentences=surroundings(comparison), notes=[]),
        ],
    )


def _heading(comparison: Comparison) -> list[str]:
    """How much is compared, whether that is like with like, and what all sides share."""
    reports, sides = sum(len(side.files) for side in comparison.sides), len(comparison.sides)
    shared = {
        fact.name: fact.settings[0].value
        for fact in comparison.facts
        if not fact.differs and fact.settings[0].value is not None
    }
    about = [("GPU", ""), ("driver", "driver "), ("nsys", "nsys ")]
    count = f"{reports} report{'' if reports == 1 else 's'}"
    return [
        count if reports == sides else f"{count} on {sides} sides",
        *(["not like with like, see below"] if unlike(comparison) else []),
        *(f"{lead}{shared[name]}" for name, lead in about if name in shared),
    ]


def _tables(stage: StageComparison, name: str, comparison: Comparison) -> list[Table]:
    lines = [_Line(row, side) for row, side in zip(stage.rows, comparison.sides, strict=True)]
    paced = all(
        "pace" in line.row.figures and line.row.figures["pace"].value is not None for line in lines if line.row.runs
    )
    shown = [column for column in _SHOWN if column.name != "elapsed" or not paced]
    others = [line for line in lines[1:] if not (line.row.absent or lines[0].row.absent)]
    last = stage is comparison.stages[-1]
    tables = [
        Table(
            title=name,
            groups=[Group(heading="", rows=[_row(line, shown) for line in lines])],
            columns=_columns(lines, shown),
            footer=[*_compile_footer(comparison), *_left_out(comparison)] if last else [],
        )
    ]
    if others:
        tables.append(_ratio_table(others, shown, label(comparison.sides[0].label)))
    tables += _unprofiled_table(lines, name)
    return [*tables, *_kernel_table(stage, name, label(comparison.sides[0].label))]


def _row(line: _Line, shown: Sequence[_Shown]) -> document.Row:
    name = Name(label(line.row.side), full=label(line.row.side))
    spreads = [
        f"{column.title.removesuffix('*')} {_spread(figure, column)}"
        for column in shown
        if (figure := column.figure(line)) is not None and figure.spreads
    ]
    runs = len(line.side.files)
    some = f"{line.row.runs} of {runs} runs" if 0 < line.row.runs < runs else f"{runs} runs"
    return document.Row(name, remarks=[[f"median of {some}", *spreads]] if runs > 1 else [])


def _spread(figure: Figure, column: _Shown) -> str:
    if column.write is units.durations:
        return units.between(figure.least or 0.0, figure.most or 0.0)
    least, most = column.write([figure.least, figure.most])
    return f"{least} to {most}"


def _columns(lines: Sequence[_Line], shown: Sequence[_Shown]) -> list[document.Column]:
    measures = [
        Measure(title=column.title, get=_value(column), write=column.write, drop=column.drop, scale=column.scale)
        for column in shown
    ]
    found = columns(measures, lines)
    if not found:
        return found
    cells = [Number("absent") if line.row.absent else cell for cell, line in zip(found[0].cells, lines, strict=True)]
    return [replace(found[0], cells=cells), *found[1:]]


def _value(column: _Shown) -> Callable[[_Line], float | None]:
    return lambda line: None if (figure := column.figure(line)) is None else figure.value


def _ratio(column: _Shown) -> Callable[[_Line], float | None]:
    return lambda line: None if (figure := column.figure(line)) is None else figure.ratio


def _ratio_table(lines: Sequence[_Line], shown: Sequence[_Shown], first: str) -> Table:
    """The others' figures as multiples of the first side's."""
    measures = [
        Measure(
            title=column.title,
            get=_ratio(column),
            write=units.ratios,
            drop=column.drop,
            emphasis=column.title in _WHOLE,
        )
        for column in shown
    ]
    rows = [document.Row(Name(label(line.row.side), full=label(line.row.side))) for line in lines]
    return Table(title=f"times {first}", groups=[Group(heading="", rows=rows)], columns=columns(measures, lines))


def _unprofiled_table(lines: Sequence[_Line], name: str) -> list[Table]:
    """What the stage takes without the profiler, where it is known of a side, each number beside its ratio."""
    if not any(line.row.figures["unprofiled"].value for line in lines if not line.row.absent):
        return []
    measures: list[Measure[_Line]] = []
    for column in _UNPROFILED:
        measures += [
            Measure(title=column.title, get=_value(column), write=column.write, drop=column.drop, scale=column.scale),
            Measure(title="x", get=_ratio(column), write=units.ratios, drop=column.drop + 4),
        ]
    rows = [document.Row(Name(label(line.row.side), full=label(line.row.side))) for line in lines]
    return [
        Table(
            title=f"{name}, unprofiled",
            groups=[Group(heading="", rows=rows)],
            columns=columns(measures, lines),
            footer=[_UNPROFILED_FOOTER],
        )
    ]


_WHOLE = ("pace", "elapsed")


def _compile_footer(comparison: Comparison) -> list[str]:
    """Where the column on compiling comes from."""
    sides = [side for side in comparison.sides if side.compile_ns.value is not None]
    reports = [label(side.label) for side in sides if side.compile_from == "report"]
    if not sides:
        return []
    if not reports:
        return ["* the stage compile, wall"]
    if len(reports) == len(sides):
        return ["* time in which something was compiled or loaded, in the whole report"]
    return [
        f"* the stage compile, wall; {', '.join(reports)}: compiling and loading in the whole report, without a ratio"
    ]


def _left_out(comparison: Comparison) -> list[str]:
    return left_out(comparison.stages_left_out, 0, "stage", "--stage PATTERN chooses")


def _kernel_table(stage: StageComparison, name: str, first: str) -> list[Table]:
    """The kernels that took most time among those that a side runs more or less often than the first one."""
    sides = [(side, side.changes) for side in stage.kernels if side.changes]
    shown = [(label(side.side), changes[:_KERNELS]) for side, changes in sides]
    missing = [
        f"{len(changes) - _KERNELS:,} in {label(side.side)}" for side, changes in sides if len(changes) > _KERNELS
    ]
    measures: list[Measure[KernelChange]] = [
        Measure(title=f"n, {first}", get=lambda change: change.count_first, write=units.counts),
        Measure(title="n, here", get=lambda change: change.count, write=units.counts),
        Measure(title=f"time, {first}", get=lambda change: change.time_first_ns, scale="time"),
        Measure(title="time, here", get=lambda change: change.time_ns, scale="time"),
    ]
    if not shown:
        return []
    short = iter(titles([change.name for _, changes in shown for change in changes]))
    names = [[visible(next(short)) for _ in changes] for _, changes in shown]
    return [
        Table(
            title="Kernels that differ",
            groups=[
                Group(heading=side, rows=[document.Row(Name(kernel, full=kernel)) for kernel in kernels])
                for (side, _), kernels in zip(shown, names, strict=True)
            ],
            columns=columns(measures, [change for _, changes in shown for change in changes]),
            footer=[f"more that differ: {', '.join(missing)}; --format json lists all"] if missing else [],
        )
    ]
