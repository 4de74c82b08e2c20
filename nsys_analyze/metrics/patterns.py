"""Stage patterns: how ``--stage 'steady/step*'`` finds stages.

The rule. A pattern is elements separated by ``/`` (spaces around it do not matter). It matches a stage where the end
of its path matches element by element: ``step`` and ``steady/step`` both match ``steady / step``. In an element ``*``
stands for any characters and ``?`` for one; nothing else is special, and case counts. ``name@domain`` asks for an NVTX
domain too (``default`` is the one without a name). Since names may hold ``/`` and ``@`` themselves, every way to split
the pattern is tried: ``/ArgMax_1`` finds the range of that name. What lies below a matched stage is selected with it.
"""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Sequence
from functools import cache

DEFAULT_DOMAIN = "default"
_COMPARED = 2_000  # names that a mistyped pattern is compared with


def match_level(pattern: str, path: Sequence[str], domains: Sequence[str]) -> int | None:
    """Returns 1 for a stage that the pattern matches, 2 for its children and so on, None for a stage outside.

    The level counts from the outermost match.
    """
    for end in range(1, len(path) + 1):
        if _ends_at(pattern.strip(), path, domains, end):
            return len(path) - end + 1
    return None


def matches(pattern: str, path: Sequence[str], domains: Sequence[str]) -> bool:
    """Returns whether the pattern matches this stage itself, rather than one around it or none."""
    return _ends_at(pattern.strip(), path, domains, len(path))


def near_names(pattern: str, paths: Sequence[Sequence[str]]) -> list[str]:
    """Returns up to five stages that whoever typed ``pattern`` may have meant, else the first few there are."""
    whole = dict.fromkeys(" / ".join(path) for path in paths)
    single = dict.fromkeys(path[-1] for path in paths if path)
    candidates = list({**single, **whole})[:_COMPARED]
    lowered = {name.lower(): name for name in reversed(candidates)}
    wanted = re.sub(r"\s*/\s*", " / ", pattern.strip("*? ").lower())
    near = difflib.get_close_matches(wanted, lowered, n=5, cutoff=0.5)
    return [lowered[name] for name in near] or list(whole)[:5]


def _ends_at(pattern: str, path: Sequence[str], domains: Sequence[str], end: int) -> bool:
    """Whether the pattern matches the elements up to ``end``, the last of which takes the pattern's tail."""
    if not end:
        return False
    if _element(pattern, path[end - 1], domains[end - 1]):
        return True
    for slash in re.finditer("/", pattern):
        head, tail = pattern[: slash.start()].strip(), pattern[slash.end() :].strip()
        if head and tail and _element(tail, path[end - 1], domains[end - 1]) and _ends_at(head, path, domains, end - 1):
            return True
    return False


def _element(pattern: str, name: str, domain: str) -> bool:
    if _glob(pattern).match(name):
        return True
    name_pattern, at, domain_pattern = pattern.rpartition("@")
    if not at or not name_pattern or not domain_pattern:
        return False
    return bool(_glob(name_pattern).match(name) and _glob(domain_pattern).match(domain or DEFAULT_DOMAIN))


@cache
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern.replace("[", "[[]")))
