from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nsys_analyze.verdict.noise import Noise, as_toml, packaged, with_measured
from nsys_analyze.verdict.statistics import Margin, Side, difference, holm, interval, raw_difference

MARGIN = Margin(relative=0.1, absolute=20_000, floor=20_000)
VALUES = st.lists(st.floats(0, 1e9), min_size=1, max_size=5)
NOISE = Noise(raw=0.3, sd=0.05, exponent=1.4, exponent_sd=0.3, freedom=8)


def side(*values, yardstick=None):
    return Side(np.array(values, float), None if yardstick is None else np.array(yardstick, float))


def test_with_no_prior_it_is_students_test():
    base, new = (1e6, 1.1e6, 0.9e6), (1.5e6, 1.6e6, 1.4e6)
    noise = Noise(raw=1.0, sd=1.0, freedom=1e-12)
    margin = Margin(relative=0, absolute=0, floor=1e-9)
    found = difference(side(*base), side(*new), noise, margin)
    expected = stats.ttest_ind(np.log(new), np.log(base), alternative="greater").pvalue
    assert found.grew == pytest.approx(expected, rel=1e-6)


def test_by_hand():
    found = raw_difference(side(200e3), side(400e3), Noise(raw=0.2, sd=0.2, freedom=8), MARGIN)
    margin = math.log(240 / 220)  # of +10% and 20 us, both 20 us here
    beyond = math.log(420 / 220) - margin
    assert found.beyond == pytest.approx(beyond)
    assert found.grew == pytest.approx(stats.t.sf(beyond / (0.2 * math.sqrt(2)), 8))
    assert found.ratio == pytest.approx(2)


@pytest.mark.parametrize(("base", "above"), [(0, 20_000), (50_000, 70_000), (1_000_000, 1_100_000)])
def test_a_change_must_exceed_both_margins(base, above):
    assert MARGIN.above(base) == pytest.approx(above)
    assert MARGIN.below(above) <= above


def test_a_machine_of_another_speed_explains_what_follows_it():
    slower = side(1e6 * 1.5**1.4, yardstick=[1.5])
    adjusted = difference(side(1e6, yardstick=[1.0]), slower, NOISE, MARGIN)
    assert adjusted.ratio == pytest.approx(1, abs=0.02)
    assert raw_difference(side(1e6), slower, NOISE, MARGIN).beyond > 0
    assert adjusted.beyond < 0


def test_the_more_the_yardsticks_differ_the_less_is_sure():
    p_values = []
    for speed in (1.0, 1.2, 1.5):
        new = side(2e6 * speed**1.4, yardstick=[speed])
        p_values.append(difference(side(1e6, yardstick=[1.0]), new, NOISE, MARGIN).grew)
    assert p_values == sorted(p_values)


@given(VALUES, VALUES)
def test_sides_can_change_places(base, new):
    margin = Margin(relative=0, absolute=0, floor=20_000)
    there = raw_difference(side(*base), side(*new), NOISE, margin)
    back = raw_difference(side(*new), side(*base), NOISE, margin)
    assert there.grew == pytest.approx(back.shrank, abs=1e-9)
    assert 0 <= there.grew <= 1


@given(VALUES)
def test_a_side_has_not_grown_against_itself(values):
    found = raw_difference(side(*values), side(*values), NOISE, MARGIN)
    assert found.beyond < 0
    assert found.grew >= 0.5
    assert found.needed(0.05) is None


def test_more_captures_are_asked_for_smaller_changes():
    needed = [
        raw_difference(side(1e6), side(1e6 * factor), Noise(raw=0.1, sd=0.1), MARGIN).needed(0.01)
        for factor in (3, 1.5, 1.25)
    ]
    assert needed == sorted(needed)
    assert needed[0] < needed[-1]


def test_holms_correction():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_keeps_order_and_is_never_stricter_than_bonferroni(p_values):
    adjusted = holm(p_values)
    assert all(one <= min(1, p * len(p_values)) + 1e-12 for one, p in zip(adjusted, p_values, strict=True))
    assert [one >= p for one, p in zip(adjusted, p_values, strict=True)] == [True] * len(p_values)


def test_intervals_hold_the_median_and_want_five_instances():
    values = list(np.random.default_rng(3).normal(1e6, 1e4, 40))
    low, high = interval([values, values])
    assert low <= np.median(values) <= high
    assert high - low < 2e4
    assert interval([values, values[:4]]) is None
    assert interval([]) is None
    assert interval([[5.0] * 6]) == pytest.approx((5.0, 5.0))


def test_few_instances_are_noisier():
    noise = Noise(raw=0.1, sd=0.05, instance=0.2)
    assert noise.with_few(3).sd > noise.with_few(10).sd > noise.with_few(30).sd == 0.05


def test_noise_is_read_back_as_it_was_written(tmp_path):
    path = tmp_path / "noise.toml"
    path.write_text(as_toml(packaged()), encoding="utf-8")
    assert with_measured(path) == packaged()
