"""GPU operations that found no range, and what would help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nsys_analyze.attribution import How
from nsys_analyze.metrics.results import Coverage, CoverageTime, Notice
from nsys_analyze.metrics.wording import worded

if TYPE_CHECKING:
    from nsys_analyze.report import Report

_LEAST_SHARE = 0.9  # of GPU time that ranges should own

_UNATTRIBUTED = {
    How.NO_LAUNCH_ROW: "GPU operation[|s] [has|have] no launch in the report: most likely launched before the capture "
    "began",
    How.OUTSIDE_RANGES: "GPU operation[|s] [was|were] launched while no range was open",
    How.AMBIGUOUS_THREAD: "GPU operation[|s] [was|were] launched by a thread without ranges while several others had "
    "one open",
}
_REASONS = {
    How.NO_LAUNCH_ROW: "has no launch in the report",
    How.OUTSIDE_RANGES: "was launched while no range was open",
    How.AMBIGUOUS_THREAD: "was launched by a thread without ranges while several others had one open",
}
_REMEDIES = {
    How.NO_LAUNCH_ROW: "start the capture earlier",
    How.OUTSIDE_RANGES: "annotate what launches it",
    How.AMBIGUOUS_THREAD: "open ranges on the threads that launch",
}


def notices(report: Report, how: npt.NDArray[np.int8], coverage: Coverage) -> Iterator[Notice]:
    """Operations without a range by reason, and a warning where they are a good part of the GPU's time."""
    trace = report.trace
    for kind, message in _UNATTRIBUTED.items():
        count = int((how == kind).sum())
        told_already = not len(trace.calls) if kind is How.NO_LAUNCH_ROW else not len(trace.ranges)
        if count and not told_already:
            code = kind.name.lower().replace("_", "-")
            yield Notice(code=code, message=worded(message, count), count=count)
    share = coverage.attributed_share
    if share is not None and share < _LEAST_SHARE and len(trace.ranges) and len(trace.calls):
        yield _low(report, how, coverage.gpu_time_ns, share)


def _low(report: Report, how: npt.NDArray[np.int8], time: CoverageTime | None, share: float) -> Notice:
    times = {kind: int(getattr(time, kind.name.lower())) for kind in _REASONS}
    most = max(times, key=lambda kind: times[kind])
    whole = sum(times.values()) / (1 - share)
    return Notice(
        code="low-coverage",
        message=f"the ranges own {100 * share:.0f}% of the GPU's time; {100 * times[most] / whole:.0f}% "
        f"{_REASONS[most]}: {_remedy(report, most)}",
        count=int(np.isin(how, list(_REASONS)).sum()),
    )


def _remedy(report: Report, reason: How) -> str:
    if reason is How.OUTSIDE_RANGES:
        if report.settings.domain is not None:
            return "it may belong to a domain that --domain leaves out"
        if report.settings.attribution == "thread":
            return "--attribution process gives it to the ranges of the main thread"
    return _REMEDIES[reason]
