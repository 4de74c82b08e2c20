from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nsys_analyze.errors import ReportError
from nsys_analyze.ingest.columns import Among, Column, TableRequest, coded, text
from nsys_analyze.ingest.export import open_export
from tests.exports import ExportBuilder

if TYPE_CHECKING:
    from pathlib import Path

RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return builder().write(tmp_path / "report.sqlite")


def builder(calls: int = 3, **layout: object) -> ExportBuilder:
    built = ExportBuilder(**layout)  # type: ignore[arg-type]
    thread = built.process(7).thread()
    thread.push_pop("step", 0, 50 * calls)
    for number in range(calls):
        thread.call("cudaLaunchKernel_v7000", 50 * number, 50 * number + 9).kernel(
            "gemm", 50 * number + 20, 50 * number + 40
        )
    return built


def tables(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def refusal(path: Path) -> str:
    """The one line that a file is refused with, at opening or reading; the file must stay as it was."""
    before, beside = path.read_bytes(), sorted(path.parent.iterdir())
    with pytest.raises(ReportError) as refused, open_export(path) as export:
        export.read([TableRequest(name, [Column("start"), Column("end")]) for name in (RUNTIME, KERNEL)])
        export.strings(range(10_000))
    assert (path.read_bytes(), sorted(path.parent.iterdir())) == (before, beside)
    said = str(refused.value)
    assert "\n" not in said
    assert said.startswith(f"{path}: ")
    return said.removeprefix(f"{path}: ")


STRINGS = "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)"


@pytest.mark.parametrize(
    ("statements", "looks"),
    [
        (["CREATE TABLE a (x)", "CREATE VIEW view_op_nodes AS SELECT 1"], "it looks like a DLProf database"),
        (
            ["CREATE TABLE sessions (session)", "CREATE TABLE history (line)", "CREATE TABLE output_history (line)"],
            "it looks like a Jupyter history",
        ),
        ([f"CREATE TABLE {KERNEL} (start)", "CREATE TABLE StringTable (_id_)"], "it looks like an nvprof database"),
        (["CREATE TABLE rocpd_string (id)"], "it looks like a ROCm rocpd database"),
        (["CREATE TABLE moz_places (id)", "CREATE TABLE b (id)"], "its tables are moz_places, b"),
        ([f"CREATE TABLE {name} (x)" for name in "abcd"], "its tables are a, b, c, ..."),
        (["CREATE TABLE a (x)", "DROP TABLE a"], "it is an empty database; export the .nsys-rep again"),
        (["CREATE TABLE StringIds (key, string)"], "its tables are StringIds"),
        (["CREATE VIEW StringIds AS SELECT 1 AS id, 'a' AS value"], "its tables are StringIds"),
    ],
)
def test_foreign_database(tmp_path: Path, statements: list[str], looks: str) -> None:
    path = tables(tmp_path / "other.sqlite", *statements)
    assert refusal(path) == f"not an Nsight Systems export (no StringIds table); {looks}"


def test_failed_export(tmp_path: Path) -> None:
    path = tables(tmp_path / "stub.sqlite", STRINGS, "CREATE TABLE ProcessStreams (globalPid, filenameId, contentId)")
    assert refusal(path) == "a failed export, it holds strings only; export the .nsys-rep again"


def test_nothing_but_ranges_or_metadata_is_a_report(tmp_path: Path) -> None:
    with open_export(tables(tmp_path / "a.sqlite", STRINGS, "CREATE TABLE META_DATA_EXPORT (name, value)")) as export:
        assert export.read([TableRequest(RUNTIME, [Column("start")])])[0].count == 0


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ReportError) as refused:
        open_export(tmp_path / "gone.sqlite")
    assert str(refused.value) == f"{tmp_path}/gone.sqlite: cannot be read (No such file or directory); check the path"


@pytest.mark.parametrize("kept", [40, 99, 100, 4096, 6000, 0.5, 0.999])
def test_cut_export(tmp_path: Path, kept: float, reader: str) -> None:
    path = builder(2000).write(tmp_path / "cut.sqlite")
    whole = path.read_bytes()
    size = int(kept if kept >= 1 else kept * len(whole))
    path.write_bytes(whole[:size])
    there = f"{size:,}" if size < 100 else f"{size:,} of {len(whole):,}"
    assert refusal(path) == f"cut short, {there} bytes are there; export the report again"


@pytest.mark.parametrize("damage", [b"\0", b"\xff", b"\x0d"])
def test_damaged_pages(tmp_path: Path, damage: bytes, reader: str) -> None:
    path = builder(2000).write(tmp_path / "damaged.sqlite")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 4 * 3] + damage * (len(whole) - len(whole) // 4 * 3))
    said = refusal(path)
    assert said.startswith("damaged (")
    assert said.endswith("); export the report again")


def test_damaged_schema(report: Path) -> None:
    report.write_bytes(report.read_bytes().replace(b'CREATE TABLE "NVTX_EVENTS"', b"CREATE TABLE  NVTX EVENTS "))
    assert refusal(report).startswith("damaged (malformed database schema")


def test_versions(tmp_path: Path) -> None:
    with open_export(builder(schema="3.20.3").write(tmp_path / "new.sqlite")) as export:
        assert export.schema_version == "3.20.3"
        assert export.nsys_version is not None
    older = tables(
        tmp_path / "2022.sqlite",
        STRINGS,
        "CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT)",
        "INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_SCHEMA_VERSION', '2.9.1')",
    )
    with open_export(older) as export:
        assert (export.schema_version, export.nsys_version) == ("2.9.1", None)
    with open_export(tables(tmp_path / "2020.sqlite", STRINGS, "CREATE TABLE NVTX_EVENTS (start)")) as export:
        assert (export.schema_version, export.nsys_version) == (None, None)


def test_tables_are_found_under_a_versioned_name(tmp_path: Path) -> None:
    with open_export(builder(nvtx_table="NVTX_EVENTS_V2").write(tmp_path / "a.sqlite")) as export:
        assert export.table("NVTX_EVENTS") == "NVTX_EVENTS_V2"
        assert export.has("NVTX_EVENTS", "start", "end")
        assert not export.has("NVTX_EVENTS", "start", "finish")
        assert export.columns("NVTX_EVENTS", [text("text")]).texts["text"] == ["step"]
        assert export.rows("NVTX_EVENTS", "text") == [("step",)]
        assert export.table("NVTX_EVENTS_V") is None
        assert export.table("NVTX") is None


def test_the_plain_name_comes_before_versions_and_a_late_version_before_early_ones(tmp_path: Path) -> None:
    names = ("A_V2", "A_V10", "A_V9", "B_V2", "B", "C_v2")
    with open_export(tables(tmp_path / "a.sqlite", STRINGS, *(f"CREATE TABLE {name} (x)" for name in names))) as export:
        assert [export.table(name) for name in "ABC"] == ["A_V10", "B", None]


def test_views_and_virtual_tables_are_no_tables(tmp_path: Path, reader: str) -> None:
    path = tables(
        tmp_path / "a.sqlite",
        STRINGS,
        "CREATE TABLE NVTX_EVENTS (start, end)",
        f"CREATE VIEW {RUNTIME} AS SELECT 1 AS start, 2 AS end, randomblob(1000000000) AS correlationId",
        f"CREATE VIRTUAL TABLE {KERNEL} USING fts5(start, end)",
    )
    with open_export(path) as export:
        assert export.table(RUNTIME) is None
        assert export.table(KERNEL) is None
        assert export.rows(RUNTIME, "start") == []
        assert [rows.count for rows in export.read([TableRequest(RUNTIME, [Column("start")])])] == [0]


def test_generated_columns_are_not_evaluated(tmp_path: Path, reader: str) -> None:
    path = tables(
        tmp_path / "a.sqlite",
        STRINGS,
        f"CREATE TABLE {RUNTIME} (start INTEGER, end INTEGER AS (start * 2))",
        f"INSERT INTO {RUNTIME} VALUES (5)",
    )
    with open_export(path) as export:
        rows = export.columns(RUNTIME, [Column("start"), Column("end")])
    assert (rows["start"].tolist(), rows["end"].tolist()) == ([5], [-1])


def test_index_with_another_order(report: Path, reader: str) -> None:
    tables(report, f"CREATE INDEX users ON {KERNEL} (end DESC, start DESC)")
    with open_export(report) as export:
        rows = export.columns(KERNEL, [Column("start"), Column("end")])
    assert rows["start"].tolist() == [20, 70, 120]


def test_absent_table_and_absent_columns(report: Path, reader: str) -> None:
    wanted = [Column("start"), Column("nope", np.uint8, 7), coded("nowhere"), text("never")]
    with open_export(report) as export:
        some, none, count = export.read(
            [TableRequest(KERNEL, wanted), TableRequest("NO_SUCH_TABLE", wanted), TableRequest(KERNEL, wanted[1:])]
        )
    for rows, length in ((some, 3), (none, 0), (count, 3)):
        assert len(rows) == rows.count == length
        assert (rows["nope"].dtype, rows["nope"].tolist()) == (np.uint8, [7] * length)
        assert rows["nowhere"].tolist() == rows["never"].tolist() == [-1] * length
        assert (rows.values["nowhere"].dtype, rows.values["nowhere"].tolist(), rows.texts["never"]) == (
            np.int64,
            [],
            [],
        )
    assert some["start"].tolist() == [20, 70, 120]


def test_condition(report: Path, reader: str) -> None:
    with open_export(report) as export:
        rows = export.columns(KERNEL, [Column("start"), coded("globalPid")], (Among("start", (20, 70, 1000)),))
        assert rows["start"].tolist() == [20, 70]
        assert export.columns(KERNEL, [Column("nope")], (Among("start", (70, 120)),)).count == 2


def test_strings(tmp_path: Path) -> None:
    built = builder()
    ids = [built.string(value) for value in ("", "gemm", b"caf\xe9", "naïve", b"nul\0byte")]
    with open_export(built.write(tmp_path / "a.sqlite")) as export:
        found = export.strings(np.array([*ids, 12_345, -1, ids[0]]))
        assert found == dict(zip(ids, ["", "gemm", "caf\N{REPLACEMENT CHARACTER}", "naïve", "nul\0byte"], strict=True))
        assert export.strings([]) == {}
        assert export.strings(range(100_000)).items() >= found.items()


def test_rows_of_small_tables(tmp_path: Path) -> None:
    built = builder()
    built.capture(1000, options=[("A", "1"), ("A", "2")], environment={"NvDriverVersion": "570", "é": "ü"})
    with open_export(built.write(tmp_path / "a.sqlite")) as export:
        assert export.rows("META_DATA_CAPTURE", "value", "name", "more") == [("1", "A", None), ("2", "A", None)]
        assert export.rows("TARGET_INFO_SYSTEM_ENV", "name", "value") == [("NvDriverVersion", "570"), ("é", "ü")]
        assert export.rows("NO_SUCH_TABLE", "name") == []


def test_text_that_is_not_utf8_in_small_tables(tmp_path: Path) -> None:
    path = tables(
        tmp_path / "a.sqlite",
        STRINGS,
        "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT)",
        "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', CAST(x'ff41' AS TEXT))",
    )
    with open_export(path) as export:
        assert export.rows("TARGET_INFO_SYSTEM_ENV", "value") == [("\N{REPLACEMENT CHARACTER}A",)]


@pytest.mark.parametrize(
    "name", ["a b.sqlite", "50%25?mode=rw#x.sqlite", "quote'\".sqlite", "日本.sqlite", "-x.sqlite"]
)
def test_file_names(tmp_path: Path, name: str, reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    builder().write(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    with open_export((tmp_path / name).relative_to(tmp_path)) as export:
        assert export.columns(KERNEL, [Column("start")]).count == 3
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_file_and_folder_stay_untouched(report: Path, reader: str) -> None:
    report.chmod(0o444)
    before = report.read_bytes(), report.stat().st_mtime_ns, sorted(report.parent.iterdir())
    with open_export(report) as export:
        export.columns(KERNEL, [Column("start")])
        assert sorted(report.parent.iterdir()) == before[2]
    assert (report.read_bytes(), report.stat().st_mtime_ns, sorted(report.parent.iterdir())) == before


def test_export_left_in_wal_mode_without_its_wal_file(report: Path, reader: str) -> None:
    tables(report, "PRAGMA journal_mode = WAL")
    with open_export(report) as export:
        assert export.columns(KERNEL, [Column("start")]).count == 3
    assert list(report.parent.iterdir()) == [report]


def test_arrays_outlive_the_export(report: Path, reader: str) -> None:
    with open_export(report) as export:
        rows = export.columns(KERNEL, [Column("start")])
    rows["start"][:] += 1
    assert rows["start"].tolist() == [21, 71, 121]
