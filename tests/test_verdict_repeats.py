"""Captures of the same code again and again: what is unchanged passes, what is slower does not."""

from __future__ import annotations

import itertools
from datetime import date

import pytest

from nsys_analyze.verdict.config import Config
from nsys_analyze.verdict.judge import judge
from nsys_analyze.verdict.likeness import Likeness
from nsys_analyze.verdict.noise import calibrate, packaged
from nsys_analyze.verdict.results import Outcome, State
from tests.repeats import repeats

GROUPS = repeats()
TODAY = date(2026, 1, 1)
SIDES = (1, 2, 3)


def verdict(base, new):
    return judge(base, new, Config(), packaged(), TODAY)


def pairings(reports):
    """Every way to split some of the reports into two sides of one to three."""
    for before, after in itertools.product(SIDES, SIDES):
        for base in itertools.combinations(reports, before):
            rest = [report for report in reports if report not in base]
            yield from ((base, new) for new in itertools.combinations(rest, after))


def gaps(verdict):
    return {check.metric: check.state for check in verdict.checks if check.metric.startswith("startup_gap")}


@pytest.mark.parametrize("program", GROUPS)
def test_unchanged_code_passes_however_reports_are_paired(program):
    found = [verdict(base, new) for base, new in pairings(GROUPS[program])]
    assert len(found) == {"eager": 170, "inductor": 50, "thunder": 2}[program]
    assert {one.outcome for one in found} == {Outcome.PASSED}


@pytest.mark.parametrize("program", GROUPS)
def test_real_runs_are_never_so_alike_that_less_noise_is_allowed_for(program):
    for base, new in itertools.permutations(GROUPS[program], 2):
        alike = Likeness([base, new], packaged())
        assert {alike.noise_share(key) for key in base.stages} == {1.0}


@pytest.mark.parametrize("program", GROUPS)
def test_reports_against_themselves_are_ok(program):
    found = verdict(GROUPS[program], GROUPS[program])
    assert {check.state for check in found.checks} == {State.OK}


@pytest.mark.parametrize(("before", "after"), list(itertools.product((1, 2, 3, 5), (1, 2))))
def test_a_longer_startup_gap_fails(before, after):
    for base in itertools.combinations(GROUPS["eager"], before):
        for new in itertools.combinations(GROUPS["thunder"], after):
            found = verdict(base, new)
            assert found.outcome is Outcome.FAILED
            assert "startup gap of steady / step grew" in found.headline
            states = gaps(found)
            exposed = states.pop("startup_gap_exposed")  # 1 to 179 us between runs of the same code
            assert exposed is State.REGRESSED or (exposed is State.SUSPECT and before == after == 1)
            assert set(states.values()) == {State.REGRESSED}
            assert [check.state for check in found.checks if check.metric == "kernels"] == [State.OK]
            assert found.hints == [
                "The gap of steady / step grew most in its prelude (host code before the first launch): "
                "look at what runs before the first kernel."
            ]


def test_the_packaged_noise_is_what_these_reports_show():
    measured = calibrate(list(GROUPS.values()), 20_000)
    assert measured.keys() == packaged().keys()
    for name, noise in measured.items():
        known = packaged()[name]
        assert noise.raw == pytest.approx(known.raw, rel=0.05), name
        assert noise.sd == pytest.approx(known.sd, rel=0.05), name
        assert noise.exponent == (known.exponent and pytest.approx(known.exponent, abs=0.02)), name
        assert noise.freedom == pytest.approx(known.freedom, rel=0.02), name


def test_the_yardstick_takes_most_of_the_noise_out_of_host_times():
    for metric in ("pace", "wall", "cpu_overhead", "startup_gap_prelude"):
        noise = packaged()[metric]
        assert noise.sd < noise.raw / 4, metric
