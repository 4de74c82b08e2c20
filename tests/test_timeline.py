"""Interval arithmetic, slices and percentiles against naive Python and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsys_analyze import arrays
from nsys_analyze.percentiles import Groups
from nsys_analyze.timeline import BusyTime, grouped_union, union

HORIZON = 20
LARGE = 2**62

instants = st.integers(-HORIZON, HORIZON)
intervals = st.lists(st.tuples(instants, st.integers(-3, 10)).map(lambda drawn: (drawn[0], sum(drawn))), max_size=12)
windows = st.lists(st.tuples(instants, st.integers(0, 10)).map(lambda drawn: (drawn[0], sum(drawn))), max_size=12)
groups_of_values = st.lists(st.lists(st.integers(-50, 50), max_size=8), max_size=5)
examples = settings(max_examples=80)


def columns(rows: list[tuple[int, ...]], width: int = 2) -> list[np.ndarray]:
    """Columns of rows; no rows give empty columns."""
    return list(np.array(rows, np.int64).reshape(-1, width).T)


def covered(pairs: list[tuple[int, int]]) -> set[int]:
    """Every nanosecond that some interval covers."""
    return {instant for start, end in pairs for instant in range(start, end)}


# --- union


@examples
@given(intervals)
def test_union_covers_the_same_with_disjoint_intervals(pairs):
    start, end = union(*columns(pairs))
    assert (start < end).all()
    assert (start[1:] > end[:-1]).all()
    assert covered(list(zip(start.tolist(), end.tolist(), strict=True))) == covered(pairs)


@pytest.mark.parametrize(
    ("pairs", "united"),
    [
        ([], []),
        ([(5, 5)], []),
        ([(7, 3)], []),
        ([(0, 2), (2, 4)], [(0, 4)]),
        ([(0, 2), (3, 4)], [(0, 2), (3, 4)]),
        ([(2, 4), (2, 4), (0, 9)], [(0, 9)]),
        ([(0, 2), (2, 2), (2, 4)], [(0, 4)]),
        ([(-LARGE, 0), (0, LARGE)], [(-LARGE, LARGE)]),
    ],
)
def test_union_of_touching_empty_and_reversed_intervals(pairs, united):
    assert list(zip(*(column.tolist() for column in union(*columns(pairs))), strict=True)) == united


# --- busy time


@examples
@given(intervals, windows)
def test_busy_time_within_windows(pairs, asked):
    busy = BusyTime.of(*columns(pairs))
    expected = [len(covered(pairs) & set(range(start, end))) for start, end in asked]
    assert busy.within(*columns(asked)).tolist() == expected
    assert busy.total == len(covered(pairs))


@examples
@given(intervals, st.lists(instants))
def test_busy_time_until_an_instant(pairs, asked):
    until = BusyTime.of(*columns(pairs)).until(np.array(asked, np.int64))
    assert until.tolist() == [sum(instant < limit for instant in covered(pairs)) for limit in asked]


@examples
@given(intervals, instants, st.integers(0, HORIZON))
def test_what_intervals_leave_of_a_span(pairs, start, length):
    left = BusyTime.of(*columns(pairs)).left_of(start, start + length)
    assert (left.start < left.end).all()
    assert (left.start[1:] > left.end[:-1]).all()
    free = set(range(start, start + length)) - covered(pairs)
    assert covered(list(zip(left.start.tolist(), left.end.tolist(), strict=True))) == free


@examples
@given(intervals, intervals)
def test_what_two_cover_both_and_together(pairs, others):
    one, other = BusyTime.of(*columns(pairs)), BusyTime.of(*columns(others))
    common, joined = one.common_with(other), one.joined_with(other)
    assert spans(common) == spans(other.common_with(one))
    assert covered(spans(common)) == covered(pairs) & covered(others)
    assert covered(spans(joined)) == covered(pairs) | covered(others)
    for busy in (common, joined):
        assert (busy.start < busy.end).all()
        assert (busy.start[1:] >= busy.end[:-1]).all()


def spans(busy: BusyTime) -> list[tuple[int, int]]:
    """The intervals one by one."""
    return list(zip(busy.start.tolist(), busy.end.tolist(), strict=True))


# --- unions of groups


@examples
@given(st.lists(st.tuples(st.integers(0, 4), instants, st.integers(0, 10)), max_size=25))
def test_grouped_union(rows):
    group, start, length = columns(rows, 3)
    expected = [len(covered([(s, s + n) for g, s, n in rows if g == wanted])) for wanted in range(5)]
    assert grouped_union(group, start, start + length, 5).tolist() == expected


@examples
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(-LARGE // 8, LARGE // 8), st.integers(0, 2**58)), max_size=12))
def test_grouped_union_in_batches(rows):
    """Few groups fit side by side on an axis of 64 bits when each is this long."""
    group, start, length = columns(rows, 3)
    expected = []
    for wanted in range(7):
        united = union(*columns([(s, s + n) for g, s, n in rows if g == wanted]))
        expected.append(sum(end - begin for begin, end in zip(*(c.tolist() for c in united), strict=True)))
    assert grouped_union(group, start, start + length, 7).tolist() == expected


@pytest.mark.parametrize("span", [1, 2**31, 2**61, LARGE - 1, LARGE])
def test_grouped_union_of_long_spans(span):
    low, high = -span // 2, span // 2
    group, start, end = columns([(1, low, 0), (3, low, high), (3, 0, high)], 3)
    assert grouped_union(group, start, end, 5).tolist() == [0, -low, 0, high - low, 0]


def test_grouped_union_of_nothing():
    nothing = np.zeros(0, np.int64)
    assert grouped_union(nothing, nothing, nothing, 3).tolist() == [0, 0, 0]
    assert grouped_union(nothing, nothing, nothing, 0).tolist() == []


# --- percentiles


@examples
@given(groups_of_values, st.sampled_from((0, 25, 50, 95, 100)), st.sampled_from((1, 2**56)))
def test_percentiles_are_numpys(values_of, percent, scale):
    """Scaled values do not fit a combined key of 64 bits, which takes the other way to sort them."""
    rows = [(group, value * scale) for group, values in enumerate(values_of) for value in values]
    group, values = columns(rows[::-1])
    groups = Groups.of(group, values, len(values_of))
    found = groups.percentile(percent)
    for number, count in enumerate(map(len, values_of)):
        mine = values[group == number]
        assert groups.count[number] == count
        if not count:
            assert np.isnan(found[number])
        else:
            assert found[number] == pytest.approx(np.percentile(mine.astype(float), percent), rel=1e-12, abs=1e-9)


@examples
@given(groups_of_values)
def test_extremes(values_of):
    group, values = columns([(group, value) for group, values in enumerate(values_of) for value in values])
    least, greatest = Groups.of(group, values, len(values_of)).extremes()
    assert least.tolist() == [min(values, default=0) for values in values_of]
    assert greatest.tolist() == [max(values, default=0) for values in values_of]


def test_a_percentile_lies_between_the_two_nearest_values():
    groups = Groups.of(np.array([1, 0, 1, 1, 0]), np.array([10, 7, 30, 20, 8]), 3)
    assert groups.percentile(50).tolist()[:2] == [7.5, 20.0]
    assert groups.percentile(95).tolist()[:2] == pytest.approx([7.95, 29.0])


# --- slices and orders


slices = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), max_size=8)


@examples
@given(slices)
def test_expand_slices(drawn):
    owner, position = arrays.expand_slices(*columns(drawn))
    expected = [(row, place) for row, (low, high) in enumerate(drawn) for place in range(low, high)]
    assert list(zip(owner.tolist(), position.tolist(), strict=True)) == expected


@examples
@given(st.lists(st.integers(-9, 9), min_size=10, max_size=10), slices)
def test_reduce_slices(drawn, bounds):
    low, high = columns(bounds)
    values = np.array(drawn, np.int32)
    for ufunc, plain in ((np.minimum, min), (np.maximum, max), (np.add, sum)):
        expected = [plain(drawn[a:b]) if b > a else -77 for a, b in bounds]
        assert arrays.reduce_slices(ufunc, values, low, high, -77).tolist() == expected


def test_reduce_slices_keeps_the_extremes_of_64_bits():
    latest = np.iinfo(np.int64).max
    low, high = np.array([0, 1, 1]), np.array([2, 2, 1])
    assert arrays.reduce_slices(np.minimum, np.array([3, latest]), low, high, latest).tolist() == [3, latest, latest]


@examples
@given(st.lists(st.integers(-3, 3) | st.integers(-(2**62), 2**62), max_size=20), st.sampled_from((np.int64, np.int8)))
def test_order_by_is_stable(drawn, dtype):
    values = np.array([max(min(value, 127), -128) if dtype is np.int8 else value for value in drawn], dtype)
    plain = values.tolist()
    assert arrays.order_by(values).tolist() == sorted(range(len(plain)), key=plain.__getitem__)


@examples
@given(st.lists(st.tuples(st.integers(0, 3), instants), max_size=20))
def test_order_by_both(pairs):
    expected = sorted(range(len(pairs)), key=pairs.__getitem__)
    assert arrays.order_by_both(*columns(pairs)).tolist() == expected


@examples
@given(windows)
def test_not_before(pairs):
    start, end = columns([(start, end - 5) for start, end in pairs])
    mended, count = arrays.not_before(end, start)
    assert mended.tolist() == np.maximum(start, end).tolist()
    assert count == sum(a > b for a, b in zip(start.tolist(), end.tolist(), strict=True))


@examples
@given(st.lists(st.integers(-9, 9)), st.sampled_from((np.int8, np.int64)))
def test_prefix_sum(drawn, dtype):
    expected = [sum(drawn[:count]) for count in range(len(drawn) + 1)]
    assert arrays.prefix_sum(np.array(drawn, dtype)).tolist() == expected
