"""Kernels, labels and operations of stages: by hand, against the oracle, and on real reports."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nsys_analyze import UsageError, open_report
from nsys_analyze.metrics import grouping, kernels, labels
from nsys_analyze.metrics.kernel_groups import NO_RANGE
from tests import strategies
from tests.bruteforce_kernels import stage_ops

LINEAR = 't0 = torch.nn.functional.linear(x, w, b)  # t0: "cuda:0 f32[4, 4096]"'
OTHER_LINEAR = 't3 = torch.nn.functional.linear(t2, w, b)  # t3: "cuda:0 f32[4, 4096]"'
FUSION = '[t1, t2] = nvFusion0(t0, "a # b")  # t1 = prims.sin(t0)  # t2 = prims.cos(t0)'


def rows(report, by, stage, **options):
    """The rows of the one stage of that name."""
    analysis = report.analysis()
    (found,) = [each for each in analysis.stages if each.name == stage]
    (told,) = report.kernel_analysis(replace(analysis, stages=[found]), by).stages
    return told.rows


@pytest.fixture
def thunder(builder, tmp_path):
    """Two steps of a Thunder trace: two linear layers and a fusion, a copy outside of them."""
    thread = builder.process(pid=100).thread()
    for step in range(2):
        at = step * 1000
        thread.push_pop(f"step {step}", at, at + 900, domain="stages")
        thread.call("cudaMemcpyAsync", at + 10, at + 20).memcpy(at + 30, at + 40)
        for number, (line, kernel, took) in enumerate(
            [
                (LINEAR, "void gemm<(int)4>(float)", 50),
                (FUSION, "nvf", 20),
                (OTHER_LINEAR, "void gemm<(int)8>(float)", 70),
            ]
        ):
            begin = at + 100 + 200 * number
            thread.push_pop(line, begin, begin + 150)
            call = thread.call("cudaLaunchKernel_v7000", begin + 10, begin + 20 + step)
            call.kernel(kernel, begin + 30, begin + 30 + took)
    return open_report(builder.write(tmp_path / "thunder.sqlite"))


def test_a_row_a_kernel(thunder):
    table = rows(thunder, "name", "step")
    assert [(row.title, row.kind, row.count, row.per_instance, row.total_ns) for row in table] == [
        ("gemm<8>", "compute", 2, 1.0, 140),
        ("gemm<4>", "compute", 2, 1.0, 100),
        ("nvf", "compute", 2, 1.0, 40),
        ("[CUDA memcpy Host-to-Device]", "copy", 2, 1.0, 20),
    ]
    first = table[0]
    assert first.name == "void gemm<(int)8>(float)"
    assert first.share == 140 / 300
    assert (first.median_ns, first.p95_ns) == (70, 70)
    assert first.launch_call_ns == 11  # the first launch of the function is apart
    assert first.queue_delay_ns == 9.5
    assert (table[3].launch_call_ns, table[3].queue_delay_ns) == (10, 10)


def test_a_row_a_line_of_the_trace(thunder):
    table = rows(thunder, "label", "step")
    assert [(row.title, row.name, row.domain, row.count, row.total_ns) for row in table] == [
        ("t3 = torch.nn.functional.linear(t2, w, b)", OTHER_LINEAR, "", 2, 140),
        ("t0 = torch.nn.functional.linear(x, w, b)", LINEAR, "", 2, 100),
        ('[t1, t2] = nvFusion0(t0, "a # b")', FUSION, "", 2, 40),
        (NO_RANGE, None, None, 2, 20),
    ]
    assert [(ops.name, ops.kind, ops.count, ops.total_ns) for ops in table[1].names] == [
        ("void gemm<(int)4>(float)", "compute", 2, 100)
    ]


def test_a_row_an_operation(thunder):
    table = rows(thunder, "operation", "step")
    assert [(row.title, row.count, row.total_ns) for row in table] == [
        ("torch.nn.functional.linear", 4, 240),
        ("nvFusion0", 2, 40),
        (NO_RANGE, 2, 20),
    ]
    assert [ops.name for ops in table[0].names] == ["void gemm<(int)8>(float)", "void gemm<(int)4>(float)"]


def test_operators_of_emit_nvtx_fold(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 1000)
    for number in range(3):
        at = 100 * number
        thread.push_pop(f"aten::linear, op_id = {number}", at, at + 80)
        thread.push_pop(f"aten::mm, op_id = {number + 50}, sizes = [[4, {number}]]", at + 10, at + 60)
        thread.call("cudaLaunchKernel", at + 20, at + 30).kernel("gemm", at + 40, at + 50)
    report = open_report(builder.write(tmp_path / "r.sqlite"))
    for by in ("label", "operation"):
        assert [(row.title, row.count) for row in rows(report, by, "step")] == [("aten::mm", 3)]
    assert [(row.title, row.count) for row in rows(report, "label", "aten::mm")] == [(NO_RANGE, 3)]


def test_labels_of_two_domains_are_two(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 1000)
    for at, domain in ((100, ""), (200, "other")):
        thread.push_pop("f(x)", at, at + 50, domain=domain)
        thread.call("cudaLaunchKernel", at + 10, at + 20).kernel("gemm", at + 30, at + 40)
    report = open_report(builder.write(tmp_path / "r.sqlite"))
    assert [(row.title, row.domain, row.count) for row in rows(report, "label", "step")] == [
        ("f(x)", "", 1),
        ("f(x)", "other", 1),
    ]
    assert [(row.title, row.count) for row in rows(report, "operation", "step")] == [("f", 2)]


def test_the_backward_thread_has_labels_too(builder, tmp_path):
    process = builder.process(pid=100)
    process.thread().push_pop("step", 0, 1000)
    autograd = process.thread(101)
    autograd.push_pop("AddmmBackward0, seq = 7, op_id = 9", 100, 200)
    autograd.call("cudaLaunchKernel", 110, 120).kernel("gemm", 130, 140)
    autograd.call("cudaLaunchKernel", 310, 320).kernel("gemm", 330, 340)
    report = open_report(builder.write(tmp_path / "r.sqlite"))
    assert [(row.title, row.count) for row in rows(report, "label", "step")] == [("AddmmBackward0", 1), (NO_RANGE, 1)]


def test_where_ranges_cross_a_label_lies_inside_all_the_same(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    thread.start_end("request", 0, 100)
    thread.push_pop("op", 10, 80)
    thread.start_end("other", 20, 150)  # the innermost where it launches, and not inside `request`
    thread.call("cudaLaunchKernel", 30, 40).kernel("gemm", 50, 60)
    report = open_report(builder.write(tmp_path / "r.sqlite"))
    assert [row.title for row in rows(report, "label", "request")] == ["op"]
    assert [row.title for row in rows(report, "label", "op")] == [NO_RANGE]
    assert [row.title for row in rows(report, "label", "other")] == [NO_RANGE]


def test_a_graph_launch_counts_once_for_each_kernel_in_it(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 1000)
    for at, took in ((0, 50), (300, 30)):
        call = thread.call("cudaGraphLaunch_v10000", at, at + took)
        for node in range(2):
            call.kernel("a", at + 100 + 20 * node, at + 110 + 20 * node, graph_node=1 << 32 | node)
        call.kernel("b", at + 150, at + 160, graph_node=1 << 32 | 2)
    first, second = rows(open_report(builder.write(tmp_path / "r.sqlite")), "name", "step")
    assert (first.title, first.count, first.launch_call_ns, first.queue_delay_ns) == ("a", 4, 30, 60)
    assert (second.title, second.count, second.launch_call_ns, second.queue_delay_ns) == ("b", 2, 30, None)


def test_a_copy_that_waits_has_no_launch_call(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 1000)
    thread.call("cudaMemcpy_v3020", 10, 500).memcpy(20, 400)
    thread.call("cudaMemsetAsync_v3020", 510, 520).memset(530, 540)
    thread.call("cudaGraphLaunch_v10000", 600, 620).graph_trace(630, 640)
    table = {row.title: row for row in rows(open_report(builder.write(tmp_path / "r.sqlite")), "name", "step")}
    copy = table["[CUDA memcpy Host-to-Device]"]
    assert (copy.kind, copy.launch_call_ns, copy.queue_delay_ns) == ("copy", None, None)
    assert table["[CUDA memset]"].kind == "memset"
    assert table["[CUDA graph 2]"].kind == "graph"


def test_a_label_of_several_kinds_is_mixed(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 1000)
    thread.push_pop("f(x)", 5, 900)
    thread.call("cudaMemcpyAsync", 10, 50).memcpy(60, 70)
    thread.call("cudaLaunchKernel", 80, 90).kernel("ncclDevKernel_Reduce_RING_LL(x)", 95, 99)
    (row,) = rows(open_report(builder.write(tmp_path / "r.sqlite")), "label", "step")
    assert row.kind == "mixed"
    assert [ops.kind for ops in row.names] == ["copy", "communication"]


def test_a_report_that_cannot_tell_has_no_rows(builder, tmp_path):
    builder.process(pid=100).thread().push_pop("step", 0, 1000)
    (stage,) = open_report(builder.write(tmp_path / "r.sqlite")).kernel_analysis().stages
    assert (stage.gpu_ops, stage.gpu_time_ns, stage.rows, stage.rows_in_all) == (None, None, [], 0)


# --- graphs


def test_graphs_traced_whole_have_a_row_each(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 10_000)
    for at in (0, 1000):
        for place, (execution, took) in enumerate(((11, 50), (12, 100))):
            begin = at + 400 * place
            call = thread.call("cudaGraphLaunch_v10000", begin, begin + 10)
            call.graph_trace(begin + 20, begin + 20 + took, graph=1, graph_exec=execution)
    thread.call("cudaGraphLaunch_v10000", 5000, 5010).graph_trace(5020, 5030, graph=7, graph_exec=-1)
    found = rows(open_report(builder.write(tmp_path / "r.sqlite")), "name", "step")
    assert [(row.title, row.count, row.median_ns, row.graph, row.graph_ops) for row in found] == [
        ("[CUDA graph 12]", 2, 100, 12, 0),
        ("[CUDA graph 11]", 2, 50, 11, 0),
        ("[CUDA graph 7]", 1, 10, 7, 0),
    ]


def test_rows_tell_what_ran_in_graphs(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 10_000)
    for at, graph in ((0, 5), (1000, 6)):
        call = thread.call("cudaGraphLaunch_v10000", at, at + 10)
        call.kernel("both", at + 20, at + 40, graph_node=graph << 32)
        call.kernel(f"only {graph}", at + 50, at + 60, graph_node=graph << 32 | 1)
    thread.call("cudaGraphLaunch_v10000", 2000, 2010).kernel("unknown", 2020, 2025)  # as where no column tells
    thread.call("cudaLaunchKernel", 3000, 3010).kernel("both", 3020, 3040)
    report = open_report(builder.write(tmp_path / "r.sqlite"))
    found = {row.title: (row.count, row.graph_ops, row.graph) for row in rows(report, "name", "step")}
    assert found == {"both": (3, 2, None), "only 5": (1, 1, 5), "only 6": (1, 1, 6), "unknown": (1, 1, None)}
    (stage,) = report.kernel_analysis().stages
    assert stage.graph_ops == 5


def test_graphs_of_a_real_report(sample_report):
    (stage,) = [
        each
        for each in open_report(sample_report("llama_cudagraphs")).kernel_analysis().stages
        if each.path == ["steady", "step"]
    ]
    assert {row.graph for row in stage.rows if row.graph_ops == row.count} == {5}


# --- what belongs to no range


def outside(report, by="name"):
    return [each for each in report.kernel_analysis(by=by, outside=True).stages if each.scope != "stage"]


@pytest.mark.parametrize("by", ["name", "label", "operation"])
def test_a_program_without_ranges_is_listed_as_a_whole(builder, tmp_path, by):
    process = builder.process(pid=100)
    thread = process.thread()
    for at in (0, 100):
        thread.call("cudaLaunchKernel", at, at + 10).kernel("gemm", at + 20, at + 50)
    process.orphan_kernel("early", 5, 9)
    (told,) = outside(open_report(builder.write(tmp_path / "r.sqlite")), by)
    assert (told.key, told.scope, told.path, told.instances) == ("python3", "program", [], 1)
    assert (told.gpu_ops, told.gpu_time_ns, told.rows_in_all) == (3, 64, 2 if by == "name" else 1)
    if by == "name":
        assert [(row.title, row.count, row.total_ns, row.launch_call_ns, row.queue_delay_ns) for row in told.rows] == [
            ("gemm", 2, 60, 10, 10),
            ("early", 1, 4, None, None),
        ]


def test_only_orphans(builder, tmp_path):
    builder.process(pid=100).orphan_kernel("early", 5, 9)
    (told,) = outside(open_report(builder.write(tmp_path / "r.sqlite")), "label")
    assert [(row.title, row.count) for row in told.rows] == [(NO_RANGE, 1)]


def test_what_belongs_to_no_range_is_a_group(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 100)
    thread.call("cudaLaunchKernel", 10, 20).kernel("gemm", 30, 40)
    thread.call("cudaLaunchKernel", 200, 210).kernel("ncclDevKernel_SendRecv(x)", 220, 250)
    other = builder.process(pid=200).thread()
    other.call("cudaLaunchKernel", 10, 20).kernel("alone", 30, 37)
    report = open_report(builder.write(tmp_path / "r.sqlite"))
    first, second = outside(report)
    assert (first.scope, first.process, first.gpu_ops, first.gpu_time_ns) == ("outside", 100, 1, 30)
    assert first.communication.busy_ns == 30
    assert (second.scope, second.process, second.gpu_time_ns) == ("program", 200, 7)
    assert len({each.key for each in report.kernel_analysis(outside=True).stages}) == 3
    assert all(each.scope == "stage" for each in report.kernel_analysis().stages)


@pytest.mark.parametrize("name", ["llama_cudagraphs", "llama_eager", "inductor_compile_phases"])
def test_groups_outside_ranges_are_all_the_rest(sample_report, name):
    report = open_report(sample_report(name))
    coverage = report.analysis().coverage
    assert sum(each.gpu_ops for each in outside(report)) == coverage.gpu_ops - coverage.attributed


# --- DataFrames


def test_a_data_frame(thunder):
    table = thunder.kernels("operation", stage="step")
    assert table["title"].tolist() == ["torch.nn.functional.linear", "nvFusion0", NO_RANGE]
    assert table["total_ns"].tolist() == [240, 40, 20]
    assert set(table["path"]) == {("step",)}
    assert thunder.kernels()["graph_ops"].sum() == 0
    assert set(thunder.kernels()["stage"]) == {stage.key for stage in thunder.analysis().stages}


def test_a_pattern_takes_every_stage_that_it_matches(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 1000)
    thread.push_pop("step", 10, 900)
    thread.push_pop("other", 20, 800)
    thread.call("cudaLaunchKernel", 30, 40).kernel("gemm", 50, 60)
    report = open_report(builder.write(tmp_path / "r.sqlite"))
    assert set(report.kernels(stage="step")["path"]) == {("step",), ("step", "step")}
    assert set(report.kernels(stage="*")["path"]) == {("step",), ("step", "step"), ("step", "step", "other")}


def test_what_does_not_exist_is_refused(thunder):
    with pytest.raises(UsageError, match=r"stage 'stop': matches no stage \(nearest: step"):
        thunder.kernels(stage="stop")
    with pytest.raises(UsageError, match="by 'kernel'"):
        thunder.kernels("kernel")


# --- against the oracle


def check_against_oracle(path, rule, with_rows=("name", "label")):
    report, expected = open_report(path, attribution=rule), stage_ops(path, rule)
    for by in with_rows:
        for stage in report.kernel_analysis(by=by).stages:
            if stage.gpu_ops is None:
                continue
            key = stage.process, tuple(zip(stage.domains, stage.path, strict=True))
            told = {
                row.name if by == "name" else row.name if row.name is None else (row.domain, row.name): (
                    row.count,
                    row.total_ns,
                    row.median_ns,
                    row.launch_call_ns,
                    row.queue_delay_ns,
                )
                for row in stage.rows
            }
            assert told == (expected[key].rows(by) if key in expected else {}), (by, key)
    for stage in report.analysis().stages:
        key = stage.process, tuple(zip(stage.domains, stage.path, strict=True))
        found = stage.communication
        told = found and (found.kernels, found.kernel_ns, found.busy_ns, found.overlapped_ns)
        assert told == (expected[key].communication() if key in expected else None), key


@pytest.mark.parametrize("rule", ["thread", "process"])
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(export=strategies.exports(), seed=st.none() | strategies.permutations())
def test_generated_exports_agree_with_the_oracle(tmp_path, export, seed, rule):
    check_against_oracle(export.write(tmp_path / "report.sqlite", shuffle=seed), rule)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(export=strategies.exports())
def test_neither_batches_nor_sparse_keys_change_the_rows(tmp_path, export):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "_BATCH", 2)
        patch.setattr(kernels, "_DENSE", 0)
        check_against_oracle(export.write(tmp_path / "report.sqlite"), "process")


# --- real reports


@pytest.mark.parametrize("name", ["inductor_compile_phases", "llama_cudagraphs", "llama_thunder_nvfuser"])
@pytest.mark.parametrize("by", ["name", "label", "operation"])
def test_rows_add_up_to_the_stages(sample_report, name, by):
    report = open_report(sample_report(name))
    stages = {stage.key: stage for stage in report.analysis().stages}
    for told in report.kernel_analysis(by=by).stages:
        assert sum(row.count for row in told.rows) == told.gpu_ops == stages[told.key].gpu_ops
        assert sum(row.total_ns for row in told.rows) == told.gpu_time_ns
        assert len({(row.name, row.domain) for row in told.rows}) == len({(r.title, r.name) for r in told.rows})
        assert [row.total_ns for row in told.rows] == sorted((row.total_ns for row in told.rows), reverse=True)
        for row in told.rows if by != "name" else ():
            assert sum(ops.count for ops in row.names) == row.count
            assert sum(ops.total_ns for ops in row.names) == row.total_ns


def test_operators_of_a_real_report(sample_report):
    table = {row.title: row for row in rows(open_report(sample_report("inductor_compile_phases")), "label", "compile")}
    assert table["aten::fill_"].count == 412
    assert [ops.count for ops in table["triton_poi_fused_addmm_gelu_1"].names] == [214]


# --- labels


@pytest.mark.parametrize(
    ("label", "title", "operation"),
    [
        (LINEAR, "t0 = torch.nn.functional.linear(x, w, b)", "torch.nn.functional.linear"),
        (FUSION, '[t1, t2] = nvFusion0(t0, "a # b")', "nvFusion0"),
        ("(a, *b) = foo.bar(c)", "(a, *b) = foo.bar(c)", "foo.bar"),
        ("t1, t2 = foo.bar(a)", "t1, t2 = foo.bar(a)", "foo.bar"),
        ("torch.add(x, y)", "torch.add(x, y)", "torch.add"),
        ("KernelExecutor::run(x)", "KernelExecutor::run(x)", "KernelExecutor::run"),
        ("aten::mm", "aten::mm", "aten::mm"),
        ("step (warm)", "step (warm)", "step (warm)"),
        ("C# code", "C# code", "C# code"),
        ("it's # said", "it's", "it's"),
        ("# all comment", "# all comment", "# all comment"),
        ("t5 = t4 + t3  # sum", "t5 = t4 + t3", "t5 = t4 + t3"),
        ("", "", ""),
    ],
)
def test_what_a_label_says(label, title, operation):
    assert (labels.title(label), labels.operation(label)) == (title, operation)
