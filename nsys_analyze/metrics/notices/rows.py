"""The rows of the output that notices speak of, and how a few or many of them are told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nsys_analyze.arrays import AnyInt
from nsys_analyze.metrics.results import Notice, Stage
from nsys_analyze.metrics.wording import called, listed, worded

_MOST_STAGES = 10  # that get a line each for the same reason


@dataclass(frozen=True, slots=True)
class Rows:
    """Stages, for each how many instances began before the last one had ended, and the key of every range's stage."""

    stages: list[Stage]
    overlapping: list[int]
    key_of_range: list[str]

    def holding(self, ranges: AnyInt) -> list[tuple[Stage, int]]:
        """The stages of some ranges, in the order of the output, and how many of the ranges each holds."""
        counts: dict[str, int] = {}
        for row in ranges.tolist():
            key = self.key_of_range[row]
            counts[key] = counts.get(key, 0) + 1
        return [(stage, counts[stage.key]) for stage in self.stages if stage.key in counts]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfStages:
    """Something to say of several stages. Templates are those of `worded`; the count stands in front of them.

    ``each`` speaks of one stage by ``{stage}``, ``all`` of many by ``{stages}`` (how many) and ``{names}``.
    """

    code: str
    each: str
    all: str
    level: str = "warning"

    def notices(self, found: Iterable[tuple[Stage, int]], stages: list[Stage]) -> list[Notice]:
        """A notice a stage, or one for all of them where they are many."""
        counted = list(found)
        if len(counted) <= _MOST_STAGES:
            return [self._of_one(stage, count, stages) for stage, count in counted]
        total = sum(count for _, count in counted)
        names = listed([called(stage, stages) for stage, _ in counted])
        message = worded(self.all, total, stages=f"{len(counted):,}", names=names)
        return [Notice(code=self.code, message=message, count=total, level=self.level)]

    def _of_one(self, stage: Stage, count: int, stages: list[Stage]) -> Notice:
        message = worded(self.each, count, stage=called(stage, stages))
        return Notice(code=self.code, message=message, stage=stage.key, count=count, level=self.level)
