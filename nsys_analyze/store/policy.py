"""What a redacted report keeps, read from ``redaction.toml``."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

_COLUMN = re.compile(r"(?P<name>\w+)(?:(?P<mark>[=:])(?P<how>\w+))?")


@dataclass(frozen=True, slots=True)
class ColumnPolicy:
    """A column that is kept: its numbers, its ``strings`` (by id) of the role ``how``, or its ``text`` by that rule."""

    name: str
    kind: Literal["numbers", "strings", "text"]
    how: str


@dataclass(frozen=True, slots=True)
class Policy:
    """Tables with the columns that are kept, and the words that may stay."""

    tables: dict[str, tuple[ColumnPolicy, ...]]
    captured: frozenset[str]
    exported: frozenset[str]
    system: frozenset[str]
    values: frozenset[str]
    activities: frozenset[str]
    enums: frozenset[str]
    diagnostics: re.Pattern[str]


@cache
def policy() -> Policy:
    """Returns the packaged policy."""
    text = (resources.files("nsys_analyze.store") / "redaction.toml").read_text(encoding="utf-8")
    lists = tomllib.loads(text)
    settings, names = lists["settings"], lists["names"]
    return Policy(
        tables={table: tuple(map(_column, columns.split())) for table, columns in lists["tables"].items()},
        **{name: frozenset(settings[name]) for name in ("captured", "exported", "system", "values")},
        **{name: frozenset(names[name]) for name in ("activities", "enums")},
        diagnostics=re.compile("|".join(names["diagnostics"])),
    )


def _column(written: str) -> ColumnPolicy:
    match = _COLUMN.fullmatch(written)
    if match is None:
        raise ValueError(f"redaction.toml: {written!r} is no column")
    kinds: dict[str | None, Literal["numbers", "strings", "text"]] = {None: "numbers", "=": "strings", ":": "text"}
    return ColumnPolicy(match["name"], kinds[match["mark"]], match["how"] or "")
