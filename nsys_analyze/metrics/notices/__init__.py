"""Warnings and notes: what a reader must know before believing the numbers. Codes are stable; a module a subject."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nsys_analyze.metrics.notices import attributed, loops, lost, mended, missing, nested, profiler, starts, window
from nsys_analyze.metrics.notices.rows import Rows
from nsys_analyze.metrics.results import Coverage, Notice

if TYPE_CHECKING:
    from nsys_analyze.report import Report

__all__ = ["Rows", "notices"]


def notices(report: Report, how: npt.NDArray[np.int8], coverage: Coverage, rows: Rows) -> list[Notice]:
    """All warnings, then all notes.

    Args:
        report: The report.
        how: How each operation was attributed.
        coverage: The same, counted.
        rows: The rows of the output.
    """
    found = [
        *missing.notices(report.trace, report.metadata, report.settings.domain),
        *attributed.notices(report, how, coverage),
        *lost.notices(report),
        *window.notices(report, rows),
        *nested.notices(report, rows),
        *mended.notices(report.trace),
        *profiler.notices(report, rows),
        *starts.notices(rows.stages),
        *loops.notices(report, rows.stages),
        *profiler.diagnostics(report.metadata),
    ]
    return sorted(found, key=lambda notice: notice.level != "warning")
