"""Durations in words: read from what people type, and written into sentences."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from nsys_analyze.errors import UsageError

UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_NS = {unit: int(factor) for factor, unit in UNITS}
_TYPED = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]*)", re.ASCII)
_LONGEST = 2**53  # ns, 104 days
_ROUNDS_UP = 999.5  # from here on three digits would read 1000


def parse_duration(text: str) -> int:
    """Reads a duration such as ``0.71ms`` or ``50 us``, in whole nanoseconds; the unit is ns, us, ms or s.

    Raises:
        UsageError: It is none, lacks its unit, or is longer than any capture.

    >>> parse_duration("0.71ms")
    710000
    """
    found = _TYPED.fullmatch(text.strip().replace("µs", "us"))
    if found is None:
        raise UsageError(f"{text!r} is no duration; write a number and its unit, such as 50us or 0.71ms")
    number, unit = found.groups()
    if unit not in _NS:
        why = f"has the unit {unit!r}" if unit else "has no unit"
        raise UsageError(f"the duration {text!r} {why}; it takes ns, us, ms or s")
    duration = round(Decimal(number) * _NS[unit])
    if duration > _LONGEST:
        raise UsageError(f"the duration {text!r} is longer than any capture")
    return duration


def natural_unit(value: float) -> tuple[float, str]:
    """The unit (its nanoseconds and its name) in which a duration has one to three digits before the point."""
    for factor, unit in UNITS:
        if abs(value) >= _ROUNDS_UP * factor / 1e3:
            return factor, unit
    return UNITS[-1]


def duration_text(value: float) -> str:
    """A duration of so many nanoseconds, for a sentence: three digits and the unit that suits them.

    >>> duration_text(12_500_000)
    '12.5 ms'
    """
    factor, unit = natural_unit(value)
    scaled = value / factor
    decimals = 2 - math.floor(math.log10(abs(float(f"{scaled:.3g}")))) if scaled and factor > 1 else 0
    return f"{scaled:,.{max(0, decimals)}f} {unit}"


def exact_duration(value: float) -> str:
    """A duration as `parse_duration` reads it back, to the nanosecond.

    >>> exact_duration(123_456)
    '123.456 us'
    """
    whole = round(value)
    unit = next((unit for _, unit in UNITS if whole >= _NS[unit]), "ns")
    return f"{(Decimal(whole) / _NS[unit]).normalize():f} {unit}"
