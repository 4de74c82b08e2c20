"""The columns that were asked for."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nsys_analyze.errors import UsageError
from nsys_analyze.views.text import visible

if TYPE_CHECKING:
    from nsys_analyze.metrics.results import Instance, Stage

_NEAR = 5


def chosen_columns(asked: str | None, known: Sequence[str], short: Mapping[str, str]) -> list[str]:
    """Returns the columns in a list with commas, each once, by their full names; none for None.

    Args:
        asked: The list.
        known: All columns.
        short: The column that each short name stands for.

    Raises:
        UsageError: If one is not known.
    """
    if asked is None:
        return []
    names = [name.strip() for name in asked.split(",") if name.strip()]
    if not names:
        raise UsageError(f"--columns: names no column; {_all(known, short)}")
    for name in names:
        if name not in known and name not in short:
            raise UsageError(f"--columns {visible(name)}: no such column; {_hint(name, known, short)}")
    return list(dict.fromkeys(name if name in known else short[name] for name in names))


def number_columns(asked: str | None, kind: type[Stage | Instance]) -> list[str]:
    """Returns those for a page, beside the names of its rows: columns of numbers.

    Raises:
        UsageError: If one is not known, or is text that a page has no place for.
    """
    if asked is None:
        return []
    from nsys_analyze.views.named_columns import column_names, numbers, short_names, texts

    names = chosen_columns(asked, column_names(kind), short_names(kind))
    for name in texts(kind, names):
        raise UsageError(f"--columns {name}: is text, which a table shows of names only; csv and parquet have it")
    if not numbers(kind, names):
        raise UsageError("--columns: a table has names in any case; give it columns of numbers as well")
    return numbers(kind, names)


def _hint(name: str, known: Sequence[str], short: Mapping[str, str]) -> str:
    every = [*short, *known]
    near = difflib.get_close_matches(name, every, _NEAR) or [each for each in every if name in each][:_NEAR]
    nearest = f"nearest: {', '.join(near)}; " if near else ""
    return nearest + _all(known, short)


def _all(known: Sequence[str], short: Mapping[str, str]) -> str:
    if not short:
        return f"there are: {', '.join(known)}"
    return f"there are: {', '.join(short)}, and those of csv's header ({', '.join(known)})"
