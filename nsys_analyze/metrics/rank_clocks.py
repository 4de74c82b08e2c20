"""One clock for ranks whose reports each have their own: that of the wall, or that of the iterations they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nsys_analyze.arrays import Int64
from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.results import RankClock, ReportInfo, Stage

Align = Literal["auto", "wall", "iteration"]
Ranked = dict[int, Stage]  # a stage of each rank that has it, by rank


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clock that was used, None where there is none, and what to add to the times of each rank, ns."""

    used: RankClock | None
    shift: dict[int, int]


def common_clock(
    stages: Sequence[Ranked], report_of: dict[int, int], reports: Sequence[ReportInfo], align: Align
) -> Clocks:
    """Puts the ranks of a job on one clock.

    Ranks of one report have one. Of several reports, "auto" takes the wall clock where all are of one machine, else
    the iterations of the loop with most GPU time that all ranks ran equally often, else the wall clock; that only
    where the captures overlap by it, since those of one job do.

    Args:
        stages: The stages of the job.
        report_of: The report of each rank, by rank.
        reports: What the reports say of themselves.
        align: Which clock to take.

    Raises:
        UsageError: The clock asked for is not to be had.
    """
    used = [reports[place] for place in sorted(set(report_of.values()))]
    names = {report.host for report in used}
    hosts = None if None in names else len(names)
    loop = _loop(stages, len(report_of))
    told = all(report.started_at_ns is not None for report in used)
    by = _chosen(align, len(used), hosts, loop is not None, told and _overlap(used))
    if align == "wall" and not told:
        file = next(report.file for report in used if report.started_at_ns is None)
        raise UsageError(f"--align wall: {file} does not tell when its capture began")
    if align == "iteration" and loop is None:
        raise UsageError("--align iteration: there is no loop that all ranks ran equally often")
    if by == "wall":
        return Clocks(RankClock(by="wall", stage=None, hosts=hosts), _wall(report_of, reports))
    if by == "iteration" and loop is not None:
        stage = next(iter(loop.values())).path
        return Clocks(RankClock(by="iteration", stage=stage, hosts=hosts), _iterations(loop, report_of))
    one = RankClock(by="report", stage=None, hosts=hosts) if len(used) == 1 else None
    return Clocks(one, dict.fromkeys(report_of, 0))


def _overlap(reports: Sequence[ReportInfo]) -> bool:
    """Whether all captures ran at one moment, as far as they tell."""
    began = [report.started_at_ns or 0 for report in reports]
    ended = [at + report.duration_ns for at, report in zip(began, reports, strict=True) if report.duration_ns]
    return not ended or max(began) < min(ended)


def _chosen(align: Align, reports: int, hosts: int | None, looping: bool, timed: bool) -> str | None:
    if align != "auto":
        return align
    if reports == 1:
        return "report"
    if timed and (hosts == 1 or not looping):
        return "wall"
    return "iteration" if looping else None


def _loop(stages: Sequence[Ranked], ranks: int) -> Ranked | None:
    """The loop with most GPU time that all ranks ran equally often; of equal ones the outermost."""
    loops = [ranked for ranked in stages if len(ranked) == ranks and _is_loop(ranked)]
    return max(loops, key=_size, default=None)


def _is_loop(ranked: Ranked) -> bool:
    counts = {stage.instances for stage in ranked.values()}
    return len(counts) == 1 and counts.pop() > 1 and all(stage.pace_ns and stage.series for stage in ranked.values())


def _size(ranked: Ranked) -> tuple[int, int]:
    return sum(stage.active_ns or 0 for stage in ranked.values()), -next(iter(ranked.values())).depth


def _wall(report_of: dict[int, int], reports: Sequence[ReportInfo]) -> dict[int, int]:
    began = {rank: reports[report].started_at_ns or 0 for rank, report in report_of.items()}
    first = min(began.values())
    return {rank: at - first for rank, at in began.items()}


def _iterations(loop: Ranked, report_of: dict[int, int]) -> dict[int, int]:
    """Shifts each report so that its ranks begin an iteration, in the median, when the median rank does."""
    starts: Int64 = np.array([stage.series.start_ns for stage in loop.values() if stage.series], np.int64)
    own = starts - starts[:, :1]  # medians of ranks would jump where the clocks lie far apart
    behind = starts[:, 0] + np.median(own - np.median(own, axis=0), axis=1)
    of_rank = dict(zip(loop, behind.tolist(), strict=True))
    of_report = {
        report: float(np.median([of_rank[rank] for rank, its in report_of.items() if its == report]))
        for report in set(report_of.values())
    }
    middle = max(of_report.values())
    return {rank: round(middle - of_report[report]) for rank, report in report_of.items()}
