"""What was found and mended, or left out, while the tables were built."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nsys_analyze.attribution.nesting import DEEPEST
from nsys_analyze.metrics.coverage import knows_durations
from nsys_analyze.metrics.results import Notice
from nsys_analyze.metrics.wording import worded
from nsys_analyze.model.tables import OpKind, Trace

_FOUND = {
    "whole-graphs": "launch[|es] of [a CUDA graph|CUDA graphs] [was|were] traced whole{of}: [its|their] kernels are "
    "not counted; --cuda-graph-trace=node shows them",
    "untimed-graphs": "CUDA graph launch[|es] [has|have] no times in the report and [is|are] left out",
    "endless-kernels": "kernel[|s] [has|have] no end in the report and [counts|count] as empty",
    "clock-skew": "GPU operation[|s] [starts|start] before the call that launched [it|them]; gaps and delays are taken "
    "as 0 there",
    "reversed-times": "range[|s] or operation[|s] [ends|end] before [it starts|they start] and [is|are] taken as empty",
    "absurd-times": "row[|s] [has|have] no time, or one that is months away from all others, and [is|are] left out",
    "too-deep": f"range[|s] [lies|lie] over {DEEPEST} levels deep (never popped?) and [counts|count] for the range "
    "around [it|them]",
    "doubled-calls": "row[|s] told of a CUDA call a second time (CUDA backtraces do that) and [was|were] dropped",
}


def notices(trace: Trace) -> Iterator[Notice]:
    """A notice for each thing that was found."""
    counts = trace.counts
    found = {
        "whole-graphs": int((trace.ops.kind == OpKind.GRAPH).sum()),
        "untimed-graphs": counts.untimed_graphs,
        "endless-kernels": counts.endless if knows_durations(trace) else 0,
        "clock-skew": counts.ops_before_call,
        "reversed-times": counts.reversed_intervals,
        "absurd-times": counts.absurd_times,
        "too-deep": counts.ranges_too_deep,
        "doubled-calls": counts.calls_doubled,
    }
    for code, count in found.items():
        if count:
            level = "note" if code == "doubled-calls" else "warning"
            message = worded(_FOUND[code], count, of=_of_graphs(trace, count))
            yield Notice(code=code, message=message, count=count, level=level)


def _of_graphs(trace: Trace, launches: int) -> str:
    """How many graphs were traced whole, where that says more than how many launches of them."""
    graphs = len(np.unique(trace.ops.function[trace.ops.kind == OpKind.GRAPH]))
    return worded(" ({count} graph[|s])", graphs) if launches > 1 else ""
