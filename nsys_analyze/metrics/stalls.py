"""Late stalls: instances far above their siblings, and what filled them.

The measure is the modified z-score of Iglewicz and Hoaglin, 0.6745 (x - median) / MAD, over 3.5; where the MAD is 0,
twice the median. The first instance is left to the cold start.
"""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import Bool, Int64
from nsys_analyze.instances.host import HostParts
from nsys_analyze.metrics.results import Stall

_LEAST_SIBLINGS = 5
_LARGEST_SCORE = 3.5
_MOST = 20  # of a stage, worst first
_GPU = "gpu_after_end"


def late_stalls(rows: Int64, wall: Int64, elapsed: Int64, start: Int64, host: HostParts) -> list[Stall]:
    """The stalls of one stage, worst first.

    Args:
        rows: The stage's finished instances, by start.
        wall: Wall time of every instance of the report, ns.
        elapsed: Elapsed time of every instance.
        start: Start of every instance.
        host: Host partition of every instance.
    """
    if len(rows) <= _LEAST_SIBLINGS:
        return []
    taken = elapsed[rows]
    median = float(np.median(taken))
    places = np.flatnonzero(_stalled(taken, median))
    places = places[np.argsort(-taken[places], kind="stable")][:_MOST]
    if not len(places):
        return []
    parts = np.stack([*(getattr(host, name)[rows] for name in HostParts.__slots__), (elapsed - wall)[rows]])
    above = parts[:, places] - np.median(parts, axis=1)[:, None]
    return [
        Stall(
            index=place,
            start_ns=int(start[rows[place]]),
            elapsed_ns=int(taken[place]),
            excess_ns=float(taken[place] - median),
            filled_ns=_largest(dict(zip((*HostParts.__slots__, _GPU), excess, strict=True))),
        )
        for place, excess in zip(places.tolist(), above.T.tolist(), strict=True)
    ]


def _stalled(taken: Int64, median: float) -> Bool:
    deviation = float(np.median(np.abs(taken - median)))
    stalled: Bool = 0.6745 * (taken - median) > _LARGEST_SCORE * deviation if deviation else taken > 2 * median
    stalled[0] = False
    return stalled


def _largest(excess: dict[str, float]) -> dict[str, float]:
    """The parts that grew, largest first."""
    grown = {name: time for name, time in excess.items() if time > 0}
    return dict(sorted(grown.items(), key=lambda item: -item[1]))
