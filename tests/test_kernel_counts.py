from __future__ import annotations

from collections import Counter

import pytest

from nsys_analyze import open_report
from nsys_analyze.metrics.kernel_counts import kernel_counts


def counted_by_hand(report):
    """(kernel, count, time) of every stage: each kernel counts for its innermost range and for all above it."""
    ranges, ops = report.ranges(), report.gpu_ops()
    count, time = Counter(), Counter()
    parents, stages = ranges["parent"].tolist(), ranges["stage"].tolist()
    for kind, name, start, end, row in ops[["kind", "name", "start_ns", "end_ns", "range"]].itertuples(index=False):
        above = set()
        while kind == "kernel" and row >= 0:
            above.add(stages[row])
            row = parents[row]  # noqa: PLW2901
        for stage in above:
            count[stage, name] += 1
            time[stage, name] += end - start
    return count, time


@pytest.mark.parametrize("name", ["llama_cudagraphs", "llama_thunder_nvfuser", "vit_train_eager"])
def test_kernels_are_those_of_every_range_around_them(sample_report, name):
    report = open_report(sample_report(name))
    stages = report.analysis().stages
    counts = kernel_counts(report, [stage.key for stage in stages])
    count, time = counted_by_hand(report)
    found = {}
    for stage in stages:
        for kernel in counts[stage.key]:
            found[stage.key, kernel.name] = (kernel.count, kernel.total_ns)
    assert sorted(found.values()) == sorted((count[key], time[key]) for key in count)
    assert {stage.key: sum(k.count for k in counts[stage.key]) for stage in stages} == {
        stage.key: stage.kernels for stage in stages
    }
    assert {stage.key: sum(k.total_ns for k in counts[stage.key]) for stage in stages} == {
        stage.key: stage.kernel_ns for stage in stages
    }


def test_the_kernels_of_a_graph_traced_whole_are_not_known(builder, tmp_path):
    thread = builder.process(100).thread()
    thread.push_pop("graph", 0, 100)
    thread.call("cudaGraphLaunch_v10000", 10, 20).graph_trace(30, 40)
    thread.push_pop("plain", 200, 300)
    call = thread.call("cudaLaunchKernel_v7000", 210, 220)
    call.kernel("b", 230, 240)
    thread.call("cudaLaunchKernel_v7000", 221, 222).kernel("a", 240, 290)
    report = open_report(builder.write(tmp_path / "report.sqlite"))
    keys = [stage.key for stage in report.analysis().stages]
    counts = kernel_counts(report, keys)
    assert counts[keys[0]] is None
    assert [(kernel.name, kernel.count, kernel.total_ns) for kernel in counts[keys[1]]] == [("a", 1, 50), ("b", 1, 10)]
