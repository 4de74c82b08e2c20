"""What a picture is about: which stages of which reports, and what they are called on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nsys_analyze.metrics.results import Analysis, Stage
from nsys_analyze.views.naming import flat_names, report_labels
from nsys_analyze.views.tables import labelled

_SUFFIXES = (".xz", ".sqlite", ".nsys-rep")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A stage to draw.

    ``place`` is that of its report among those given, ``process`` is empty where the report has only one with stages,
    ``idle`` says why it has no GPU work, where it has none.
    """

    place: int
    report: str
    name: str
    stage: Stage
    process: str = ""
    idle: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjects:
    """The stages to draw.

    Attributes:
        shown: The stages.
        left_out: How many more there was no room for.
        empty: How many of those asked for have nothing to show.
        reports: The labels of all reports, those without a stage to draw as well.
        reasons: Why a report has none, by its label.
        remarks: What its reader must know of a report, by its label; the same for each of them is said once.
    """

    shown: list[Subject]
    left_out: int = 0
    empty: int = 0
    reports: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)

    @property
    def stages(self) -> list[Stage]:
        """The stages alone."""
        return [subject.stage for subject in self.shown]

    @property
    def common(self) -> str:
        """What all are of: a report, a stage, both, or the number of reports."""
        reports = list(dict.fromkeys(subject.report for subject in self.shown)) or self.reports
        names = list(dict.fromkeys(subject.name for subject in self.shown))
        processes = {subject.process for subject in self.shown}
        whose = f" ({self.shown[0].process})" if len(processes) == 1 and self.shown[0].process else ""
        parts = [reports[0] if len(reports) == 1 else f"{len(reports)} reports", *(names if len(names) == 1 else [])]
        return " · ".join(parts) + whose

    @property
    def labels(self) -> list[str]:
        """What tells each from the others: its report, its name, or both; its name where it is alone."""
        several_reports = len({subject.report for subject in self.shown}) > 1
        several_names = len({subject.name for subject in self.shown}) > 1
        return [
            " · ".join(
                ([subject.report] if several_reports else [])
                + ([subject.name] if several_names or not several_reports else [])
            )
            + (f" ({subject.process})" if subject.process else "")
            for subject in self.shown
        ]

    @property
    def notes(self) -> list[str]:
        """What the picture lacks, a sentence each."""
        counts = ((self.left_out, "not shown for want of room"), (self.empty, "not shown, having nothing to show"))
        found = [f"{count_of(count, 'stage')} {'is' if count == 1 else 'are'} {why}." for count, why in counts if count]
        unfinished = sum(stage.unfinished for stage in self.stages)
        found += [f"{count_of(unfinished, 'instance')} never ended."] if unfinished else []
        found += [f"Not shown: {said}." for said in _each(self.reasons, len(self.reports))]
        return found + [f"{said[:1].upper()}{said[1:]}." for said in _each(self.remarks, len(self.reports))]

    @property
    def nothing(self) -> str:
        """The sentence that stands in place of a picture."""
        return f"Nothing to draw: {'; '.join(_each(self.reasons, len(self.reports))) or 'no report'}."


def short_labels(analyses: Sequence[Analysis]) -> list[str]:
    """Returns the reports' file names without their suffixes, where they stay different."""
    names = report_labels(analyses)
    short = names
    for suffix in _SUFFIXES:
        short = [name.removesuffix(suffix) for name in short]
    return short if len(set(short)) == len(short) else names


def stage_names(analysis: Analysis, stages: Sequence[Stage]) -> list[tuple[str, str]]:
    """Returns the stages' paths, each with its process where the report has several."""
    (report,) = labelled([analysis])
    names = [name.full for name in flat_names(stages)]
    return [(name, report.process(stage.process)) for name, stage in zip(names, stages, strict=True)]


def count_of(count: int, what: str) -> str:
    """Returns ``3 stages``, ``1 stage``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _each(said: dict[str, str], reports: int) -> list[str]:
    """What is said of each report, under its label; without one where it is said of all."""
    if len(said) == reports and len(set(said.values())) == 1:
        return [next(iter(said.values()))]
    return [f"{label}: {text}" for label, text in said.items()]
