"""Redacted reports: nothing of what was planted is in the file, and the numbers are what they were."""

from __future__ import annotations

import dataclasses
import re
import sqlite3
from contextlib import closing
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsys_analyze import cli, open_report
from nsys_analyze.ingest.environment import allow_list, shareable
from nsys_analyze.model.communication import collective
from nsys_analyze.model.compile_rules import matching_rule, packaged_rules
from nsys_analyze.model.folding import fold_name
from nsys_analyze.store.names import Names
from nsys_analyze.store.policy import policy
from nsys_analyze.store.rules import rules
from tests.export_schema import PROFILES
from tests.exports import ExportBuilder
from tests.samples import SAMPLES

PLANTED = re.compile(rb"hunter2x(\d+)x")
RANGES, MARKS, DOMAINS = (59, 60, 70, 71), (34,), (75, 76)
NAMES = {"path", "name", "domain", "domains", "key", "parent", "symbol", "module", "stage"}
STRING_COLUMNS = {
    *("nameId", "textId", "jsonTextId", "demangledName", "shortName", "mangledName"),
    *("symbol", "module", "filenameId", "contentId"),
}


@pytest.fixture
def redact(tmp_path, capsys):
    def command(report, option, *options):
        target = tmp_path / f"redacted{option.replace('=', '-')}.sqlite"
        assert cli.main(["slice", str(report), str(target), option, *options]) == 0
        out, err = capsys.readouterr()
        assert out == ""
        return target, err

    return command


def busy_export(schema):
    """An export with something in every table that the numbers come from."""
    builder = ExportBuilder(schema, lazy=False)
    environment = [("PROCESS_0:ENVIRONMENT_VARIABLE", row) for row in ("NCCL_DEBUG=INFO", "HOME=/root")]
    builder.capture(5000, [("PROCESS_0:COMMAND", "/opt/python3"), ("CAPTURE_EVENT_TYPE", "Cuda"), *environment])
    process = builder.process(100, "python3")
    main = process.thread()
    for step in range(4):
        at = 1000 * step
        main.push_pop(f"step {step}", at, at + 900, domain="stages")
        main.start_end("inside", at + 10, at + 500, registered=True)
        main.call("cudaLaunchKernel_v7000", at + 100, at + 120).kernel("gemm(int)", at + 150, at + 400)
        main.call("cudaMemcpyAsync_v3020", at + 200, at + 220).memcpy(at + 420, at + 450)
        main.os_call("pthread_cond_wait", at + 600, at + 700)
        main.switch(at + 600, running=False)
        main.switch(at + 700, running=True)
        main.sample(at + 750, "hot", "main")
    main.mark("mark", 50)
    main.category(1, "category")
    main.nvtx_name("thread")
    main.profiler_overhead("CUPTI Buffer flush", 20, 30)
    builder.gpu(0)
    return builder


class Plants:
    """Plants a marker of its own in every text of a report, and knows where."""

    def __init__(self, path):
        self.numbers = count(1)
        self.places = {0: ("a column's name",)}
        self.allowed = set()
        with closing(sqlite3.connect(path)) as self.connection:
            self.connection.execute("PRAGMA secure_delete = OFF")
            self.everywhere()
            self.connection.commit()

    def marker(self, *place, allowed=False):
        number = next(self.numbers)
        self.places[number] = place
        if allowed:
            self.allowed.add(number)
        return f"hunter2x{number}x"

    def everywhere(self):
        query = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        for (table,) in self.connection.execute(query).fetchall():
            columns = self.connection.execute(f'PRAGMA table_info("{table}")').fetchall()
            if table != "StringIds":
                self.in_table(table, [(name, kind, required) for _, name, kind, required, _, _ in columns])
        self.elsewhere()

    def in_table(self, table, columns):
        for name, kind, _ in columns:
            if kind == "TEXT":
                self.in_text(table, name, columns)
            elif name in STRING_COLUMNS:
                self.in_string(table, name, columns)
        self.connection.execute(f'ALTER TABLE "{table}" ADD COLUMN "hunter2x0x" TEXT')
        self.connection.execute(f'UPDATE "{table}" SET "hunter2x0x" = ?', (self.marker(table, "unknown column"),))

    def in_text(self, table, name, columns):
        if table == "NVTX_EVENTS" and name == "text":
            for kind in (*RANGES, *MARKS, *DOMAINS, 33, 39):
                found = self.marker(table, name, kind, allowed=kind in (*RANGES, *DOMAINS))
                self.insert(table, columns, {name: found, "eventType": kind, "start": 4500, "end": 4600})
            return
        known = {
            "META_DATA_CAPTURE": [*policy().captured, "PROCESS_0:ENVIRONMENT_VARIABLE", "PROCESS_0:ARGUMENT_0"],
            "META_DATA_EXPORT": policy().exported - {"EXPORT_SCHEMA_VERSION"},
            "TARGET_INFO_SYSTEM_ENV": policy().system,
        }.get(table, ())
        for setting in known if name == "value" else ():
            self.insert(table, columns, {"name": setting, "value": self.marker(table, setting)})
        for variable in (
            ("NCCL_DEBUG", "NCCL_AUTH", "AWS_KEY") if (table, name) == ("META_DATA_CAPTURE", "value") else ()
        ):
            found = f'{variable}="https://me:{self.marker(table, variable)}@host/{"x" * 200}"'
            self.insert(table, columns, {"name": "PROCESS_0:ENVIRONMENT_VARIABLE", "value": found})
        self.insert(table, columns, {name: self.marker(table, name)})

    def in_string(self, table, name, columns):
        ranges, kernels = (table, name) == ("NVTX_EVENTS", "textId"), table == "CUPTI_ACTIVITY_KIND_KERNEL"
        number = 10_000 + len(self.places)
        found = self.marker(table, name, allowed=ranges or kernels)
        self.connection.execute("INSERT INTO StringIds VALUES (?, ?)", (number, found))
        self.insert(table, columns, {name: number, "eventType": 59, "start": 4500, "end": 4600})

    def insert(self, table, columns, values):
        """A row with these values, with zeros where something has to be."""
        there = {name for name, _, _ in columns}
        pid = 300 if table == "PROCESSES" else 100  # the name of the program at work stays
        process, number = 1 << 48 | pid << 24, 20_000 + len(self.places)
        ids = {"globalTid": process | pid, "globalPid": process, "id": number}
        row = {name: "" if kind == "TEXT" else 0 for name, kind, required in columns if required}
        row |= {name: value for name, value in (ids | values).items() if name in there}
        names = ", ".join(f'"{name}"' for name in row)
        slots = ", ".join("?" * len(row))
        self.connection.execute(f'INSERT INTO "{table}" ({names}) VALUES ({slots})', list(row.values()))

    def elsewhere(self):
        run = self.connection.execute
        run(
            "UPDATE PROCESSES SET name = ? WHERE name = 'python3'",
            (f"/{self.marker('folder')}/python3 {self.marker()}",),
        )
        for column in ("category", "color"):
            run(
                f"UPDATE NVTX_EVENTS SET {column} = ? WHERE eventType = 59",
                (self.marker("text among numbers", column),),
            )
        run("INSERT INTO StringIds VALUES (?, ?)", (9_999, self.marker("StringIds", "used by nothing")))
        run(f"CREATE TABLE {self.marker('a table')} (a TEXT)")
        run("CREATE TABLE notes (a TEXT, b BLOB)")
        run("INSERT INTO notes VALUES (?, ?)", (self.marker("notes", "a"), self.marker("notes", "b").encode()))
        run(f"CREATE VIEW seen AS SELECT '{self.marker('a view')}'")
        run(f"CREATE INDEX {self.marker('an index')} ON NVTX_EVENTS (start)")
        run(f"CREATE INDEX partly ON NVTX_EVENTS (start) WHERE text = '{self.marker('a partial index')}'")
        run(f"CREATE TRIGGER t AFTER INSERT ON notes BEGIN SELECT '{self.marker('a trigger')}'; END")
        for _ in range(500):
            run("INSERT INTO notes (a) VALUES (?)", (self.marker("a free page") * 20,))
        run("DELETE FROM notes WHERE rowid > 1")


@pytest.mark.parametrize("schema", PROFILES)
def test_no_secret_survives(schema, tmp_path, redact):
    path = busy_export(schema).write(tmp_path / "report.sqlite")
    plants = Plants(path)
    assert len({int(number) for number in PLANTED.findall(path.read_bytes())}) > 100
    redacted, err = redact(path, "--redact")
    found = {int(number) for number in PLANTED.findall(redacted.read_bytes())}
    assert {plants.places[number] for number in found - plants.allowed} == set()
    assert found == plants.allowed, [plants.places[number] for number in plants.allowed - found]
    hidden, _ = redact(path, "--redact=names")
    assert {plants.places[int(number)] for number in PLANTED.findall(hidden.read_bytes())} == set()
    told = {plants.places[int(number)] for number in PLANTED.findall(err.encode())}
    assert told <= {
        ("a table",),
        ("a column's name",),
    }  # told on the screen, not in the file
    with closing(sqlite3.connect(hidden)) as connection:
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def nameless(value):
    """A result without its names."""
    if isinstance(value, dict):
        return {key: nameless(inner) for key, inner in value.items() if key not in NAMES}
    return [nameless(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", SAMPLES)
def test_numbers_stay(name, sample_report, redact):
    before = open_report(sample_report(name)).analysis()
    kept = open_report(redact(sample_report(name), "--redact")[0]).analysis()
    assert kept.stages == before.stages
    assert kept.coverage == before.coverage
    assert kept.report.gpus == before.report.gpus
    same = ("driver", "nsys_version", "export_schema", "capture", "command", "environment", "duration_ns", "processes")
    for field in same:
        assert getattr(kept.report, field) == getattr(before.report, field), field
    hidden = open_report(redact(sample_report(name), "--redact=names")[0]).analysis()
    for old, new in zip(before.stages, hidden.stages, strict=True):
        assert nameless(dataclasses.asdict(new)) == nameless(dataclasses.asdict(old))
    assert hidden.coverage == before.coverage


def test_a_part_is_redacted_like_the_whole(sample_report, redact):
    path = sample_report("llama_thunder_nvfuser")
    before = {stage.key: stage for stage in open_report(path).analysis().stages}
    after = open_report(redact(path, "--redact", "--stage", "compile")[0]).analysis()
    chosen = [stage for stage in after.stages if stage.path[0] == "compile"]
    assert len(chosen) > 100
    for stage in chosen:
        old = before[stage.key]
        assert dataclasses.replace(stage, cold_start_ns=None, cold_first_ns=None) == dataclasses.replace(
            old, cold_start_ns=None, cold_first_ns=None
        )


def test_what_was_removed_is_listed(builder, tmp_path, redact):
    builder.capture(1000, [("PROCESS_0:COMMAND", "/opt/python3"), ("PROCESS_0:USER_NAME", "me")], {"Hostname": "here"})
    builder.process(100, "/usr/bin/python3").thread().push_pop("step 1", 0, 10)
    builder.process(101, "sh")
    _, err = redact(builder.write(tmp_path / "report.sqlite"), "--redact")
    lines = err.splitlines()
    assert lines[0].endswith("redacted.sqlite: redacted; this was left out or replaced:") or "redacted" in lines[0]
    listed = {tuple(line.split()) for line in lines[1:]}
    assert ("1", "row", "PROCESSES") in listed
    assert ("1", "value", "PROCESSES.name") in listed
    assert ("1", "row", "META_DATA_CAPTURE") in listed
    assert ("1", "row", "TARGET_INFO_SYSTEM_ENV") in listed
    assert ("1", "value", "META_DATA_CAPTURE.value") in listed


def test_a_redacted_report_still_compares(builder, tmp_path, redact, analyse):
    rows = ["NCCL_DEBUG=INFO", "NCCL_AUTH_TOKEN=me", "HOME=/root", "CUDA_VISIBLE_DEVICES=0"]
    builder.capture(1000, [("PROCESS_0:ENVIRONMENT_VARIABLE", row) for row in rows])
    builder.process(100).thread().push_pop("step 1", 0, 10)
    path = builder.write(tmp_path / "report.sqlite")
    environments = [open_report(each).analysis().report.environment for each in (path, redact(path, "--redact")[0])]
    assert (
        environments[0]
        == environments[1]
        == {"CUDA_VISIBLE_DEVICES": "0", "NCCL_AUTH_TOKEN": None, "NCCL_DEBUG": "INFO"}
    )


def test_ranks_stay(builder, tmp_path, redact):
    for pid, rank in ((100, 0), (200, 1)):
        thread = builder.process(pid).thread(name=f"[Rank {rank}]")
        thread.push_pop("step 1", 0, 10)
    redacted, _ = redact(builder.write(tmp_path / "report.sqlite"), "--redact=names")
    assert [process.rank for process in open_report(redacted).analysis().report.processes] == [0, 1]


def test_an_interrupt_inside_sqlite_is_one(sample_report, tmp_path, temporary, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Names, "event", interrupted)
    target = tmp_path / "redacted.sqlite"
    assert cli.main(["slice", str(sample_report("llama_eager")), str(target), "--redact"]) == 130
    assert not target.exists()
    capsys.readouterr()


@pytest.fixture
def names():
    return Names(packaged_rules(), (), fold=True, hide=True)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("step 12", "range_1 12"),
        ("step #3", "range_1 3"),
        ("secret", "range_1"),
        ("conv_2", "range_1"),
        ("aten::mm, op_id = 7, sizes = [[4, 2], [2, 8]]", "range_1, op_id = 7, sizes = [[4, 2], [2, 8]]"),
        ("aten::mm, seq = 7, sizes = [secret]", "range_1, seq = 7"),
        ("", ""),
        ("rank 3", "rank 3"),
        ("GpuLower::lower", "GpuLower::lower"),
        ("compile_fx_inner (dynamo_timed)", "compile_fx_inner (dynamo_timed)"),
        ("my secret (dynamo_timed)", "range_1 (dynamo_timed)"),
        ("XlaCompile:#module=secret#", "XlaCompile range_1"),
    ],
)
def test_labels_of_ranges(name, label, names):
    assert names.event(name, 59) == label
    assert names.event(name, 59) == label
    assert matching_rule(fold_name(name), packaged_rules()) == matching_rule(fold_name(label), packaged_rules())


@given(st.lists(st.text("ab 12#=_-,", max_size=12) | st.from_regex(r"(step|x) ?\d?(, seq = \d)?", fullmatch=True)))
def test_labels_fold_as_names_do(texts):
    names = Names(packaged_rules(), (), fold=True, hide=True)
    labels = [names.event(text, 59) for text in texts]
    folded, folded_labels = [fold_name(text) for text in texts], [fold_name(label) for label in labels]
    assert [folded.index(name) for name in folded] == [folded_labels.index(name) for name in folded_labels]


def test_labels_of_other_names(names):
    assert names.roles["kernel"]("void secret<float>(int)") == "kernel_1"
    reduced = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)"
    assert names.roles["kernel"](reduced) == "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    assert collective(names.roles["kernel"](reduced)) == "all-reduce"
    assert names.roles["call"]("cudaLaunchKernel_v7000") == "cudaLaunchKernel_v7000"
    assert names.roles["call"]("cuMemcpyDtoHAsync_v2_ptsz") == "cuMemcpyDtoHAsync_v2_ptsz"
    assert names.roles["call"]("secret") == "call_1"
    assert names.roles["os_call"]("pthread_cond_wait") == "pthread_cond_wait"
    assert names.event("secret", 39) is None
    assert names.event("secret", 75) == "domain_1"


def test_labels_where_names_do_not_fold():
    names = Names(packaged_rules(), (), fold=False, hide=True)
    assert [names.event(f"step {number}", 59) for number in (1, 2, 1)] == ["range_1", "range_2", "range_1"]


@pytest.mark.parametrize(
    ("rule", "beside", "text", "after"),
    [
        ("gpu", None, "NVIDIA H200", "NVIDIA H200"),
        ("gpu", None, "secret", "GPU"),
        ("chip", None, "GH100", "GH100"),
        ("system", "CpuDescription", "AMD EPYC 9654", "AMD EPYC 9654"),
        ("system", "CpuDescription", "secret", None),
        ("system", "NvDriverVersion", "580.159.04", "580.159.04"),
        ("system", "Hostname", "580", None),
        ("captured", "PROCESS_0:COMMAND", "/home/me/train.py", "train.py"),
        ("captured", "PROCESS_0:ENVIRONMENT_VARIABLE", "RANK=3", "RANK=3"),
        ("captured", "PROCESS_0:ENVIRONMENT_VARIABLE", "HOME=/root", None),
        ("captured", "PROCESS_0:ENVIRONMENT_VARIABLE", "NCCL_KEY=1", "NCCL_KEY=<removed>"),
        ("captured", "CUDA_GRAPH_TRACE_OPTIONS:MODE", "Node", "Node"),
        ("captured", "PROCESS_0:WORKING_DIR", "/home/me", None),
        ("exported", "EXPORT_SCHEMA_VERSION", "3.20.3", "3.20.3"),
        ("exported", "EXPORT_HOST", "vm", None),
        ("program", None, "/home/me/bin/python3.11", "python3.11"),
        ("diagnostic", None, "Profiling has started.", "Profiling has started."),
        ("diagnostic", None, "Profiling started due to CudaProfilerApi.", "Profiling started due to CudaProfilerApi."),
        ("diagnostic", None, "Loaded CUPTI library: /home/me", "(a message that was removed)"),
        ("moment", None, "2026-01-01T00:00:00", "2026-01-01T00:00:00"),
        ("nothing", None, "secret", ""),
    ],
)
def test_text_of_small_tables(rule, beside, text, after, names):
    assert rules(names)[rule](text, beside) == after


def test_every_rule_and_role_is_known(names):
    known = {"text": rules(names), "strings": {*names.roles, "nvtx"}, "numbers": {""}}
    for table, columns in policy().tables.items():
        assert all(column.how in known[column.kind] for column in columns), table


def test_a_variable_that_is_not_shown_stays_hidden():
    assert allow_list().value("NCCL_DEBUG", "<removed>") is None
    assert shareable("NCCL_DEBUG=a@b") == "NCCL_DEBUG=<removed>"
