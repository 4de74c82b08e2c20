"""What is checked: which quantities of which stages, and which limits apply to each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from nsys_analyze.errors import UsageError
from nsys_analyze.metrics import patterns
from nsys_analyze.verdict.config import Accept, Budget, Config, Place
from nsys_analyze.verdict.judged import JUDGED, OUTSIDE_LOOP, Judged
from nsys_analyze.verdict.records import StageId
from nsys_analyze.verdict.samples import ReportSample, StageSample

LOOP_METRICS = (
    *("startup_gap", "startup_gap_exposed", "startup_gap_prelude", "cpu_overhead", "pace", "launch_call"),
    *("gpu_active", "kernels", "first_wall"),
)
_SMALL_LOOP = 0.1  # of the GPU time of the largest: smaller loops are left out
ONCE_METRICS = ("first_wall", "compile_time")
_OF_GPU = 0.1  # of its time: a stage that runs once and keeps the GPU busy for more is checked for its GPU time, too


@dataclass(frozen=True, slots=True)
class Gate:
    """A quantity of a stage that is checked: against the baseline, if ``compared``, and against ``budget``'s maximum.

    ``margin`` is the budget that sets the allowed increase, if one does.
    """

    key: StageId
    quantity: Judged
    compared: bool
    budget: Budget | None
    margin: Budget | None


def matches(pattern: str, key: StageId) -> bool:
    """Whether a pattern names the stage itself, not only one around it."""
    path, domains, _ = key
    return patterns.matches(pattern, path, domains)


def gates(config: Config, base: Sequence[ReportSample], new: Sequence[ReportSample]) -> list[Gate]:
    """Returns everything to check, stages in the order of the baseline's reports and then of the new ones.

    Raises:
        UsageError: If a pattern of the configuration fits no stage of either side.
    """
    stages: dict[StageId, list[StageSample]] = {}
    for report in (*base, *new):
        for key, stage in report.stages.items():
            stages.setdefault(key, []).append(stage)
    _check_patterns(config, list(stages))
    chosen = _chosen(config, stages) if base else {}
    found = []
    for key in stages:
        for quantity in JUDGED.values():
            budget, margin = _last(config.budgets, key, quantity)
            compared = quantity.name in chosen.get(key, ()) or (bool(base) and margin is not None and margin.named)
            if compared or budget is not None:
                found.append(Gate(key, quantity, compared, budget, margin))
    return found


def _chosen(config: Config, stages: dict[StageId, list[StageSample]]) -> dict[StageId, Sequence[str]]:
    """The metrics to hold against the baseline, by stage."""
    if config.stages is not None:
        wanted = [key for key in stages if any(matches(pattern, key) for pattern in config.stages)]
    else:
        loops = {key for key, samples in stages.items() if any(stage.loop for stage in samples)}
        active = {key: max(stage.active for stage in stages[key]) for key in loops}
        least = _SMALL_LOOP * max(active.values(), default=0)
        mattering = [key for key in stages if active.get(key, least) >= least]
        wanted = [key for key in mattering if _is_shown(key, stages, loops, mattering)]
        around = [key for key in mattering if len(key[0]) == 1 and key not in {*wanted, *loops}]
        rest = {} if config.metrics else dict.fromkeys(around, (OUTSIDE_LOOP,))
        return {**rest, **{key: config.metrics or _usual(stages[key]) for key in wanted}}
    return {key: config.metrics or _usual(stages[key]) for key in wanted}


def _is_shown(
    key: StageId, stages: dict[StageId, list[StageSample]], loops: Set[StageId], mattering: Sequence[StageId]
) -> bool:
    """The outermost loops, and the top level but for what a checked loop fills on both sides.

    How long such a stage takes is how often its loop runs; only what lies outside of the loop is checked of it. What a
    loop fills in some reports only, or one too small to be checked, would else be checked nowhere: a program that
    compiles in steps since yesterday.
    """
    path, domains, process = key
    if key in loops:
        return loops.isdisjoint((path[:depth], domains[:depth], process) for depth in range(1, len(path)))
    if len(path) > 1 or not any(stage.holds_loop for stage in stages[key]):
        return len(path) == 1
    inside = [one for one in mattering if one in loops and (one[0][:1], one[1][:1], one[2]) == key]
    return not any(len(stages[one]) == len(stages[key]) for one in inside)


def _usual(samples: list[StageSample]) -> Sequence[str]:
    if any(stage.loop for stage in samples):
        return LOOP_METRICS
    is_gpu = any(stage.active > _OF_GPU * stage.values.get("wall", math.inf) for stage in samples if not stage.steady)
    return (*ONCE_METRICS, "gpu_active") if is_gpu else ONCE_METRICS


def _last(budgets: Sequence[Budget], key: StageId, quantity: Judged) -> tuple[Budget | None, Budget | None]:
    """The last budgets for it that set a maximum and an increase."""
    fitting = [one for one in budgets if one.metric == quantity.name and matches(one.stage, key)]
    maximum = next((one for one in reversed(fitting) if one.maximum is not None), None)
    increase = next((one for one in reversed(fitting) if one.increase is not None), None)
    return maximum, increase


def acceptance(accepts: Sequence[Accept], key: StageId, metric: str) -> Accept | None:
    """Returns the last acceptance for a quantity of a stage."""
    return next((one for one in reversed(accepts) if one.metric == metric and matches(one.stage, key)), None)


def _check_patterns(config: Config, keys: Sequence[StageId]) -> None:
    for pattern, place in _patterns(config):
        if not any(matches(pattern, key) for key in keys):
            near = ", ".join(patterns.near_names(pattern, [key[0] for key in keys])) or "there are no stages"
            where = f"{place}: " if place else ""
            raise UsageError(f"{where}stage {pattern!r} matches no stage of either side (nearest: {near})")


def _patterns(config: Config) -> Iterator[tuple[str, Place | None]]:
    for pattern in config.stages or ():
        yield pattern, config.stages_place
    yield from ((budget.stage, budget.place) for budget in config.budgets)
    yield from ((accept.stage, accept.place) for accept in config.accepts)
