"""What a check allows: margins, budgets and accepted exceptions, and where each was written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

Level = Literal["fail", "warn"]

INCREASE = 0.1
IGNORE_BELOW = 20_000  # ns
WARMUP = 1  # instances


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where something stands: a file, and its line where known."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one quantity of the stages that match may be.

    ``maximum`` is an absolute limit (ns or a count), ``increase`` the margin over the baseline (0.1 is 10%); None is no
    such limit, or the general one. ``level`` says whether going beyond fails or warns. ``named`` is False where an
    entry only sets the margin of whatever is checked.
    """

    stage: str
    metric: str
    maximum: float | None = None
    increase: float | None = None
    level: Level = "fail"
    named: bool = True
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """What is known to be beyond its limit and accepted: up to a value, for a reason, until a day."""

    stage: str
    metric: str
    up_to: float
    reason: str
    expires: date | None = None
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything a check goes by.

    A change against the baseline counts when it exceeds both ``increase`` (0.1 is 10%) and ``ignore_below`` (ns).
    ``history`` is the database in which the baseline ``history:LABEL`` is found. ``stages`` and ``metrics`` say what is
    held against it; None is what a page shows. ``warmup`` instances of each stage are not steady yet. Of budgets and
    acceptances that match, the last wins.
    """

    baseline: str | None = None
    history: str | None = None
    increase: float = INCREASE
    ignore_below: int = IGNORE_BELOW
    warmup: int = WARMUP
    stages: Sequence[str] | None = None
    metrics: Sequence[str] | None = None
    noise: str | None = None
    strict: bool = False
    budgets: Sequence[Budget] = ()
    accepts: Sequence[Accept] = ()
    place: Place | None = None
    stages_place: Place | None = None
