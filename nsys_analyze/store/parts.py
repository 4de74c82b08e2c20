"""What a part of a report needs beside itself, so that its numbers stay what they were.

Numbers of an instance come from everything that happened between its start and its completion, in its process and on
the GPUs. A few come from farther away: the first launch of a kernel is told from later ones by all that came before,
and what it took too long from the median of the others; and whether there are kernels anywhere tells an unknown number
of them from none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.arrays import NONE, Bool, Int32, Int64, reduce_slices
from nsys_analyze.attribution.nesting import nest
from nsys_analyze.ingest.ranks import RANK_NAME
from nsys_analyze.metrics.coverage import lost_launches
from nsys_analyze.metrics.excerpt import Window, excerpt
from nsys_analyze.model.calls import CallKind
from nsys_analyze.model.evidence import Source
from nsys_analyze.model.tables import Calls, Launches, Ranges, Trace
from nsys_analyze.timeline.union import union

if TYPE_CHECKING:
    from nsys_analyze.report import Report


@dataclass(frozen=True, slots=True)
class Spans:
    """Stretches of time, in order and apart from each other, ns; both ends belong to them."""

    start: Int64
    end: Int64

    @classmethod
    def of(cls, start: Int64, end: Int64) -> Spans:
        """Joins stretches in any order."""
        joined_start, joined_end = union(start, end + 1)  # so that one without length covers its instant
        return cls(joined_start, joined_end - 1)

    def touch(self, start: Int64, end: Int64) -> Bool:
        """Which intervals, both ends included, share an instant with them."""
        if not len(self.start):
            return np.zeros(len(start), bool)
        place = np.searchsorted(self.end, start)
        found: Bool = (place < len(self.end)) & (np.append(self.start, 0)[place] <= end)
        return found


@dataclass(frozen=True, slots=True)
class Part:
    """What to keep of a report.

    ``spans`` holds the time that matters in each process, by its ``globalPid``; ``everywhere`` is all of it together,
    which is what matters on GPUs. ``calls`` and ``ranges`` list further ones as (globalTid, start), shape (n, 2).
    ``first`` and ``last`` are the ends of the capture: whatever reaches them is kept.
    """

    spans: dict[int, Spans]
    everywhere: Spans
    calls: Int64
    ranges: Int64
    first: int
    last: int


def part_of(report: Report, patterns: Sequence[str], window: Window) -> Part | None:
    """What belongs to the stages that any pattern matches (all of them, without one) within the window.

    Returns:
        None if nothing does.
    """
    kept = excerpt(report, patterns, window)
    if not (kept.ranges.any() or kept.calls.any() or kept.ops.any()):
        return None
    trace = report.trace
    spans = _of_ranges(report, kept.ranges, window) if patterns else _of_time(report, window)
    spans = _with_benchmarks(report, spans)
    everywhere = Spans.of(*(np.concatenate([getattr(each, end) for each in spans.values()]) for end in Spans.__slots__))
    calls = np.concatenate([_launches(report, spans, everywhere), _captures(report, spans), _lost(trace)])
    return Part(
        spans=spans,
        everywhere=everywhere,
        calls=_keys(report, trace.calls, np.unique(calls)),
        ranges=_keys(report, trace.ranges, np.union1d(_ranks(report), _around(report, spans))),
        first=trace.start,
        last=trace.end,
    )


def _keys(report: Report, table: Calls | Ranges, rows: Int64) -> Int64:
    """What tells rows of a thread's table from others: (globalTid, start)."""
    return np.stack([report.trace.threads.global_tid[table.thread[rows]], table.start[rows]], axis=1).astype(np.int64)


def _ranks(report: Report) -> Int64:
    """The ranges that name their process's rank."""
    ranges = report.trace.ranges
    named = [number for number, name in enumerate(ranges.names) if RANK_NAME.fullmatch(name)]
    return np.flatnonzero(np.isin(ranges.name, named))


def _around(report: Report, spans: dict[int, Spans]) -> Int64:
    """The ranges around those in the spans, which may have ended before: other threads' ranges hang under them."""
    trace, ranges = report.trace, report.trace.ranges
    known = report.settings.attribution == "process"
    nesting = report.nesting if known else nest(ranges, trace.threads, "process")
    parent = nesting.parent_across_threads
    inside = _touching(trace, spans, ranges.thread, ranges.start, ranges.end)
    found = inside.copy()
    rows = np.flatnonzero(inside)
    while len(rows):
        rows = np.unique(parent[rows])
        rows = rows[(rows != NONE) & ~found[rows]]
        found[rows] = True
    return np.flatnonzero(found & ~inside)


def _touching(trace: Trace, spans: dict[int, Spans], thread: Int32, start: Int64, end: Int64) -> Bool:
    """Which intervals of these threads touch the spans of their process."""
    owner = trace.threads.process[thread]
    out: Bool = np.zeros(len(thread), bool)
    for number, process in enumerate(trace.processes.global_pid.tolist()):
        if process in spans:
            mine = np.flatnonzero(owner == number)
            out[mine] = spans[process].touch(start[mine], end[mine])
    return out


def _of_ranges(report: Report, ranges: Bool, window: Window) -> dict[int, Spans]:
    """From the start to the completion of the ranges, within the window."""
    trace = report.trace
    rows = np.flatnonzero(ranges)
    low, high = _limits(report, window)
    start = np.clip(trace.ranges.start[rows], low, high)
    end = np.clip(report.instances.completion[rows], low, high)
    process = trace.threads.process[trace.ranges.thread[rows]]
    return {
        int(trace.processes.global_pid[number]): Spans.of(start[process == number], end[process == number])
        for number in np.unique(process).tolist()
    }


def _of_time(report: Report, window: Window) -> dict[int, Spans]:
    low, high = _limits(report, window)
    span = Spans(np.array([low], np.int64), np.array([high], np.int64))
    return dict.fromkeys(report.trace.processes.global_pid.tolist(), span)


def _limits(report: Report, window: Window) -> tuple[int, int]:
    """First and last instant of the window."""
    low = report.trace.start if window.start is None else window.start
    return low, report.trace.end if window.end is None else max(window.end - 1, low)


def _with_benchmarks(report: Report, spans: dict[int, Spans]) -> dict[int, Spans]:
    """Adds the stretches of timing kernels that lie in them in part: they are only known by their length."""
    evidence, trace = report.evidence, report.trace
    rows = np.flatnonzero(evidence.source == Source.BENCHMARKS)
    owner = trace.processes.global_pid[trace.threads.process[evidence.thread[rows]]]
    out = {}
    for process, span in spans.items():
        start, end = (times[rows[owner == process]] for times in (evidence.start, evidence.end))
        cut = span.touch(start, end)
        out[process] = Spans.of(np.append(span.start, start[cut]), np.append(span.end, end[cut]))
    return out


def _captures(report: Report, spans: dict[int, Spans]) -> Int64:
    """The calls that begin and end the capture of a stream, in these processes."""
    trace = report.trace
    rows = np.flatnonzero(trace.calls.of_kind(CallKind.CAPTURE_BEGIN, CallKind.CAPTURE_END)).astype(np.int64)
    owner = trace.processes.global_pid[trace.threads.process[trace.calls.thread[rows]]]
    return rows[np.isin(owner, list(spans))]


def _launches(report: Report, spans: dict[int, Spans], everywhere: Spans) -> Int64:
    """Calls of launches outside that tell what the launches inside are: the first ones, and some to keep medians."""
    trace, launches = report.trace, report.trace.launches
    kept = _touching(trace, spans, launches.thread, launches.start, launches.end)
    ops = launches.ops
    touching = everywhere.touch(trace.ops.start[ops], trace.ops.end[ops]).astype(np.int64)
    kept |= reduce_slices(np.maximum, touching, launches.first_op[:-1], launches.first_op[1:], 0) > 0
    kept[_telling(launches)] = True
    return launches.call[_with_medians(report, kept, trace.threads.process[launches.thread])].astype(np.int64)


def _telling(launches: Launches) -> Int64:
    """A launch by which a report is known to tell of GPU work, with a kernel or graph if any has one; none without."""
    works = launches.kernel_count + launches.graph_count > 0
    return np.lexsort((-launches.busy, ~works))[:1]


def _lost(trace: Trace) -> Int64:
    """A launch call without work by which a report is known to tell of no kernels, if that is what it is."""
    works = trace.launches.kernel_count.any() or trace.launches.graph_count.any()
    return np.flatnonzero(lost_launches(trace))[: 0 if works else 1].astype(np.int64)


def _with_medians(report: Report, kept: Bool, owner: Int32) -> Int64:
    """The kept launches, with the first of each of their functions and with what keeps the medians of these.

    A first launch is held against the median of its function's others, or of the process's where it has none. To keep
    one may change the other, so that it goes round until nothing is missing.
    """
    launches = report.trace.launches
    later = np.flatnonzero((launches.function >= 0) & ~launches.first_of_function)
    duration = launches.end - launches.start
    held = np.unique(launches.function[kept & launches.first_of_function])
    alone = np.setdiff1d(held, launches.function[later])
    processes = np.unique(owner[launches.first_of_function & np.isin(launches.function, alone)])
    groups = [*_groups(launches.function, later, held), *_groups(owner, later, processes)]
    groups = [rows[np.argsort(duration[rows], kind="stable")] for rows in groups]
    dear = np.isin(launches.function, held)  # one more of these may take others with it
    kept = kept.copy()
    while True:
        before = int(kept.sum())
        for rows in groups:
            kept[rows[_missing(kept[rows], dear[rows])]] = True
        used = np.isin(launches.function, launches.function[kept & (launches.function >= 0)])
        kept |= used & launches.first_of_function
        if int(kept.sum()) == before:
            return np.flatnonzero(kept)


def _groups(code: Int32, rows: Int64, wanted: Int32) -> Iterator[Int64]:
    """The rows of each wanted code that has some."""
    rows = rows[np.argsort(code[rows], kind="stable")]
    low, high = (np.searchsorted(code[rows], wanted, side=side) for side in ("left", "right"))
    for first, last in zip(low.tolist(), high.tolist(), strict=True):
        if last > first:
            yield rows[first:last]


def _missing(kept: Bool, dear: Bool) -> Int64:
    """What has to be added to some of the values in ascending order, so that their median is that of all.

    That is the middle of all, and as many on either side of it. What is not ``dear`` is taken first.
    """
    low, high = (len(kept) - 1) // 2, len(kept) // 2
    below, above = int(kept[:low].sum()), int(kept[high + 1 :].sum())
    side = np.arange(low) if below < above else np.arange(high + 1, len(kept))
    free = side[~kept[side]]
    added = free[np.argsort(dear[free], kind="stable")][: abs(below - above)]
    return np.concatenate([[low, high], added])
