"""Durations as people type them, and as sentences name them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsys_analyze.durations import duration_text, parse_duration
from nsys_analyze.errors import UsageError
from nsys_analyze.views import units


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("50us", 50_000),
        ("50 us", 50_000),
        ("50µs", 50_000),
        (" 0.71ms ", 710_000),
        ("1.s", 10**9),
        (".5 ms", 500_000),
        ("7ns", 7),
        ("0us", 0),
        ("0.0004us", 0),
        ("0.1s", 100_000_000),
    ],
)
def test_what_people_type(text, expected):
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is no duration"),
        ("ms", "is no duration"),
        ("-1ms", "is no duration"),
        ("1e3ms", "is no duration"),
        ("1,5ms", "is no duration"),
        ("nan s", "is no duration"),
        ("٣ms", "is no duration"),
        ("5", "has no unit; it takes ns, us, ms or s"),
        ("5 min", "has the unit 'min'; it takes ns, us, ms or s"),
        ("5 MS", "has the unit 'MS'"),
        ("99999999999s", "is longer than any capture"),
    ],
)
def test_what_is_no_duration(text, why):
    with pytest.raises(UsageError, match=why):
        parse_duration(text)


@given(st.integers(1, 2**53))
def test_sentences_and_tables_write_alike(value):
    assert duration_text(value) == units.duration(value)


@given(st.integers(1, 2**40))
def test_what_is_written_reads_back_to_three_digits(value):
    assert parse_duration(duration_text(value).replace(",", "")) == pytest.approx(value, rel=0.0051)
