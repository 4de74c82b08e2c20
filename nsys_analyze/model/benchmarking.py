"""Autotuning as it looks without ranges of its own: kernels timed by events, over and over.

Compilers that pick a kernel by trying candidates record an event, launch, record again, launch something that flushes
the cache, and start over, hundreds of times. A program that times its own steps launches nothing between one step's
last event and the next step's first, or far more than a few kernels between two events.
"""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import Int64, order_by, prefix_sum
from nsys_analyze.model.calls import CallKind
from nsys_analyze.model.tables import Calls

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
