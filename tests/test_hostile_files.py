"""Files that are made to mislead, to go on for ever or to fill a memory, and files that change under the reader."""

from __future__ import annotations

import lzma
import os
import shutil
import sqlite3
import struct
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from nsys_analyze import open_report
from nsys_analyze.attribution.nesting import DEEPEST
from nsys_analyze.errors import ReportError
from nsys_analyze.ingest import reading, unpacking
from nsys_analyze.ingest.columns import Column, TableRequest, text
from nsys_analyze.ingest.export import open_export
from nsys_analyze.ingest.filling import TooMuchError
from nsys_analyze.ingest.rowreader import read_chunk
from tests.exports import ExportBuilder
from tests.refusals import refusal

if TYPE_CHECKING:
    from pathlib import Path

KERNELS, RANGES = "CUPTI_ACTIVITY_KIND_KERNEL", "NVTX_EVENTS"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i AS end FROM n"


@pytest.fixture
def report(builder: ExportBuilder, tmp_path: Path) -> Path:
    thread = builder.process(7).thread()
    for step in range(3):
        thread.push_pop(f"step {step}", 100 * step, 100 * step + 50)
        thread.call("cudaLaunchKernel_v7000", 100 * step, 100 * step + 9).kernel("gemm", 100 * step, 100 * step + 20)
    return builder.write(tmp_path / "report.sqlite")


def tampered(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        for statement in statements:
            connection.execute(statement)
    return path


def with_endless_pages(path: Path, table: str) -> None:
    """Puts eight levels of pages over a table's one, each of which leads 300 times to the next: 10^19 rows."""
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    content += content[(root - 1) * size : root * size]
    last = len(content) // size
    cells = 300
    for _ in range(8):
        page = bytearray(size)
        struct.pack_into(">BHHHBI", page, 0, 5, 0, cells, size - 6 * cells, 0, last)
        for cell in range(cells):
            struct.pack_into(">H", page, 12 + 2 * cell, size - 6 * (cell + 1))
            struct.pack_into(">IBB", page, size - 6 * (cell + 1), last, 0x81, 0x7F)
        content += page
        last = len(content) // size
    content[(root - 1) * size : root * size] = content[-size:]
    struct.pack_into(">I", content, 28, last)
    path.write_bytes(content)


# --- what pretends to be a table


def test_an_endless_view_is_no_table(report: Path, reader: str) -> None:
    tampered(report, f"ALTER TABLE {RANGES} RENAME TO old", f"CREATE VIEW {RANGES} AS {ENDLESS}")
    assert open_report(report).analysis().stages == []


@pytest.mark.parametrize("root", [0, 2, 99_999])
def test_a_view_that_the_schema_calls_a_table(report: Path, reader: str, root: int) -> None:
    tampered(
        report,
        f"ALTER TABLE {RANGES} RENAME TO old",
        f"CREATE VIEW {RANGES} AS {ENDLESS}",
        f"UPDATE sqlite_master SET type = 'table', rootpage = {root} WHERE name = '{RANGES}'",
    )
    try:
        assert open_report(report).analysis().stages == []
    except ReportError as error:
        assert "malformed database schema" in str(error)


def test_a_virtual_table_that_is_spelt_otherwise(report: Path) -> None:
    create = f"CREATE /**/ VIRTUAL TABLE {RANGES} USING fts5(start, end)"
    tampered(
        report,
        f"ALTER TABLE {RANGES} RENAME TO old",
        f"CREATE VIRTUAL TABLE {RANGES} USING fts5(start, end)",
        f"UPDATE sqlite_master SET sql = '{create}' WHERE name = '{RANGES}'",
    )
    with open_export(report) as export:
        assert export.table(RANGES) is None


@pytest.mark.parametrize("name", ["rowid", "OID", "_rowid_"])
def test_a_column_called_as_the_number_of_the_row(report: Path, name: str) -> None:
    tampered(report, f"ALTER TABLE {RANGES} RENAME COLUMN color TO {name}", f"UPDATE {RANGES} SET {name} = 'x'")
    assert refusal(report) == f"{RANGES} has a column {name.lower()}, as no export has; export it again"


def test_triggers_do_nothing(report: Path) -> None:
    before = open_report(report).analysis().stages
    tampered(report, f"CREATE TRIGGER t AFTER INSERT ON {RANGES} BEGIN DELETE FROM {RANGES}; END")
    assert open_report(report).analysis().stages == before


def test_no_extension_and_no_writing(report: Path) -> None:
    with closing(reading.connect(report)) as connection:
        for statement in ("SELECT load_extension('x')", "CREATE TABLE t (a)", f"DELETE FROM {RANGES}"):
            with pytest.raises(sqlite3.OperationalError):
                connection.execute(statement)


# --- what has no end


@pytest.mark.parametrize("table", [KERNELS, RANGES, "PROCESSES", "META_DATA_EXPORT"])
def test_pages_that_lead_round_and_round(report: Path, reader: str, table: str) -> None:
    with_endless_pages(report, table)
    said = refusal(report)
    assert said.endswith("; export the report again")
    assert "more rows than the file has room for" in said or said.startswith("damaged (") or "more text" in said


def test_a_query_without_an_end(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_STEPS", 10_000)
    with closing(reading.connect(report)) as connection, pytest.raises(sqlite3.OperationalError, match="interrupted"):
        connection.execute(f"SELECT count(*) FROM ({ENDLESS})").fetchone()


def test_a_query_without_an_end_is_told_as_damage(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_STEPS", 1)
    assert refusal(report) == "damaged (a table of it does not come to an end); export the report again"


# --- what is too long


def test_names_longer_than_any(report: Path, reader: str) -> None:
    tampered(report, f"UPDATE {RANGES} SET text = hex(zeroblob(5000000)) WHERE text = 'step 1'")
    assert refusal(report) == "damaged (string or blob too big); export the report again"


def test_names_of_a_megabyte(report: Path, reader: str) -> None:
    tampered(report, f"UPDATE {RANGES} SET text = hex(zeroblob(500000)) || 'end' WHERE text = 'step 1'")
    names = [stage.name for stage in open_report(report).analysis().stages]
    assert [len(name) for name in names] == [4, 1_000_003]


def test_more_text_than_the_file_holds(report: Path) -> None:
    """Pages can lead many rows to the same long text."""
    with closing(reading.connect(report)) as connection:
        wanted = reading.select(TableRequest(RANGES, [Column("start"), text("text")]), RANGES, ("start", "text"))
        job = reading._started(report, connection, wanted)
        job.filling._room.take(report.stat().st_size - 10)
        with pytest.raises(TooMuchError, match="NVTX_EVENTS gives more text than the file has room for"):
            read_chunk(connection, wanted.sql(), job.filling.chunk(0))


def test_100_000_ranges_inside_each_other(builder: ExportBuilder, tmp_path: Path) -> None:
    thread = builder.process(7).thread()
    for depth in range(100_000):
        thread.push_pop("deeper", depth, 300_000 - depth)
    thread.call("cudaLaunchKernel_v7000", 150_000, 150_001).kernel("gemm", 150_010, 150_020)
    analysis = open_report(builder.write(tmp_path / "deep.sqlite")).analysis()
    assert len(analysis.stages) == DEEPEST
    assert [(notice.code, notice.count) for notice in analysis.warnings if notice.code == "too-deep"] == [
        ("too-deep", 100_000 - DEEPEST)
    ]
    assert analysis.stages[-1].self.gpu_ops == 1


# --- xz


def test_a_small_file_that_unpacks_to_a_large_one(
    report: Path, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    monkeypatch.setattr(unpacking, "_AT_LEAST", 2**20)
    path = report.with_name("bomb.sqlite.xz")
    path.write_bytes(lzma.compress(report.read_bytes() + bytes(2**23)))
    assert "unpacks to too much; if it is a report, set " in refusal(path)
    monkeypatch.setenv(unpacking.LIMIT, str(2**24))
    assert open_report(path).analysis().stages
    monkeypatch.setenv(unpacking.LIMIT, "lots")
    assert refusal(path) == f"{unpacking.LIMIT} is lots; give a number of bytes"


def test_an_xz_that_would_take_all_memory(report: Path, monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    monkeypatch.setattr(unpacking, "_MEMORY", 2**20)
    path = report.with_name("report.sqlite.xz")
    path.write_bytes(lzma.compress(report.read_bytes(), preset=9))
    assert refusal(path) == "cut or damaged xz file (Memory usage limit exceeded); fetch it again"


def test_an_xz_of_several_streams(report: Path, temporary: Path) -> None:
    content = report.read_bytes()
    path = report.with_name("report.sqlite.xz")
    path.write_bytes(lzma.compress(content[:5000]) + bytes(8) + lzma.compress(content[5000:]) + bytes(4))
    assert open_report(path).analysis().stages == open_report(report).analysis().stages


# --- files that change


def change(report: Path, how: str) -> None:
    if how == "grows":
        with report.open("ab") as file:
            file.write(bytes(4096))
    elif how == "vanishes":
        report.unlink()
    elif how == "shrinks":
        os.truncate(report, 8192)
    else:
        shutil.copy(report, f"{report}.new")
        report.with_name(f"{report.name}.new").replace(report)


@pytest.mark.parametrize("how", ["grows", "vanishes", "shrinks", "is replaced"])
@pytest.mark.parametrize("moment", ["read", "strings", "rows"])
def test_a_file_that_changes_while_it_is_read(
    report: Path, reader: str, how: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nsys_analyze.ingest.sqliteexport import SqliteExport

    method, changed = getattr(SqliteExport, moment), []

    def changing(export: SqliteExport, *arguments: object) -> object:
        if not changed:
            changed.append(how)
            change(report, how)
        return method(export, *arguments)

    monkeypatch.setattr(SqliteExport, moment, changing)
    assert refusal(report) == "changed while it was read; wait until its export is done"
