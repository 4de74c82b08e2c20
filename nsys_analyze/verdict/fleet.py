"""What a fleet of reports says: each number of a stage over reports, machines, ranks and days, and who stands out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from nsys_analyze.verdict.compared import LEVEL
from nsys_analyze.verdict.judged import JUDGED
from nsys_analyze.verdict.standing import standing
from nsys_analyze.verdict.statistics import holm

if TYPE_CHECKING:
    import pandas as pd

By = Literal["report", "host", "rank", "date"]
EVERY_BY: tuple[By, ...] = ("report", "host", "rank", "date")
FINDINGS_BY: tuple[By, ...] = ("host", "rank", "date", "report")
"""What stands out together comes before the single reports."""


class Cohort(NamedTuple):
    """What reports must have in common to be held against each other; None is what they do not tell."""

    program: str | None
    executor: str | None
    gpu: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetStage:
    """A stage of a cohort: its path, the domain of each element, whether it repeats."""

    cohort: Cohort
    path: tuple[str, ...]
    domains: tuple[str, ...]
    loop: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A number over reports, machines, ranks or days, each of which counts with the median of its own.

    ``min_name`` and ``max_name`` are who has the extremes; ``min_stands_out`` and ``max_stands_out`` whether these are
    beyond the median by the rule of `nsys_analyze.verdict.standing`.
    """

    count: int
    median: float
    min: float
    min_name: str
    max: float
    max_name: str
    min_stands_out: bool = False
    max_stands_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Summed:
    """A stage over the fleet: ``reports`` that have it, and each of its numbers by quantity and by what."""

    stage: FleetStage
    reports: int
    spreads: dict[tuple[str, By], Spread]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Who stands out: a report, machine, rank or day. ``p`` is adjusted for all that was asked by the same."""

    by: By
    name: str
    stage: FleetStage
    quantity: str
    value: float
    median: float
    more: bool
    p: float

    @property
    def ratio(self) -> float | None:
        """Value over median."""
        return self.value / self.median if self.median > 0 else None


@dataclass(frozen=True, slots=True)
class FleetSummary:
    """All stages, and all findings: by `FINDINGS_BY`, what takes longer before what takes less, the surest first."""

    stages: list[Summed]
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class _Asked:
    """One number of one stage by report, host, rank or date: who, their values, and how far out each is."""

    stage: FleetStage
    quantity: str
    by: By
    names: Sequence[str]
    values: np.ndarray[tuple[int], np.dtype[np.float64]]
    median: float
    slower: Sequence[float]
    faster: Sequence[float]


def summarise(stages: Sequence[tuple[FleetStage, pd.DataFrame]]) -> FleetSummary:
    """Sums a fleet up.

    Args:
        stages: Each stage with a row a report and process: columns ``report``, ``host``, ``rank`` and ``date`` (texts
            or missing) and one a quantity (numbers or missing), of which each is asked.
    """
    asked = [each for stage, rows in stages for each in _all_asked(stage, rows)]
    findings = [finding for by in EVERY_BY for finding in _findings([each for each in asked if each.by == by])]
    out = {(each.stage, each.quantity, each.by, each.name, each.more) for each in findings}
    return FleetSummary(
        [
            Summed(
                stage=stage,
                reports=int(rows["report"].nunique()),
                spreads={(each.quantity, each.by): _spread(each, out) for each in asked if each.stage == stage},
            )
            for stage, rows in stages
        ],
        sorted(findings, key=lambda finding: (FINDINGS_BY.index(finding.by), not finding.more, finding.p)),
    )


def _all_asked(stage: FleetStage, rows: pd.DataFrame) -> Iterator[_Asked]:
    quantities = [name for name in JUDGED if name in rows.columns]
    for by in EVERY_BY:
        medians = rows.groupby(by, sort=True)[quantities].median()
        for quantity in quantities:
            known = medians[quantity].dropna()
            if len(known) < 2 or not known.any():
                continue
            values = known.to_numpy(np.float64).clip(0.0)
            found = standing(values, quantity)
            yield _Asked(
                stage=stage,
                quantity=quantity,
                by=by,
                names=[str(name) for name in known.index],
                values=values,
                median=found.median,
                slower=found.slower.tolist(),
                faster=found.faster.tolist(),
            )


def _findings(asked: Sequence[_Asked]) -> Iterator[Finding]:
    """Those of all that was asked by report, or by host, ..., which hold together."""
    for more in (True, False):
        adjusted = iter(holm([p for each in asked for p in (each.slower if more else each.faster)]))
        for each in asked:
            for name, value in zip(each.names, each.values.tolist(), strict=True):
                p = next(adjusted)
                if p <= LEVEL:
                    yield Finding(
                        by=each.by,
                        name=name,
                        stage=each.stage,
                        quantity=each.quantity,
                        value=value,
                        median=each.median,
                        more=more,
                        p=p,
                    )


def _spread(asked: _Asked, out: set[tuple[FleetStage, str, By, str, bool]]) -> Spread:
    least, greatest = int(asked.values.argmin()), int(asked.values.argmax())
    about = (asked.stage, asked.quantity, asked.by)
    return Spread(
        count=len(asked.values),
        median=asked.median,
        min=float(asked.values[least]),
        min_name=asked.names[least],
        max=float(asked.values[greatest]),
        max_name=asked.names[greatest],
        min_stands_out=(*about, asked.names[least], False) in out,
        max_stands_out=(*about, asked.names[greatest], True) in out,
    )
