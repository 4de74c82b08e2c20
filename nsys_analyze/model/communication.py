"""Which kernels move data between GPUs, told from their names by the families of ``communication.toml``."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from nsys_analyze.model.kernel_names import taken_apart

OTHER = "other"  # a collective that the name does not tell


class _Family(NamedTuple):
    pattern: re.Pattern[str]
    collective: str | None


def collective(kernel: str) -> str | None:
    """What a kernel communicates, such as "all-reduce", by its demangled name; None for one that computes.

    >>> collective("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)")
    'all-reduce'
    """
    qualified = taken_apart(kernel).qualified
    for family in _families():
        match = family.pattern.fullmatch(qualified)
        if match:
            found = family.collective or match.groupdict().get("collective")
            return _spelled(found) if found else OTHER
    return None


def _spelled(name: str) -> str:
    """``AllReduce``, ``all_reduce`` and ``allreduce`` are ``all-reduce``."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", "-", name).lower()
    return _SPELLINGS.get(words, words)


_SPELLINGS = {
    "allreduce": "all-reduce",
    "allgather": "all-gather",
    "fcollect": "all-gather",
    "reducescatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "rdxn": "all-reduce",
    "generic": OTHER,
}


@cache
def _families() -> tuple[_Family, ...]:
    table = tomllib.loads((files(__package__) / "communication.toml").read_text("utf-8"))
    return tuple(_Family(re.compile(family["pattern"]), family.get("collective")) for family in table["family"])
