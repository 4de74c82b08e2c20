"""What a CUDA API call does, told from its name.

Names come with an ABI suffix (``cudaLaunchKernel_v7000``) and variants for the per-thread default stream (``_ptsz``,
``_ptds``); both are dropped first.
"""

from __future__ import annotations

import re
from enum import IntEnum

_ABI_SUFFIX = re.compile(r"(?:_ptsz|_ptds)?(?:_v\d+)?(?:_ptsz|_ptds)?$")


class CallKind(IntEnum):
    """What the numbers need to know about a call."""

    OTHER = 0
    LAUNCH = 1
    GRAPH_LAUNCH = 2
    BLOCKING_COPY = 3
    CAPTURE_BEGIN = 4
    CAPTURE_END = 5


_KINDS = (
    (CallKind.LAUNCH, re.compile(r"cu(?:da)?Launch(?!HostFunc)\w+")),
    (CallKind.GRAPH_LAUNCH, re.compile(r"cu(?:da)?GraphLaunch")),
    (CallKind.BLOCKING_COPY, re.compile(r"cu(?:da)?Memcpy(?!\w*(?:Async|Batch))\w*")),
    (CallKind.CAPTURE_BEGIN, re.compile(r"cu(?:da)?StreamBeginCapture\w*")),
    (CallKind.CAPTURE_END, re.compile(r"cu(?:da)?StreamEndCapture")),
)


def base_name(name: str) -> str:
    """The call's name as the CUDA documentation writes it.

    >>> base_name("cudaLaunchKernel_ptsz_v7000")
    'cudaLaunchKernel'
    """
    return _ABI_SUFFIX.sub("", name)


def call_kind(name: str) -> CallKind:
    """The kind of a call, with or without the suffixes of its name."""
    base = base_name(name)
    for kind, pattern in _KINDS:
        if pattern.fullmatch(base):
            return kind
    return CallKind.OTHER
