"""The public API: opening a report, its options, its DataFrames and how they join."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import nsys_analyze
from nsys_analyze import Report, ReportError, UsageError, open_report
from tests.exports import ExportBuilder

if TYPE_CHECKING:
    from pathlib import Path

RANGE_COLUMNS = {
    "process": "int64",
    "thread": "int64",
    "domain": "category",
    "name": "category",
    "folded": "category",
    "stage": "int32",
    "parent": "int32",
    "start_ns": "int64",
    "end_ns": "int64",
    "completion_ns": "int64",
    "finished": "bool",
    "push_pop": "bool",
    **dict.fromkeys(("gpu_ops", "kernels", "launches", "kernel_launches", "via_process"), "int64"),
    **dict.fromkeys(("kernel_ns", "busy_ns", "active_ns"), "int64"),
    **dict.fromkeys(("self_gpu_ops", "self_kernels", "self_kernel_ns"), "int64"),
    **dict.fromkeys(("startup_gap_ns", "prelude_ns", "launch_ns", "queue_ns"), "Int64"),
    **dict.fromkeys(("exposed_ns", "hidden_ns", "profiler_ns"), "Int64"),
}
LAUNCH_COLUMNS = {
    "process": "int64",
    "thread": "int64",
    "name": "category",
    "start_ns": "int64",
    "end_ns": "int64",
    "gpu_ops": "int32",
    "kernels": "int32",
    "kernel_ns": "int64",
    "gpu_start_ns": "int64",
    "gpu_end_ns": "int64",
    "queue_delay_ns": "int64",
    "blocking": "bool",
    "first_of_function": "bool",
    "range": "int32",
    "how": "category",
}
OPERATION_COLUMNS = {
    "kind": "category",
    "name": "category",
    "process": "int64",
    "device": "int32",
    "context": "int32",
    "stream": "int32",
    "start_ns": "int64",
    "end_ns": "int64",
    "launch": "int32",
    "range": "int32",
    "how": "category",
}
HOW = ["thread", "process", "no_launch_row", "outside_ranges", "ambiguous_thread"]


def two_steps(schema: str = "3.20.3") -> ExportBuilder:
    """A loop of two steps with a kernel and a copy each, one launch by a helper thread, and one orphan kernel."""
    builder = ExportBuilder(schema)
    process = builder.process(pid=100)
    main, helper = process.thread(), process.thread(tid=101)
    main.push_pop("steady", 0, 1000, domain="stages")
    for number, start in enumerate((100, 500)):
        main.push_pop(f"step {number}", start, start + 300, domain="stages")
        main.push_pop("aten::mm, op_id = 3", start + 10, start + 50)
        main.call("cudaLaunchKernel_v7000", start + 20, start + 30).kernel("gemm", start + 40, start + 90)
        main.call("cudaMemcpy_v3020", start + 60, start + 200).memcpy(start + 100, start + 150, device=1)
    main.push_pop("idle", 900, 950)
    helper.call("cudaLaunchKernel_v7000", 250, 260).kernel("relu", 270, 300)
    process.orphan_kernel("before", 5, 20)
    return builder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return two_steps().write(tmp_path / "report.sqlite")


@pytest.fixture
def report(path: Path) -> Report:
    return open_report(path)


# --- opening


def test_importing_the_package_loads_nothing_heavy():
    heavy = "{'numpy', 'pandas', 'pyarrow', 'click', 'rich', 'sqlite3'}"
    code = f"import sys, nsys_analyze; print({heavy} & set(sys.modules), nsys_analyze.__version__)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["set()", nsys_analyze.__version__]


def test_opening_and_analysing_needs_no_pandas(path):
    code = "import sys, nsys_analyze as n; n.open_report(sys.argv[1]).analysis(); print('pandas' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "False"


def test_the_package_offers_what_it_lists():
    for name in nsys_analyze.__all__:
        assert getattr(nsys_analyze, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = nsys_analyze.nothing


def test_a_path_may_be_a_string(path):
    assert open_report(str(path)).analysis() == open_report(path).analysis()


def test_a_missing_file_is_a_report_error(tmp_path):
    with pytest.raises(ReportError, match=r"missing\.sqlite"):
        open_report(tmp_path / "missing.sqlite")


def test_an_unknown_attribution_is_a_usage_error(path):
    with pytest.raises(UsageError, match="attribution 'nobody': it is 'process' or 'thread'"):
        open_report(path, attribution="nobody")


def test_settings_tell_how_the_numbers_are_made(path):
    settings = open_report(path, attribution="thread", fold_patterns=["x+"], domains=["stages"]).analysis().settings
    assert (settings.attribution, settings.folding, settings.domain) == ("thread", "default, x+", ["stages"])
    assert open_report(path, fold=False).settings.folding == "none"


def test_the_digest_is_taken_on_request(report):
    assert report.analysis().report.sha256 is None
    assert len(report.analysis(digest=True).report.sha256) == 64


# --- domains and folding


@pytest.mark.parametrize(
    ("domains", "expected"),
    [
        (None, {"steady@stages", "step@stages", "aten::mm@", "idle@"}),
        (["stages"], {"steady@stages", "step@stages"}),
        (["default"], {"aten::mm@", "idle@"}),
        (["default", "stages"], {"steady@stages", "step@stages", "aten::mm@", "idle@"}),
        ([], set()),
    ],
)
def test_domains_to_keep(path, domains, expected):
    stages = open_report(path, domains=domains).analysis().stages
    assert {f"{stage.name}@{stage.domain}" for stage in stages} == expected


def test_domains_are_filtered_before_nesting(path):
    stages = open_report(path, domains=["default"]).analysis().stages
    assert [(stage.path, stage.gpu_ops) for stage in stages] == [(["aten::mm"], 2), (["idle"], 0)]


def test_an_unknown_domain_is_a_usage_error(path):
    with pytest.raises(UsageError, match="--domain other: no such NVTX domain in the report; it has: default, stages"):
        open_report(path, domains=["stages", "other"])


def test_the_default_domain_may_be_unknown_too(tmp_path):
    builder = ExportBuilder()
    builder.process(100).thread().push_pop("step", 0, 10, domain="stages")
    with pytest.raises(UsageError, match="--domain default: no such NVTX domain in the report; it has: stages"):
        open_report(builder.write(tmp_path / "report.sqlite"), domains=["default"])


def test_a_domain_may_be_called_default(tmp_path):
    builder = ExportBuilder()
    builder.process(100).thread().push_pop("step", 0, 10, domain="default")
    assert len(open_report(builder.write(tmp_path / "report.sqlite"), domains=["default"]).ranges()) == 1


def test_names_need_not_be_folded(path):
    folded = set(open_report(path, fold=False).ranges()["folded"])
    assert folded == {"steady", "step 0", "step 1", "aten::mm, op_id = 3", "idle"}


def test_patterns_are_used_or_not_claimed(path):
    report = open_report(path, fold=False, fold_patterns=[r" \d+$"])
    assert (r" \d+$" in report.settings.folding) == ("step" in set(report.ranges()["folded"]))


def test_patterns_fold_further(path):
    stages = open_report(path, fold_patterns=["^st", "eady|ep"]).analysis().stages
    assert "steady" in {stage.name for stage in stages}  # nothing would be left of it
    assert {"aten::mm", "idle"} <= {stage.name for stage in stages}
    with pytest.raises(UsageError, match="not a regular expression"):
        open_report(path, fold_patterns=["("])


# --- DataFrames


@pytest.mark.parametrize(
    ("table", "columns"), [("ranges", RANGE_COLUMNS), ("launches", LAUNCH_COLUMNS), ("gpu_ops", OPERATION_COLUMNS)]
)
@pytest.mark.parametrize("export", [two_steps(), ExportBuilder(lazy=False)], ids=["two steps", "empty"])
def test_columns_and_dtypes(tmp_path, export, table, columns):
    frame = getattr(open_report(export.write(tmp_path / "report.sqlite")), table)()
    assert {name: str(frame.dtypes[name]) for name in columns} == columns
    assert frame.index.equals(pd.RangeIndex(len(frame)))


def test_operations_join_launches_and_ranges(report):
    ops, launches, ranges = report.gpu_ops(), report.launches(), report.ranges()
    assert list(ops["kind"].cat.categories) == ["kernel", "memcpy", "memset", "graph"]
    assert list(ops["how"].cat.categories) == HOW
    joined = ops.merge(launches, left_on="launch", right_index=True, suffixes=("", "_of_launch"))
    assert len(joined) == len(ops) - 1  # the orphan has none
    assert (joined["range"] == joined["range_of_launch"]).all()
    assert (joined["how"].astype(str) == joined["how_of_launch"].astype(str)).all()
    owner = ops.merge(ranges, left_on="range", right_index=True, suffixes=("", "_of_range"))
    assert owner.groupby(["name", "name_of_range"], observed=True).size().to_dict() == {
        ("gemm", "aten::mm, op_id = 3"): 2,
        ("[CUDA memcpy Host-to-Device]", "step 0"): 1,
        ("[CUDA memcpy Host-to-Device]", "step 1"): 1,
        ("relu", "step 0"): 1,
    }
    assert ops.loc[ops["name"] == "relu", "how"].tolist() == ["process"]
    orphan = ops.loc[ops["name"] == "before", ["launch", "range", "how"]]
    assert orphan.to_numpy().tolist() == [[-1, -1, "no_launch_row"]]


def test_launches(report):
    launches = report.launches()
    assert launches["name"].tolist() == ["cudaLaunchKernel", "cudaMemcpy"] * 2 + ["cudaLaunchKernel"]
    assert launches["thread"].tolist() == [100] * 4 + [101]
    assert launches["queue_delay_ns"].tolist() == [10, 0, 10, 0, 10]
    assert launches["blocking"].tolist() == [False, True] * 2 + [False]
    assert launches["first_of_function"].tolist() == [True, False, False, False, True]


def test_parents_and_self_counts_of_ranges(report):
    ranges, ops = report.ranges(), report.gpu_ops()
    names = ranges["name"].astype(str)
    assert [names.get(row) for row in ranges["parent"]] == [None, "steady", "step 0", "steady", "step 1", "steady"]
    counted = np.bincount(ops.loc[ops["range"] >= 0, "range"], minlength=len(ranges))
    assert ranges["self_gpu_ops"].tolist() == counted.tolist()
    idle = ranges[names == "idle"]
    assert idle["startup_gap_ns"].isna().all()
    assert idle["gpu_ops"].tolist() == [0]


def test_ranges_add_up_to_stages(report):
    stages, ranges = report.stages(), report.ranges()
    summed = ["gpu_ops", "kernel_ns", "busy_ns", "active_ns", "self_kernels", "via_process"]
    sums = ranges.groupby("stage")[summed].sum()
    assert sorted(sums.itertuples(index=False)) == sorted(stages[summed].itertuples(index=False))
    gaps = ranges.groupby("stage")[["startup_gap_ns", "prelude_ns", "exposed_ns"]].sum().to_numpy().tolist()
    told = stages[["startup_gap_total_ns", "startup_gap_prelude_ns", "startup_gap_exposed_ns"]].fillna(0)
    assert sorted(gaps) == sorted(told.to_numpy().tolist())


def test_stages(report):
    stages = report.stages()
    assert stages["path"].tolist()[:2] == [("steady",), ("steady", "step")]
    assert stages["domains"].tolist()[1] == ("stages", "stages")
    assert stages["wall_median_ns"].tolist() == [1000, 300, 40, 50]
    assert stages["startup_gap_median_ns"].isna().tolist() == [False, False, False, True]
    by_name = report.stages(by="name")
    assert by_name["instances"].sum() == stages["instances"].sum() == len(report.ranges())


def test_counts_are_no_times(report):
    counts = [column for column in report.stages().columns if "count" in column]
    assert counts == ["launch_call_count", "launch_call_first_count"]


@pytest.mark.parametrize("nvtx", [True, False])
def test_stages_have_the_same_columns_whatever_the_report_holds(tmp_path, report, nvtx):
    builder = ExportBuilder()
    thread = builder.process(100).thread()
    if nvtx:
        thread.push_pop("step", 0, 10)
    quiet = open_report(builder.write(tmp_path / "quiet.sqlite"))
    assert set(quiet.stages().columns) == set(report.stages().columns)


# --- reports that lack things


@pytest.mark.parametrize("lacking", ["NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "all"])
@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize("schema", ["3.20.3", "unstamped"])
def test_reports_may_lack_tables(tmp_path, lacking, lazy, schema):
    builder = two_steps(schema)
    builder.lazy = lazy
    for table in list(builder.rows):
        if lacking in (table, "all") and table != "PROCESSES":
            del builder.rows[table]
    report = open_report(builder.write(tmp_path / "report.sqlite"))
    sizes = [len(frame) for frame in (report.ranges(), report.launches(), report.gpu_ops())]
    expected = {"NVTX_EVENTS": [0, 5, 6], "CUPTI_ACTIVITY_KIND_RUNTIME": [6, 0, 6]}
    assert sizes == expected.get(lacking, [0, 0, 0] if lacking == "all" else [6, 2, 2])
    coverage = report.analysis("name", instances=True).coverage
    assert coverage.gpu_ops == sizes[2]
    assert len(report.stages()) == len(report.analysis().stages)


# --- keys


def test_no_two_stages_share_a_key(tmp_path):
    builder = ExportBuilder()
    thread = builder.process(100).thread()
    thread.push_pop("a", 0, 100)
    thread.push_pop("b", 10, 90)
    thread.push_pop("a / b", 200, 300)
    thread.push_pop("a@d", 400, 500)
    thread.push_pop("a", 600, 700, domain="d")
    thread.push_pop("a\\", 800, 900)
    keys = [stage.key for stage in open_report(builder.write(tmp_path / "report.sqlite")).analysis().stages]
    assert keys == [
        "python3: a",
        "python3: a / b",
        r"python3: a \/ b",
        r"python3: a\@d",
        "python3: a@d",
        r"python3: a" + "\\\\",
    ]


def test_processes_that_run_one_program_are_numbered(tmp_path):
    builder = ExportBuilder()
    for pid in (300, 100, 200):
        builder.process(pid, name="worker" if pid == 200 else "python3").thread().push_pop("step", 0, 10)
    keys = [stage.key for stage in open_report(builder.write(tmp_path / "report.sqlite")).analysis().stages]
    assert sorted(keys) == ["python3#0: step", "python3#1: step", "worker: step"]


def test_one_domain_or_pattern_may_be_given_as_a_string(path):
    assert set(open_report(path, domains="stages").ranges()["domain"]) == {"stages"}
    assert open_report(path, fold_patterns="^st").settings.folding == "default, ^st"


# --- cells of the wrong type in small tables


@pytest.mark.parametrize("value", [7, 1.5, b"\xff\xfe", 2**63 - 1, -(2**63), None])
def test_small_tables_may_hold_anything(tmp_path, value):
    builder = two_steps()
    for table, column in (
        ("PROCESSES", "name"),
        ("TARGET_INFO_GPU", "name"),
        ("META_DATA_EXPORT", "value"),
        ("META_DATA_CAPTURE", "value"),
        ("TARGET_INFO_SYSTEM_ENV", "value"),
    ):
        for row in builder.rows.get(table, []):
            row[column] = value
    builder.row("TARGET_INFO_CUDA_DEVICE", gpuId=value, cudaId=0, pid=100)
    builder.diagnostic(3, value)
    analysis = open_report(builder.write(tmp_path / "report.sqlite")).analysis()
    assert {stage.name for stage in analysis.stages} >= {"steady", "step"}
    texts = [analysis.report.nsys_version, *(process.name for process in analysis.report.processes)]
    assert all(text is None or isinstance(text, str) for text in texts)


# --- unknown is not 0

GPU_FIELDS = ("gpu_ops", "kernels", "launches", "kernel_launches", "kernel_ns", "busy_ns", "active_ns", "self")
GPU_FIELDS += ("startup_gap_ns", "cpu_overhead_ns", "overhead_per_kernel_ns", "launch_call_ns", "kernels_per_instance")


@pytest.mark.parametrize(
    ("lacking", "code"),
    [
        ("CUPTI_ACTIVITY_KIND_RUNTIME", "no-calls"),
        ("CUPTI_ACTIVITY_KIND_KERNEL", "gpu-unknown"),
        ("CUPTI_ACTIVITY_KIND_KERNEL CUPTI_ACTIVITY_KIND_MEMCPY", "no-gpu-ops"),
        ("CUPTI_ACTIVITY_KIND_RUNTIME CUPTI_ACTIVITY_KIND_KERNEL CUPTI_ACTIVITY_KIND_MEMCPY", "no-cuda"),
    ],
)
def test_what_a_report_cannot_tell_is_not_0(tmp_path, lacking, code):
    builder = ExportBuilder()
    thread = builder.process(100).thread()
    thread.push_pop("step", 0, 1000)
    thread.call("cudaMemcpyAsync_v3020", 50, 60).memcpy(70, 90)
    thread.call("cudaLaunchKernel_v7000", 100, 110).kernel("gemm", 120, 150)
    known = open_report(builder.write(tmp_path / "whole.sqlite")).analysis(instances=True)
    assert all(getattr(known.stages[0], name) is not None for name in GPU_FIELDS if "overhead" not in name)
    for table in lacking.split():
        del builder.rows[table]
    analysis = open_report(builder.write(tmp_path / "report.sqlite")).analysis(instances=True)
    (step,), (instance,) = analysis.stages, analysis.instances
    assert {name: getattr(step, name) for name in GPU_FIELDS} == dict.fromkeys(GPU_FIELDS)
    assert (instance.gpu_ops, instance.kernels, instance.busy_ns) == (None, None, None)
    assert (step.wall_ns.total, step.instances) == (1000, 1)
    assert code in [notice.code for notice in analysis.warnings]


def test_series_say_of_every_instance_what_its_list_entry_says(sample_report):
    analysis = open_report(sample_report("llama_eager")).analysis(instances=True)
    for stage in analysis.stages:
        listed = [one for one in analysis.instances if one.stage == stage.key]
        assert stage.series.prelude_ns == [one.prelude_ns for one in listed]
        host = stage.host_ns
        assert sum(stage.series.calls_ns) == host.launch + host.graph + host.cuda_other
