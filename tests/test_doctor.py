"""The doctor: what a capture can and cannot answer, of reports, of what is none, and of a machine."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nsys_analyze import cli
from nsys_analyze.doctor import Diagnosis, State, examine, machine
from nsys_analyze.doctor.questions import QUESTIONS
from nsys_analyze.errors import ReportError
from nsys_analyze.ingest.inspection import damage
from nsys_analyze.metrics.versions import conflicts, version
from tests.exports import MODULE_LOADING, ExportBuilder, Thread

if TYPE_CHECKING:
    from collections.abc import Callable

LAUNCH = "cudaLaunchKernel_v7000"
FLAG = re.compile(r"--[a-z][a-z-]+=[a-z,A-Z-]+")
NEEDED = ("file", "stages", "launches")


@pytest.fixture
def thread(builder: ExportBuilder) -> Thread:
    """A sound capture of two steps."""
    thread = builder.process(pid=100).thread()
    for number in range(2):
        at = 1000 * number
        thread.push_pop(f"step {number}", at, at + 500)
        thread.call(LAUNCH, at + 10, at + 20).kernel("gemm", at + 30, at + 90)
    return thread


@pytest.fixture
def examined(tmp_path: Path) -> Callable[..., Diagnosis]:
    return lambda builder, **how: examine(builder.write(tmp_path / "report.sqlite", **how))


def finding(diagnosis: Diagnosis, question: str):
    return next(answer.finding for answer in diagnosis.answers if answer.question == question)


def state(diagnosis: Diagnosis, question: str) -> State:
    return finding(diagnosis, question).state


def test_every_question_is_answered_in_order(thread, builder, examined):
    diagnosis = examined(builder)
    assert [answer.question for answer in diagnosis.answers] == [question.name for question in QUESTIONS]
    assert [answer.question for answer in diagnosis.answers if answer.needed] == list(NEEDED)
    assert all(answer.finding.why and answer.title for answer in diagnosis.answers)
    assert all(FLAG.fullmatch(flag) for answer in diagnosis.answers for flag in answer.finding.flags)
    assert (diagnosis.healthy, diagnosis.readable) == (True, True)


def test_a_sound_capture(thread, builder, examined):
    diagnosis = examined(builder)
    assert [state(diagnosis, name) for name in (*NEEDED, "graphs", "window", "backtraces", "versions")] == ["yes"] * 7
    assert finding(diagnosis, "stages").why == "1 stage of 2 ranges"
    assert finding(diagnosis, "launches").why == "2 launches, 2 GPU operations"


def test_without_ranges(builder, examined):
    builder.process(100).thread().call(LAUNCH, 0, 5).kernel("gemm", 10, 20)
    diagnosis = examined(builder)
    assert not diagnosis.healthy
    assert finding(diagnosis, "stages").flags == ("--trace=cuda,nvtx",)
    assert diagnosis.flags[0] == "--trace=cuda,nvtx,osrt"


def test_what_was_traced_is_not_asked_for_again(builder, examined):
    builder.capture(1000, [("CAPTURE_EVENT_TYPE", "NvtxEvents"), ("CAPTURE_EVENT_TYPE", "Vulkan")])
    builder.process(100).thread().call(LAUNCH, 0, 5).kernel("gemm", 10, 20)
    diagnosis = examined(builder)
    assert finding(diagnosis, "stages").flags == ()
    assert "annotate" in finding(diagnosis, "stages").remedy
    assert diagnosis.flags[0] == "--trace=cuda,nvtx,osrt,vulkan"


def test_without_cuda(builder, examined):
    builder.process(100).thread().push_pop("step", 0, 10)
    diagnosis = examined(builder)
    assert (state(diagnosis, "launches"), state(diagnosis, "gpus"), diagnosis.healthy) == ("no", "no", False)


def test_launches_that_got_lost(thread, builder, examined):
    for at in (3000, 3100, 3200, 3300):
        thread.call(LAUNCH, at, at + 10)
    found = finding(examined(builder), "launches")
    assert found.state == "partly"
    assert "4 launch calls have no GPU operation, of 6: nsys may be older than the driver" in found.why
    assert found.remedy == "take an nsys as new as the driver"


def test_graphs_traced_whole(thread, builder, examined):
    thread.call("cudaGraphLaunch_v10000", 100, 110).graph_trace(120, 300)
    found = finding(examined(builder), "graphs")
    assert (found.state, found.flags) == ("no", ("--cuda-graph-trace=node",))


def test_graphs_traced_by_node(thread, builder, examined):
    thread.call("cudaGraphLaunch_v10000", 100, 110).kernel("gemm", 120, 300, graph_node=1 << 32 | 1)
    assert finding(examined(builder), "graphs").why == "1 graph launch, traced by node"


def test_compile_evidence(thread, builder, examined):
    assert state(examined(builder), "compiling") == "no"
    thread.call("cuModuleLoadData", 200, 300)
    assert state(examined(builder), "compiling") == "partly"
    thread.push_pop("XlaCompile", 600, 700)
    assert state(examined(builder), "compiling") == "yes"


def test_the_drivers_own_account(examined):
    builder = ExportBuilder(schema="3.24.14")
    builder.process(100).thread().overhead(MODULE_LOADING, 10, 50)
    assert "what the driver reports" in finding(examined(builder), "compiling").why


def test_host_code(thread, builder, examined):
    assert finding(examined(builder), "host-code").flags == (
        "--trace=cuda,nvtx,osrt",
        "--cpuctxsw=process-tree",
        "--sample=process-tree",
    )
    thread.os_call("read", 5, 8)
    found = finding(examined(builder), "host-code")
    assert (found.state, found.flags) == ("partly", ("--cpuctxsw=process-tree", "--sample=process-tree"))


def test_backtraces(thread, builder, examined):
    thread.call(LAUNCH, 200, 210, doubled=True).kernel("gemm", 220, 230)
    found = finding(examined(builder), "backtraces")
    assert (found.state, found.flags) == ("partly", ("--cudabacktrace=none",))


def test_the_window(thread, builder, examined):
    builder.diagnostic(1, "Profiling started due to cudaProfilerStart API invoked in the application.")
    assert finding(examined(builder), "window").why == "the capture was started by cudaProfilerStart"
    thread.push_pop("step 2", 2000, None)
    found = finding(examined(builder), "window")
    assert (found.state, found.remedy) == ("partly", "stop the capture between two steps")


def test_processes(thread, builder, examined):
    assert finding(examined(builder), "processes").flags == ("--trace-fork-before-exec=true",)
    builder.capture(5000, {"TRACE_AFTER_FORK_BEFORE_EXEC": "true"})
    assert state(examined(builder), "processes") == "yes"


def test_gpus_and_communication_of_two_processes(thread, builder, examined):
    other = builder.process(200)
    call = other.thread().call(LAUNCH, 10, 20)
    call.kernel("gemm", 30, 40)
    diagnosis = examined(builder)
    assert (state(diagnosis, "gpus"), state(diagnosis, "communication")) == ("no", "no")
    call.kernel("ncclDevKernel_AllReduce", 50, 60)
    other.device(0, 1)
    diagnosis = examined(builder)
    assert (state(diagnosis, "gpus"), state(diagnosis, "communication")) == ("yes", "partly")
    other.thread().push_pop("ncclAllReduce", 8, 25, domain="NCCL")
    assert state(examined(builder), "communication") == "yes"


def test_a_process_that_only_loaded_cuda_has_nobody_to_talk_to(thread, builder, examined):
    builder.process(200).thread().call("cuInit", 10, 20)
    assert state(examined(builder), "communication") == "yes"


def test_what_the_profiler_cost(thread, builder, examined):
    assert state(examined(builder), "profiler") == "no"
    thread.profiler_overhead("TLS allocation", 600, 700)
    found = finding(examined(builder), "profiler")
    assert (found.state, found.why[:22]) == ("partly", "100 ns of its own work")


def test_where_it_was_made(thread, builder, examined):
    assert state(examined(builder), "environment") == "no"
    builder.gpu(0)
    builder.capture(5000, [("PROCESS_0:ENVIRONMENT_VARIABLE", "A=1"), ("PROCESS_0:ENVIRONMENT_VARIABLE", "B=2")])
    found = finding(examined(builder), "environment")
    assert found.state == "partly"
    assert found.why == "recorded: GPUs, 2 environment variables, which may hold secrets; not: CPU, driver"


def test_versions(examined):
    builder = ExportBuilder(schema="3.6.0")
    builder.process(100).thread().push_pop("step", 0, 10)
    found = finding(examined(builder), "versions")
    assert (found.state, found.remedy) == ("partly", "take nsys 2024.1 or newer")
    assert "nvtx 0.2.13 and later (no range is recorded)" in found.why


def test_what_nsys_said(thread, builder, examined):
    builder.diagnostic(2, "Not all events were collected")
    assert state(examined(builder), "nsys") == "partly"
    builder.diagnostic(3, "Buffer overflow")
    found = finding(examined(builder), "nsys")
    assert (found.state, found.why) == ("no", "1 error; the profiler said: Buffer overflow")


# --- files that are not sound


def test_an_export_that_was_not_finished(thread, builder, examined):
    found = finding(examined(builder, wal=True), "file")
    assert found.state == "partly"
    assert "was not finished" in found.why


def test_a_column_that_is_missing(examined):
    builder = ExportBuilder(without={"NVTX_EVENTS": "eventType"})
    builder.process(100).thread().push_pop("step", 0, 10)
    diagnosis = examined(builder)
    assert "NVTX_EVENTS has no column eventType" in finding(diagnosis, "file").why
    assert "NVTX_EVENTS has no column eventType" in finding(diagnosis, "stages").why
    assert not diagnosis.healthy


@pytest.mark.parametrize(("registered", "healthy"), [([False], True), ([True], False), ([True, False], False)])
def test_names_of_ranges_that_are_lost(examined, registered, healthy):
    """Without the column textId, ranges whose names were registered strings have none; others are as they were."""
    builder = ExportBuilder(without={"NVTX_EVENTS": "textId"})
    thread = builder.process(100).thread()
    for step in range(4):
        at = 1000 * step
        thread.push_pop("step", at, at + 900, registered=registered[step % len(registered)])
        thread.call(LAUNCH, at + 10, at + 20).kernel("gemm", at + 30, at + 100)
    diagnosis = examined(builder)
    assert (state(diagnosis, "stages"), diagnosis.healthy) == ("yes" if healthy else "no", healthy)
    if not healthy:
        assert finding(diagnosis, "stages").why.startswith("NVTX_EVENTS has no column textId: ranges are there")


@pytest.mark.parametrize(
    ("table", "column"),
    [("CUPTI_ACTIVITY_KIND_RUNTIME", "nameId"), ("CUPTI_ACTIVITY_KIND_KERNEL", "correlationId")],
)
def test_launches_without_a_column_that_they_need(examined, table, column):
    builder = ExportBuilder(without={table: column})
    thread = builder.process(100).thread()
    thread.push_pop("step", 0, 900)
    thread.call(LAUNCH, 10, 20).kernel("gemm", 30, 100)
    diagnosis = examined(builder)
    assert (state(diagnosis, "launches"), diagnosis.healthy) == ("no", False)


def test_a_file_that_is_cut(thread, builder, tmp_path):
    path = builder.write(tmp_path / "cut.sqlite")
    path.write_bytes(path.read_bytes()[:-4096])
    diagnosis = examine(path)
    assert (diagnosis.readable, diagnosis.healthy) == (False, False)
    assert finding(diagnosis, "file").why.startswith("cut short, ")
    assert diagnosis.facts[0].startswith("a SQLite file of ")


def test_a_file_of_somebody_else(tmp_path):
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE moz_places (id)")
    diagnosis = examine(path)
    assert diagnosis.facts[1] == "1 table: moz_places"
    assert finding(diagnosis, "file").why.startswith("not an Nsight Systems export")


def test_a_failed_export_still_tells_its_version(tmp_path):
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE META_DATA_EXPORT (name, value)")
        connection.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2025.3.2')")
        connection.commit()
    assert examine(path).facts[1:] == ["1 table: META_DATA_EXPORT", "exported by nsys 2025.3.2"]


@pytest.mark.parametrize("content", [None, b"", b"hello", b"\xfd7zXZ\0broken"])
def test_what_is_no_database_is_refused(tmp_path, content):
    path = tmp_path / "report.sqlite"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ReportError, match=re.escape(f"{path}: ")):
        examine(path)


def test_damage_in_a_page(thread, builder, tmp_path):
    path = builder.write(tmp_path / "report.sqlite")
    assert damage(path, 10) == ""
    assert damage(path, -1) in (None, "")  # a file this small may be checked before the clock is looked at
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'StringIds'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * 100)
    assert damage(path, 10)


# --- on the command line


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    code = cli.main(["doctor", *(str(argument) for argument in arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_exit_codes(thread, builder, tmp_path, capsys):
    sound = builder.write(tmp_path / "sound.sqlite")
    poor = ExportBuilder()
    poor.process(100).thread().push_pop("step", 0, 10)
    unhealthy = poor.write(tmp_path / "poor.sqlite")
    cut = tmp_path / "cut.sqlite"
    cut.write_bytes(sound.read_bytes()[:-4096])
    assert [run(capsys, *paths)[0] for paths in ([sound], [sound, unhealthy], [cut, sound], [tmp_path / "gone"])] == [
        0,
        1,
        2,
        2,
    ]


@pytest.mark.parametrize("columns", [40, 80, 160])
def test_the_page_fits(thread, builder, tmp_path, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, err = run(capsys, builder.write(tmp_path / "r.sqlite"))
    assert (code, err) == (0, "")
    assert all(len(line) <= columns for line in out.splitlines())
    assert out.startswith(("/", "…"))
    assert "\nyes     the file is whole" in out
    assert "\nHealthy." in out


def test_json(thread, builder, tmp_path, capsys):
    path = builder.write(tmp_path / "r.sqlite")
    document = json.loads(run(capsys, path, "--format", "json")[1])
    assert (document["schema_version"], document["healthy"], document["subject"]) == (1, True, str(path))
    assert [answer["question"] for answer in document["answers"]] == [question.name for question in QUESTIONS]
    assert document["answers"][0] == {
        "question": "file",
        "title": "the file is whole",
        "needed": True,
        "state": "yes",
        "why": "nothing is damaged or missing",
        "flags": [],
        "remedy": None,
    }
    several = json.loads(run(capsys, path, path, "--format", "json")[1])
    assert [one["healthy"] for one in several["reports"]] == [True, True]


def test_markdown_to_a_file(thread, builder, tmp_path, capsys):
    path, target = builder.write(tmp_path / "r.sqlite"), tmp_path / "r.md"
    assert run(capsys, path, "-o", target) == (0, "", "")
    text = target.read_text(encoding="utf-8")
    assert "| yes | the file is whole | nothing is damaged or missing |  |\n" in text


def test_names_are_harmless(tmp_path, capsys):
    builder = ExportBuilder()
    builder.process(100, name="evil\x1b[2J|<b>").thread().push_pop("step", 0, 10)
    path = builder.write(tmp_path / "r.sqlite")
    for kind in ("table", "md", "json"):
        assert "\x1b" not in run(capsys, path, "--format", kind)[1]
    assert "evil\\\\x1b\\[2J\\|\\<b\\>" in run(capsys, path, "--format", "md")[1]


# --- this machine


def machine_with(monkeypatch, *, nsys=None, driver=None, cuda=None, **packages: str) -> Diagnosis:
    monkeypatch.setattr(machine, "installed_nsys", lambda: nsys)
    monkeypatch.setattr(machine, "_driver", lambda: driver)
    monkeypatch.setattr(machine, "_cuda", lambda: cuda)
    monkeypatch.setattr(machine, "_packages", lambda *_: packages)
    return machine.examine_machine()


def states(diagnosis: Diagnosis) -> list[str]:
    return [str(answer.finding.state) for answer in diagnosis.answers]


def test_a_bare_machine(monkeypatch):
    diagnosis = machine_with(monkeypatch)
    assert states(diagnosis) == ["no", "no", "partly", "partly", "partly"]
    assert not diagnosis.healthy


def test_a_machine_that_has_everything(monkeypatch):
    diagnosis = machine_with(
        monkeypatch,
        nsys=("/usr/bin/nsys", "2025.3.2.367"),
        driver="580.159.04",
        cuda="13.0",
        nvtx="0.2.13",
        torch="2.9.0+cu130",
    )
    assert states(diagnosis) == ["yes"] * 5
    assert diagnosis.healthy


def test_a_machine_whose_nsys_is_too_old(monkeypatch):
    diagnosis = machine_with(
        monkeypatch, nsys=("nsys", "2023.4.4.54"), driver="580.1", cuda="13.0", nvtx="0.2.13", torch="2.13.0+cpu"
    )
    assert states(diagnosis) == ["yes", "yes", "no", "no", "partly"]
    assert finding(diagnosis, "nvtx").remedy == "install nsys 2024.1 or newer, or pip install 'nvtx<0.2.13'"


def test_a_torch_too_new_for_the_driver(monkeypatch):
    for torch, expected in (("2.13.0+cu130", "no"), ("2.13.0+cu128", "yes"), ("2.13.0", "yes")):
        diagnosis = machine_with(monkeypatch, nsys=("nsys", "2025.5.1"), driver="570.1", cuda="12.8", torch=torch)
        assert states(diagnosis)[4] == expected
    diagnosis = machine_with(monkeypatch, driver="570.1", cuda="12.8", torch="2.13.0+cu130")
    assert finding(diagnosis, "torch").remedy == "install a newer driver, or a build for CUDA 12 (pytorch.org)"


def test_an_nsys_newer_than_all_that_is_known(monkeypatch):
    diagnosis = machine_with(monkeypatch, nsys=("nsys", "2030.1.1"), driver="580.1", cuda="13.0")
    assert states(diagnosis)[:3] == ["yes", "yes", "yes"]


def test_the_verb_without_a_report(monkeypatch, capsys):
    monkeypatch.setenv("NSYS", "/nonexistent/nsys")
    code, out, _ = run(capsys)
    assert code == 1
    assert out.startswith("this machine · Python ")
    assert "neither NSYS nor PATH leads to it" in out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22\n", "550.54.14"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build\n", "580.82.07"),
        ("no such thing", None),
    ],
)
def test_the_drivers_version(monkeypatch, tmp_path, text, expected):
    (tmp_path / "version").write_text(text, encoding="utf-8")
    monkeypatch.setattr(machine, "_DRIVER_FILE", tmp_path / "version")
    assert machine._driver() == expected


@pytest.mark.parametrize(("nsys", "packages"), [("2023.4.4.54", ["nvtx"]), ("2024.1", []), ("2024.1.1.59", [])])
def test_packages_that_do_not_work_before_a_version(nsys, packages):
    assert [conflict.package for conflict in conflicts(version(nsys))] == packages
