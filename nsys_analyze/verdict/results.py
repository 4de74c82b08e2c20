"""What a check says, as plain values: the JSON contract of verdicts (schema version 1) in types.

Times are nanoseconds. ``None`` is "cannot say" or "does not apply".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from nsys_analyze.verdict.config import Level, Place


class State(StrEnum):
    """What became of one check, the worst first."""

    REGRESSED = "regressed"
    OVER_BUDGET = "over_budget"
    MISSING = "missing"
    INCOMPARABLE = "incomparable"
    SUSPECT = "suspect"
    INCONCLUSIVE = "inconclusive"
    ACCEPTED = "accepted"
    NEW = "new"
    IMPROVED = "improved"
    OK = "ok"


FAILING = (State.REGRESSED, State.OVER_BUDGET, State.MISSING)
UNSETTLED = (State.SUSPECT, State.INCONCLUSIVE)


class Outcome(StrEnum):
    """What became of the whole."""

    PASSED = "passed"
    FAILED = "failed"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Numbers that a check against a baseline rests on.

    ``ratio`` is new over base as measured; ``adjusted_ratio`` the same with the machine's speed taken out, by a
    ``yardstick``: "cuda_calls" or "launch_call", what an instance spends in CUDA calls or on one launch, which is
    ``yardstick_ratio`` times as much now. They are None where none was used. ``p`` is the chance of such a difference
    without a change beyond the margin, corrected for the ``tests`` made; ``noise`` the relative noise between reports
    that it allows for. ``captures_needed`` a side would settle it; None if no number would, or nothing is open.
    """

    ratio: float | None
    adjusted_ratio: float | None
    yardstick: str | None
    yardstick_ratio: float | None
    p: float | None
    tests: int | None
    noise: float | None
    captures_needed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check: a quantity of a stage against a baseline, or against a budget.

    ``base`` and ``new`` are typical values of the sides, ``limit`` the largest one allowed; ``interval`` is where the
    new side's typical instance lies (95%); ``samples`` are the values of the single reports.
    """

    state: State
    against: str
    level: Level
    stage: list[str]
    domains: list[str]
    process: int
    metric: str
    title: str
    unit: str
    base: float | None
    new: float | None
    limit: float | None
    reason: str
    evidence: Evidence | None
    interval: list[float] | None
    base_samples: list[float]
    new_samples: list[float]
    place: Place | None

    @property
    def key(self) -> tuple[tuple[str, ...], tuple[str, ...], int]:
        """What tells the stage apart; see `nsys_analyze.verdict.records.StageId`."""
        return tuple(self.stage), tuple(self.domains), self.process

    @property
    def fails(self) -> bool:
        """Whether it makes the whole fail."""
        return self.state in FAILING and self.level == "fail"

    @property
    def warns(self) -> bool:
        """Whether somebody should look at it although it does not make the whole fail."""
        return self.state in UNSETTLED or (self.state in FAILING and not self.fails)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a report or the whole comparison cannot be judged, or (as a warning) should be read with care.

    ``code`` is stable; ``report`` is the report concerned, or None.
    """

    code: str
    message: str
    report: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """The general margins: a change counts when it exceeds both. ``warmup`` instances of a stage are not steady.

    ``place`` is where they were set, None if nowhere.
    """

    increase: float
    ignore_below_ns: int
    warmup: int
    strict: bool
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a check of ``reports`` against ``baseline``, reports by name; ``checks`` come worst first.

    ``problems`` keep it from being trusted, ``warnings`` do not. ``hints`` say where to look.
    """

    outcome: Outcome
    exit_code: int
    headline: str
    reports: list[str]
    baseline: list[str]
    allowed: Allowed
    problems: list[Problem]
    warnings: list[Problem]
    hints: list[str]
    checks: list[Check]

    @property
    def passed(self) -> bool:
        """Whether nothing failed and everything could be told."""
        return self.outcome is Outcome.PASSED

    def having(self, *states: State) -> Sequence[Check]:
        """The checks in one of the states."""
        return [check for check in self.checks if check.state in states]
