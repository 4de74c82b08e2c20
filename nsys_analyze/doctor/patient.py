"""What the questions are asked about."""

from __future__ import annotations

from dataclasses import dataclass

from nsys_analyze.ingest.inspection import Inspection
from nsys_analyze.metrics.results import Analysis, Notice
from nsys_analyze.report import Report


@dataclass(frozen=True, slots=True)
class Patient:
    """A report, what is said about it, and what the file holds beside it.

    ``damage`` is what was found wrong with the file: "" for nothing, None if there was no time to tell. ``unsettled``:
    the export was never finished, and part of its rows lay in another file.
    """

    report: Report
    analysis: Analysis
    inspection: Inspection
    damage: str | None
    unsettled: bool

    @property
    def traced(self) -> list[str]:
        """What was traced, as `nsys profile --trace` calls it; empty where the report does not say."""
        trace = self.report.metadata.trace
        return trace.split(",") if trace else []

    @property
    def gpu_processes(self) -> int:
        """How many processes put work on a GPU."""
        return sum(program.gpu_ops > 0 for program in self.analysis.programs)

    def lacking(self, *tables: str) -> str:
        """The first column that one of the tables needs and does not have, as a clause; "" if they have all."""
        lost = self.report.metadata.lacking
        return next((f"{name} has no column {column}" for name, column in lost if name.startswith(tables)), "")

    def said(self, *codes: str) -> list[Notice]:
        """The warnings and notes of these codes."""
        return [notice for notice in self.analysis.warnings if notice.code in codes]


def sentence(notice: Notice) -> str:
    """A finding with its count in front, as a page has it."""
    counts = notice.count is not None and not notice.message.startswith("the ")
    return f"{notice.count:,} {notice.message}" if counts else notice.message
