"""Array types shared by all rooms, and the few idioms NumPy lacks."""

from __future__ import annotations

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


def stable_order(*keys: AnyInt) -> npt.NDArray[np.intp]:
    """Order by the first key, then the second, ...; rows that tie keep their order. Sorted input costs one pass."""
    if len(keys) == 1 or is_sorted(keys[-1]):
        minor_done = keys[0] if len(keys) == 1 else None
        if minor_done is not None:
            return np.arange(len(minor_done)) if is_sorted(minor_done) else np.argsort(minor_done, kind="stable")
        if len(keys) == 2:
            return stable_order(keys[0])
    return np.lexsort(keys[::-1])


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


def reduce_slices(ufunc: np.ufunc, values: Int64, low: AnyInt, high: AnyInt, empty: int) -> Int64:
    """``ufunc.reduce`` over each slice [low, high) of values, ``empty`` where a slice holds nothing."""
    out = np.full(len(low), empty, np.int64)
    some = np.flatnonzero(high > low)
    if len(some):
        bounds = np.empty(2 * len(some), np.int64)
        bounds[0::2], bounds[1::2] = low[some], high[some]
        padded = np.append(values, empty)  # a slice may end where the values do
        out[some] = ufunc.reduceat(padded, bounds)[::2]
    return out
