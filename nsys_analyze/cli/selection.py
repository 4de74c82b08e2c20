"""What was asked for of an analysis: stages by pattern and depth, an order, a number of rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.patterns import match_level, near_names
from nsys_analyze.metrics.results import Analysis, RankedProgram, RankedStage, Stage
from nsys_analyze.views.columns import INSTANCE, STAGE, Measure
from nsys_analyze.views.text import shorten, visible

T = TypeVar("T")

STAGE_ORDERS = (
    *("n", "wall", "pace", "elapsed", "overhead", "active", "kernels", "us-per-kernel", "gap", "exposed"),
    *("launch-call", "queue-delay", "cold"),
)
INSTANCE_ORDERS = tuple(INSTANCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """``patterns`` (any of them), ``depth`` levels from a match or from the top, ``sort`` by a column, ``top`` rows.

    ``instances`` says that the rows to sort and to count are instances, not stages.
    """

    patterns: Sequence[str] = ()
    depth: int | None = None
    sort: str | None = None
    top: int | None = None
    instances: bool = False


def select(analyses: Sequence[Analysis], selection: Selection) -> list[Analysis]:
    """Returns the analyses with only the stages and instances asked for, in the order asked for.

    Raises:
        UsageError: If a pattern matches nothing in any report, or there is no such column to sort by.
    """
    check_patterns(analyses, selection.patterns)
    return [_select(analysis, selection) for analysis in analyses]


def select_ranks(programs: Sequence[RankedProgram], selection: Selection) -> list[RankedProgram]:
    """Returns the programs with only the stages asked for, without those that have none."""
    kept = [[stage for stage in program.stages if _is_selected(stage, selection)] for program in programs]
    return [
        dataclasses.replace(program, stages=stages[: selection.top or None])
        for program, stages in zip(programs, kept, strict=True)
        if stages
    ]


def check_patterns(analyses: Sequence[Analysis], patterns: Sequence[str]) -> None:
    """Refuses patterns that match nothing in any report.

    Raises:
        UsageError: If there is one; it says what it may have meant.
    """
    for pattern in patterns:
        _check_pattern(pattern, [stage for analysis in analyses for stage in analysis.stages])


def _check_pattern(pattern: str, stages: Sequence[Stage]) -> None:
    if any(match_level(pattern, stage.path, stage.domains) for stage in stages):
        return
    near = [shorten(visible(name), 60) for name in near_names(pattern, [stage.path for stage in stages])]
    hint = f"nearest: {', '.join(near)}" if near else "there are no stages"
    raise UsageError(f"--stage {visible(pattern)}: matches no stage ({hint})")


def _select(analysis: Analysis, selection: Selection) -> Analysis:
    stages = [stage for stage in analysis.stages if _is_selected(stage, selection)]
    if not selection.instances:
        stages = ordered(stages, STAGE, STAGE_ORDERS, selection.sort)[: selection.top or None]
        return dataclasses.replace(analysis, stages=stages)
    keys = {stage.key for stage in stages}
    instances = [instance for instance in analysis.instances if instance.stage in keys]
    instances = ordered(instances, INSTANCE, INSTANCE_ORDERS, selection.sort)[: selection.top or None]
    return dataclasses.replace(analysis, stages=stages, instances=instances)


def _is_selected(stage: Stage | RankedStage, selection: Selection) -> bool:
    if not selection.patterns:
        return selection.depth is None or len(stage.path) <= selection.depth
    levels = [match_level(pattern, stage.path, stage.domains) for pattern in selection.patterns]
    return any(level and level <= (selection.depth or level) for level in levels)


def ordered(items: list[T], measures: Mapping[str, Measure[T]], orders: Sequence[str], sort: str | None) -> list[T]:
    """Returns the items with the largest of a column first, those without the number last; None keeps their order.

    Raises:
        UsageError: If there is no such column.
    """
    if sort is None:
        return items
    if sort not in orders:
        raise UsageError(f"--sort {visible(sort)}: no such column; there are: {', '.join(orders)}")
    return sorted(items, key=_descending(measures[sort].get))


def _descending(get: Callable[[T], float | None]) -> Callable[[T], tuple[bool, float]]:
    def key(item: T) -> tuple[bool, float]:
        value = get(item)
        return (True, 0.0) if value is None else (False, -value)

    return key
