"""The page about a fleet: each stage over its reports, hosts, ranks and days, and what stands out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nsys_analyze.metrics.quantities import QUANTITIES, Kind
from nsys_analyze.verdict.fleet import (
    EVERY_BY,
    FINDINGS_BY,
    By,
    Cohort,
    Finding,
    FleetStage,
    FleetSummary,
    Spread,
    Summed,
)
from nsys_analyze.views import units
from nsys_analyze.views.document import Column, Document, Group, Name, Remarks, Row, Table
from nsys_analyze.views.naming import flat_names
from nsys_analyze.views.tables import left_out
from nsys_analyze.views.text import shorten, visible
from nsys_analyze.views.units import Number

_TITLES: dict[By, str] = {"report": "Reports", "host": "Hosts", "rank": "Ranks", "date": "Days"}
_SINGLE: dict[By, str] = {"report": "report", "host": "host", "rank": "rank", "date": "day"}
_SHORT = ("pace", "cpu_overhead", "gpu_active", "wall")  # all that hosts, ranks and days are listed with
_WHO = 20  # columns of a file's name
_SUFFIX = re.compile(r"\.(sqlite|nsys-rep|qdrep|db)(\.xz)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """What the page begins with: the files, what failed as (file, why), hosts and days."""

    files: Sequence[str]
    failed: Sequence[tuple[str, str]]
    hosts: int
    days: Sequence[str]


def compose(summary: FleetSummary, headline: Headline, top: int) -> Document:
    """Returns the page; it lists ``top`` reports, hosts, ranks and days that stand out, and that failed; 0 for all."""
    names = _Names(summary, headline.files)
    tables = [_spreads(summary.stages, by, names) for by in EVERY_BY]
    tables.append(_findings(summary.findings, top, names))
    failed = headline.failed[: top or None]
    sentences = [visible(why) for _, why in failed]
    sentences += left_out(len(headline.failed), len(failed), "file that failed", "--top 0 lists all")
    return Document(
        headings=[_heading(headline)],
        tables=[table for table in tables if table.groups],
        remarks=[
            Remarks(heading="", sentences=_said(summary), notes=[]),
            Remarks(heading="Failed" if sentences else "", sentences=sentences, notes=[]),
        ],
    )


class _Names:
    """What stages and reports are called: reports by their files, without suffix and the folder that all are in."""

    def __init__(self, summary: FleetSummary, files: Sequence[str]) -> None:
        stages = [summed.stage for summed in summary.stages]
        self._stages = {stage: name.full for stage, name in zip(stages, flat_names(stages), strict=True)}
        folders = [file.rpartition("/")[0] for file in files]
        alike = all(folders) and len({file.startswith("/") for file in files}) == 1
        self._folder = os.path.commonpath(folders) + "/" if alike else ""

    def of_stage(self, stage: FleetStage) -> str:
        """What a stage is called, with its domain where another has the same path."""
        return self._stages[stage]

    def of(self, by: By, name: str) -> str:
        """What a report, host, rank or day is called."""
        return visible(_SUFFIX.sub("", name.removeprefix(self._folder)) if by == "report" else name)


def _heading(headline: Headline) -> list[str]:
    facts = [_counted(len(headline.files), "report")]
    facts += [f"{len(headline.failed):,} failed"] if headline.failed else []
    facts += [_counted(headline.hosts, "host")] if headline.hosts else []
    days = sorted(headline.days)
    return [*facts, *([days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"] if days else [])]


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _said(summary: FleetSummary) -> list[str]:
    if not summary.stages:
        return ["No two reports of one program share a stage."]
    if not summary.findings:
        return ["Nothing stands out from the fleet's median."]
    return []


def _spreads(stages: Sequence[Summed], by: By, names: _Names) -> Table:
    groups, lines = [], []
    cohorts = list(dict.fromkeys(summed.stage.cohort for summed in stages))
    for cohort in cohorts:
        found = [line for summed in stages if summed.stage.cohort == cohort for line in _lines(summed, by, names)]
        if found:
            heading = _cohort(cohort) if len(cohorts) > 1 else ""
            groups.append(Group(heading=heading, rows=[row for row, _, _ in found]))
            lines += [(quantity, spread) for _, quantity, spread in found]
    return Table(title=_TITLES[by], groups=groups, columns=_columns(lines, by, names))


def _cohort(cohort: Cohort) -> str:
    return visible(" · ".join(part for part in cohort if part) or "unnamed program")


def _lines(summed: Summed, by: By, names: _Names) -> Iterator[tuple[Row, str, Spread | None]]:
    """The stage, and below it a row for each of its numbers."""
    own = {
        quantity: spread
        for (quantity, of), spread in summed.spreads.items()
        if of == by and (by == "report" or quantity in _SHORT)
    }
    if not own:
        return
    name = names.of_stage(summed.stage)
    count = max(spread.count for spread in own.values())
    yield Row(Name(name, full=name), remarks=[[_counted(count, _SINGLE[by])]]), "", None
    for quantity, spread in own.items():
        title = QUANTITIES[quantity].title
        yield Row(Name(title, 1, full=f"{name}: {title}")), quantity, spread


def _columns(lines: Sequence[tuple[str, Spread | None]], by: By, names: _Names) -> list[Column]:
    numbers = [_numbers(quantity, spread) for quantity, spread in lines]
    median, least, greatest = ([row[place] for row in numbers] for place in range(3))
    spreads = [spread for _, spread in lines]
    return [
        Column(title="median", cells=median),
        Column(title="min", cells=least, marks=[bool(each and each.min_stands_out) for each in spreads]),
        Column(
            title=_SINGLE[by], cells=_who(names.of(by, each.min_name) if each else None for each in spreads), drop=1
        ),
        Column(title="max", cells=greatest, marks=[bool(each and each.max_stands_out) for each in spreads]),
        Column(
            title=_SINGLE[by], cells=_who(names.of(by, each.max_name) if each else None for each in spreads), drop=0
        ),
    ]


def _who(names: Iterable[str | None]) -> list[Number | None]:
    return [Number("" if name is None else shorten(name, _WHO)) for name in names]


def _numbers(quantity: str, spread: Spread | None) -> list[Number | None]:
    if spread is None:
        return [Number("")] * 3
    return _written(quantity, [spread.median, spread.min, spread.max])


def _written(quantity: str, values: Sequence[float]) -> list[Number | None]:
    write = units.counts if QUANTITIES[quantity].kind is Kind.COUNT else units.durations
    return write(values)


def _findings(findings: Sequence[Finding], top: int, names: _Names) -> Table:
    """What stands out, together what does so by the same number of the same stage."""
    groups: dict[str, list[Finding]] = {}
    several = len({finding.stage.cohort for finding in findings}) > 1
    most = [finding for by in FINDINGS_BY for finding in [each for each in findings if each.by == by][: top or None]]
    for finding in most:
        groups.setdefault(_about(finding, names, several=several), []).append(finding)
    shown = [finding for group in groups.values() for finding in group]
    numbers = [_written(finding.quantity, [finding.value, finding.median]) for finding in shown]
    return Table(
        title="Beyond the fleet's median",
        groups=[
            Group(heading=heading, rows=[Row(_finding(finding, names)) for finding in group])
            for heading, group in groups.items()
        ],
        columns=[
            Column(title="value", cells=[row[0] for row in numbers]),
            Column(title="median", cells=[row[1] for row in numbers]),
            Column(title="ratio", cells=units.ratios([finding.ratio for finding in shown]), emphasis=True),
        ],
        footer=left_out(len(findings), len(shown), "finding", "--top 0 lists all"),
    )


def _about(finding: Finding, names: _Names, *, several: bool) -> str:
    cohort = f" ({_cohort(finding.stage.cohort)})" if several else ""
    title = QUANTITIES[finding.quantity].title
    return f"{_TITLES[finding.by]}: {names.of_stage(finding.stage)}, {title}{cohort}"


def _finding(finding: Finding, names: _Names) -> Name:
    name = ("rank " if finding.by == "rank" else "") + names.of(finding.by, finding.name)
    return Name(name, full=name)
