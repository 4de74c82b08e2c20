"""From the rows of a report to its tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from nsys_analyze.arrays import Int64, distinct
from nsys_analyze.ingest.events import NO_TIME, Events
from nsys_analyze.model.api_calls import build_calls
from nsys_analyze.model.host_activity import build_host_activity
from nsys_analyze.model.launches import build_launches
from nsys_analyze.model.operations import build_ops
from nsys_analyze.model.process_ranks import known_ranks
from nsys_analyze.model.ranges import RangeOptions, Strings, build_ranges
from nsys_analyze.model.tables import Counts, DriverOverhead, ProfilerOverhead, Threads, Trace
from nsys_analyze.model.threads import build_threads, recode


def build_trace(events: Events, options: RangeOptions) -> Trace:
    """Builds all tables of a report, and frees the rows of calls and operations as soon as they are not needed.

    Raises:
        UsageError: If the options ask for an NVTX domain that is not there.
    """
    processes, threads = build_threads(events)
    start, end = _extent(events)
    ranges, reversed_ranges = build_ranges(events, threads, end, options)
    calls, index, doubled = build_calls(events, threads)
    events.calls.free()
    ops, op_counts = build_ops(events, processes, calls, index)
    del index
    for rows in (events.kernels, events.memcpys, events.memsets, events.graphs):
        rows.free()
    launches, ops = build_launches(calls, ops)
    return Trace(
        processes=replace(processes, rank=known_ranks(events.ranks, processes, threads, ranges, ops)),
        threads=threads,
        ranges=ranges,
        calls=calls,
        ops=ops,
        launches=launches,
        profiler=_profiler(events, threads),
        driver=_driver(events, threads),
        counts=Counts(
            nvtx_rows=len(events.nvtx),
            calls_doubled=doubled,
            absurd_times=events.absurd,
            untimed_graphs=op_counts.untimed_graphs,
            endless=op_counts.endless,
            ops_before_call=op_counts.before_call,
            reversed_intervals=reversed_ranges + op_counts.reversed_intervals,
        ),
        devices=distinct(ops.device),
        start=start,
        end=end,
        host=None if events.host is None else build_host_activity(events.host, threads, start, end),
    )


def _extent(events: Events) -> tuple[int, int]:
    """First and last instant of the capture: what it says of itself, or its events where they go beyond."""
    instants = list(_instants(events))
    ends = [int(times.max()) for times in instants] + ([events.duration] if events.duration is not None else [])
    return min((int(times.min()) for times in instants), default=0), max(ends, default=0)


def _instants(events: Events) -> Iterator[Int64]:
    tables = (events.nvtx, events.calls, events.kernels, events.memcpys, events.memsets, events.graphs, events.overhead)
    for rows in tables:
        for column in ("start", "end"):
            times = rows[column]
            if len(times) and int(times.min()) == NO_TIME:
                times = times[times != NO_TIME]
            if len(times):
                yield times


def _profiler(events: Events, threads: Threads) -> ProfilerOverhead:
    rows = events.overhead
    strings = Strings()
    codes = strings.codes([*(events.string(identity) for identity in rows.values["nameId"].tolist()), "unnamed"])
    return ProfilerOverhead(
        start=rows["start"],
        end=np.maximum(rows["start"], rows["end"]),
        thread=recode(rows, "globalTid", threads.global_tid),
        name=codes[rows["nameId"]],
        names=strings.all,
    )


def _driver(events: Events, threads: Threads) -> DriverOverhead:
    rows = events.driver_overhead
    return DriverOverhead(
        start=rows["start"],
        end=np.maximum(rows["start"], rows["end"]),
        thread=recode(rows, "globalTid", threads.global_tid),
        kind=rows["overheadType"],
    )
