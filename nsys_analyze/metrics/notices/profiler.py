"""What the profiler did to the capture, and what it said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.attribution.nesting import innermost
from nsys_analyze.durations import duration_text
from nsys_analyze.ingest.metadata import Metadata
from nsys_analyze.metrics.notices.rows import Rows
from nsys_analyze.metrics.programs import is_profiler_init
from nsys_analyze.metrics.results import Notice
from nsys_analyze.metrics.wording import path_title

if TYPE_CHECKING:
    from nsys_analyze.report import Report

_NSYS_ERROR = 3
_LONGEST = 200  # characters of a text of nsys


def notices(report: Report, rows: Rows) -> Iterator[Notice]:
    """The profiler's own start-up, where it fell into a stage."""
    profiler, ranges = report.trace.profiler, report.trace.ranges
    for row in np.flatnonzero(is_profiler_init(report.trace)).tolist():
        start, end = int(profiler.start[row]), int(profiler.end[row])
        inside = _range_around(report, int(profiler.thread[row]), start, end)
        if inside < 0:
            continue
        name = path_title([ranges.folded_names[ranges.folded[inside]]])
        shared = min(end, int(ranges.end[inside])) - max(start, int(ranges.start[inside]))
        part = "" if shared == end - start else f", {duration_text(shared)} of it"
        yield Notice(
            code="profiler-init",
            message=f"the profiler's own CUDA initialisation took {duration_text(end - start)}{part} inside `{name}`",
            stage=rows.key_of_range[inside],
            level="note",
        )


def _range_around(report: Report, thread: int, start: int, end: int) -> int:
    """The innermost range of the thread that is open at the start, else the outermost one that shares most; or -1."""
    if thread < 0:
        return -1
    ranges, nesting = report.trace.ranges, report.nesting
    inside = int(innermost(ranges, nesting, thread, np.array([start]))[0])
    if inside >= 0:
        return inside
    rows = np.arange(*nesting.rows(thread).indices(len(ranges)))
    rows = rows[nesting.parent[rows] < 0]
    shared = np.minimum(ranges.end[rows], end) - np.maximum(ranges.start[rows], start)
    return int(rows[shared.argmax()]) if len(rows) and shared.max() > 0 else -1


def diagnostics(metadata: Metadata) -> Iterator[Notice]:
    """What nsys itself warned of, each text once; its warnings are notes here, since most are harmless."""
    for (severity, text), count in Counter(metadata.diagnostics).items():
        said = " ".join(text.split())
        yield Notice(
            code="nsys-error" if severity == _NSYS_ERROR else "nsys-warning",
            message=f"the profiler said: {said if len(said) <= _LONGEST else said[:_LONGEST] + '...'}",
            count=count,
            level="warning" if severity == _NSYS_ERROR else "note",
        )
