"""Where each of many stands among its like: which reports, machines, ranks or days lie beyond the median of them all.

The rule is that of a check against a baseline, made robust, since here nobody knows which ones are good. On the
logarithm of the values, the centre is their median and the spread 1.4826 times the median absolute deviation. As with
a baseline, the spread counts alone where there are more than 9 values; of fewer, the larger of it and the packaged
noise between reports counts. One stands out if it lies beyond the median by more than the margin, at 5% for all that
are asked together (Holm), by Student's t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsys_analyze.metrics.quantities import QUANTITIES, Kind
from nsys_analyze.verdict.config import IGNORE_BELOW, INCREASE
from nsys_analyze.verdict.judged import JUDGED
from nsys_analyze.verdict.noise import ENOUGH, LEAST_SD, Noise, packaged, spread
from nsys_analyze.verdict.statistics import Margin

Float64 = npt.NDArray[np.float64]
_COUNTED = Noise(raw=1e-6, sd=1e-6)  # counts are exact: what does not vary in the fleet differs if it differs
_COUNT_MARGIN = Margin(relative=0.0, absolute=0.5, floor=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Values held against their median; ``slower`` and ``faster`` are one-sided p values, one a value, uncorrected."""

    median: float
    slower: Float64
    faster: Float64


def standing(values: Float64, quantity: str) -> Standing:
    """Holds each value against the median of all.

    Args:
        values: At least two, ns or a count; none negative.
        quantity: Its name among `nsys_analyze.verdict.judged.JUDGED`.
    """
    from scipy.special import stdtr

    noise, margin = _noise(quantity), _margin(quantity)
    logs = np.log(values + margin.floor)
    centre = float(np.median(logs))
    own, freedom = spread(values.tolist(), margin.floor), len(values) - 1
    if freedom > ENOUGH:
        sd = max(own, noise.raw if noise is _COUNTED else LEAST_SD)
    else:
        sd, freedom = max(own, noise.raw), round(noise.freedom)
    error = sd * math.sqrt(1 + math.pi / 2 / len(values))  # of one, and of the median that it is held against
    typical = max(math.exp(centre) - margin.floor, 0.0)
    up = math.log((margin.above(typical) + margin.floor) / (typical + margin.floor))
    down = math.log((typical + margin.floor) / (margin.below(typical) + margin.floor))
    return Standing(
        median=float(np.median(values)),
        slower=np.asarray(stdtr(freedom, -(logs - centre - up) / error), np.float64),
        faster=np.asarray(stdtr(freedom, (logs - centre + down) / error), np.float64),
    )


def _noise(quantity: str) -> Noise:
    kind = QUANTITIES[quantity].kind
    if kind is Kind.COUNT:
        return _COUNTED
    return packaged()[quantity if kind is Kind.HOST_TIME else kind.value]


def _margin(quantity: str) -> Margin:
    if JUDGED[quantity].is_count:
        return _COUNT_MARGIN
    return Margin(relative=INCREASE, absolute=IGNORE_BELOW, floor=IGNORE_BELOW)
