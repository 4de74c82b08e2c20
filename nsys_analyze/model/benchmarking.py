"""Autotuning as it looks without ranges of its own: kernels timed by events, over and over.

Compilers that pick a kernel by trying candidates record an event, launch, record again, launch something that flushes
the cache, and start over, hundreds of times. A program that times its own steps launches nothing between one step's
last event and the next step's first, or far more than a few kernels between two events.

Before the events come warm-ups: the same kernels, and the flushes of the cache between them, without an event. Whatever
a thread launched just before, without another kernel in between, is one if it is among what it then timed. Only their
number is known: a compiler may have worked between two of them, so that their time is not the benchmark's alone.
"""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import AnyInt, Bool, Int64, order_by, prefix_sum
from nsys_analyze.model.calls import CallKind
from nsys_analyze.model.tables import Calls, Launches

_MOST_LAUNCHES = 4  # between two events
_LEAST_EVENTS = 50  # in a row


def benchmarking(calls: Calls) -> tuple[Int64, Int64, Int64]:
    """Stretches of time in which a thread did nothing but time kernels: (thread, start, end), each of shape (n,)."""
    records = calls.of_kind(CallKind.EVENT_RECORD)
    launches = calls.of_kind(CallKind.LAUNCH, CallKind.GRAPH_LAUNCH)
    found = [np.zeros((3, 0), np.int64)]
    for thread in np.unique(calls.thread[records]).tolist():
        rows = np.flatnonzero((calls.thread == thread) & (records | launches))
        rows = rows[order_by(calls.start[rows])]
        first, last = _runs(records[rows])
        start, end = calls.start[rows[first]], calls.end[rows[last]]
        found.append(np.stack([np.full(len(first), thread, np.int64), start, end]))
    thread, start, end = np.concatenate(found, axis=1)
    return thread, start, end


def _runs(is_record: np.ndarray) -> tuple[Int64, Int64]:
    """Places of the first and last event of each long run with a few launches between every two events."""
    records = np.flatnonzero(is_record)
    between = np.diff(prefix_sum(~is_record)[records])
    few = (between >= 1) & (between <= _MOST_LAUNCHES)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], few, [False]]).astype(np.int8)))
    low, high = edges[0::2], edges[1::2]
    long = high - low + 1 >= _LEAST_EVENTS
    return records[low[long]], records[high[long]]


def warm_ups(thread: AnyInt, start: Int64, end: Int64, launches: Launches) -> Bool:
    """Which kernel launches are warm-ups of stretches of `benchmarking`.

    Args:
        thread: The thread of each stretch, ordered by (thread, start).
        start: Where the stretch begins.
        end: Where it ends.
        launches: All launches.
    """
    warm: Bool = np.zeros(len(launches), bool)
    kernels = np.flatnonzero(launches.launches_kernel)
    kernel_thread = launches.thread[kernels]
    for number in np.unique(thread).tolist():
        mine = kernels[slice(*np.searchsorted(kernel_thread, [number, number + 1]))]
        begins, function = launches.start[mine], launches.function[mine]
        stretch = thread == number
        first, last = np.searchsorted(begins, start[stretch]), np.searchsorted(begins, end[stretch])
        free = np.append(0, last[:-1])  # where the stretch before has ended
        for low, at, high in zip(free.tolist(), first.tolist(), last.tolist(), strict=True):
            others = np.flatnonzero(~np.isin(function[low:at], function[at:high]))
            warm[mine[low + (int(others[-1]) + 1 if len(others) else 0) : at]] = True
    return warm
