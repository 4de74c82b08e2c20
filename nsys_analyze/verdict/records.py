"""What a report tells that verdicts may need: every instance's numbers, before any of them counts as a warm-up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from nsys_analyze.metrics.results import Analysis, Stage
from nsys_analyze.verdict.judged import JUDGED, OUTSIDE_LOOP, Judged

StageId = tuple[tuple[str, ...], tuple[str, ...], int]
"""Path, domains, and which of the processes with that path: its rank, or its place by process id."""

LOST_SHARE = 0.01  # launches without GPU work: beyond, a capture is cut short or the profiler misses kernels
_MOST_OF = 0.5  # of a stage's time: a loop that takes more tells what there is to tell of it
_LOST = ("launches-without-ops", "launches-at-the-end")
_BROKEN = {
    "no-nvtx": "it has no NVTX ranges",
    "no-cuda": "it has no CUDA calls and no GPU operations",
    "no-calls": "it has no CUDA calls",
    "no-gpu-ops": "its GPU operations are missing",
    "gpu-unknown": "its kernels are missing",
    "nsys-error": "the profiler reported an error",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFacts:
    """What is known of one stage of one report, whatever counts as a warm-up.

    ``loop`` says that the stage repeats and has GPU work, and ``holds_loop`` that such a stage takes most of its time;
    ``active`` is how long it kept GPUs busy, ns, and ``launches`` how many kernel launches an instance makes.
    """

    path: tuple[str, ...]
    domains: tuple[str, ...]
    loop: bool
    holds_loop: bool
    active: int
    unfinished: int
    launches: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRecord(StageFacts):
    """One stage of one report.

    ``each`` holds the numbers of the finished instances, in order of start, for each quantity that instances tell (None
    where one does not); ``whole`` the number of each other quantity that the report can tell. ``calls`` is what each
    instance spends in CUDA calls, ns.
    """

    finished: int
    calls: Sequence[float]
    whole: Mapping[str, float]
    each: Mapping[str, Sequence[float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What must be alike for two reports to be comparable; None where a report does not say."""

    gpus: tuple[str, ...]
    cpu: str | None
    driver: str | None
    nsys: str | None
    trace: str | None
    sampling: bool | None
    context_switches: bool | None
    graph_mode: str | None
    settings: str


StageOf = TypeVar("StageOf", bound=StageFacts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOf(Generic[StageOf]):
    """One report. ``broken`` says why it cannot be judged, if so; ``lost`` counts launches without their GPU work."""

    label: str
    circumstances: Circumstances
    stages: Mapping[StageId, StageOf]
    broken: str | None = None
    lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRecord(ReportOf[StageRecord]):
    """One report with every instance's numbers."""


def record(analysis: Analysis, label: str) -> ReportRecord:
    """Takes the record of a report, an analysis by path, which is called ``label``."""
    loops = _longest_loops(analysis.stages)
    return ReportRecord(
        label=label,
        circumstances=circumstances(analysis),
        stages={key: _stage(stage, loops) for key, stage in _identified(analysis)},
        broken=_broken(analysis),
        lost=_lost(analysis),
    )


def _identified(analysis: Analysis) -> Iterator[tuple[StageId, Stage]]:
    rank = {process.pid: process.rank for process in analysis.report.processes}
    seen: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
    for stage in sorted(analysis.stages, key=lambda stage: stage.process):
        path = tuple(stage.path), tuple(stage.domains)
        place = seen[path] = seen.get(path, -1) + 1
        known = rank.get(stage.process)
        yield (*path, place if known is None else known), stage


def _is_loop(stage: Stage) -> bool:
    return stage.pace_ns is not None and bool(stage.gpu_ops) and not stage.is_compilers_own


def _longest_loops(stages: Sequence[Stage]) -> dict[tuple[object, ...], Stage]:
    """The loop that takes longest inside each stage that holds one."""
    longest: dict[tuple[object, ...], Stage] = {}
    for stage in filter(_is_loop, stages):
        for depth in range(1, len(stage.path)):
            other = longest.setdefault(_identity(stage, depth), stage)
            if stage.wall_ns.total > other.wall_ns.total:
                longest[_identity(stage, depth)] = stage
    return longest


def _identity(stage: Stage, depth: int | None = None) -> tuple[object, ...]:
    """The stage, or the one ``depth`` elements deep around it."""
    return stage.process, tuple(stage.path[:depth]), tuple(stage.domains[:depth])


def _stage(stage: Stage, loops: Mapping[tuple[object, ...], Stage]) -> StageRecord:
    loop = loops.get(_identity(stage))
    each = {quantity.name: list(quantity.each(stage)) for quantity in JUDGED.values() if quantity.each}
    whole = {quantity.name: _whole(stage, quantity) for quantity in JUDGED.values()}
    whole[OUTSIDE_LOOP] = None if loop is None else _outside(stage, loop)
    return StageRecord(
        path=tuple(stage.path),
        domains=tuple(stage.domains),
        loop=_is_loop(stage),
        holds_loop=loop is not None and loop.wall_ns.total > _MOST_OF * stage.wall_ns.total,
        active=stage.active_ns or 0,
        finished=stage.instances - stage.unfinished,
        unfinished=stage.unfinished,
        launches=(stage.kernel_launches or 0) / stage.instances,
        calls=list(stage.series.calls_ns) if stage.series else [],
        whole={name: value for name, value in whole.items() if value is not None},
        each={name: values for name, values in each.items() if values},
    )


def _whole(stage: Stage, quantity: Judged) -> float | None:
    """The number of the whole stage, unless its instances tell it apart: then none of them is steady."""
    if quantity.each is not None and stage.series is not None:
        return None
    value = quantity.of(stage)
    return None if value is None else max(float(value), 0.0)


def _outside(stage: Stage, loop: Stage) -> float | None:
    """How long a stage that runs once takes apart from its loop: before the first start and after the last end."""
    series = loop.series
    if stage.instances > 1 or series is None:
        return None
    ends = [start + wall for start, wall in zip(series.start_ns, series.wall_ns, strict=True)]
    return float(max(stage.wall_ns.total - (max(ends) - series.start_ns[0]), 0))


def circumstances(analysis: Analysis) -> Circumstances:
    """What a report says about how and where it was made."""
    report, settings = analysis.report, analysis.settings
    capture = report.capture
    domains = "" if settings.domain is None else f", domains {', '.join(settings.domain)}"
    return Circumstances(
        gpus=tuple(sorted(gpu.name for gpu in report.gpus)),
        cpu=report.cpu,
        driver=report.driver,
        nsys=report.nsys_version,
        trace=_text(capture.get("trace")),
        sampling=_flag(capture.get("sampling")),
        context_switches=_flag(capture.get("context_switches")),
        graph_mode=_text(capture.get("cuda_graph")),
        settings=f"attribution {settings.attribution}, folding {settings.folding}{domains}",
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _broken(analysis: Analysis) -> str | None:
    """Why the report cannot be judged, None if it can."""
    for notice in analysis.warnings:
        if notice.code in _BROKEN:
            return f"{_BROKEN[notice.code]} ({notice.code})"
    launches = sum(program.launches for program in analysis.programs)
    lost = _lost(analysis)
    if lost > LOST_SHARE * (launches + lost):
        return f"{lost:,} launches have no GPU work: it is cut short, or kernels were lost"
    return None


def _lost(analysis: Analysis) -> int:
    return sum(notice.count or 0 for notice in analysis.warnings if notice.code in _LOST)
