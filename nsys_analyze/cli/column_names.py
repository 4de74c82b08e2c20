"""The columns that were asked for."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from nsys_analyze.errors import UsageError
from nsys_analyze.views.text import visible

_NEAR = 5


def chosen_columns(asked: str | None, known: Sequence[str]) -> list[str]:
    """Returns the names in a list with commas, each once; none for None.

    Raises:
        UsageError: If one is not known.
    """
    if asked is None:
        return []
    names = list(dict.fromkeys(name.strip() for name in asked.split(",") if name.strip()))
    if not names:
        raise UsageError(f"--columns: names no column; there are: {', '.join(known)}")
    for name in names:
        if name not in known:
            raise UsageError(f"--columns {visible(name)}: no such column; {_hint(name, known)}")
    return names


def _hint(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, _NEAR) or [each for each in known if name in each][:_NEAR]
    nearest = f"nearest: {', '.join(near)}; " if near else ""
    return f"{nearest}there are: {', '.join(known)}"
