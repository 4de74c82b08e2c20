from __future__ import annotations

import pytest

from nsys_analyze.views import text
from tests.view_samples import HOSTILE


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_visible_is_printable_and_encodes(name):
    shown = text.visible(name)
    assert shown.isprintable()
    shown.encode("utf-8")


def test_plain_names_stay_as_they_are():
    for name in ("steady", "conv_2", "t0 = linear(x)  # cuda:0", "名前", "naïve"):
        assert text.visible(name) == name


def test_escapes_can_be_read():
    assert text.visible("\x1b[2J\n\t\x9b\ud800") == r"\x1b[2J\n\t\x9b\ud800"


@pytest.mark.parametrize("columns", [2, 3, 8, 21, 60])
@pytest.mark.parametrize("name", ["x" * 10_000, "名" * 50, "a名" * 50, "abc", "", "abcdefgh"])
def test_shortened_text_fits_and_keeps_both_ends(name, columns):
    short = text.shorten(name, columns)
    assert text.width(short) <= max(columns, 3)
    if text.width(name) <= columns:
        assert short == name
    elif columns > 4:
        assert short[0] == name[0]
        assert short[-1] == name[-1]
        assert text.ELLIPSIS in short


def test_names_that_differ_in_the_middle_stay_different():
    names = [f"FSDP::pre_forward (model.blocks.{number}._checkpoint_wrapped_module)" for number in range(40)]
    names += ["short", "short"]
    for columns in (26, 34, 40, 60):
        short = text.shorten_apart(names, columns)
        assert len(set(short)) == 41
        assert max(map(text.width, short)) <= columns
    assert text.shorten_apart(names, 34)[17] == "FSDP::pre_for…s.17._…apped_module)"


def test_names_that_cannot_be_told_apart_are_still_short():
    names = ["a" * 50 + "x" * 30 + "b" * 50, "a" * 50 + "x" * 31 + "b" * 50, "名" * 40, "名" * 41]
    assert max(map(text.width, text.shorten_apart(names, 20))) <= 20


def test_pad_counts_wide_characters_twice():
    assert text.pad("名", 4) == "名  "
    assert text.pad("名", 4, right=True) == "  名"


def test_path_shows_an_empty_name():
    assert text.path_text(["steady", "", "a\nb"]) == r"steady / '' / a\nb"


def test_wrap_breaks_between_words_only():
    assert text.wrap(["aa", "bb", "cc"], " ", 5, "  ") == ["aa bb", "  cc"]
    assert text.wrap(["a" * 9, "b"], " · ", 5, "  ") == ["a" * 9, "  b"]
    assert text.wrap([], " ", 5) == []
