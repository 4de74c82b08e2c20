"""What made the start of the program slow and is no work of its own: first launches, candidates being tried out."""

from __future__ import annotations

from collections.abc import Iterator

from nsys_analyze.durations import duration_text
from nsys_analyze.metrics.results import Notice, Stage
from nsys_analyze.metrics.wording import called, worded

_FIRST_LAUNCH_SHARE = 0.01  # of a stage's wall time: below, its first launches are not worth a line


def notices(stages: list[Stage]) -> Iterator[Notice]:
    """Top-level stages with dear first launches, then those in which somebody tried out kernels."""
    top = [stage for stage in stages if not stage.depth]
    yield from (notice for stage in top if (notice := _first_launches(stage, stages)) is not None)
    yield from (_tried_out(stage, stages) for stage in top if stage.benchmark_kernels)


def _first_launches(stage: Stage, stages: list[Stage]) -> Notice | None:
    """What lazy loading cost, if it matters."""
    calls, compiling = stage.launch_call_ns, stage.compile_ns
    if calls is None or not calls.first_count or compiling is None:
        return None
    extra = compiling.sources["first_launch"]
    if extra <= _FIRST_LAUNCH_SHARE * stage.wall_ns.total:
        return None
    message = worded(
        "the first launch[|es] of {functions} function[|s] took {extra} more in {stage} than later launches would "
        "(lazy loading)",
        calls.first_count,
        functions=calls.first_count,
        extra=duration_text(extra),
        stage=called(stage, stages),
    )
    return Notice(code="first-launch", message=message, stage=stage.key, level="note")


def _tried_out(stage: Stage, stages: list[Stage]) -> Notice:
    count = stage.benchmark_kernels or 0
    message = worded(
        "kernel[|s] in {stage} [was|were] launched only to be timed: [a candidate|candidates] being tried out, no work "
        "of the program",
        count,
        stage=called(stage, stages),
    )
    return Notice(code="autotuning", message=message, stage=stage.key, count=count, level="note")
