"""Values of small tables, whatever type their cells turned out to have."""

from __future__ import annotations

_LARGEST_GPU = 2**16
_LONGEST = 2**53  # ns, 104 days


def as_text(value: object) -> str | None:
    """A cell as a string, None for NULL."""
    if value is None or isinstance(value, str):
        return value
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def is_gpu_number(value: object) -> bool:
    """Whether a cell can be the number of a GPU."""
    return isinstance(value, int) and 0 <= value < _LARGEST_GPU


def as_duration(value: object) -> int | None:
    """A cell as nanoseconds that a capture can have taken."""
    return value if isinstance(value, int) and 0 <= value < _LONGEST else None
