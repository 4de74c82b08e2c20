"""The fixture builder writes what real exports hold."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.bruteforce_load import load
from tests.export_schema import PROFILES
from tests.exports import ExportBuilder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def layout(path: Path) -> dict[str, list[tuple[str, str, int]]]:
    """Give the columns of each table: name, type, whether NOT NULL."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {t: [row[1:4] for row in connection.execute(f"PRAGMA table_info('{t}')")] for t in tables}


def query(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        return connection.execute(sql).fetchall()


@pytest.mark.parametrize("name", ["llama_cudagraphs", "vit_train_eager"])
def test_the_layout_is_that_of_real_exports(name: str, sample_report: Callable[[str], Path], tmp_path: Path) -> None:
    real = layout(sample_report(name))
    built = layout(ExportBuilder(schema="3.20.3", lazy=False).write(tmp_path / "built.sqlite"))
    shared = set(real) & set(built)
    assert {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "StringIds"} <= shared
    assert {table: built[table] for table in shared} == {table: real[table] for table in shared}


@pytest.mark.parametrize("schema", PROFILES)
def test_every_layout_tells_the_same_story(schema: str, tmp_path: Path) -> None:
    builder = ExportBuilder(schema=schema)
    process = builder.process(pid=100)
    thread = process.thread(name="main")
    thread.push_pop("step 1", 0, 100, domain="stages", registered=True)
    thread.call("cudaLaunchKernel_v7000", 10, 20).kernel("gemm(float*)", 30, 40)
    thread.call("cudaGraphLaunch_v10000", 50, 60).graph_trace(70, 80)
    thread.profiler_overhead("CUDA profiling initialization", 1, 2)
    builder.diagnostic(2, "Something was lost.")
    builder.capture(duration=200, options={"CAPTURE_EVENT_TYPE": "Cuda"})
    export = load(builder.write(tmp_path / "report.sqlite"))
    assert [(r.element, r.start, r.end) for r in export.ranges] == [(("stages", "step"), 0, 100)]
    kernel = export.operations[0]
    assert kernel.call is not None
    assert (kernel.kind, kernel.call.name) == ("kernel", "cudaLaunchKernel_v7000")


def test_rows_stay_in_the_write_ahead_log_of_an_unfinished_export(tmp_path: Path) -> None:
    builder = ExportBuilder()
    builder.process(pid=100)
    path = builder.write(tmp_path / "report.sqlite", wal=True)
    assert (tmp_path / "report.sqlite-wal").stat().st_size > 0
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    assert query(path, "SELECT pid FROM PROCESSES") == [(100,)]


def test_text_need_not_be_utf8(tmp_path: Path) -> None:
    builder = ExportBuilder()
    builder.process(pid=100).thread().push_pop(b"caf\xe9", 0, 1)
    path = builder.write(tmp_path / "report.sqlite")
    assert query(path, "SELECT text, typeof(text) FROM NVTX_EVENTS") == [(b"caf\xe9", b"text")]


def test_a_shuffle_keeps_the_rows(tmp_path: Path) -> None:
    builder = ExportBuilder()
    thread = builder.process(pid=100).thread()
    for start in range(20):
        thread.push_pop("step", start, start + 1)
    sql = "SELECT start FROM NVTX_EVENTS"
    in_order = query(builder.write(tmp_path / "a.sqlite"), sql)
    shuffled = query(builder.write(tmp_path / "b.sqlite", shuffle=1), sql)
    assert in_order != shuffled
    assert in_order == sorted(shuffled)


def test_columns_can_be_taken_off_and_added_and_the_range_table_renamed(tmp_path: Path) -> None:
    builder = ExportBuilder(
        without={"CUPTI_ACTIVITY_KIND_KERNEL": "globalPid graphNodeId"},
        extra={"NVTX_EVENTS": "name:TEXT"},
        nvtx_table="NVTX_EVENTS_V3",
    )
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 1, name="ignored")
    thread.call("cuLaunchKernel", 0, 1).kernel("gemm", 1, 2)
    columns = {
        table: [name for name, *_ in rows] for table, rows in layout(builder.write(tmp_path / "r.sqlite")).items()
    }
    assert not {"globalPid", "graphNodeId"} & set(columns["CUPTI_ACTIVITY_KIND_KERNEL"])
    assert columns["NVTX_EVENTS_V3"][-1] == "name"


def test_an_unknown_column_is_an_error() -> None:
    with pytest.raises(ValueError, match="no column colour"):
        ExportBuilder().row("NVTX_EVENTS", start=0, colour=1)
