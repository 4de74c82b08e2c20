"""Array types shared by all rooms, and the few idioms NumPy lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]
AnyInt = npt.NDArray[np.signedinteger]

NONE = np.int32(-1)  # "no such row" in every index column


def is_sorted(values: AnyInt) -> bool:
    """Whether values never decrease."""
    return bool(np.all(values[1:] >= values[:-1]))


def order_by(values: AnyInt) -> Int64:
    """Rows in ascending order of values; rows that tie keep their order. Sorted or narrow input is cheap."""
    if is_sorted(values):
        return np.arange(len(values))
    low, high = int(values.min()), int(values.max())
    if high - low < 2**16:
        return np.argsort((values - low).astype(np.uint16), kind="stable")  # a radix sort
    return np.argsort(values, kind="stable")


def in_order(key: AnyInt, *columns: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
    """The key in ascending order, and columns in the same; what ascends already is not copied."""
    if is_sorted(key):
        return (key, *columns)
    order = order_by(key)
    return (key[order], *(column[order] for column in columns))


def distinct(values: AnyInt) -> list[int]:
    """The distinct values, ascending. Values that lie close together, such as codes, are counted instead of sorted."""
    if not len(values):
        return []
    low, high = int(values.min()), int(values.max())
    if high - low >= 2**16:
        found: list[int] = np.unique(values).tolist()
    else:
        found = (np.flatnonzero(np.bincount(values - low)) + low).tolist()
    return found


def order_by_both(major: AnyInt, minor: AnyInt) -> Int64:
    """Rows in ascending order of (major, minor); rows that tie keep their order."""
    return order_by(major) if is_sorted(minor) else np.lexsort((minor, major))


def not_before(end: Int64, start: Int64) -> tuple[Int64, int]:
    """Ends that are at least their starts, and how many were not. Nothing is copied where all is well."""
    early = end < start
    count = int(np.count_nonzero(early))
    return (np.where(early, start, end) if count else end), count


def prefix_sum(values: npt.NDArray[np.generic]) -> Int64:
    """Sums of the first 0, 1, ..., n values: shape (n + 1,), so that a slice [lo, hi) sums to out[hi] - out[lo]."""
    out = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=out[1:], dtype=np.int64)
    return out


def expand_slices(low: AnyInt, high: AnyInt) -> tuple[Int64, Int64]:
    """All positions of many slices [low, high): (which slice, position), both of shape (sum of lengths,)."""
    lengths = np.maximum(high - low, 0).astype(np.int64)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    first = prefix_sum(lengths)[:-1]
    return owner, np.arange(len(owner)) - first[owner] + low[owner]


def reduce_slices(ufunc: np.ufunc, values: AnyInt, low: AnyInt, high: AnyInt, empty: int) -> Int64:
    """``ufunc.reduce`` over each slice [low, high) of values, ``empty`` where a slice holds nothing."""
    out = np.full(len(low), empty, np.int64)
    some = np.flatnonzero(high > low)
    if len(some):
        bounds = np.empty(2 * len(some), np.int64)
        bounds[0::2], bounds[1::2] = low[some], high[some]
        padded = np.append(values.astype(np.int64, copy=False), empty)  # a slice may end where the values do
        out[some] = ufunc.reduceat(padded, bounds)[::2]
    return out
