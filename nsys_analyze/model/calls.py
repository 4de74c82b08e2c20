"""What a CUDA API call does, told from its name by the groups of ``api_calls.toml``.

Names come with an ABI suffix (``cudaLaunchKernel_v7000``) and variants for the per-thread default stream (``_ptsz``,
``_ptds``); both are dropped first.
"""

from __future__ import annotations

import re
import tomllib
from enum import IntEnum
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_ABI_SUFFIX = re.compile(r"(?:_ptsz|_ptds)?(?:_v\d+)?(?:_ptsz|_ptds)?$")


class CallKind(IntEnum):
    """What the numbers need to know about a call beside its part."""

    OTHER = 0
    LAUNCH = 1
    GRAPH_LAUNCH = 2
    BLOCKING_COPY = 3
    CAPTURE_BEGIN = 4
    CAPTURE_END = 5
    EVENT_RECORD = 6


class CallPart(IntEnum):
    """Where the host partition counts a call, in order of precedence."""

    COMPILE = 0
    LAUNCH = 1
    MEMORY = 2
    SYNC = 3
    GRAPH = 4
    CUDA_OTHER = 5


class CallClass(NamedTuple):
    """What a call does."""

    part: CallPart
    kind: CallKind


def base_name(name: str) -> str:
    """The call's name as the CUDA documentation writes it.

    >>> base_name("cudaLaunchKernel_ptsz_v7000")
    'cudaLaunchKernel'
    """
    return _ABI_SUFFIX.sub("", name)


def call_class(name: str) -> CallClass:
    """What a call does, by its name with or without suffixes.

    >>> call_class("cuModuleLoadData").part.name
    'COMPILE'
    """
    base = base_name(name)
    for pattern, found in _groups():
        if fnmatchcase(base, pattern):
            return found
    return CallClass(CallPart.CUDA_OTHER, CallKind.OTHER)


@cache
def _groups() -> tuple[tuple[str, CallClass], ...]:
    table = tomllib.loads((files(__package__) / "api_calls.toml").read_text("utf-8"))
    return tuple(
        (pattern, CallClass(CallPart[group["part"].upper()], CallKind[group.get("kind", "other").upper()]))
        for group in table["group"]
        for pattern in group["names"]
    )
