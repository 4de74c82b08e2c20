"""Opening and closing ranges by name, from code that others generated."""

from __future__ import annotations

from typing import Any

from nsys_analyze.driver.annotate import Annotation, annotate

DOMAIN = "ops"  # the NVTX domain of operations and regions

_open_stretches: dict[str, list[Any]] = {}


def label(name: str) -> Annotation:
    """Returns the range of an operation."""
    return annotate(name, domain=DOMAIN)


def open_label(name: str) -> None:
    """Opens the range of an operation; ranges of operations nest."""
    label(name).__enter__()


def close_label(name: str) -> None:
    """Closes it."""
    label(name).__exit__(None, None, None)


def open_stretch(name: str) -> None:
    """Opens a region; regions may overlap each other and operations."""
    _open_stretches.setdefault(name, []).append(label(name).begin())


def close_stretch(name: str) -> None:
    """Closes the region of that name that was opened last, if one is open."""
    if tokens := _open_stretches.get(name):
        label(name).finish(tokens.pop())
