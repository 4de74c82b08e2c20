"""The verb ``kernels``: what it lists, how, and what it refuses."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
import typing
from importlib import resources

import jsonschema
import pytest
from referencing import Registry, Resource

from nsys_analyze import cli
from nsys_analyze.metrics import results
from nsys_analyze.views.text import width
from tests.exports import ExportBuilder
from tests.test_kernels import FUSION, LINEAR

SCHEMAS = {
    name: json.loads((resources.files("nsys_analyze") / name).read_text(encoding="utf-8"))
    for name in ("result.schema.json", "kernels.schema.json")
}
SCHEMA = SCHEMAS["kernels.schema.json"]
REGISTRY = Registry().with_resources((name, Resource.from_contents(each)) for name, each in SCHEMAS.items())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, registry=REGISTRY)
TYPES = {
    "result": results.KernelAnalysis,
    "stage": results.StageKernels,
    "row": results.KernelRow,
    "named_ops": results.NamedOps,
}

TABLE = """\
report.sqlite · nsys 2025.3 · python3

step                                 kind  n  total  share  median  launch call
gemm                              compute  2  80 ns  36.4%   40 ns        10 ns
ncclDevKernel_SendRecv      communication  2  80 ns  36.4%   40 ns        10 ns
[CUDA memcpy Peer-to-Peer]           copy  2  40 ns  18.2%   20 ns        10 ns
20 ns in 1 more kernel: --top 0 lists all
220 ns in all: 8 GPU operations in 2 instances.
communication 80 ns, 40 of it under compute: 2 send-recv 80 ns.

No room at 80 columns for per instance, p95, queue delay; a wider terminal or
  --format md shows all.

Stages: the loops with most GPU time; --stage PATTERN lists others.

Covered: 8 of 8 GPU operations, 100% of GPU time (all by the launching thread).
"""


@pytest.fixture
def report(tmp_path):
    """Two steps, each with a copy between GPUs, a GEMM beside communication, and a small kernel."""
    builder = ExportBuilder()
    thread = builder.process(pid=100).thread()
    for step in range(2):
        at = 1000 * step
        thread.push_pop(f"step {step}", at, at + 900)
        thread.push_pop(LINEAR, at + 50, at + 80)
        thread.call("cudaLaunchKernel", at + 60, at + 70).kernel("void blas::gemm<float>(int)", at + 100, at + 140)
        thread.push_pop(FUSION, at + 85, at + 95)
        thread.call("cudaLaunchKernel", at + 88, at + 92).kernel("nvf(int)", at + 300, at + 310)
        thread.call("cudaMemcpyAsync", at + 100, at + 110).memcpy(at + 200, at + 220, kind=10)
        thread.call("cudaLaunchKernel", at + 120, at + 130).kernel(
            "ncclDevKernel_SendRecv(x)", at + 120, at + 160, stream=8
        )
    return builder.write(tmp_path / "report.sqlite")


@pytest.fixture
def run(capsys, monkeypatch):
    def run(*arguments, columns=80, code=0):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert cli.main(["kernels", *map(str, arguments)]) == code
        captured = capsys.readouterr()
        return captured.err if code else captured.out

    return run


def test_a_table(run, report):
    assert run(report, "--top", 3) == TABLE


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_a_table_fits(run, sample_report, columns):
    for by in ("name", "label", "operation"):
        lines = run(sample_report("llama_thunder_nvfuser"), "--by", by, columns=columns).splitlines()
        assert max(map(width, lines)) <= columns


def test_labels_and_operations(run, report):
    assert "t0 = torch.nn.functional.linear(x, w, b)" in run(report, "--by", "label", columns=160)
    lines = run(report, "--by", "operation", columns=160).splitlines()
    assert [line.split("  ")[0] for line in lines[3:6]] == [
        "no range inside",
        "torch.nn.functional.linear",
        "nvFusion0",
    ]


def test_another_order(run, report):
    out = run(report, "--sort", "launch-call", "--stage", "step")
    assert [line.split()[0] for line in out.splitlines()[3:7]] == ["gemm", "ncclDevKernel_SendRecv", "[CUDA", "nvf"]
    out = run(report, "--sort", "queue-delay", "--stage", "step", "--top", 1)
    assert [line.split()[0] for line in out.splitlines()[3:5]] == ["nvf", "200"]
    assert "Stages: those asked for, each with all that is inside." in out


def test_markdown(run, report):
    lines = run(report, "--format", "md", "--top", 2).splitlines()
    assert lines[2] == "| step | kind | n | per instance | total | share | median | p95 | launch call | queue delay |"
    assert lines[5].startswith("| `ncclDevKernel_SendRecv` | communication | 2 | 1 | 80 ns | 36.4% |")


def test_kinds_are_told_where_they_differ(run, report):
    assert "kind" not in run(report, "--top", 1)


def test_without_a_loop_the_top_level_is_listed(run, tmp_path):
    builder = ExportBuilder()
    thread = builder.process(pid=100).thread()
    thread.push_pop("build", 0, 100)
    thread.push_pop("idle", 200, 300)
    thread.push_pop("inner", 0, 50)
    thread.call("cudaLaunchKernel", 10, 20).kernel("gemm", 30, 40)
    out = run(builder.write(tmp_path / "r.sqlite"))
    assert out.splitlines()[2].startswith("build ")
    assert "inner" not in out
    assert "Stages: the top level, as there is no loop" in out
    assert "`idle` put nothing on the GPU." in out


def test_what_a_report_cannot_tell(run, tmp_path):
    builder = ExportBuilder()
    builder.process(pid=100).thread().push_pop("build", 0, 100)
    assert "What `build` put on the GPU is not known." in run(builder.write(tmp_path / "r.sqlite"))


def test_several_reports_side_by_side(run, report, sample_report):
    out = run(report, sample_report("llama_eager"), report, "--top", 2, columns=120)
    lines = out.splitlines()
    assert "report.sqlite (1)" in out
    assert lines.index("report.sqlite (2)") > lines.index("report.sqlite (1)")
    assert sum(line.startswith("step ") for line in lines) == 1
    assert sum(line.startswith("steady / step ") for line in lines) == 1


def test_csv(run, report, tmp_path):
    run(report, "--by", "label", "-o", tmp_path / "out.csv")
    table = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert [(row["stage"], row["title"], row["name"], row["total_ns"]) for row in table][1] == (
        "step",
        "t0 = torch.nn.functional.linear(x, w, b)",
        LINEAR,
        "80",
    )
    both = list(csv.DictReader(io.StringIO(run(report, report, "--format", "csv"))))
    assert {row["report"] for row in both} == {"report.sqlite (1)", "report.sqlite (2)"}


@pytest.mark.parametrize("by", ["name", "label", "operation"])
def test_json_follows_its_schema(run, report, sample_report, by):
    document = json.loads(run(report, "--by", by, "--format", "json"))
    VALIDATOR.validate(document)
    assert document["by"] == by
    (stage,) = document["stages"]
    assert stage["communication"]["overlapped_ns"] == 40
    assert stage["rows_in_all"] == len(stage["rows"]) > 1
    (cut,) = json.loads(run(report, "--by", by, "--format", "json", "--top", 1))["stages"]
    assert (cut["rows"], cut["rows_in_all"]) == (stage["rows"][:1], stage["rows_in_all"])
    VALIDATOR.validate(json.loads(run(sample_report("llama_thunder_nvfuser"), report, "--by", by, "--format", "json")))


@pytest.mark.parametrize("name", TYPES)
def test_schema_and_types_agree(name):
    described, kind = SCHEMA["$defs"][name], TYPES[name]
    fields = [field.name for field in dataclasses.fields(kind)]
    assert [key for key in described["properties"] if key not in ("schema_version", "tool")] == fields
    assert set(described["required"]) - {"schema_version", "tool"} == set(fields)
    for field, annotation in typing.get_type_hints(kind).items():
        of_field = described["properties"][field]
        nullable = "null" in of_field.get("type", []) or {"type": "null"} in of_field.get("oneOf", [])
        assert nullable == (type(None) in typing.get_args(annotation)), field


def test_the_schema_itself_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_stage_that_a_pattern_matches_is_listed(run, report, sample_report):
    stages = json.loads(run(sample_report("vit_train_eager"), "--stage", "*", "--format", "json"))["stages"]
    assert ["steady"] in [stage["path"] for stage in stages] and ["steady", "step"] in [s["path"] for s in stages]
    assert [stage["path"] for stage in json.loads(run(report, "--stage", "step", "--format", "json"))["stages"]] == [
        ["step"]
    ]


def test_a_report_without_ranges(run, tmp_path):
    builder = ExportBuilder()
    thread = builder.process(pid=100).thread()
    for at in (0, 100):
        thread.call("cudaLaunchKernel", at, at + 10).kernel("gemm", at + 20, at + 50)
    report = builder.write(tmp_path / "r.sqlite")
    out = run(report, columns=160)
    assert out.splitlines()[2].split("  ")[0] == "whole program"
    assert "60 ns in all: 2 GPU operations.\n" in out and "per instance" not in out
    assert "Stages: none, as there are no ranges; each program as a whole." in out
    document = json.loads(run(report, "--format", "json"))
    VALIDATOR.validate(document)
    assert [(stage["path"], stage["scope"], stage["gpu_ops"]) for stage in document["stages"]] == [([], "program", 2)]
    table = list(csv.DictReader(io.StringIO(run(report, "--format", "csv"))))
    assert [row["stage"] for row in table] == ["whole program"]
    assert "| whole program |" in run(report, "--format", "md")


def test_programs_without_ranges_are_told_apart(run, tmp_path):
    builder = ExportBuilder()
    for pid in (100, 200):
        builder.process(pid=pid).thread().call("cudaLaunchKernel", 10, 20).kernel("gemm", 30, 40)
    lines = run(builder.write(tmp_path / "r.sqlite")).splitlines()
    titles = [line.split("  ")[0] for line in lines if line.startswith("whole")]
    assert titles == ["whole program (pid 100)", "whole program (pid 200)"]


def test_what_is_outside_the_ranges(run, tmp_path, report):
    builder = ExportBuilder()
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 100)
    for at in (10, 200):
        thread.call("cudaLaunchKernel", at, at + 10).kernel("gemm", at + 20, at + 30)
    partly = builder.write(tmp_path / "r.sqlite")
    assert "\noutside any range" in run(partly)
    assert "outside any range" not in run(partly, "--stage", "step")
    assert "outside any range" not in run(report)


def test_graphs_are_told(run, sample_report):
    out = run(sample_report("llama_cudagraphs"), "--top", 2, columns=160)
    assert "in graphs" in out and "(graph 5)" in out
    assert re.search(r"^[\d,]+ of them in CUDA graphs\.$", out, re.MULTILINE)


def test_autotuning_is_told(run, sample_report):
    out = run(sample_report("llama_inductor"), "--stage", "compile")
    assert re.search(r"^autotuning: [\d,]+ kernels were launched only to be timed\.$", out, re.MULTILINE)
    assert "autotuning" not in run(sample_report("llama_inductor"), "--stage", "steady/step")


def test_one_operation_is_one(run, tmp_path):
    builder = ExportBuilder()
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 100)
    thread.call("cudaLaunchKernel", 10, 20).kernel("gemm", 30, 40)
    assert "1 GPU operation in 1 instance." in run(builder.write(tmp_path / "r.sqlite"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--sort", "size"], "--sort size: no such column; there are: count, per-instance, total, share, median, p95,"),
        (["--stage", "stop"], "--stage stop: matches no stage (nearest: step)"),
        (["--by", "stream"], "'stream' is not one of"),
        (["-o", "out.png"], "no format has the suffix '.png'"),
    ],
)
def test_what_makes_no_sense_is_refused(run, report, arguments, said):
    err = run(report, *arguments, code=2)
    assert said in err
    assert err.count("\n") == 1


def test_a_report_is_not_overwritten(run, report):
    assert "--output would overwrite it" in run(report, "-o", report, "--format", "csv", code=2)


def test_help_has_examples(run):
    assert "nsys-analyze kernels report.sqlite --stage steady/step --by operation" in run("--help")
