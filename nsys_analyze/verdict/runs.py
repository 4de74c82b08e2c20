"""Runs that are remembered: captures made together, what they told and what became of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nsys_analyze.verdict.records import ReportRecord, StageId
from nsys_analyze.verdict.results import Outcome, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Reports that were saved together.

    ``made_at`` is when, in UTC as ISO 8601 has it; ``label`` and ``commit`` are what the user called it. ``outcome``
    and ``headline`` are those of its verdict, None where nothing was checked; ``states`` are what became of its checks
    against the baseline, by stage and quantity. ``reports`` hold what was asked for of each.
    """

    number: int
    made_at: str
    label: str | None
    commit: str | None
    outcome: Outcome | None
    headline: str | None
    reports: Sequence[ReportRecord]
    states: Mapping[tuple[StageId, str], State] = field(default_factory=dict)
