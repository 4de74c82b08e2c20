"""Unions of many small sets of intervals at once."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import Int64, order_by


def grouped_union(group: Int64, start: Int64, end: Int64, groups: int) -> Int64:
    """Length of the union of each group's intervals, ns: shape (groups,).

    Args:
        group: Shape (n,), 0 to groups - 1, in any order.
        start: Shape (n,), ns.
        end: Shape (n,), ns, at least ``start``.
        groups: Number of groups.

    The groups are laid side by side on one time axis, so that a single running maximum serves all of them; they are
    taken in as many batches as 64 bits demand.
    """
    out = np.zeros(groups, np.int64)
    if not len(group):
        return out
    origin = int(start.min())
    span = int(end.max()) - origin + 1
    batch = max(2**62 // span, 1)
    for low in range(0, groups, batch):
        chosen = slice(None) if groups <= batch else (group >= low) & (group < low + batch)
        shift = (group[chosen] - low) * span - origin
        _add_unions(out[low : low + batch], start[chosen] + shift, end[chosen] + shift, span)
    return out


def _add_unions(out: Int64, start: Int64, end: Int64, span: int) -> None:
    order = order_by(start)
    start, end = start[order], end[order]
    reach = np.empty_like(end)
    if len(end):
        reach[0] = start[0]
        np.maximum.accumulate(end[:-1], out=reach[1:])
    np.add.at(out, start // span, np.maximum(end - np.maximum(start, reach), 0))
