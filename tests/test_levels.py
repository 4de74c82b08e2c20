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


drawn_on_threads = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 12), st.integers(1, 6)), max_size=8, unique=True
)


def nested(drawn):
    """Intervals in the order of ranges, as (thread, start, end), and their parents."""
    rows = [(thread, start, -end) for thread, start, end in sorted((t, s, -(s + n)) for t, s, n in drawn)]
    thread, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    return rows, (start, end, thread.astype(np.int32), nearest_container(end, thread.astype(np.int32)))


@given(drawn_on_threads)
def test_crossings(drawn):
    """An interval crosses if a sibling is open when it starts: what has the same parent, or none on the same thread."""
    rows, columns = nested(drawn)
    parent = columns[-1]
    expected = [
        any(
            parent[other] == parent[row] and rows[other][0] == rows[row][0] and rows[other][2] > rows[row][1]
            for other in range(row)
        )
        for row in range(len(rows))
    ]
    assert crossings(*columns).tolist() == expected


@given(drawn_on_threads)
def test_a_thread_without_a_crossing_has_no_partial_overlap(drawn):
    rows, columns = nested(drawn)
    partly = {
        thread
        for row, (thread, start, end) in enumerate(rows)
        for other, begins, ends in rows[:row]
        if other == thread and begins < start < ends < end
    }
    assert set(columns[2][crossings(*columns)].tolist()) == partly


def test_what_is_inside_a_crossing_range_is_not_marked():
    """[0, 10) is open when [6, 12) begins, but that lies in [5, 20), which crosses already."""
    _, columns = nested([(0, 0, 10), (0, 5, 15), (0, 6, 6)])
    assert crossings(*columns).tolist() == [False, True, False]
