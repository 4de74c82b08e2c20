"""What keeps a side from being held against the first one as it is: other captures, and ranges that cost time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from nsys_analyze.durations import duration_text
from nsys_analyze.metrics.results import Stage
from nsys_analyze.metrics.wording import path_title
from nsys_analyze.verdict.comparable import Difference, differences
from nsys_analyze.verdict.comparison import Caution
from nsys_analyze.verdict.comparison_stages import Indexed, Place
from nsys_analyze.verdict.records import circumstances

_DEAR = 0.01  # of an instance's wall time: so much does recording the ranges inside have to cost


def cautions(labels: Sequence[str], sides: Sequence[Sequence[Indexed]], places: Sequence[Place]) -> list[Caution]:
    """Returns a caution for whatever makes a side's numbers unlike those of the first.

    Args:
        labels: What the sides are called.
        sides: The runs of each side.
        places: The stages that are compared.
    """
    return [
        caution
        for label, side in zip(labels[1:], sides[1:], strict=True)
        for caution in (*_captures(label, sides[0], side), *_ranges(label, sides[0], side, places))
    ]


def _captures(label: str, first: Sequence[Indexed], side: Sequence[Indexed]) -> Iterator[Caution]:
    """Captures that were made in another way, or on another machine; a check of them cannot tell, either."""
    before, here = ([circumstances(run.run.analysis) for run in runs] for runs in (first, side))
    counts, timings = differences(before, here)
    yield from (_caution(label, "all", one) for one in counts)
    yield from (_caution(label, "times", one) for one in timings)


def _caution(label: str, of: str, difference: Difference) -> Caution:
    return Caution(
        side=label,
        kind="capture",
        of="all" if of == "all" else "times",
        what=difference.what.removeprefix("the "),
        first=" and ".join(difference.before),
        here=" and ".join(difference.now),
    )


def _ranges(
    label: str, first: Sequence[Indexed], side: Sequence[Indexed], places: Sequence[Place]
) -> Iterator[Caution]:
    """Stages in which recording the ranges inside costs notably more on one side than on the other."""
    for place in places:
        before, here = ([run.stages[place] for run in runs if place in run.stages] for runs in (first, side))
        if not before or not here:
            continue
        costs = [_typical(stages, _cost) for stages in (before, here)]
        wall = min(_typical(stages, lambda stage: stage.wall_ns.total / stage.instances) for stages in (before, here))
        if abs(costs[1] - costs[0]) > _DEAR * wall:
            yield Caution(
                side=label,
                kind="ranges",
                of="times",
                what=f"ranges inside each {path_title([place.path[-1][0]])}",
                first=_text(before, costs[0]),
                here=_text(here, costs[1]),
            )


def _typical(stages: Sequence[Stage], of: Callable[[Stage], float]) -> float:
    return median(map(of, stages))


def _cost(stage: Stage) -> float:
    """What recording the ranges inside an instance costs at the most, ns."""
    return stage.markers.cost_high_ns / stage.instances if stage.markers else 0.0


def _text(stages: Sequence[Stage], cost: float) -> str:
    ranges = median(stage.markers.ranges / stage.instances if stage.markers else 0.0 for stage in stages)
    return f"{ranges:,.0f} (up to {duration_text(cost)})" if ranges else "none"
