"""Why a report has nothing to draw: in the words of its warnings, where one of them says so."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from nsys_analyze.metrics.results import Analysis, Stage
from nsys_analyze.views.remarks import told

_OF_RANGES = ("no-nvtx", "missing-column")
_OF_GPU = ("no-cuda", "no-calls", "no-gpu-ops", "gpu-unknown")
_LOST, _CUT = "launches-without-ops", "launches-at-the-end"


class Need(Enum):
    """What a stage must have to be drawn, and what it means where it has none of it."""

    TIME = "no stage took any time"
    GPU_WORK = "no stage that was chosen put work on a GPU"
    LAUNCHES = "no stage that was chosen launched a kernel"
    SERIES = "no stage with at most 10,000 instances was chosen"


def reason(analysis: Analysis, chosen: Sequence[Stage], need: Need) -> str:
    """Returns why none of the chosen stages of a report can be drawn, without a full stop."""
    if not chosen:
        return (_said(analysis, _OF_RANGES) if not analysis.stages else "") or "no such stage"
    if need not in (Need.GPU_WORK, Need.LAUNCHES):
        return str(need.value)
    return no_gpu_work(analysis, need.value)


def lost(analysis: Analysis) -> str:
    """Returns what the report says of launches whose GPU work it lost; "" where it lost none."""
    return _said(analysis, (_LOST,))


def no_gpu_work(analysis: Analysis, otherwise: str) -> str:
    """Returns why no GPU work is known of stages; ``otherwise`` where the report knows it and it is none."""
    coverage, said = analysis.coverage, _said(analysis, _OF_GPU)
    if said:
        return said
    if coverage.gpu_ops and not coverage.attributed:
        return f"none of the report's GPU operations ({coverage.gpu_ops:,}) belongs to a stage"
    return "; ".join(part for part in (otherwise, _said(analysis, (_LOST, _CUT))) if part)


def _said(analysis: Analysis, codes: Sequence[str]) -> str:
    found = {warning.code: warning for warning in reversed(analysis.warnings)}
    return next((told(found[code]) for code in codes if code in found), "")
