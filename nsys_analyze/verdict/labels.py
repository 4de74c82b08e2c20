"""What the sides of a comparison are called: the shortest part of their names that tells them apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePath

_SUFFIXES = re.compile(r"(\.(sqlite|db|nsys-rep|qdrep|json|xz)|_(pqt|arw)dir)+$", re.IGNORECASE)
_WORDS = re.compile(r"[^\W_]+|[\W_]")  # of a file name, and what stands between them
_BETWEEN = " _-.+,;="


def side_labels(paths: Sequence[PurePath]) -> list[str]:
    """Returns a label for each path: ``eager`` and ``inductor`` for llama-eager.sqlite and llama-inductor.sqlite.

    Where file names are the same, the folders that differ tell them apart; what still reads the same is numbered.
    """
    names = [_SUFFIXES.sub("", path.name) or path.name for path in paths]
    if len(set(names)) < len(names):
        folders = _differing([path.parent.parts for path in paths])
        names = ["/".join((*parts, name)) for parts, name in zip(folders, names, strict=True)]
        names = ["/".join(parts) or name for parts, name in zip(_differing(_split(names)), names, strict=True)]
    words = ["".join(part).strip(_BETWEEN) for part in _differing([_WORDS.findall(name) for name in names])]
    return _numbered(words if all(words) else names)


def _split(names: Sequence[str]) -> list[list[str]]:
    return [name.split("/") for name in names]


def _differing(names: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Names, in pieces, without the pieces that all of them begin or end with."""
    begin = _shared(names)
    rests = [name[begin:] for name in names]
    end = _shared([rest[::-1] for rest in rests])
    return [rest[: len(rest) - end] for rest in rests]


def _shared(names: Sequence[Sequence[str]]) -> int:
    """How many pieces all names begin with alike."""
    return sum(1 for _ in takewhile(lambda pieces: len(set(pieces)) == 1, zip(*names, strict=False)))


def _numbered(names: Sequence[str]) -> list[str]:
    total, seen, out = Counter(names), Counter[str](), []
    for name in names:
        seen[name] += 1
        out.append(name if total[name] == 1 else f"{name} ({seen[name]})")
    return out
