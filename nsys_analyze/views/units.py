"""Numbers as people read them: a unit that fits, three significant digits, parts that align on the decimal point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nsys_analyze.durations import UNITS, natural_unit


@dataclass(frozen=True, slots=True)
class Number:
    """A number in pieces: what stands before the decimal point, the point and what follows it, the unit."""

    whole: str
    fraction: str = ""
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.whole}{self.fraction} {self.unit}".rstrip()


def durations(values: Sequence[float | None], beside: Sequence[float | None] = ()) -> list[Number | None]:
    """Returns nanoseconds as numbers of one unit where their spread allows it, else each in its own.

    Values that stand ``beside`` them have a say in the unit, so that one column can be compared with the next.
    """
    scale = _common_scale([*values, *beside])
    if scale is None:
        return [None if value is None else _alone(value) for value in values]
    factor, unit, decimals = scale
    return [None if value is None else _number(value / factor, decimals, unit) for value in values]


def microseconds(values: Sequence[float | None]) -> list[Number | None]:
    """Returns nanoseconds as bare numbers of microseconds, for a column that names the unit itself."""
    scaled = [None if value is None else value / 1e3 for value in values]
    return [None if value is None else _number(value, _decimals([value]), "") for value in scaled]


def counts(values: Sequence[float | None]) -> list[Number | None]:
    """Returns counts with thousands separators; a median between two counts keeps its half."""
    return [None if value is None else _number(value, 0 if float(value).is_integer() else 1, "") for value in values]


def instants(values: Sequence[float | None]) -> list[Number | None]:
    """Returns points in time, in seconds to the microsecond."""
    return [None if value is None else _number(value / 1e9, 6, "s") for value in values]


def duration(value: float) -> str:
    """Returns one duration for a running text, such as ``1.65 ms``."""
    return str(_alone(value))


def between(least: float, most: float) -> str:
    """Returns the bounds of a duration for a running text, such as ``1.40 to 2.58 ms``."""
    low, high = durations([least, most])
    same = low is not None and high is not None and low.unit == high.unit
    return f"{low.whole}{low.fraction} to {high}" if same and low is not None else f"{low} to {high}"


def split(total: float, parts: Sequence[float]) -> list[str]:
    """Returns a duration and its parts for a running text: in one unit that only the total names, to four digits."""
    factor, unit = natural_unit(total)
    decimals = max(0, 3 - _magnitude(total / factor)) if total and factor > 1 else 0
    return [f"{total / factor:.{decimals}f} {unit}", *(f"{part / factor:.{decimals}f}" for part in parts)]


def share(value: float) -> str:
    """Returns a share as a percentage that never rounds up to all of it, nor down to nothing."""
    if value in (0.0, 1.0):
        return f"{value:.0%}"
    return "under 0.1%" if value < 0.001 else f"{min(value, 0.999):.1%}"


def shares(values: Sequence[float | None]) -> list[Number | None]:
    """Returns shares as percentages with a decimal, as ``share`` has them."""
    return [None if value is None else _percentage(value) for value in values]


def ratios(values: Sequence[float | None]) -> list[Number | None]:
    """Returns ratios as factors, such as ``0.60x``."""
    return [None if value is None else _factor(value) for value in values]


def ratio(value: float) -> str:
    """Returns one ratio for a running text, as ``ratios`` has it."""
    return str(_factor(value))


def _factor(value: float) -> Number:
    if 0 < value < 0.005:
        return Number("<0", ".01x")
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    whole, point, fraction = f"{value:,.{decimals}f}".partition(".")
    return Number(whole, f"{point}{fraction}x")


def _percentage(value: float) -> Number:
    whole, point, fraction = share(value).removesuffix("%").replace("under ", "<").partition(".")
    return Number(whole, f"{point}{fraction}%")


def _number(value: float, decimals: int, unit: str) -> Number:
    if unit == "ns" and 0 < value < 0.5:
        return Number("<1", "", unit)
    whole, point, fraction = f"{value:,.{decimals if value else 0}f}".partition(".")
    return Number(whole, point + fraction, unit)


def _alone(value: float) -> Number:
    if not value:
        return Number("0", "", "us")
    factor, unit = natural_unit(value)
    return _number(value / factor, 0 if factor == 1.0 else _decimals([value / factor]), unit)


def _magnitude(value: float) -> int:
    return math.floor(math.log10(abs(value)))


def _decimals(values: Sequence[float]) -> int:
    """Three significant digits for the smallest of them, unless the largest would then show more than four."""
    sizes = [_magnitude(float(f"{value:.3g}")) for value in values if value]
    return max(0, min(2 - min(sizes), 3 - max(sizes), 3)) if sizes else 0


def _common_scale(values: Sequence[float | None]) -> tuple[float, str, int] | None:
    """The unit and decimals that suit all values: at least two significant digits, at most four before the point."""
    sizes = [abs(value) for value in values if value]
    if not sizes:
        return 1e3, "us", 0
    largest, smallest = max(sizes), min(sizes)
    natural = natural_unit(largest)[0]
    for factor, unit in UNITS:
        if factor > natural or largest / factor >= 9999.5:
            continue
        decimals = 0 if factor == 1.0 else _decimals([smallest / factor, largest / factor])
        if decimals + _magnitude(smallest / factor) >= 1 or factor == 1.0:
            return factor, unit, decimals
    return None
