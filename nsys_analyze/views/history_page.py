"""Pages of a history: its runs, or the trend of one quantity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from nsys_analyze.verdict.results import Outcome
from nsys_analyze.verdict.trend import History, Point, Summary, Trend
from nsys_analyze.views import units
from nsys_analyze.views.columns import Measure, columns
from nsys_analyze.views.document import Column, Document, Group, Name, Remarks, Row, Table
from nsys_analyze.views.tables import left_out
from nsys_analyze.views.text import path_text, visible
from nsys_analyze.views.units import Number, duration, ratio
from nsys_analyze.views.verdict_text import state_name

_ID = 12  # characters of a commit that tell it apart


def listing(history: History) -> Document:
    """Returns the page of a history's runs."""
    loops = list(dict.fromkeys(path_text(run.stage) for run in history.runs if run.stage))
    verdicts = [None if run.outcome is None else Number(run.outcome.value.replace("_", " ")) for run in history.runs]
    total = len(history.runs) + history.left_out
    return Document(
        headings=[[f"{total:,} run{'' if total == 1 else 's'}", *(loops if len(loops) == 1 else [])]],
        tables=[
            Table(
                title="run",
                groups=[Group(heading="", rows=[_summary_row(run, several=len(loops) > 1) for run in history.runs])],
                columns=[Column(title="verdict", cells=verdicts), *columns(_SUMMARY, history.runs)],
                footer=left_out(total, len(history.runs), "run", "--top 0 lists all"),
                name_kept=36,
            )
        ],
    )


def _value(name: str) -> Callable[[Summary], float | None]:
    return lambda run: run.values[name]


_SUMMARY: tuple[Measure[Summary], ...] = (
    Measure(title="reports", get=lambda run: run.reports, write=units.counts, drop=3),
    Measure(title="pace", get=_value("pace"), scale="each"),
    Measure(title="CPU overhead", get=_value("cpu_overhead"), drop=1, scale="each"),
    Measure(title="exposed", get=_value("startup_gap_exposed"), emphasis=True),
    Measure(title="kernels", get=_value("kernels"), write=units.counts, drop=2),
)


def _summary_row(run: Summary, *, several: bool) -> Row:
    loop = [path_text(run.stage)] if several and run.stage else []
    tells = run.outcome in (Outcome.FAILED, Outcome.CANNOT_TELL)
    headline = visible(run.headline).split("; ") if run.headline and tells else []
    return Row(_name(run), remarks=[words for words in (loop, headline) if words])


def run_name(run: Summary | Point) -> str:
    """What a run is called: its number, label and commit."""
    return " ".join([f"#{run.run}", *(visible(part) for part in (run.label, (run.commit or "")[:_ID]) if part)])


def _name(run: Summary | Point) -> Name:
    number, *others = run_name(run).split(" ", 1)
    text = " ".join([number, run.made_at[:16].replace("T", " "), *others])
    return Name(text, full=text)


def composed(trend: Trend, most: int | None) -> Document:
    """Returns the page of a trend: its newest ``most`` runs, and every change."""
    points = trend.points[-most:] if most else trend.points
    total = len(trend.points)
    return Document(
        headings=[[path_text(trend.stage), trend.title, f"{total:,} run{'' if total == 1 else 's'}"]],
        tables=[
            Table(
                title="run",
                groups=[Group(heading="", rows=[Row(_name(point)) for point in points])],
                columns=_columns(trend, points),
                footer=left_out(total, len(points), "run", "--top 0 lists all"),
                name_kept=36,
            )
        ],
        remarks=[Remarks(heading="", sentences=_sentences(trend), notes=[])],
    )


def _columns(trend: Trend, points: Sequence[Point]) -> list[Column]:
    write = units.counts if trend.unit == "count" else units.durations
    scale = "" if trend.unit == "count" else "value"
    measures: list[Measure[Point]] = [
        Measure(title=trend.title, get=lambda point: point.value, write=write, scale=scale),
        Measure(title="level", get=lambda point: point.level, write=write, scale=scale, drop=1),
        Measure(title="change", get=lambda point: point.ratio, write=units.ratios, emphasis=True),
        Measure(title="reports", get=lambda point: point.reports, write=units.counts, drop=2),
    ]
    found = columns(measures, points)
    marks = [point.changed for point in points]
    found = [replace(column, marks=marks) if column.title == trend.title else column for column in found]
    states = [None if point.state is None else Number(state_name(point.state)) for point in points]
    return [*found, *([Column(title="verdict", cells=states)] if any(states) else [])]


def _sentences(trend: Trend) -> list[str]:
    """Where the level changed, and what the trend leaves out."""
    lead = trend.points[0].level
    said = []
    for point in trend.points:
        if point.changed:
            times = "" if point.ratio is None else f", {ratio(point.ratio)}"
            said.append(f"{run_name(point)}: from {_text(trend, lead)} to {_text(trend, point.level)}{times}.")
            lead = point.level
    if not said:
        said = ["No change of level." if len(trend.points) > 1 else "One run has no trend."]
    if trend.left_out:
        some = f"{trend.left_out:,} run{'' if trend.left_out == 1 else 's'}"
        said.append(f"Left out: {some} without this number, or not comparable with the newest.")
    return said


def _text(trend: Trend, value: float) -> str:
    return str(units.counts([value])[0]) if trend.unit == "count" else duration(value)
