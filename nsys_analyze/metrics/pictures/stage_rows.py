"""From a stage of an analysis back to its instances in the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.arrays import Int64
from nsys_analyze.metrics.grouping import Labels
from nsys_analyze.metrics.results import Stage

if TYPE_CHECKING:
    from nsys_analyze.report import Report


def stage_rows(report: Report, stage: Stage) -> Int64:
    """Returns the rows of the stage's instances, by start, as `Instance.index` counts them."""
    ranges, paths = report.trace.ranges, report.paths
    labels = Labels(report.trace, paths)
    path = next(row for row in range(len(paths)) if labels.key(row, True) == stage.key)
    rows = np.flatnonzero(report.instances.path == path)
    return rows[np.lexsort((ranges.row[rows], -ranges.end[rows], ranges.start[rows]))]
