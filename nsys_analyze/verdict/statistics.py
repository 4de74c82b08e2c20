"""The test of a difference between two sides against a margin, corrections for many tests, intervals for display.

Instances of one report are no independent runs: they share the machine's mood that day. So a report counts as one
value, and what varies is the reports. With few of them their own variance says little; it is shrunk towards what is
known of such quantities (Smyth 2004, "Linear models and empirical Bayes methods", section 3, with a given prior).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsys_analyze.verdict.noise import Noise

Float64 = npt.NDArray[np.float64]
MOST_CAPTURES = 30  # a side: more than anybody would make


@dataclass(frozen=True, slots=True)
class Side:
    """The reports of one side: a value for each, and its yardstick where all have one."""

    values: Float64
    yardstick: Float64 | None

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """What a change must exceed: ``relative`` (0.1 is 10%) and ``absolute``; logs are taken of values + ``floor``."""

    relative: float
    absolute: float
    floor: float

    def above(self, value: float) -> float:
        """The largest value that is no regression from ``value``."""
        return max(value * (1 + self.relative), value + self.absolute)

    def below(self, value: float) -> float:
        """The smallest value that is no improvement on ``value``."""
        return max(min(value / (1 + self.relative), value - self.absolute), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Two sides on a scale on which noise is even: what each typically shows, and how sure that is.

    ``grew`` and ``shrank`` are one-sided p values of having changed by more than the margin. ``needed`` is the number
    of captures a side that would settle a difference of this size among ``tests``, None if none would.
    """

    base: float
    new: float
    beyond: float
    sd: float
    fixed: float
    freedom: float
    prior: float
    grew: float
    shrank: float

    @property
    def ratio(self) -> float | None:
        """New over base."""
        return self.new / self.base if self.base > 0 else None

    def needed(self, level: float) -> int | None:
        """Captures a side with which a difference of this size would be significant at ``level``; None: no number."""
        from scipy.special import stdtr

        for count in range(1, MOST_CAPTURES + 1):
            error = math.sqrt(self.sd**2 * 2 / count + self.fixed**2)
            if float(stdtr(self.prior + 2 * count - 2, -self.beyond / error)) <= level:
                return count
        return None


def raw_difference(base: Side, new: Side, noise: Noise, margin: Margin) -> Difference:
    """Compares the values as they are."""
    unscaled = Noise(raw=noise.raw, sd=noise.raw, freedom=noise.freedom)
    return difference(base, new, unscaled, margin)


def difference(base: Side, new: Side, noise: Noise, margin: Margin) -> Difference:
    """Compares the values; each divided by its yardstick's power, where the noise has an exponent and all a yardstick.

    Values come back on the scale of the baseline's yardstick.
    """
    logs, lead = _scaled(base, new, noise, margin.floor)
    typical = [math.exp(float(side.mean())) - margin.floor for side in logs]
    base_typical, new_typical = (max(value, 0.0) for value in typical)
    sd, freedom = _shrunk(logs, noise)
    fixed = noise.exponent_sd * abs(lead)
    error = math.sqrt(sd**2 * (1 / len(base) + 1 / len(new)) + fixed**2)
    change = float(logs[1].mean() - logs[0].mean())
    up = math.log((margin.above(base_typical) + margin.floor) / (base_typical + margin.floor))
    down = math.log((base_typical + margin.floor) / (margin.below(base_typical) + margin.floor))
    return Difference(
        base=base_typical,
        new=new_typical,
        beyond=change - up,
        sd=sd,
        fixed=fixed,
        freedom=freedom,
        prior=noise.freedom,
        grew=_tail(freedom, (change - up) / error),
        shrank=_tail(freedom, (-change - down) / error),
    )


def _tail(freedom: float, t: float) -> float:
    from scipy.special import stdtr

    return float(stdtr(freedom, -t))


def _scaled(base: Side, new: Side, noise: Noise, floor: float) -> tuple[list[Float64], float]:
    """Logs of both sides with the yardstick taken out, and by how much its log differs between them."""
    logs = [np.log(side.values + floor) for side in (base, new)]
    if noise.exponent is None or base.yardstick is None or new.yardstick is None:
        return logs, 0.0
    pace = [np.log(base.yardstick), np.log(new.yardstick)]
    origin = float(pace[0].mean())
    scaled = [log - noise.exponent * (one - origin) for log, one in zip(logs, pace, strict=True)]
    return scaled, float(pace[1].mean() - origin)


def _shrunk(logs: Sequence[Float64], noise: Noise) -> tuple[float, float]:
    """Standard deviation between reports, and its degrees of freedom."""
    own = sum(len(side) - 1 for side in logs)
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in logs)
    freedom = noise.freedom + own
    return math.sqrt((noise.freedom * noise.sd**2 + squares) / freedom), freedom


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns the p values adjusted for their number (Holm 1979): those at most 5% hold together at 5%."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, largest = [0.0] * len(p_values), 0.0
    for place, row in enumerate(order):
        largest = max(largest, min(1.0, p_values[row] * (len(p_values) - place)))
        adjusted[row] = largest
    return adjusted


_RESAMPLES = 200
_LONGEST = 2_000  # instances of a report that are resampled; of more, evenly spread ones


def interval(series: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """Returns a 95% interval of the typical instance, for display; None with too few instances.

    Medians of blocks drawn again (Künsch 1989), since what one instance is slowed down by often lasts for several; over
    reports, the geometric mean. It says how well these reports are known, not how much the next one will differ.
    """
    if not series or min(map(len, series)) < 5:
        return None
    random = np.random.default_rng(0)
    medians = np.stack([_resampled(np.asarray(values), random) for values in series])
    typical = np.exp(np.log(np.maximum(medians, 1.0)).mean(axis=0))
    low, high = np.percentile(typical, (2.5, 97.5))
    return float(low), float(high)


def _resampled(values: Float64, random: np.random.Generator) -> Float64:
    values = values[:: -(-len(values) // _LONGEST)]
    count = len(values)
    block = max(1, round(count ** (1 / 3)))
    starts = random.integers(0, count - block + 1, (_RESAMPLES, -(-count // block)))
    drawn = (starts[:, :, None] + np.arange(block)).reshape(_RESAMPLES, -1)[:, :count]
    return np.asarray(np.median(values[drawn], axis=1), np.float64)
