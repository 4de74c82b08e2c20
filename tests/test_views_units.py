from __future__ import annotations

import pytest

from nsys_analyze.views import units


def texts(numbers):
    return [None if number is None else str(number) for number in numbers]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1_645_615, 1_367_000, 278_600], ["1.646 ms", "1.367 ms", "0.279 ms"]),
        ([1_669_451, 31_358], ["1.669 ms", "0.031 ms"]),
        ([156_800, 1_152, 374_500], ["156.8 us", "1.2 us", "374.5 us"]),
        ([159_900_000, 5_375_000_000, 480_400], ["160 ms", "5.38 s", "480 us"]),
        ([1_646_000], ["1.65 ms"]),
        ([999_700], ["1.00 ms"]),
        ([12, 340], ["12 ns", "340 ns"]),
        ([0, 1_500], ["0 us", "1.50 us"]),
        ([0, 0], ["0 us", "0 us"]),
        ([None, 2_000_000, None], [None, "2.00 ms", None]),
        ([-1_500, 2_500], ["-1.50 us", "2.50 us"]),
        ([3_600e9], ["3,600 s"]),
        ([], []),
    ],
)
def test_durations_share_a_unit_where_they_can(values, expected):
    assert texts(units.durations(values)) == expected


@pytest.mark.parametrize("scale", [1, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("digits", [1.0, 9.994, 9.996, 99.94, 99.96, 999.4, 999.6, 5.005])
def test_a_duration_alone_has_three_significant_digits_and_is_what_it_was(scale, digits):
    value = digits * scale
    text = units.duration(value)
    number, unit = text.split()
    factor = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]
    read = float(number.replace(",", "")) * factor
    assert read == pytest.approx(value, rel=0.006, abs=0.5)
    assert len(number.replace(".", "")) == 3 or unit in ("ns", "s")


def test_counts_keep_halves_and_group_thousands():
    assert texts(units.counts([1_234_567, 60.5, 0, None])) == ["1,234,567", "60.5", "0", None]


def test_microseconds_have_no_unit_and_three_digits_each():
    assert texts(units.microseconds([22_800.0, 1_736.0, 93_945_000.0, None])) == ["22.8", "1.74", "93,945", None]


def test_instants_keep_their_microseconds():
    assert texts(units.instants([17_123_456_789])) == ["17.123457 s"]


def test_a_split_shares_one_unit_so_that_its_parts_can_be_added():
    assert units.split(236_300, [224_200, 10_700, 1_400]) == ["236.3 us", "224.2", "10.7", "1.4"]
    assert units.split(2e9, [2e9, 500]) == ["2.000 s", "2.000", "0.000"]
    assert units.split(740, [700, 40, 0]) == ["740 ns", "700", "40", "0"]
    assert units.split(0, [0, 0]) == ["0 ns", "0", "0"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0, "0%"), (1.0, "100%"), (0.99996, "99.9%"), (0.0004, "under 0.1%"), (0.5, "50.0%")],
)
def test_a_share_is_only_all_or_nothing_where_it_is(value, expected):
    assert units.share(value) == expected


def test_shares_of_a_column_align_on_their_point():
    numbers = units.shares([0.5, 0.0004, 1.0, None])
    assert [number and (number.whole, number.fraction) for number in numbers] == [
        ("50", ".0%"),
        ("<0", ".1%"),
        ("100", "%"),
        None,
    ]


def test_a_mean_below_a_nanosecond_is_not_nothing():
    assert texts(units.durations([1_000, 0.01, 0])) == ["1,000 ns", "<1 ns", "0 ns"]
    assert units.duration(0.2) == "<1 ns"
