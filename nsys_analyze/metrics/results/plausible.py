"""What numbers of saved results can be at all: finite, within 64 bits, and no less than nothing where they count."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from nsys_analyze.metrics.results.parts import Series
from nsys_analyze.metrics.results.stage import Stage

_LIMIT = 2**63
_SIGNED = frozenset(
    (
        *("start_ns", "first_event_ns", "cuda_init_ns", "first_call_ns", "first_gpu_op_ns", "first_kernel_ns"),
        *("last_event_ns", "first_op_ns", "last_op_ns", "largest_gap_start_ns", "cold_start_ns", "filled_ns"),
        "capture",
    )
)  # instants on the report's clock, differences, and what the capture's settings say


def objection(values: Sequence[object], where: str) -> str | None:
    """Why values of the field ``where`` cannot be, None if they can; what is no number does not matter."""
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    for value in numbers:
        if isinstance(value, float) and not math.isfinite(value):
            return f"{where} is {value}, not a finite number"
    if not numbers:
        return None
    least, most = min(numbers), max(numbers)
    if least < -_LIMIT or most >= _LIMIT:
        return f"{where} is {str(most if most >= _LIMIT else least)[:40]}, beyond 64 bits"
    if least < 0 and _SIGNED.isdisjoint(where.split(".")):
        return f"{where} is {least}, less than 0"
    return None


def objection_to(made: object, where: str) -> str | None:
    """Why the numbers of a result do not go together, None if they do."""
    return next(_of_stage(made, where), None) if isinstance(made, Stage) else None


def _of_stage(stage: Stage, where: str) -> Iterator[str]:
    if stage.instances < 1:
        yield f"{where}.instances is {stage.instances}, not at least 1"
    for name, part in (("unfinished", stage.unfinished), ("instances_with_gpu", stage.instances_with_gpu or 0)):
        if part > stage.instances:
            yield f"{where}.{name} is {part}, more than the {stage.instances} instances"
    if not stage.path or len(stage.path) != len(stage.domains):
        yield f"{where}.domains has {len(stage.domains)} entries, {where}.path {len(stage.path)}"
    if stage.series is not None:
        yield from _of_series(stage.series, stage.instances, f"{where}.series")


def _of_series(series: Series, instances: int, where: str) -> Iterator[str]:
    for name in Series.__dataclass_fields__:
        length = len(getattr(series, name))
        if length != instances and (length or name != "profiler_ns"):  # results of before lack that one
            yield f"{where}.{name} has {length} entries for {instances} instances"
    if any(later < earlier for earlier, later in zip(series.start_ns, series.start_ns[1:], strict=False)):
        yield f"{where}.start_ns is not in order"
