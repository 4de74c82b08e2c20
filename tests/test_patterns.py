from __future__ import annotations

import time

import pytest

from nsys_analyze.metrics.patterns import match_level, near_names

STEP = ["steady", "step"]


def level(pattern, path, domains=None):
    return match_level(pattern, path, domains or [""] * len(path))


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("steady/step", STEP, 1),
        ("steady / step", STEP, 1),
        (" steady /step ", STEP, 1),
        ("step", STEP, 1),
        ("steady", STEP, 2),
        ("steady", ["steady", "step", "forward"], 3),
        ("steady/step", ["run", "steady", "step"], 1),
        ("steady/forward", ["steady", "step", "forward"], None),
        ("tead", STEP, None),
        ("Step", STEP, None),
        ("*", STEP, 2),
        ("*", ["steady"], 1),
        ("st*", ["step"], 1),
        ("s?ep", ["step"], 1),
        ("s?ep", ["sep"], None),
        ("steady/*", STEP, 1),
        ("steady/*", ["steady"], None),
        ("steady/*", ["steady", "step", "forward"], 2),
        ("*/forward", ["steady", "step", "forward"], 1),
        ("warmup/step", STEP, None),
    ],
)
def test_patterns_match_the_end_of_a_path(pattern, path, expected):
    assert level(pattern, path) == expected


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/ArgMax_1", ["/ArgMax_1"]),
        ("/ArgMax_1", ["model", "/ArgMax_1"]),
        ("model//ArgMax_1", ["model", "/ArgMax_1"]),
        ("model / /ArgMax_1", ["model", "/ArgMax_1"]),
        ("a/b", ["a/b"]),
        ("a/b/c", ["a/b", "c"]),
        ("a/b/c", ["a", "b/c"]),
        ("a / b", ["a / b"]),
        ("a/b*", ["a/b/c"]),
        ("torch/nn/linear/0", ["torch/nn", "linear/0"]),
        ("Torch-Compiled Region: 0/0", ["Torch-Compiled Region: 0/0"]),
        ("/", ["/"]),
    ],
)
def test_names_may_hold_slashes(pattern, path):
    assert level(pattern, path) == 1


def test_a_name_that_begins_with_a_slash_is_not_the_name_without():
    assert level("ArgMax_1", ["/ArgMax_1"]) is None
    assert level("/step", ["step"]) is None


@pytest.mark.parametrize("name", ["a[0]", "[0-9]", "x.y", "(a|b)", "a+b", "$x^", "{n}", "\\d", "!x", "a\nb"])
def test_nothing_else_is_special(name):
    assert level(name, [name]) == 1
    assert level(name, ["0"]) is None
    assert level("a?b", ["a\nb"]) == 1


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("step@stages", 1),
        ("step@sta*", 1),
        ("step@other", None),
        ("steady@default/step@stages", 1),
        ("steady@stages/step", None),
        ("steady@default", 2),
        ("*@stages", 1),
    ],
)
def test_an_element_may_ask_for_a_domain(pattern, expected):
    assert level(pattern, STEP, ["", "stages"]) == expected


def test_names_may_hold_an_at_sign():
    assert level("user@host", ["user@host"]) == 1
    assert level("user@host@stages", ["user@host"], ["stages"]) == 1
    assert level("@x", ["@x"]) == 1


def test_long_names_and_many_stars_take_no_time():
    began = time.perf_counter()
    assert level("*a*a*a*a*a*a*a*a*b", ["a" * 10_000]) is None
    assert level("*/" * 12 + "nothing", ["x/" * 200] * 12) is None
    assert time.perf_counter() - began < 5


def test_near_names_help_with_a_slip():
    paths = [["steady"], STEP, ["warmup"], ["build"]]
    assert near_names("stedy", paths)[0] == "steady"
    assert near_names("steady/stp", paths)[0] == "steady / step"
    assert near_names("Steady*", paths)[0] == "steady"
    assert near_names("qqqq", paths) == ["steady", "steady / step", "warmup", "build"]
    assert near_names("x", []) == []
