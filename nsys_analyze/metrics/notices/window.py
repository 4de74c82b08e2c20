"""Ranges that the edges of the capture cut.

At its end nsys closes every open range, and what the GPU has not finished is not recorded. At its beginning, a range
that is open already is not recorded at all, so that the ranges inside it look like outermost ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.arrays import Bool, Int64, order_by_both
from nsys_analyze.attribution import Moments
from nsys_analyze.attribution.assign import assign
from nsys_analyze.metrics.notices.lost import lost_by_process
from nsys_analyze.metrics.notices.rows import OfStages, Rows
from nsys_analyze.metrics.results import Notice

if TYPE_CHECKING:
    from nsys_analyze.report import Report

_UNFINISHED = OfStages(
    code="unfinished-ranges",
    each="range[|s] of {stage} [was|were] open when the capture ended; [it stays|they stay] out of medians and pace",
    all="range[|s] of {stages} stages ({names}) [was|were] open when the capture ended; they stay out of medians and "
    "pace",
)
_CUT_BY_END = OfStages(
    code="cut-by-end",
    each="instance[|s] of {stage} launched GPU work that the capture ended too early to record: [its|their] kernels "
    "are undercounted",
    all="instance[|s] of {stages} stages ({names}) launched GPU work that the capture ended too early to record: their "
    "kernels are undercounted",
)
_CUT_BY_START = OfStages(
    code="cut-by-start",
    each="range[|s] of {stage} [comes|come] from an outer range that was open before the capture began and is not in "
    "the report",
    all="range[|s] of {stages} stages ({names}) come from outer ranges that were open before the capture began and are "
    "not in the report",
)


def notices(report: Report, rows: Rows) -> Iterator[Notice]:
    """Stages with ranges that an edge of the capture cut."""
    unfinished = [(stage, stage.unfinished) for stage in rows.stages if stage.unfinished]
    yield from _UNFINISHED.notices(unfinished, rows.stages)
    cut = _cut_by_end(report) & report.trace.ranges.finished
    told = {stage.key for stage, _ in unfinished}
    repeated = [
        (stage, count)
        for stage, count in rows.holding(np.flatnonzero(cut))
        if (stage.pace_ns is not None or not stage.depth) and stage.key not in told
    ]
    yield from _CUT_BY_END.notices(repeated, rows.stages)
    yield from _CUT_BY_START.notices(rows.holding(_cut_by_start(report)), rows.stages)


def _cut_by_end(report: Report) -> Bool:
    """Which ranges hold one of the last launches of their process, whose operations the capture does not have."""
    trace = report.trace
    cut: Bool = np.zeros(len(trace.ranges), bool)
    tails = [lost.rows for lost in lost_by_process(trace) if lost.tail]
    if not tails or not len(trace.ranges):
        return cut
    calls = np.concatenate(tails)
    calls = calls[order_by_both(trace.calls.thread[calls], trace.calls.start[calls])]
    moments = Moments(trace.calls.thread[calls], trace.calls.start[calls])
    found = assign(moments, trace.ranges, report.nesting, trace.threads, report.settings.attribution)
    above, parent = np.unique(found.inner[found.inner >= 0]), report.nesting.parent_across_threads
    while len(above):
        cut[above] = True
        above = np.unique(parent[above])
        above = above[above >= 0]
    return cut


def _cut_by_start(report: Report) -> Int64:
    """Outermost ranges that began before their thread's first range of a name in which they usually lie.

    Only where the capture is known to have begun in the middle of the program: it says so, or the process's GPU
    operations lack launches.
    """
    ranges, parent = report.trace.ranges, report.nesting.parent
    late = _began_late(report)[report.trace.threads.process[ranges.thread]]
    if not late.any():
        return np.zeros(0, np.int64)
    element = ranges.domain.astype(np.int64) * len(ranges.folded_names) + ranges.folded
    names, name = np.unique(np.stack([ranges.thread, element]), axis=1, return_inverse=True)
    name = name.reshape(-1)
    inside, roots = np.flatnonzero(parent >= 0), np.flatnonzero((parent < 0) & late)
    first = np.full(names.shape[1], np.iinfo(np.int64).max)
    np.minimum.at(first, name, ranges.start)
    usual = np.full(names.shape[1], np.iinfo(np.int64).min)  # where the first of the outer ranges of a name begins
    usual[name[inside]] = np.iinfo(np.int64).max
    np.minimum.at(usual, name[inside], first[name[parent[inside]]])
    early = ranges.start[roots] < usual[name[roots]]
    also_later = np.zeros(names.shape[1], bool)
    also_later[name[roots[~early]]] = True
    return roots[early & ~also_later[name[roots]]]


def _began_late(report: Report) -> Bool:
    """Which processes ran already when the capture began, as far as the report shows."""
    processes = len(report.trace.processes.pid)
    if report.metadata.window is not None:
        return np.ones(processes, bool)
    without_launch = report.trace.ops.process[report.trace.ops.launch < 0]
    late: Bool = np.zeros(processes, bool)
    late[without_launch[without_launch >= 0]] = len(report.trace.calls) > 0
    return late
