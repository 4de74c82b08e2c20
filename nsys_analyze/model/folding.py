"""Folded names: the name of a range without what merely counts.

PyTorch's ``emit_nvtx`` appends ``, op_id = N``, ``, seq = N``, ``, sizes = [...]`` and ``, input_op_ids = [...]``;
people number their steps. The folded name is decided from the name alone, so that it is the same in every report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from nsys_analyze.errors import UsageError

_COUNTERS = re.compile(r", (?:op_id|seq) = -?\d+")
_SHAPES = re.compile(r", (?:sizes|input_op_ids) = \[.*?\](?=, \w+ = |$)", re.DOTALL)
_LONGEST = 10_000  # characters; a longer name is somebody's data, and not worth the time to search it
_SEPARATORS = " #="
_COUNTED = ("step_", "iter_", "epoch_", "batch_", "request_")


def fold_name(name: str, patterns: Sequence[re.Pattern[str]] = (), counters: bool = True) -> str:
    """The folded name; a name that would fold to nothing is kept.

    Args:
        name: An NVTX range's name.
        patterns: Further expressions whose matches are removed first.
        counters: Whether what merely counts goes too.

    >>> fold_name("aten::mm, op_id = 7, sizes = [[4, 2], [2, 8]]")
    'aten::mm'
    >>> fold_name("step -1"), fold_name("conv_2")
    ('step', 'conv_2')
    """
    if len(name) > _LONGEST:
        return name
    folded = name
    for pattern in patterns:
        folded = pattern.sub("", folded)
    if not counters:
        return folded or name
    folded = _SHAPES.sub("", folded)
    folded = _COUNTERS.sub("", folded)
    return _without_trailing_number(folded) or name


def _without_trailing_number(name: str) -> str:
    stem = name.rstrip("0123456789")
    if stem == name:
        return name
    if stem.endswith(("+", "-")):
        stem = stem[:-1]
    if stem.endswith(tuple(_SEPARATORS)):
        return stem.rstrip(_SEPARATORS)
    return stem[:-1] if stem.endswith(_COUNTED) else name


def compile_patterns(expressions: Iterable[str]) -> list[re.Pattern[str]]:
    """Compiles a user's expressions.

    Raises:
        UsageError: If one is not a regular expression.
    """
    compiled = []
    for expression in expressions:
        try:
            compiled.append(re.compile(expression))
        except re.error as error:
            raise UsageError(f"--fold {expression!r}: not a regular expression ({error})") from error
    return compiled
