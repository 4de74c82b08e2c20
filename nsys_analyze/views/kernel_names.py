"""Names of kernels, short enough to read: without return type, namespaces and parameters."""

from __future__ import annotations

from nsys_analyze.views.text import visible

_ANONYMOUS = "(anonymous namespace)"


def short_kernel_name(name: str) -> str:
    """Returns ``gemm<128, 2>`` for ``void lib::gemm<128, 2>(float const*, int)``; template arguments stay.

    A name that is no C++ function's stays as it is.
    """
    plain = name.removeprefix("void ").replace(f"{_ANONYMOUS}::", "").replace("(int)", "")
    depth, start = 0, 0
    for place, letter in enumerate(plain):
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth -= 1
        elif depth == 0 and letter == "(":
            return visible(plain[start:place] or name)
        elif depth == 0 and plain.startswith("::", place):
            start = place + 2
    return visible(plain[start:] or name)
