from __future__ import annotations

import dataclasses
import json
import typing
from importlib import resources

import jsonschema
import pytest

from nsys_analyze.metrics import results
from nsys_analyze.views import json_view
from tests.view_samples import (
    LLAMA,
    analysis,
    hostile,
    instances,
    llama,
    loop,
    many_stages,
    training,
    two_processes,
    without_nvtx,
)

SCHEMA = json.loads((resources.files("nsys_analyze") / "result.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

# which part of the schema describes which type
TYPES = {
    "result": results.Analysis,
    "settings": results.Settings,
    "report": results.ReportInfo,
    "gpu": results.Gpu,
    "process": results.Process,
    "coverage": results.Coverage,
    "coverage_time": results.CoverageTime,
    "warning": results.Notice,
    "program": results.Program,
    "device_use": results.DeviceUse,
    "stage": results.Stage,
    "distribution": results.Distribution,
    "startup_gap": results.StartupGap,
    "launch_calls": results.LaunchCalls,
    "queue_delay": results.QueueDelay,
    "kernels_per_instance": results.KernelsPerInstance,
    "self": results.SelfCounts,
    "compile_time": results.CompileTime,
    "host_time": results.HostTime,
    "host_code": results.HostCode,
    "blocked_on": results.BlockedOn,
    "sampled_function": results.SampledFunction,
    "named_instance": results.NamedInstance,
    "gpu_window": results.GpuWindow,
    "stall": results.Stall,
    "markers": results.Markers,
    "collective": results.Collective,
    "communication": results.Communication,
    "series": results.Series,
    "instance": results.Instance,
    "spread": results.Spread,
    "start_skew": results.StartSkew,
    "rank_clock": results.RankClock,
    "rank": results.Rank,
    "ranked_stage": results.RankedStage,
    "ranked_program": results.RankedProgram,
}
FRAME = {"schema_version", "tool", "ranks"}


def read(*analyses, **options):
    """The document, read the way a strict reader would."""

    def refuse(name):
        raise AssertionError(name)

    return json.loads(json_view.render(analyses, **options), parse_constant=refuse)


def with_stage(**fields):
    return analysis(stages=[dataclasses.replace(loop(["step"], 1e6), **fields)])


@pytest.mark.parametrize(
    "report", [llama("eager"), without_nvtx(), two_processes(), training(), many_stages(), hostile(), analysis()]
)
def test_documents_follow_the_schema(report):
    VALIDATOR.validate(read(report))
    VALIDATOR.validate(read(report, report))


def test_instances_follow_the_schema_and_are_there_only_when_asked_for():
    report = analysis(instances=instances())
    document = read(report, instances=True)
    VALIDATOR.validate(document)
    assert len(document["instances"]) == 30
    assert "instances" not in read(report)


def test_the_schema_itself_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", TYPES)
def test_schema_and_types_name_the_same_fields_in_the_same_order(name):
    fields = [field.name for field in dataclasses.fields(TYPES[name])]
    frame = FRAME if name == "result" else set()
    assert [key for key in SCHEMA["$defs"][name]["properties"] if key not in frame] == fields
    required = set(SCHEMA["$defs"][name]["required"]) - frame
    assert required == set(fields) - ({"instances"} if name == "result" else set())


def test_every_result_type_is_described():
    kinds = {kind for kind in vars(results).values() if dataclasses.is_dataclass(kind)}
    of_kernels = {results.KernelAnalysis, results.StageKernels, results.KernelRow, results.NamedOps}
    others = {results.GapMeans, *of_kernels}  # only ever computed for a page, or described by kernels.schema.json
    assert kinds - set(TYPES.values()) == others
    assert set(SCHEMA["$defs"]) - set(TYPES) == {"tool", "results"}


@pytest.mark.parametrize("name", TYPES)
def test_schema_and_types_agree_on_what_may_be_missing(name):
    for field, annotation in typing.get_type_hints(TYPES[name]).items():
        described = SCHEMA["$defs"][name]["properties"][field]
        nullable = "null" in described.get("type", []) or {"type": "null"} in described.get("oneOf", [])
        assert nullable == (type(None) in typing.get_args(annotation)), field


def test_every_property_is_described_in_words():
    for part in SCHEMA["$defs"].values():
        assert part["description"]
        for name, described in part["properties"].items():
            assert {"description", "$ref", "const", "enum"} & set(described), name


def broken(change):
    document = read(llama("eager"))
    change(document)
    return document


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("schema_version"),
        lambda d: d.pop("coverage"),
        lambda d: d.update(schema_version=2),
        lambda d: d.update(by="rank"),
        lambda d: d["settings"].update(attribution="guess"),
        lambda d: d["stages"][0].pop("wall_ns"),
        lambda d: d["stages"][0].update(kernels=-1),
        lambda d: d["stages"][0].update(kernels=1.5),
        lambda d: d["stages"][0].update(elapsed_ns=None),
        lambda d: d["stages"][0].update(path="steady/step"),
        lambda d: d["stages"][1]["startup_gap_ns"].update(exposed="1 us"),
        lambda d: d["stages"][1].update(startup_gap_ns={}),
        lambda d: d["report"].update(sha256="abc"),
        lambda d: d["warnings"][0].update(level="fatal"),
        lambda d: d.update(reports=[]),
        lambda d: d.update(instances=[{}]),
    ],
)
def test_wrong_documents_are_refused(change):
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(broken(change))


def test_fields_may_be_added():
    VALIDATOR.validate(broken(lambda d: d["stages"][0].update(something_new={"code": 1})))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_none_is_null(value):
    assert read(with_stage(pace_ns=value))["stages"][0]["pace_ns"] is None


def test_numpy_numbers_are_written_as_what_they_are():
    numpy = pytest.importorskip("numpy")
    stage = read(with_stage(kernels=numpy.int64(7), pace_ns=numpy.float64(2.5)))["stages"][0]
    assert (stage["kernels"], stage["pace_ns"]) == (7, 2.5)


def test_large_integers_stay_exact():
    assert read(with_stage(kernel_ns=2**62 + 1))["stages"][0]["kernel_ns"] == 2**62 + 1


def test_names_come_back_as_they_were():
    stages = hostile().stages
    assert [stage["path"] for stage in read(hostile())["stages"]] == [stage.path for stage in stages]


def test_nothing_reaches_a_terminal_but_ascii():
    output = json_view.render([hostile()])
    assert output.isascii()
    assert all(line.isprintable() for line in output.splitlines())


def test_several_reports_are_listed_each_as_it_would_be_alone():
    document = read(*(llama(executor) for executor in LLAMA))
    assert list(document) == ["schema_version", "tool", "reports"]
    assert document["reports"] == [read(llama(executor)) for executor in LLAMA]


def test_a_stage_stands_on_a_line_of_its_own():
    stages = llama("eager").stages
    lines = json_view.render([llama("eager")]).splitlines()
    assert [json.loads(line.strip().rstrip(",]"))["key"] for line in lines if '"kernel_launches"' in line] == [
        stage.key for stage in stages
    ]


def test_the_order_of_keys_is_the_contract():
    assert list(read(llama("eager"))) == [
        "schema_version",
        "tool",
        "settings",
        "report",
        "coverage",
        "warnings",
        "programs",
        "devices",
        "stages",
        "by",
    ]
