"""What disturbed loops: the cost of recording their ranges, and instances that stalled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nsys_analyze.durations import duration_text
from nsys_analyze.metrics.breakdown import HOST_PARTS
from nsys_analyze.metrics.results import Markers, Notice, Stage
from nsys_analyze.metrics.wording import called

if TYPE_CHECKING:
    from nsys_analyze.report import Report

_MARKER_SHARE = 0.01  # of a stage's wall time
_STALL_SHARE = 0.02  # of a loop's time: below, its stalls are not worth a line
_CAPTURE_SHARE = 0.001  # of the whole capture, likewise
_MOST_LINES = 3  # of one kind
_AFTER_END = "GPU work after its end"


def notices(report: Report, stages: list[Stage]) -> Iterator[Notice]:
    """Loops with GPU work whose ranges are dear to record, then those that stalled."""
    loops = [stage for stage in stages if stage.pace_ns is not None and stage.gpu_ops]
    yield from _marker_costs(loops, stages)
    yield from _stalls(loops, stages, report.trace.end - report.trace.start)


def _marker_costs(loops: list[Stage], stages: list[Stage]) -> Iterator[Notice]:
    """Loops of the program in which recording the ranges inside takes a share of the time, the largest cost first."""
    dear = [
        (stage.markers, stage)
        for stage in loops
        if stage.markers
        and stage.markers.cost_high_ns > _MARKER_SHARE * stage.wall_ns.total
        and not stage.is_compilers_own
    ]
    for markers, stage in sorted(dear, key=lambda row: -row[0].cost_high_ns)[:_MOST_LINES]:
        yield Notice(code="marker-cost", message=_marker_cost(markers, stage, stages), stage=stage.key, level="note")


def _marker_cost(markers: Markers, stage: Stage, stages: list[Stage]) -> str:
    low, high = (100 * cost / stage.wall_ns.total for cost in (markers.cost_low_ns, markers.cost_high_ns))
    each = f"{markers.ranges / stage.instances:,.0f}"
    ranges, takes = ("range", "takes") if each == "1" else (f"{each} ranges", "take")
    short = f"; {markers.short:,} in all {'is' if markers.short == 1 else 'are'} under 2 us" if markers.short else ""
    return (
        f"the {ranges} inside each {called(stage, stages)} {takes} about {low:.2g} to {high:.2g}% of its time to "
        f"record{short}"
    )


def _stalls(loops: list[Stage], stages: list[Stage], captured: int) -> Iterator[Notice]:
    """Loops whose stalls cost more than a little, those that lost the most first."""
    lost = [(sum(stall.excess_ns for stall in stage.stalls), stage) for stage in loops if not stage.is_compilers_own]
    told = [
        (excess, stage)
        for excess, stage in lost
        if excess > max(_STALL_SHARE * stage.elapsed_ns.total, _CAPTURE_SHARE * captured)
    ]
    for _, stage in sorted(told, key=lambda row: -row[0])[:_MOST_LINES]:
        worst = stage.stalls[0]
        cause = next(iter(worst.filled_ns), "code")
        yield Notice(
            code="late-stall",
            message=f"the worst instance of {called(stage, stages)}, number {worst.index} at "
            f"{worst.start_ns / 1e9:.6f} s, took {duration_text(worst.elapsed_ns)}, {duration_text(worst.excess_ns)} "
            f"over the median, most of it in {HOST_PARTS.get(cause, _AFTER_END)}",
            stage=stage.key,
            count=len(stage.stalls),
            level="note",
        )
