"""Where to look: in which part a startup gap grew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nsys_analyze.metrics.wording import path_title
from nsys_analyze.verdict.records import StageId
from nsys_analyze.verdict.results import FAILING, Check, State
from nsys_analyze.verdict.samples import ReportSample

_PARTS = {
    "startup_gap_prelude": "prelude (host code before the first launch): look at what runs before the first kernel",
    "startup_gap_launch": "first launch call: look for loading, allocation or a capture that now happens in it",
    "startup_gap_queue": "queue (launched, not yet started): look at the GPU's work before it, at copies and streams",
}
_MOST = 3  # lines


def hints(checks: Sequence[Check], base: Sequence[ReportSample], new: Sequence[ReportSample]) -> list[str]:
    """Returns a sentence for each stage whose startup gap grew, or may have: which part of it did."""
    grown = [
        check
        for check in checks
        if check.state in (*FAILING, State.SUSPECT)
        and check.against == "baseline"
        and check.metric.startswith("startup_gap")
    ]
    keys = dict.fromkeys(check.key for check in grown)
    sentences = [sentence for key in keys if (sentence := _hint(key, base, new)) is not None]
    return sentences[:_MOST]


def _hint(key: StageId, base: Sequence[ReportSample], new: Sequence[ReportSample]) -> str | None:
    grew = {}
    for part in _PARTS:
        sides = [
            [report.stages[key].values[part] for report in side if part in _values(report, key)] for side in (base, new)
        ]
        if all(sides):
            grew[part] = float(np.median(sides[1]) - np.median(sides[0]))
    most = max(grew, key=grew.__getitem__, default=None)
    if most is None or grew[most] <= 0:
        return None
    return f"The gap of {path_title(key[0])} grew most in its {_PARTS[most]}."


def _values(report: ReportSample, key: StageId) -> dict[str, float]:
    return dict(report.stages[key].values) if key in report.stages else {}
