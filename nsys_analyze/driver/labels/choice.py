"""Which operations and which stretches of a program get a range."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

TO = ".."  # between the first and the last operation of a region


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is labelled.

    Attributes:
        ops: Names of operations, with ``*`` and ``?``, separated by ``|``; case does not count. None is none.
        regions: Each a module's path (``layers.*.mlp``), or ``first..last``: from one operation to another.
    """

    ops: str | None = None
    regions: tuple[str, ...] = ()

    @classmethod
    def of(cls, ops: str | None, regions: Iterable[str]) -> Choice | None:
        """Returns the choice, or None where there is nothing to label."""
        regions = tuple(regions)
        return cls(ops=ops, regions=regions) if ops or regions else None

    def takes(self, *names: str) -> bool:
        """Whether an operation that goes by any of ``names`` is to be labelled."""
        return bool(self.ops) and _matches(self.ops or "", names)

    def takes_module(self, path: str) -> bool:
        """Whether a module is a region."""
        return any(_matches(region, (path,)) for region in self.module_regions())

    def module_regions(self) -> list[str]:
        """The regions that are paths of modules."""
        return [region for region in self.regions if TO not in region]

    def stretches(self) -> list[Stretch]:
        """The regions from one operation to another, none of them open."""
        return [Stretch(region, *region.split(TO, 1)) for region in self.regions if TO in region]


class Stretch:
    """A region from one operation to another, while operations pass by in order."""

    __slots__ = ("first", "is_open", "label", "last")

    def __init__(self, label: str, first: str, last: str) -> None:
        self.label, self.first, self.last = label, first, last
        self.is_open = False

    def opens(self, names: Sequence[str]) -> bool:
        """Whether it begins with this operation."""
        if self.is_open or not _matches(self.first, names):
            return False
        self.is_open = True
        return True

    def closes(self, names: Sequence[str]) -> bool:
        """Whether it ends with this operation."""
        if not self.is_open or not _matches(self.last, names):
            return False
        self.is_open = False
        return True


def _matches(pattern: str, names: Iterable[str]) -> bool:
    expression = _expression(pattern)
    return any(expression.fullmatch(name) for name in names)


@functools.cache
def _expression(pattern: str) -> re.Pattern[str]:
    alternatives = [fnmatch.translate(each.strip().replace("[", "[[]")) for each in pattern.split("|")]
    return re.compile("|".join(alternatives), re.IGNORECASE)
