"""How many intervals are open at each instant."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import Int64


def levels(start: Int64, end: Int64) -> tuple[Int64, Int64]:
    """The instants at which the number of open intervals changes, in order, and the number from then on.

    Args:
        start: Shape (n,), ns, in any order.
        end: Shape (n,), ns, at least ``start``; an interval without length is never open.

    The last number is 0.
    """
    instant = np.concatenate([start, end])
    order = np.argsort(instant, kind="stable")
    instant = instant[order]
    count = np.cumsum(np.where(order < len(start), 1, -1))
    last = np.append(instant[1:] != instant[:-1], True)[: len(instant)]
    instant, count = instant[last], count[last]
    changes = np.append(0, count[:-1])[: len(count)] != count
    return instant[changes], count[changes]
