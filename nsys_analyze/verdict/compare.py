"""Compares sides, each of one or several runs, with the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsys_analyze.verdict.comparison import Comparison, Side
from nsys_analyze.verdict.comparison_cautions import cautions
from nsys_analyze.verdict.comparison_facts import facts
from nsys_analyze.verdict.comparison_figures import compare_stage, compile_figures, unprofiled_compile_figures
from nsys_analyze.verdict.comparison_stages import Indexed, Run, chosen_places, indexed


@dataclass(frozen=True, slots=True)
class Runs:
    """A side as it comes: its label and its reports."""

    label: str
    runs: Sequence[Run]


def compare_runs(sides: Sequence[Runs], patterns: Sequence[str] = ()) -> Comparison:
    """Returns the comparison of all sides with the first one.

    Args:
        sides: At least one; the first is what the others are held against.
        patterns: Stages to compare; those that matter and that sides share if there are none.

    Raises:
        UsageError: If a pattern matches nothing, or there is nothing to compare.
    """
    runs = indexed([side.runs for side in sides])
    places, left_out = chosen_places(runs, patterns)
    labels = [side.label for side in sides]
    compiled = compile_figures(runs)
    return Comparison(
        sides=[
            Side(
                label=side.label,
                files=[run.analysis.report.file for run in side.runs],
                compile_ns=figure,
                compile_from=source,
                unprofiled_compile_ns=unprofiled,
            )
            for side, (figure, source), unprofiled in zip(
                sides, compiled, unprofiled_compile_figures(runs), strict=True
            )
        ],
        stages=[compare_stage(place, labels, runs, alone=not _several(place.path, runs)) for place in places],
        stages_left_out=left_out,
        facts=facts([[run.analysis for run in side.runs] for side in sides]),
        cautions=cautions(labels, runs, places),
    )


def _several(path: tuple[tuple[str, str], ...], sides: Sequence[Sequence[Indexed]]) -> bool:
    """Whether some process is not the only one that has the path."""
    return len({place.process for side in sides for run in side for place in run.stages if place.path == path}) > 1
