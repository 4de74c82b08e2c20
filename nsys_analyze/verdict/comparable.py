"""Whether two sides may be compared at all: which reports can be judged, and what differs around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from nsys_analyze.metrics.wording import path_title
from nsys_analyze.verdict.records import Circumstances, StageId
from nsys_analyze.verdict.results import Problem
from nsys_analyze.verdict.samples import ReportSample


@dataclass(frozen=True, slots=True)
class Obstacles:
    """Why quantities of two sides cannot be compared, in words; None where they can."""

    timings: str | None
    counts: str | None


def without_cut(reports: Sequence[ReportSample], others: Sequence[ReportSample]) -> list[ReportSample]:
    """Returns the reports; those that were cut short are marked as such.

    Ranges that never ended tell, unless the same stage of the ``others`` never ends either: then that is how it is
    captured.
    """
    usual = {key for report in others for key, stage in report.stages.items() if stage.unfinished}
    return [_marked(report, usual) for report in reports]


def _marked(report: ReportSample, usual: Set[StageId]) -> ReportSample:
    cut = [key for key, stage in report.stages.items() if stage.unfinished and key not in usual]
    if report.broken is not None or not cut:
        return report
    stage = path_title(cut[0][0])
    return replace(report, broken=f"it is cut short: {stage} had not ended when the capture did (unfinished-ranges)")


def broken(reports: Sequence[ReportSample]) -> list[Problem]:
    """Returns the reports that cannot be judged."""
    return [
        Problem(code="invalid-report", message=report.broken, report=report.label)
        for report in reports
        if report.broken is not None
    ]


@dataclass(frozen=True, slots=True)
class Difference:
    """Something around two sides that is another on each."""

    what: str
    before: Sequence[str]
    now: Sequence[str]

    def __str__(self) -> str:
        """As a clause of a reason."""
        return f"{self.what} differs: {' and '.join(self.before)} before, {' and '.join(self.now)} now"


def obstacles(base: Sequence[ReportSample], new: Sequence[ReportSample]) -> Obstacles:
    """Returns what keeps the sides from being compared, for times and for counts."""
    counts, timings = differences(*([report.circumstances for report in side] for side in (base, new)))
    of_counts = str(counts[0]) if counts else None
    return Obstacles(of_counts or (str(timings[0]) if timings else None), of_counts)


def differences(
    base: Sequence[Circumstances], new: Sequence[Circumstances]
) -> tuple[list[Difference], list[Difference]]:
    """Returns what keeps all numbers of the sides from being compared, and what does so with times only."""
    return list(_differing(_ALL, base, new)), list(_differing(_TIMINGS, base, new))


def cautions(base: Sequence[ReportSample], new: Sequence[ReportSample]) -> list[Problem]:
    """Returns what differs that may matter."""
    around = [[report.circumstances for report in side] for side in (base, new)]
    different = [Problem(code="differs", message=str(why)) for why in _differing(_CAUTIONS, *around)]
    lost = [
        Problem(
            code="launches-without-ops",
            message=f"{report.lost:,} launches have no GPU work: the capture ended first",
            report=report.label,
        )
        for report in new
        if report.lost
    ]
    return [*different, *lost]


Get = Callable[[Circumstances], object]
_ALL: tuple[tuple[str, Get], ...] = (
    ("CUDA graph tracing", lambda of: of.graph_mode),
    ("the way stages are made", lambda of: of.settings),
)
_TIMINGS: tuple[tuple[str, Get], ...] = (
    ("the GPU", lambda of: ", ".join(of.gpus) or None),
    ("the CPU", lambda of: of.cpu),
    ("CPU sampling", lambda of: _switched(of.sampling)),
)
_CAUTIONS: tuple[tuple[str, Get], ...] = (
    ("the driver", lambda of: of.driver),
    ("Nsight Systems", lambda of: of.nsys),
    ("what is traced", lambda of: of.trace and ",".join(sorted(of.trace.split(",")))),
    ("tracing of context switches", lambda of: _switched(of.context_switches)),
)


def _switched(flag: bool | None) -> str | None:
    return None if flag is None else "on" if flag else "off"


def _differing(
    properties: Sequence[tuple[str, Get]], base: Sequence[Circumstances], new: Sequence[Circumstances]
) -> Iterator[Difference]:
    for name, get in properties:
        before, after = (
            sorted({str(value) for one in side if (value := get(one)) is not None}) for side in (base, new)
        )
        if before and after and before != after:
            yield Difference(name, before, after)
