"""The union of intervals."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import Bool, Int64, in_order


def union(start: Int64, end: Int64) -> tuple[Int64, Int64]:
    """Disjoint intervals, in order, that cover what the given ones cover; intervals that touch become one.

    Args:
        start: Shape (n,), ns, in any order.
        end: Shape (n,), ns; an interval with ``end <= start`` covers nothing.
    """
    covers = end > start
    if not covers.all():
        start, end = start[covers], end[covers]
    if not len(start):
        return start, end
    start, end = in_order(start, end)
    reach = np.maximum.accumulate(end)
    opens: Bool = np.empty(len(start), bool)
    opens[0] = True
    np.greater(start[1:], reach[:-1], out=opens[1:])
    if opens.all():
        return start, end
    first = np.flatnonzero(opens)
    return start[first], reach[np.append(first[1:], len(start)) - 1]
