"""Warnings and notes: what a reader must know before believing the numbers. Codes are stable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nsys_analyze.attribution import How, Nesting
from nsys_analyze.attribution.nesting import DEEPEST, innermost
from nsys_analyze.metrics.breakdown import HOST_PARTS
from nsys_analyze.metrics.coverage import knows_gpu
from nsys_analyze.metrics.programs import is_profiler_init
from nsys_analyze.metrics.results import Coverage, Notice, Stage
from nsys_analyze.model.tables import OpKind, Trace

if TYPE_CHECKING:
    from nsys_analyze.report import Report

_FIRST_LAUNCH_SHARE = 0.01  # of a stage's wall time: below, its first launches are not worth a line

_NSYS_ERROR = 3
_STALL_SHARE = 0.02  # of a loop's time: below, its stalls are not worth a line
_CAPTURE_SHARE = 0.001  # of the whole capture, likewise
_MOST_LINES = 3  # of one kind, about stages
_MARKER_SHARE = 0.01  # of a stage's wall time
_AFTER_END = "GPU work after its end"
_LONGEST = 200  # characters of a text of nsys

_UNATTRIBUTED = {
    How.NO_LAUNCH_ROW: "GPU operations have no launch in the report: most likely launched before the capture began",
    How.OUTSIDE_RANGES: "GPU operations were launched while no range was open",
    How.AMBIGUOUS_THREAD: "GPU operations were launched by a thread without ranges while several others had one open",
}

_FOUND = {
    "whole-graphs": "CUDA graphs were traced whole: their kernels are not counted; --cuda-graph-trace=node shows them",
    "untimed-graphs": "CUDA graph launches have no times in the report and are left out",
    "clock-skew": "GPU operations start before the call that launched them; gaps and delays are taken as 0 there",
    "reversed-times": "ranges or operations end before they start; they are taken as empty",
    "absurd-times": "rows have no time, or one that is months away from all others; they are left out",
    "too-deep": f"ranges lie over {DEEPEST} levels deep (never popped?) and count for the range around them",
    "doubled-calls": "rows told of a CUDA call a second time (CUDA backtraces do that) and were dropped",
}


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that notices speak of: stages, and for each how many instances began before the last one had ended."""

    stages: list[Stage]
    overlapping: list[int]
    key_of_range: list[str]


def notices(report: Report, how: npt.NDArray[np.int8], coverage: Coverage, rows: Rows) -> list[Notice]:
    """All warnings, then all notes.

    Args:
        report: The report.
        how: How each operation was attributed.
        coverage: The same, counted.
        rows: The rows of the output.
    """
    trace = report.trace
    found = [
        *_missing(trace),
        *_unattributed(trace, how),
        *_lost(trace, coverage),
        *_of_stages(rows),
        *_found(trace),
        *_profiler(trace, report.nesting, rows.key_of_range),
        *_first_launches(rows.stages),
        *_benchmarking(rows.stages),
        *_marker_costs(rows.stages),
        *_stalls(rows.stages, trace.end - trace.start),
        *_diagnostics(report.metadata.diagnostics),
    ]
    return sorted(found, key=lambda notice: notice.level != "warning")


def _called(stage: Stage, stages: list[Stage]) -> str:
    """What a message calls a stage: its path, and its process where there are several."""
    path = f"`{' / '.join(stage.path)}`"
    return path if stages[0].process == stages[-1].process else f"{path} of process {stage.process}"


def _missing(trace: Trace) -> Iterator[Notice]:
    if not len(trace.ranges):
        yield Notice(
            code="no-nvtx",
            message="no NVTX ranges, so there are no stages; annotate the program, capture with --trace cuda,nvtx",
        )
    if not len(trace.calls) and not len(trace.ops):
        yield Notice(
            code="no-cuda",
            message="no CUDA calls and no GPU operations: only wall times are known; capture with --trace cuda,nvtx",
        )
    elif not len(trace.calls):
        yield Notice(
            code="no-calls",
            message="no CUDA API calls, so that no GPU operation can be traced back to a range",
            count=len(trace.ops),
        )
    elif not len(trace.ops):
        yield Notice(
            code="no-gpu-ops",
            message="CUDA calls but no GPU operations; the profiler may be older than the driver",
            count=len(trace.calls),
        )
    elif not knows_gpu(trace):
        yield Notice(
            code="gpu-unknown",
            message="launch calls, but no kernel of theirs: what the ranges put on the GPU is unknown",
        )


def _unattributed(trace: Trace, how: npt.NDArray[np.int8]) -> Iterator[Notice]:
    for kind, message in _UNATTRIBUTED.items():
        count = int((how == kind).sum())
        told_already = not len(trace.calls) if kind is How.NO_LAUNCH_ROW else not len(trace.ranges)
        if count and not told_already:
            yield Notice(code=kind.name.lower().replace("_", "-"), message=message, count=count)


def _lost(trace: Trace, coverage: Coverage) -> Iterator[Notice]:
    lost = coverage.launches_without_gpu_op - trace.counts.untimed_graphs
    if lost > 0 and len(trace.ops):
        yield Notice(
            code="launches-without-ops",
            message="launch calls have no GPU operation: the capture ended first, or nsys is older than the driver",
            count=lost,
        )


def _marker_costs(stages: list[Stage]) -> Iterator[Notice]:
    """Loops with GPU work in which recording the ranges inside takes a share of the time, the largest cost first."""
    dear = [
        (stage.markers, stage)
        for stage in stages
        if stage.markers and stage.pace_ns is not None and stage.gpu_ops
        if stage.markers.cost_high_ns > _MARKER_SHARE * stage.wall_ns.total
    ]
    for markers, stage in sorted(dear, key=lambda row: -row[0].cost_high_ns)[:_MOST_LINES]:
        low, high = (100 * cost / stage.wall_ns.total for cost in (markers.cost_low_ns, markers.cost_high_ns))
        yield Notice(
            code="marker-cost",
            message=f"the {markers.ranges / stage.instances:,.0f} ranges inside each {_called(stage, stages)} take "
            f"about {low:.2g} to {high:.2g}% of its time to record; {markers.short:,} in all are under 2 us",
            stage=stage.key,
            level="note",
        )


def _benchmarking(stages: list[Stage]) -> Iterator[Notice]:
    """Top-level stages in which somebody tried out kernels."""
    for stage in stages:
        if stage.benchmark_kernels and not stage.depth:
            yield Notice(
                code="autotuning",
                message=f"kernels in `{stage.name}` were launched only to be timed: candidates being tried out, "
                "no work of the program",
                stage=stage.key,
                count=stage.benchmark_kernels,
                level="note",
            )


def _stalls(stages: list[Stage], captured: int) -> Iterator[Notice]:
    """Loops whose stalls cost more than a little, those that lost the most first."""
    lost = [
        (sum(stall.excess_ns for stall in stage.stalls), stage)
        for stage in stages
        if stage.pace_ns is not None and stage.gpu_ops and not stage.is_compilers_own
    ]
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
            message=f"the worst instance of {_called(stage, stages)}, number {worst.index}, took "
            f"{worst.elapsed_ns / 1e6:.3g} ms, {worst.excess_ns / 1e6:.3g} ms over the median, most of it in "
            f"{HOST_PARTS.get(cause, _AFTER_END)}",
            stage=stage.key,
            count=len(stage.stalls),
            level="note",
        )


def _diagnostics(diagnostics: list[tuple[int, str]]) -> Iterator[Notice]:
    """What nsys itself warned of, each text once; its warnings are notes here, since most are harmless."""
    for (severity, text), count in Counter(diagnostics).items():
        said = " ".join(text.split())
        yield Notice(
            code="nsys-error" if severity == _NSYS_ERROR else "nsys-warning",
            message=f"the profiler said: {said if len(said) <= _LONGEST else said[:_LONGEST] + '...'}",
            count=count,
            level="warning" if severity == _NSYS_ERROR else "note",
        )


def _of_stages(rows: Rows) -> Iterator[Notice]:
    for stage, overlapping in zip(rows.stages, rows.overlapping, strict=True):
        path = _called(stage, rows.stages)
        if stage.unfinished:
            yield Notice(
                code="unfinished-ranges",
                message=f"ranges of {path} were open when the capture ended; they stay out of medians and pace",
                stage=stage.key,
                count=stage.unfinished,
            )
        if overlapping:
            yield Notice(
                code="overlapping-instances",
                message=f"instances of {path} overlap in time, so that they have no pace",
                stage=stage.key,
                count=overlapping,
                level="note",
            )


def _found(trace: Trace) -> Iterator[Notice]:
    """What was found and mended while the tables were built."""
    counts = trace.counts
    found = {
        "whole-graphs": int((trace.ops.kind == OpKind.GRAPH).sum()),
        "untimed-graphs": counts.untimed_graphs,
        "clock-skew": counts.ops_before_call,
        "reversed-times": counts.reversed_intervals,
        "absurd-times": counts.absurd_times,
        "too-deep": counts.ranges_too_deep,
        "doubled-calls": counts.calls_doubled,
    }
    for code, count in found.items():
        if count:
            level = "note" if code == "doubled-calls" else "warning"
            yield Notice(code=code, message=_FOUND[code], count=count, level=level)


def _profiler(trace: Trace, nesting: Nesting, key_of_range: list[str]) -> Iterator[Notice]:
    for row in np.flatnonzero(is_profiler_init(trace)).tolist():
        thread = int(trace.profiler.thread[row])
        start, took = trace.profiler.start[row : row + 1], int(trace.profiler.end[row] - trace.profiler.start[row])
        inside = int(innermost(trace.ranges, nesting, thread, start)[0]) if thread >= 0 else -1
        if inside >= 0:
            name = trace.ranges.folded_names[trace.ranges.folded[inside]]
            yield Notice(
                code="profiler-init",
                message=f"the profiler's own CUDA initialisation took {took / 1e6:.0f} ms inside `{name}`",
                stage=key_of_range[inside],
                level="note",
            )


def _first_launches(stages: list[Stage]) -> Iterator[Notice]:
    """Top-level stages whose first launches were dear: lazy loading makes them so."""
    for stage in stages:
        calls = stage.launch_call_ns
        if stage.depth or calls is None or calls.median is None:
            continue
        extra = calls.first_total - calls.first_count * calls.median
        if extra > _FIRST_LAUNCH_SHARE * stage.wall_ns.total:
            yield Notice(
                code="first-launch",
                message=f"the first launches of {calls.first_count} functions took {extra / 1e6:.3g} ms more in "
                f"`{stage.name}` than later launches would (lazy loading)",
                stage=stage.key,
                level="note",
            )
