"""What was found and mended, or left out, while the tables were built."""

from __future__ import annotations

from collections.abc import Iterator

from nsys_analyze.attribution.nesting import DEEPEST
from nsys_analyze.metrics.results import Notice
from nsys_analyze.metrics.wording import worded
from nsys_analyze.model.tables import OpKind, Trace

_FOUND = {
    "whole-graphs": "CUDA graph[|s] [was|were] traced whole: [its|their] kernels are not counted; "
    "--cuda-graph-trace=node shows them",
    "untimed-graphs": "CUDA graph launch[|es] [has|have] no times in the report and [is|are] left out",
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
        "clock-skew": counts.ops_before_call,
        "reversed-times": counts.reversed_intervals,
        "absurd-times": counts.absurd_times,
        "too-deep": counts.ranges_too_deep,
        "doubled-calls": counts.calls_doubled,
    }
    for code, count in found.items():
        if count:
            level = "note" if code == "doubled-calls" else "warning"
            yield Notice(code=code, message=worded(_FOUND[code], count), count=count, level=level)
