"""CPU overhead without the profiler's share: from a time that was measured without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.patterns import matches, near_names
from nsys_analyze.metrics.results import Stage


def with_unprofiled(stages: Sequence[Stage], unprofiled: Mapping[str, int]) -> list[Stage]:
    """The stages, with what their unprofiled times say of CPU overhead.

    Args:
        stages: Rows of the output.
        unprofiled: Nanoseconds that an instance takes without a profiler, by a pattern of stages; of several that match
            a stage, the last counts.
    """
    return [_with(stage, unprofiled) for stage in stages]


def check_patterns(unprofiled: Mapping[str, int], stages: Sequence[Stage]) -> None:
    """Refuses times that are for no stage.

    Raises:
        UsageError: A pattern matches none of the stages.
    """
    for pattern in unprofiled:
        if not any(matches(pattern, stage.path, stage.domains) for stage in stages):
            near = near_names(pattern, [stage.path for stage in stages])
            hint = f"nearest: {', '.join(near)}" if near else "there are no stages"
            raise UsageError(f"unprofiled {pattern}: matches no stage ({hint})")


def _with(stage: Stage, unprofiled: Mapping[str, int]) -> Stage:
    times = [time for pattern, time in unprofiled.items() if matches(pattern, stage.path, stage.domains)]
    if not times:
        return stage
    overhead = _overhead(stage, times[-1])
    per_kernel = overhead * stage.instances / stage.kernels if overhead is not None and stage.kernels else None
    return replace(
        stage,
        unprofiled_ns=times[-1],
        unprofiled_cpu_overhead_ns=overhead,
        unprofiled_overhead_per_kernel_ns=per_kernel,
    )


def _overhead(stage: Stage, time: int) -> float | None:
    if stage.active_ns is None:
        return None
    left = time - stage.active_ns / stage.instances
    if left < 0 and stage.communication is not None:
        return None  # kernels that waited for another rank, longer than they did without the profiler
    return max(left, 0.0)
