"""How findings are worded: in the singular or the plural, and with the names of stages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nsys_analyze.metrics.results import Stage

_CHOICE = re.compile(r"\[([^|\[\]]*)\|([^|\[\]]*)\]")


def worded(template: str, count: int, **values: object) -> str:
    """Fills a template in which ``[is|are]`` depends on the count, ``{count}`` is it and ``{name}`` another value.

    >>> worded("{count} range[|s] of `{stage}` [was|were] open", 1, stage="step")
    '1 range of `step` was open'
    """
    chosen = _CHOICE.sub(lambda choice: choice[1] if count == 1 else choice[2], template)
    return chosen.format(count=f"{count:,}", **values)


def path_title(path: Sequence[str]) -> str:
    """A path as people read it; a name that is empty shows as ``''``."""
    return " / ".join(name or "''" for name in path)


def program_name(path: str) -> str:
    """The file name of a program, whose path may be any system's; all of what is no path."""
    return path.rstrip("/\\").rpartition("/")[2].rpartition("\\")[2] or path


def called(stage: Stage, stages: Sequence[Stage]) -> str:
    """What a message calls a stage: its path, and its process where there are several."""
    path = f"`{path_title(stage.path)}`"
    return path if stages[0].process == stages[-1].process else f"{path} of process {stage.process}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """The first few names, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")
