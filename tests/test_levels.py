"""How many intervals are open, and which cross, against their definitions."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nsys_analyze.attribution.nesting import crossings, nearest_container
from nsys_analyze.timeline import levels

intervals = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 6)).map(lambda pair: (pair[0], sum(pair))), max_size=8
)


@given(intervals)
def test_levels(pairs):
    start, end = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    instants, counts = levels(start, end)
    open_at = {at: sum(low <= at < high for low, high in pairs) for at in range(-1, 20)}
    changes = [(at, count) for at, count in open_at.items() if at >= 0 and count != open_at[at - 1]]
    assert list(zip(instants.tolist(), counts.tolist(), strict=True)) == changes


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 12), st.integers(1, 6)), max_size=8, unique=True))
def test_crossings(drawn):
    """An interval crosses if a sibling is open when it starts: what has the same parent, or none on the same thread."""
    rows = sorted((thread, start, -(start + length)) for thread, start, length in drawn)
    thread, start, ends = (np.array([row[side] for row in rows], np.int64) for side in range(3))
    parent = nearest_container(-ends, thread.astype(np.int32))
    siblings = [
        [other for other in range(row) if parent[other] == parent[row] and thread[other] == thread[row]]
        for row in range(len(rows))
    ]
    expected = [any(-ends[other] > start[row] for other in siblings[row]) for row in range(len(rows))]
    assert crossings(start, -ends, thread.astype(np.int32), parent).tolist() == expected
