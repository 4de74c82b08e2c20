"""How alike captures are apart from what is checked: more than two runs ever are, and there is less noise to allow for.

Noise between runs is in all of a capture: in importing, in building, in compiling, and in the CUDA calls of every
step. Where everything that ran once beside the checked stage took as long in all captures, and so did the calls, noise
did not set them apart: a capture was edited, or cut out of another one, or the machine is that steady. Stages alone
would not tell, since some last as long as a clock says, such as ten seconds of warming up; calls do not. The largest
difference sets the scale. That it comes out under ``_CERTAIN`` standard deviations has a chance of one in a thousand
for a single quantity that varies, and a smaller one for several, however they depend on each other; so at most one
comparison of unchanged code in a thousand is judged by less noise than it has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from nsys_analyze.verdict.noise import NoiseTable
from nsys_analyze.verdict.records import StageId
from nsys_analyze.verdict.samples import ReportSample, StageSample

_CERTAIN = 0.00125  # standard deviations that a normal variate stays within once in a thousand times
_FEWEST = 2  # stages beside the checked one: a single one may wait for a clock
_SHORTEST = 1_000_000  # ns: shorter stages take the same few nanoseconds again and again
_OF_GPU = 0.5  # a stage that keeps the GPU busy for more of its time has little noise anyway


class Likeness:
    """How alike the reports of two sides are."""

    def __init__(self, reports: Sequence[ReportSample], table: NoiseTable) -> None:
        """Takes the reports of both sides, one at least, and the usual noise."""
        shared = set.intersection(*(set(report.stages) for report in reports))
        stages = {key: [report.stages[key] for report in reports] for key in shared}
        walls = {key: _walls(some) for key, some in stages.items() if len(key[0]) == 1}
        self._walls = {_root(key): _range(some) for key, some in walls.items() if some}
        self._calls = [_range(calls) for some in stages.values() if (calls := _calls(some))]
        self._usual = math.sqrt(2) * table["first instance"].raw  # of two captures

    def noise_share(self, key: StageId) -> float:
        """Returns how much of the usual noise to allow for: 1, all of it, unless reports are uncommonly alike.

        ``key`` is the stage that is checked. How long it took, or what it lies in, does not tell.
        """
        beside = [one for root, one in self._walls.items() if root != _root(key)]
        if len(beside) < _FEWEST or not self._calls:
            return 1.0
        return min(max(*beside, *self._calls) / self._usual / _CERTAIN, 1.0)


def _root(key: StageId) -> tuple[str, str, int]:
    path, domains, process = key
    return path[0], domains[0], process


def _range(values: Sequence[float]) -> float:
    return math.log(max(values) / min(values))


def _walls(stages: Sequence[StageSample]) -> list[float]:
    """How long a stage took in each report; nothing if it is no host code that runs once, or a short one."""
    walls = [stage.values.get("wall", 0.0) for stage in stages]
    fitting = [
        wall >= _SHORTEST and not stage.loop and not stage.steady and stage.active < _OF_GPU * wall
        for stage, wall in zip(stages, walls, strict=True)
    ]
    return walls if all(fitting) else []


def _calls(stages: Sequence[StageSample]) -> list[float]:
    """What a step spends in CUDA calls in each report; nothing if the stage is no loop or a report does not tell."""
    calls = [stage.calls for stage in stages if stage.loop and stage.calls]
    return calls if len(calls) == len(stages) else []
