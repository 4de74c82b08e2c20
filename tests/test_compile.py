"""Compile evidence: its sources, phases and modules, on real reports and on exports made by hand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from nsys_analyze import UsageError, open_report
from nsys_analyze.model.compile_rules import Phase, matching_rule, packaged_rules
from tests.exports import ExportBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from nsys_analyze.metrics.results import CompileTime, Stage
    from tests.exports import Thread

MS = 1_000_000


def stage(report: Any, *path: str) -> Stage:
    return next(s for s in report.analysis().stages if tuple(s.path) == path)


def compiled(report: Any, *path: str) -> CompileTime:
    found = stage(report, *path).compile_ns
    assert found is not None
    return found


def some(times: dict[str, int]) -> dict[str, int]:
    return {name: time for name, time in times.items() if time}


@pytest.fixture
def builder() -> ExportBuilder:
    return ExportBuilder("3.24.14")


@pytest.fixture
def thread(builder: ExportBuilder) -> Thread:
    return builder.process(100).thread()


# --- real reports


def test_nvfuser_compiles_seven_kernels_on_four_threads(sample_report):
    report = open_report(sample_report("llama_thunder_nvfuser"))
    found = compiled(report, "compile")
    assert found.modules == 7
    assert found.phases["compile"] / found.modules == pytest.approx(227 * MS, rel=0.01)
    assert found.phases["compile"] == pytest.approx(1589 * MS, rel=0.01)  # over four threads
    assert found.phases_united["compile"] == pytest.approx(1436 * MS, rel=0.01)
    assert found.phases["segment"] == pytest.approx(2920 * MS, rel=0.01)
    assert 500 * MS < found.phases["lower"] < 900 * MS
    assert found.total < found.threads_total
    assert found.total <= stage(report, "compile").wall_ns.total
    assert compiled(report, "steady", "step").total == 0


def test_torch_compile_phases_count_once_though_each_comes_twice(sample_report):
    report = open_report(sample_report("inductor_compile_phases"))
    found = compiled(report, "compile")
    tools = {"Dynamo", "AOTAutograd", "Inductor", "Triton", "torch.compile", "autotuning", "CUDA driver"}
    assert set(some(found.tools)) == tools
    assert min(found.phases[phase] for phase in ("trace", "lower", "codegen", "compile", "autotune")) > 50 * MS
    assert sum(found.phases.values()) == sum(found.tools.values()) == found.threads_total
    assert found.threads_total == found.total  # all on one thread
    assert found.total <= stage(report, "compile").wall_ns.total


def test_thread_seconds_are_divided_among_phases_and_tools(sample_report):
    for found in open_report(sample_report("llama_thunder_nvfuser")).analysis().stages:
        parts = found.compile_ns
        assert parts is not None
        assert sum(parts.phases.values()) == sum(parts.tools.values()) == parts.threads_total
        assert max(parts.sources.values()) <= parts.total <= sum(parts.sources.values())
        assert all(parts.phases_united[phase] <= time for phase, time in parts.phases.items())


# --- sources


def test_module_loading_is_evidence(builder, thread, tmp_path):
    thread.push_pop("build", 0, 1000)
    thread.call("cuModuleLoadData", 100, 300)
    thread.call("cuLibraryLoadData", 400, 450)
    thread.call("cudaMalloc_v3020", 500, 600)
    found = compiled(open_report(builder.write(tmp_path / "report.sqlite")), "build")
    assert some(found.sources) == {"api": 250}
    assert some(found.phases) == {"load": 250}
    assert (found.total, found.modules) == (250, 0)


@pytest.mark.parametrize(("kind", "phase"), [(2, "compile"), (6, "load"), (7, "load"), (8, None)])
def test_driver_overhead_is_evidence_by_its_kind(builder, thread, tmp_path, kind, phase):
    thread.push_pop("build", 0, 1000)
    thread.call("cudaMalloc_v3020", 0, 5)
    thread.overhead(kind, 100, 250)
    found = compiled(open_report(builder.write(tmp_path / "report.sqlite")), "build")
    assert some(found.phases) == ({phase: 150} if phase else {})
    assert some(found.sources) == ({"overhead": 150} if phase else {})


def test_first_launches_are_evidence_by_what_they_took_more(builder, thread, tmp_path):
    thread.push_pop("build", 0, 1000)
    for start, took, name in ((100, 60, "relu"), (200, 10, "relu"), (300, 20, "relu"), (400, 30, "norm")):
        thread.call("cudaLaunchKernel_v7000", start, start + took).kernel(name, start + 70, start + 80)
    found = compiled(open_report(builder.write(tmp_path / "report.sqlite")), "build")
    assert some(found.sources) == {"first_launch": (60 - 15) + (30 - 15)}  # norm has no other: the process's median
    assert some(found.tools) == {"CUDA driver": 60}


def test_first_launches_are_where_the_profiler_was_not(builder, thread, tmp_path):
    thread.push_pop("step", 0, 1000)
    for at, took in ((100, 100), (300, 10), (500, 10)):
        thread.call("cudaLaunchKernel_v7000", at, at + took).kernel("relu", at + 110, at + 120)
    for start, end in ((90, 110), (130, 150), (195, 210)):
        thread.profiler_overhead("flush", start, end)
    report = open_report(builder.write(tmp_path / "report.sqlite"))
    evidence = report.evidence
    assert list(zip(evidence.start, evidence.end, strict=True)) == [(110, 130), (150, 185)]
    found = compiled(report, "step")
    assert (found.total, found.sources["first_launch"]) == (55 - 10 + 10, 100 - 10 - 20 - 5 - 10)
    assert stage(report, "step").host_ns.compile == 55


def test_evidence_of_several_sources_counts_once(builder, thread, tmp_path):
    thread.push_pop("GpuLower::lower", 0, 1000)
    thread.call("cuModuleLoadData", 100, 300)
    thread.overhead(6, 200, 400)
    found = compiled(open_report(builder.write(tmp_path / "report.sqlite")), "GpuLower::lower")
    assert some(found.sources) == {"api": 200, "ranges": 1000, "overhead": 200}
    assert (found.total, found.threads_total) == (1000, 1000)
    assert some(found.phases) == {"lower": 700, "load": 300}


# --- candidates being tried out


def timed(thread: Thread, at: int, launches: int, pause: int = 0) -> int:
    """Record an event, launch, and record another; return the time after it, and after a flush of the cache."""
    thread.call("cudaEventRecordWithFlags_v11010", at, at + 2)
    for number in range(launches):
        call = at + 5 + 10 * number
        thread.call("cuLaunchKernelEx", call, call + 3).kernel("candidate", call + 4, call + 9)
    end = at + 5 + 10 * launches
    thread.call("cudaEventRecordWithFlags_v11010", end, end + 2)
    if not pause:
        thread.call("cudaLaunchKernel_v7000", end + 5, end + 8).kernel("flush", end + 9, end + 10)
    return end + 20 + pause


def test_inductor_tries_out_thousands_of_kernels_without_saying_so(sample_report):
    report = open_report(sample_report("llama_inductor"))
    found = compiled(report, "compile")
    assert 300 * MS < found.sources["benchmarks"] < 400 * MS
    assert found.phases["autotune"] == pytest.approx(found.sources["benchmarks"], rel=0.01)
    assert (stage(report, "compile").benchmark_kernels, stage(report, "compile").kernels) == (6280, 6306)
    assert stage(report, "steady", "step").benchmark_kernels == 0


def test_kernels_timed_over_and_over_are_no_work(builder, thread, tmp_path):
    thread.push_pop("compile", 0, 10_000)
    at = 100
    for _ in range(30):
        at = timed(thread, at, launches=1)
    report = open_report(builder.write(tmp_path / "report.sqlite"))
    found = compiled(report, "compile")
    assert (
        some(found.tools)["autotuning"] == found.sources["benchmarks"] == (at - 18) - 100
    )  # from the first event to the last
    assert stage(report, "compile").benchmark_kernels == 59  # the last flush comes after the last event


def test_warm_ups_are_no_work_either(builder, thread, tmp_path):
    thread.push_pop("compile", 0, 100_000)

    def launch(name: str, at: int) -> None:
        thread.call("cudaLaunchKernel_v7000", at, at + 3).kernel(name, at + 4, at + 9)

    at = 1000
    for name, start in (("candidate", 100), ("work", 200), ("flush", 300), ("candidate", 400), ("flush", 500)):
        launch(name, start)
    for _ in range(30):
        at = timed(thread, at, launches=1)
    launch("candidate", at)  # the last flush comes after the last event: it could be a warm-up for more, or not
    thread.process.thread(tid=101).call("cudaLaunchKernel_v7000", 600, 603).kernel("flush", 604, 609)
    found = stage(open_report(builder.write(tmp_path / "report.sqlite")), "compile")
    assert (found.kernels, found.benchmark_kernels) == (5 + 60 + 1 + 1, 59 + 3)


def test_warm_ups_between_two_rounds_count_for_the_second(builder, thread, tmp_path):
    thread.push_pop("compile", 0, 100_000)
    at = 1000
    for _ in range(30):
        at = timed(thread, at, launches=1)
    for number in range(10):  # so many launches in a row end the first stretch
        start = at + 10 * number
        thread.call("cudaLaunchKernel_v7000", start, start + 3).kernel("flush", start + 4, start + 9)
    at += 200
    for _ in range(30):
        at = timed(thread, at, launches=1)
    found = stage(open_report(builder.write(tmp_path / "report.sqlite")), "compile")
    assert (found.kernels, found.benchmark_kernels) == (60 + 10 + 60, 60 + 10 + 59)


@pytest.mark.parametrize(
    ("rounds", "launches", "pause"),
    [(24, 1, 0), (100, 20, 0), (100, 1, 50)],
    ids=["too few", "steps of many kernels", "nothing between the steps"],
)
def test_programs_that_time_their_steps_do_not_autotune(builder, thread, tmp_path, rounds, launches, pause):
    thread.push_pop("steady", 0, 1_000_000)
    at = 100
    for _ in range(rounds):
        at = timed(thread, at, launches, pause)
    report = open_report(builder.write(tmp_path / "report.sqlite"))
    assert compiled(report, "steady").sources["benchmarks"] == 0
    assert stage(report, "steady").benchmark_kernels == 0


# --- where it belongs


def test_threads_that_compile_for_the_main_thread_belong_to_its_stage(builder, tmp_path):
    process = builder.process(100)
    main, workers = process.thread(), [process.thread(101), process.thread(102)]
    main.push_pop("compile", 0, 1000)
    main.push_pop("steady", 1000, 2000)
    for worker in workers:
        worker.push_pop("CompiledKernel::compile", 100, 500)
        worker.push_pop("executor_utils::NVRTC", 150, 450)
        worker.call("cuModuleLoadData", 420, 440)
    path = builder.write(tmp_path / "report.sqlite")
    found = compiled(open_report(path), "compile")
    assert (found.total, found.threads_total, found.modules) == (400, 800, 2)
    assert some(found.phases) == {"compile": 560, "other": 200, "load": 40}
    assert some(found.phases_united) == {"compile": 280, "other": 100, "load": 20}
    assert compiled(open_report(path), "steady").total == 0
    assert compiled(open_report(path, attribution="thread"), "compile").total == 0


def test_evidence_in_every_step_adds_up_over_the_stage(builder, thread, tmp_path):
    for number in range(3):
        thread.push_pop(f"step {number}", 1000 * number, 1000 * number + 500)
        thread.call("cuModuleLoadData", 1000 * number + 100, 1000 * number + 130)
    assert compiled(open_report(builder.write(tmp_path / "report.sqlite")), "step").total == 90


def test_without_calls_and_compilers_nothing_is_known(builder, thread, tmp_path):
    thread.push_pop("build", 0, 1000)
    assert stage(open_report(builder.write(tmp_path / "report.sqlite")), "build").compile_ns is None


# --- rules


@pytest.mark.parametrize(
    ("name", "tool", "phase"),
    [
        ("SegmentCandidateFinder::findSegments", "nvFuser", Phase.SEGMENT),
        ("GpuLower::lower", "nvFuser", Phase.LOWER),
        ("executor_utils::NVRTC", "nvFuser", Phase.COMPILE),
        ("entire_frame_compile", "Dynamo", Phase.TRACE),
        ("_compile.compile_inner (dynamo_timed)", "Dynamo", Phase.TRACE),
        ("backend_compile", "AOTAutograd", Phase.TRACE),
        ("create_aot_dispatcher_function (dynamo_timed)", "AOTAutograd", Phase.TRACE),
        ("inductor_compile", "Inductor", Phase.LOWER),
        ("GraphLowering.compile_to_module (dynamo_timed)", "Inductor", Phase.CODEGEN),
        ("async_compile.wait", "Triton", Phase.COMPILE),
        ("CachingAutotuner.benchmark_all_configs", "Inductor", Phase.AUTOTUNE),
        ("something_new (dynamo_timed)", "torch.compile", Phase.OTHER),
        ("XlaCompile:#module=jit_f#", "XLA", Phase.COMPILE),
        ("step", None, None),
        ("compile", None, None),
        ("my_compile_fx_wrapper", None, None),
    ],
)
def test_packaged_rules(name, tool, phase):
    rules = packaged_rules()
    number = matching_rule(name, rules)
    assert ((rules[number].tool, rules[number].phase) if number >= 0 else (None, None)) == (tool, phase)


def test_users_rules_go_first(builder, thread, tmp_path):
    thread.push_pop("GpuLower::lower", 0, 100)
    thread.push_pop("my jit 7", 200, 240)
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[[rule]]\ntool = "mine"\nphase = "codegen"\npattern = "GpuLower::.*|my jit"\nmodule = true\n', "utf-8"
    )
    report = open_report(builder.write(tmp_path / "report.sqlite"), compile_rules=rules)
    assert report.settings.compile_rules == "rules.toml"
    assert some(compiled(report, "GpuLower::lower").tools) == {"mine": 100}
    assert compiled(report, "my jit").modules == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no [[rule]]"),
        ("rule = 3", "no [[rule]]"),
        ("[[rule", "not TOML"),
        ('[[rule]]\ntool="a"\nphase="b"\npattern="c"', "phase 'b' is not one of trace, segment"),
        ('[[rule]]\ntool="a"\nphase="load"\npattern="("', "'(' is not a regular expression"),
        ('[[rule]]\ntool="a"\nphase="load"\npattern="c"\nmodul=true', "unknown key 'modul'"),
        ('[[rule]]\nphase="load"\npattern="c"', "tool and pattern are strings"),
    ],
)
def test_bad_rules_are_refused_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=re.escape(says)) as error:
        open_report(tmp_path / "report.sqlite", compile_rules=rules)
    assert "\n" not in str(error.value)


def test_missing_rules_are_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        open_report(tmp_path / "report.sqlite", compile_rules=tmp_path / "none.toml")
