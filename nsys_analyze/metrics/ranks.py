"""Ranks of a job held against each other: who is fast, who is slow, who starts late."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from nsys_analyze.arrays import Int64
from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.quantities import QUANTITIES
from nsys_analyze.metrics.rank_clocks import Align, Clocks, Ranked, common_clock
from nsys_analyze.metrics.results import (
    Analysis,
    Process,
    Rank,
    RankedProgram,
    RankedStage,
    ReportInfo,
    Spread,
    Stage,
    StartSkew,
)
from nsys_analyze.metrics.stages import SERIES_LIMIT

Path = tuple[tuple[str, str], ...]  # domain and name of each element


@dataclass(frozen=True, slots=True)
class _Member:
    """A process that has stages, which may be a rank."""

    report: int
    file: str
    process: Process
    stages: dict[Path, Stage]
    used_cuda: bool

    @property
    def place(self) -> tuple[int, float, int]:
        """Its place in the order of ranks that nobody numbered."""
        return self.report, min(self.process.gpus, default=float("inf")), self.process.pid


def merge_ranks(analyses: Sequence[Analysis], align: Align = "auto") -> list[RankedProgram]:
    """Finds the ranks of each program in one or several reports of a job, and compares their stages.

    Ranks are processes with the same program name that share stages with each other, directly or by way of others.
    Where some of them used CUDA, those which did not are helpers. Nothing is returned for a program with one rank only.
    ``align`` says by which clock the starts of several reports are held against each other; see `common_clock`.

    Raises:
        UsageError: The clock asked for is not to be had, or two reports are of one capture.
    """
    _check_captures(analyses)
    members: dict[str, list[_Member]] = {}
    for place, analysis in enumerate(analyses):
        for member in _members(place, analysis):
            members.setdefault(member.process.name, []).append(member)
    infos = [analysis.report for analysis in analyses]
    return [
        _program(ranks, infos, align)
        for group in members.values()
        for ranks in _sharing(_workers(group))
        if len(ranks) > 1
    ]


def _check_captures(analyses: Sequence[Analysis]) -> None:
    """Refuses a report that is there twice: its ranks would be held against themselves.

    No two captures begin in the same nanosecond with the same processes, unless they are of different hosts.

    Raises:
        UsageError: If so.
    """
    known: dict[object, str] = {}
    for analysis in analyses:
        info = analysis.report
        processes = tuple((process.pid, process.rank) for process in info.processes)
        capture = (info.started_at_ns, info.duration_ns, info.host, processes)
        if info.started_at_ns is not None and capture in known:
            raise UsageError(f"{known[capture]} and {info.file}: the same capture twice; name each report once")
        known[capture] = info.file


def _members(report: int, analysis: Analysis) -> Iterator[_Member]:
    stages: dict[int, dict[Path, Stage]] = {}
    for stage in analysis.stages:
        stages.setdefault(stage.process, {})[_path(stage)] = stage
    used = {program.process for program in analysis.programs if program.calls or program.gpu_ops}
    for process in analysis.report.processes:
        if process.pid in stages:
            yield _Member(report, analysis.report.file, process, stages[process.pid], process.pid in used)


def _path(stage: Stage) -> Path:
    return tuple(zip(stage.domains, stage.path, strict=True))


def _workers(members: list[_Member]) -> list[_Member]:
    """Those that used CUDA, or all if nobody did."""
    return [member for member in members if member.used_cuda] or members


def _sharing(members: Iterable[_Member]) -> list[list[_Member]]:
    """Members in groups, such that no two groups share a stage."""
    groups: list[tuple[set[Path], list[_Member]]] = []
    for member in members:
        paths, together, apart = set(member.stages), [member], []
        for known, others in groups:
            if known.isdisjoint(member.stages):
                apart.append((known, others))
            else:
                paths |= known
                together = [*others, *together]
        groups = [*apart, (paths, together)]
    return [together for _, together in groups]


def _program(members: list[_Member], reports: Sequence[ReportInfo], align: Align) -> RankedProgram:
    known = [member.process.rank for member in members]
    stated = None not in known and len(set(known)) == len(known)
    if stated:
        by_rank = {rank: member for rank, member in zip(known, members, strict=True) if rank is not None}
    else:
        by_rank = dict(enumerate(sorted(members, key=lambda member: member.place)))
    by_rank = dict(sorted(by_rank.items()))
    report_of = {rank: member.report for rank, member in by_rank.items()}
    stages = list(_stages(by_rank))
    clocks = common_clock(stages, report_of, reports, align)
    return RankedProgram(
        program=members[0].process.name,
        numbered_by="report" if stated else "order",
        ranks=[_rank(rank, member) for rank, member in by_rank.items()],
        stages=[_stage(ranked, clocks, report_of) for ranked in stages],
        clock=clocks.used,
    )


def _rank(rank: int, member: _Member) -> Rank:
    process = member.process
    return Rank(rank=rank, report=member.report, file=member.file, process=process.pid, gpus=process.gpus)


def _stages(by_rank: dict[int, _Member]) -> Iterator[Ranked]:
    """The stages of any rank, as a tree: parents before children, siblings as the lowest rank that has them does."""
    found: dict[Path, Ranked] = {}
    for rank, member in by_rank.items():
        for path, stage in member.stages.items():
            found.setdefault(path, {})[rank] = stage
    children: dict[Path, list[Path]] = {}
    for path in found:
        above = next((path[:end] for end in range(len(path) - 1, 0, -1) if path[:end] in found), ())
        children.setdefault(above, []).append(path)
    waiting = children.get((), [])[::-1]
    while waiting:
        path = waiting.pop()
        yield found[path]
        waiting.extend(children.get(path, [])[::-1])


def _stage(ranked: Ranked, clocks: Clocks, report_of: dict[int, int]) -> RankedStage:
    example = next(iter(ranked.values()))
    one_clock = clocks.used is not None or len({report_of[rank] for rank in ranked}) == 1
    missing = _no_skew(ranked, one_clock)
    return RankedStage(
        path=example.path,
        domains=example.domains,
        name=example.name,
        domain=example.domain,
        depth=example.depth,
        ranks=list(ranked),
        instances=_spread_of_all(ranked, lambda stage: stage.instances),
        wall_total_ns=_spread_of_all(ranked, lambda stage: stage.wall_ns.total),
        active_total_ns=_spread(ranked, lambda stage: stage.active_ns),
        quantities={name: _spread(ranked, quantity.of) for name, quantity in QUANTITIES.items()},
        start_skew_ns=_skew(ranked, clocks.shift) if missing is None else None,
        start_skew_missing=missing,
    )


def _spread(ranked: Ranked, of: Callable[[Stage], float | None]) -> Spread | None:
    values = {rank: value for rank, stage in ranked.items() if (value := of(stage)) is not None}
    if not values:
        return None
    least, greatest = (choose(values, key=values.__getitem__) for choose in (min, max))
    return Spread(
        count=len(values),
        min=values[least],
        median=median(values.values()),
        max=values[greatest],
        min_rank=least,
        max_rank=greatest,
    )


def _spread_of_all(ranked: Ranked, of: Callable[[Stage], int]) -> Spread:
    """The spread of a number that every rank knows."""
    spread = _spread(ranked, of)
    assert spread is not None
    return spread


def _no_skew(ranked: Ranked, one_clock: bool) -> str | None:
    """Why the starts of a stage cannot be held against each other, None if they can."""
    counts = {stage.instances for stage in ranked.values()}
    if len(ranked) == 1:
        return "only one rank has the stage"
    if not one_clock:
        return "the ranks are in different reports, without a wall clock or a loop to align them by"
    if len(counts) > 1:
        return f"instances cannot be paired: ranks have {min(counts):,} to {max(counts):,} of them"
    if any(stage.series is None for stage in ranked.values()):
        return f"there are more than {SERIES_LIMIT:,} instances"
    return None


def _skew(ranked: Ranked, shift: dict[int, int]) -> StartSkew:
    starts: Int64 = np.array([stage.series.start_ns for stage in ranked.values() if stage.series], np.int64)
    starts += np.array([[shift[rank]] for rank in ranked], np.int64)
    skew = starts.max(axis=0) - starts.min(axis=0)
    late = np.bincount(starts.argmax(axis=0)[skew > 0], minlength=len(ranked))
    return StartSkew(
        instances=len(skew),
        first=int(skew[0]),
        median=float(np.median(skew)),
        max=int(skew.max()),
        latest_rank=list(ranked)[int(late.argmax())] if late.any() else None,
        latest_count=int(late.max()),
    )
