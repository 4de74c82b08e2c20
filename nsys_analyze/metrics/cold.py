"""Cold starts: what the first instance of a name cost beyond the median of the others."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import Int64
from nsys_analyze.instances import Instances, Paths
from nsys_analyze.model.tables import Ranges
from nsys_analyze.percentiles import Float64, Groups


def cold_starts(instances: Instances, paths: Paths, ranges: Ranges, elapsed: Int64) -> tuple[Int64, Float64]:
    """First instance of each (process, domain, folded name), and its elapsed time less the median of the others, ns.

    NaN where there is no other instance, or the first never ended.
    """
    key = np.stack([paths.process, paths.domain, paths.folded])
    unique, number = np.unique(key, axis=1, return_inverse=True)
    name = number.reshape(-1)[instances.path]
    names = unique.shape[1]
    order = np.lexsort((ranges.row, -ranges.end, ranges.start, name))
    _, position = np.unique(name[order], return_index=True)
    first = order[position]
    others = ranges.finished.copy()
    others[first] = False
    median = Groups.of(name[others], elapsed[others], names).percentile(50)
    return first, np.where(ranges.finished[first], elapsed[first] - median, np.nan)
