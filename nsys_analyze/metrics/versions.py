"""Which versions of nsys, the driver and packages work together: ``versions.toml``, read and asked."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """``package`` from ``since`` on has the ``effect`` under nsys before ``nsys_before``."""

    package: str
    since: Version
    nsys_before: Version
    effect: str


@dataclass(frozen=True, slots=True)
class _Known:
    """``releases`` lists (release of nsys, newest CUDA that it knows), oldest first."""

    releases: list[tuple[Version, Version]]
    conflicts: list[Conflict]


def version(text: str | None) -> Version | None:
    """The numbers that a version begins with: ``2025.3.2.0`` and ``0.2.13rc1`` are (2025, 3, 2, 0) and (0, 2, 13)."""
    found = re.match(r"\d+(?:\.\d+)*", text or "")
    return tuple(map(int, found[0].split("."))) if found else None


def dotted(numbers: Version) -> str:
    """A version as people write it, its first three numbers at most."""
    return ".".join(map(str, numbers[:3]))


def newest_cuda(nsys: Version | None) -> Version | None:
    """The newest CUDA that a release of nsys traces with certainty, None where nothing is known of it."""
    releases = _known().releases
    if nsys is None or nsys[:2] > releases[-1][0]:
        return None
    return next((cuda for release, cuda in reversed(releases) if release <= nsys[:2]), None)


def is_older_than_driver(nsys: Version | None, cuda_driver: Version | None) -> bool:
    """Whether the driver is known to be of a newer CUDA than nsys knows."""
    newest = newest_cuda(nsys)
    return newest is not None and cuda_driver is not None and cuda_driver > newest


def conflicts(nsys: Version | None) -> list[Conflict]:
    """The packages that do not work under this nsys."""
    return [conflict for conflict in _known().conflicts if nsys is not None and nsys < conflict.nsys_before]


@cache
def _known() -> _Known:
    table = tomllib.loads((files(__package__) / "versions.toml").read_text("utf-8"))
    return _Known(
        releases=[(_numbers(row["nsys"]), _numbers(row["cuda"])) for row in table["release"]],
        conflicts=[
            Conflict(
                package=row["package"],
                since=_numbers(row["since"]),
                nsys_before=_numbers(row["nsys_before"]),
                effect=row["effect"],
            )
            for row in table["conflict"]
        ],
    )


def _numbers(text: str) -> Version:
    return tuple(map(int, text.split(".")))
