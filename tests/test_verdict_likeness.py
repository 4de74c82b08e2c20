"""Captures that are more alike than runs are; noise is drawn as it is between runs."""

from __future__ import annotations

import math
import random

import pytest

from nsys_analyze.verdict.likeness import Likeness
from nsys_analyze.verdict.noise import packaged
from nsys_analyze.verdict.results import Outcome, State
from tests.verdict_samples import STEP, report, stage, step, verdict

WALLS = {"import": 3e9, "build": 6e8, "warmup": 5e6}
KEY = (("compile",), ("",), 0)
SD = packaged()["first instance"].raw


def once(name, wall, **given):
    values = {"wall": wall, "first_wall": wall}
    fields = {"loop": False, "steady": 0, "active": 0, "values": values}
    return stage((name,), **fields | given)


def capture(factor=1.0, compiling=8e9, gap=200e3, walls=WALLS, calls=500e3, **given):
    stages = [once(name, wall * factor, **given) for name, wall in walls.items()]
    return report(*stages, once("compile", compiling), step(startup_gap=gap, calls=calls))


def share(*captures):
    return Likeness(captures, packaged()).noise_share(KEY)


@pytest.mark.parametrize(("factor", "expected"), [(1.0, 0.0), (1.0001, 0.3742), (1.001, 1.0), (1.2, 1.0)])
def test_the_largest_difference_sets_the_scale(factor, expected):
    assert share(capture(), capture(factor)) == pytest.approx(expected, abs=1e-3)
    assert share(capture(factor), capture(), capture()) == pytest.approx(expected, abs=1e-3)


def test_what_is_checked_does_not_tell():
    assert share(capture(), capture(compiling=9e9)) == 0.0


@pytest.mark.parametrize(
    "given",
    [
        {"walls": {"import": 3e9}},
        {"walls": {"import": 3e9, "mark": 500.0}},  # half a microsecond
        {"walls": {}},
        {"active": 4_000_000_000},
        {"loop": True},
        {"steady": 3},
        {"calls": None},
    ],
)
def test_what_tells_nothing(given):
    assert share(capture(**given), capture(**given)) == 1.0


@pytest.mark.parametrize(("calls", "expected"), [(500e3, 0.0), (500.05e3, 0.3741), (550e3, 1.0)])
def test_stages_that_last_as_long_as_a_clock_says_do_not_tell_alone(calls, expected):
    assert share(capture(), capture(calls=calls)) == pytest.approx(expected, abs=1e-3)


def test_unchanged_steps_between_stages_of_a_fixed_length_pass():
    """A program that serves for a while, after warming up and before cooling down for ten seconds."""

    def served(speed):
        waits = [once(name, 1e10) for name in ("warm up", "cool down")]
        times = {name: time * speed for name, time in STEP.items() if name not in ("kernels", "gpu_active")}
        return report(*waits, step(calls=500e3 * speed, **times))

    assert verdict([served(1.0)], [served(1.4)]).outcome is Outcome.PASSED


def test_runs_are_hardly_ever_so_alike():
    """Were the stages to vary as one, which is the worst there can be: one in a thousand."""
    rng = random.Random(5)
    alike = sum(
        share(capture(math.exp(rng.gauss(0, SD))), capture(math.exp(rng.gauss(0, SD)))) < 1 for _ in range(4_000)
    )
    assert alike <= 10


def test_less_noise_makes_a_change_certain():
    def state(found, name, metric):
        (one,) = [check for check in found.checks if check.stage[-1] == name and check.metric == metric]
        return one.state, one.reason

    same = verdict([capture()], [capture(compiling=10e9)])
    assert state(same, "compile", "first_wall")[0] is State.REGRESSED
    assert "little noise allowed for" in state(same, "compile", "first_wall")[1]
    other = verdict([capture()], [capture(1.05, compiling=10e9)])
    assert state(other, "compile", "first_wall")[0] is State.INCONCLUSIVE
    assert "captures a side" not in state(other, "compile", "first_wall")[1]
    assert "little noise" not in state(other, "compile", "first_wall")[1]


@pytest.mark.parametrize("change", [1.35, 1.5, 1.8])
def test_as_many_captures_as_it_says_settle_it(change):
    """Sides whose captures vary by just what is allowed for, on average, and differ by just as much."""

    def side(count, compiling, speed):
        spread = SD * math.sqrt((count - 1) / count) if count > 1 else 0.0
        noise = [spread * (-1) ** place for place in range(count)]
        if count % 2:
            noise = [0.0, *(SD * (-1) ** place for place in range(count - 1))]
        return [capture(speed + 0.02 * place, compiling=compiling * math.exp(one)) for place, one in enumerate(noise)]

    def first_wall(count):
        found = verdict(side(count, 8e9, 1.0), side(count, 8e9 * change, 1.05))
        (one,) = [check for check in found.checks if check.stage == ["compile"]]
        return one

    alone = first_wall(1)
    assert alone.state in (State.SUSPECT, State.INCONCLUSIVE)
    needed = alone.evidence.captures_needed
    assert f"about {needed} a side would settle it" in alone.reason
    assert needed > 1
    assert first_wall(needed).state is State.REGRESSED
    assert first_wall(needed // 2).state is not State.REGRESSED
