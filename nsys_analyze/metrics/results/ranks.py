"""What is said about the ranks of a job: processes that run the same program, held against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_PAIR = 2  # ranks, whose median lies halfway
_FAR = 0.1  # from the median, as a share of it: an extreme beyond stands out


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A number over ranks: ``count`` of them know it. Of ranks that share an extreme, the lowest is named."""

    count: int
    min: float
    median: float
    max: float
    min_rank: int
    max_rank: int

    @property
    def outlier(self) -> Literal["min", "max"] | None:
        """The extreme that lies farther from the median, by over a tenth of it; of two ranks the max."""
        below, above = self.median - self.min, self.max - self.median
        if max(below, above) <= _FAR * abs(self.median):
            return None
        return "min" if below > above and self.count > _PAIR else "max"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartSkew:
    """Latest less earliest start of each instance over the ranks, ns.

    ``first`` is that of the first instance. ``latest_rank`` was the latest most often, in ``latest_count`` of the
    ``instances``; None if all always started together.
    """

    instances: int
    first: int
    median: float
    max: int
    latest_rank: int | None
    latest_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedStage:
    """A stage of several ranks, or of some of them: ``ranks`` lists those that have it.

    ``quantities`` holds an entry a quantity of `nsys_analyze.metrics.quantities`, of a typical instance; None if no
    rank knows it. ``start_skew_ns`` is None where ``start_skew_missing`` says why.
    """

    path: list[str]
    domains: list[str]
    name: str
    domain: str
    depth: int
    ranks: list[int]
    instances: Spread
    wall_total_ns: Spread
    active_total_ns: Spread | None
    quantities: dict[str, Spread | None]
    start_skew_ns: StartSkew | None
    start_skew_missing: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """A process that is a rank; ``report`` is the place of its report among those given, from 0."""

    rank: int
    report: int
    file: str
    process: int
    gpus: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankClock:
    """The clock by which starts of ranks are held against each other.

    ``by`` is "report" where all ranks are in one; else "wall", the wall clock of each report's machine, or "iteration":
    each report's own clock, shifted so that instances of the loop ``stage`` (its path) begin together in the median.
    ``hosts`` is how many machines the reports are of, None where not all of them tell.
    """

    by: Literal["report", "wall", "iteration"]
    stage: list[str] | None
    hosts: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedProgram:
    """The ranks that run one program, and the stages that they share.

    ``numbered_by`` is "report" where reports tell the ranks, else "order": by report, first GPU, process id. ``clock``
    is None where several reports have nothing to be aligned by.
    """

    program: str
    numbered_by: Literal["report", "order"]
    ranks: list[Rank]
    stages: list[RankedStage]
    clock: RankClock | None = None
