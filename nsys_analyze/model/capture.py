"""Calls that only record into a CUDA graph, between the begin and the end of a stream capture."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import Bool
from nsys_analyze.model.calls import CallKind
from nsys_analyze.model.tables import Calls
from nsys_analyze.timeline import BusyTime


def captured_calls(calls: Calls, capture_end: int) -> Bool:
    """Which calls were made while their thread was capturing a stream; a capture that never ends lasts to the last."""
    begins, ends = (np.flatnonzero(calls.of_kind(kind)) for kind in (CallKind.CAPTURE_BEGIN, CallKind.CAPTURE_END))
    captured: Bool = np.zeros(len(calls), bool)
    for thread in np.unique(calls.thread[begins]).tolist():
        begin = np.sort(calls.start[begins[calls.thread[begins] == thread]])
        end = np.append(np.sort(calls.start[ends[calls.thread[ends] == thread]]), capture_end)
        capturing = BusyTime.of(begin, end[np.searchsorted(end[:-1], begin)])
        mine = np.flatnonzero(calls.thread == thread)
        captured[mine] = capturing.within(calls.start[mine], calls.start[mine] + 1) > 0
    return captured
