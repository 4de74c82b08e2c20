"""Both readers, sqlite3's rows and Arrow's batches, give the same arrays and the same refusals."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsys_analyze.errors import ReportError
from nsys_analyze.ingest import arrowreader, reading, rowreader
from nsys_analyze.ingest.columns import Among, Column, Rows, TableRequest, coded, text
from nsys_analyze.ingest.export import open_export

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

INT64 = np.iinfo(np.int64)
COLUMNS = [Column("a", missing=INT64.min), Column("b", np.int16, -7), coded("c"), text("d")]
CHUNK_ROWS = 4
CONDITIONS = [(), (Among("b", (1, 2, 3)),), (Among("a", None), Among("c", (0, 1))), (Among("d", None),)]

integers = st.one_of(st.none(), st.integers(-3, 3), st.integers(INT64.min + 1, INT64.max))
shorts = st.one_of(st.none(), st.integers(-32768, 32767))
texts = st.one_of(st.none(), st.sampled_from(["", "step", "naïve"]), st.binary(max_size=4))
table_rows = st.lists(st.tuples(integers, shorts, integers, texts), max_size=5 * CHUNK_ROWS)


@pytest.fixture(autouse=True, scope="module")
def small_chunks() -> Iterable[None]:
    """Many chunks and batches of few rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrowreader, "CHUNK_ROWS", CHUNK_ROWS)
        patch.setattr(rowreader, "BATCH_ROWS", 3)
        yield


def write(path: Path, rows: Sequence[Sequence[Any]], rowids: Sequence[int] | None = None, affinity: str = "") -> Path:
    """Writes table T; bytes go in as text, whatever they hold."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
        connection.execute(f"CREATE TABLE T (a {affinity}, b {affinity}, c {affinity}, d TEXT)")
        connection.execute("BEGIN")
        for rowid, row in zip(rowids or range(1, len(rows) + 1), rows, strict=True):
            values = "?, ?, ?, ?, CAST(? AS TEXT)"
            connection.execute(f"INSERT INTO T (rowid, a, b, c, d) VALUES ({values})", (rowid, *row))
        connection.execute("COMMIT")
    return path


def read(path: Path, reader: str, columns: Sequence[Column] = COLUMNS, where: tuple[Among, ...] = ()) -> Rows:
    with pytest.MonkeyPatch.context() as patch, open_export(path) as export:
        patch.setattr(reading, "ARROW_ROWS", 1 if reader == "arrow" else 10**9)
        return export.read([TableRequest("T", columns, where)])[0]


def plain(rows: Rows) -> dict[str, Any]:
    """Everything a `Rows` holds, for comparing."""
    arrays = {name: (array.dtype, array.tolist()) for name, array in rows.arrays.items()}
    values = {name: (array.dtype, array.tolist()) for name, array in rows.values.items()}
    return {"count": rows.count, "arrays": arrays, "values": values, "texts": rows.texts}


def expected(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    def decoded(value: str | bytes | None) -> str | None:
        return value.decode(errors="replace") if isinstance(value, bytes) else value

    return [(INT64.min if a is None else a, -7 if b is None else b, c, decoded(d)) for a, b, c, d in rows]


def joined(rows: Rows) -> list[tuple[Any, ...]]:
    c = [None if code < 0 else int(rows.values["c"][code]) for code in rows["c"].tolist()]
    d = [None if code < 0 else rows.texts["d"][code] for code in rows["d"].tolist()]
    return list(zip(rows["a"].tolist(), rows["b"].tolist(), c, d, strict=True))


def refusals(path: Path, columns: Sequence[Column] = COLUMNS) -> str:
    said = []
    for reader in ("sqlite3", "arrow"):
        with pytest.raises(ReportError) as refused:
            read(path, reader, columns)
        said.append(str(refused.value))
    assert said[0] == said[1]
    return said[0]


@given(rows=table_rows, gaps=st.data())
def test_readers_agree_with_each_other_and_with_the_table(rows: list[Any], gaps: st.DataObject) -> None:
    first = gaps.draw(st.sampled_from([1, 0, -9, 1000]))
    steps = gaps.draw(st.lists(st.sampled_from([1, 1, 1, 2, 11]), min_size=len(rows), max_size=len(rows)))
    rowids = (first + np.cumsum(steps)).tolist()
    where = gaps.draw(st.sampled_from(CONDITIONS))
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "t.sqlite", rows, rowids)
        by_rows, by_arrow = (read(path, reader, where=where) for reader in ("sqlite3", "arrow"))
    assert plain(by_rows) == plain(by_arrow)
    if not where:
        assert joined(by_arrow) == expected(rows)
    for column in ("c", "d"):
        codes = by_arrow[column].tolist()
        used = [code for code in dict.fromkeys(codes) if code >= 0]
        assert used == list(range(len(used))), "codes are in order of first appearance"
        distinct = by_arrow.values["c"].tolist() if column == "c" else by_arrow.texts["d"]
        assert len(distinct) == len(set(distinct)) == len(used)


def test_types_of_the_arrays(tmp_path: Path) -> None:
    path = write(tmp_path / "t.sqlite", [(n, n, n, str(n)) for n in range(200)])
    for reader in ("sqlite3", "arrow"):
        rows = read(path, reader)
        assert [rows[name].dtype for name in "abcd"] == [np.int64, np.int16, np.int16, np.int16]
        assert rows.values["c"].dtype == np.int64
        rows = read(path, reader, where=(Among("c", tuple(range(128))),))
        assert [rows[name].dtype for name in "cd"] == [np.int8, np.int8]


def test_sparse_rowids(tmp_path: Path) -> None:
    rows = [(1, 2, 3, "x"), (4, 5, 6, "y"), (7, 8, 9, None)]
    path = write(tmp_path / "t.sqlite", rows, [INT64.min, 5, INT64.max])
    assert joined(read(path, "sqlite3")) == joined(read(path, "arrow")) == rows
    assert read(path, "arrow", where=(Among("a", (4, 7)),)).count == 2


def test_null_until_the_last_chunk(tmp_path: Path) -> None:
    rows = [(None, None, None, None)] * 3 * CHUNK_ROWS + [(1, 2, 3, b"text")]
    path = write(tmp_path / "t.sqlite", rows)
    assert joined(read(path, "sqlite3")) == joined(read(path, "arrow")) == expected(rows)


@pytest.mark.parametrize("at", [0, 1, CHUNK_ROWS, 4 * CHUNK_ROWS - 1])
@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("a", 1.5, "T.a holds float values where integers belong"),
        ("a", "12", "T.a holds str values where integers belong"),
        ("a", b"\x01", "T.a holds bytes values where integers belong"),
        ("a", "2024-01-01", "T.a holds str values where integers belong"),
        ("b", 1e300, "T.b holds float values where integers belong"),
        ("b", 32768, "T.b holds 32768, which is out of range"),
        ("b", -32769, "T.b holds -32769, which is out of range"),
        ("c", 1.5, "T.c holds float values where integers belong"),
        ("c", "main", "T.c holds str values where integers belong"),
    ],
)
def test_type_that_changes_in_the_table(tmp_path: Path, at: int, column: str, value: Any, said: str) -> None:
    rows: list[list[Any]] = [[n, n, n, "x"] for n in range(4 * CHUNK_ROWS)]
    rows[at]["abc".index(column)] = value
    path = write(tmp_path / "t.sqlite", rows)
    assert refusals(path) == f"{path}: {said}; export the report again"


def test_integers_kept_as_text_or_real_by_another_tool_are_integers_again_by_affinity(tmp_path: Path) -> None:
    path = write(tmp_path / "t.sqlite", [("12", 3.0, "-4", 5)], affinity="INTEGER")
    assert joined(read(path, "sqlite3")) == joined(read(path, "arrow")) == [(12, 3, -4, "5")]


def test_text_in_a_column_without_type(tmp_path: Path) -> None:
    path = write(tmp_path / "t.sqlite", [("x", 1, 1, ""), (5, 1, 1, ""), (2.5, 1, 1, ""), (b"\xff", 1, 1, "")])
    for reader in ("sqlite3", "arrow"):
        rows = read(path, reader, [text("a")])
        assert rows.texts["a"] == ["x", "5", "2.5", "\N{REPLACEMENT CHARACTER}"]


def test_bytes_that_decode_alike_are_one_text(tmp_path: Path) -> None:
    path = write(tmp_path / "t.sqlite", [(1, 1, 1, b"\xff"), (1, 1, 1, b"\xfe"), (1, 1, 1, b"a\0b")])
    for reader in ("sqlite3", "arrow"):
        rows = read(path, reader)
        assert rows.texts["d"] == ["\N{REPLACEMENT CHARACTER}", "a\0b"]
        assert rows["d"].tolist() == [0, 0, 1]


def test_unsigned_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "t.sqlite", [(2**32 - 1, 0, 0, ""), (None, 0, 0, "")])
    for reader in ("sqlite3", "arrow"):
        rows = read(path, reader, [Column("a", np.uint32, missing=0)])
        assert (rows["a"].dtype, rows["a"].tolist()) == (np.uint32, [2**32 - 1, 0])
    assert refusals(path, [Column("a", np.int32)]) == (
        f"{path}: T.a holds 4294967295, which is out of range; export the report again"
    )


def test_missing_must_fit_the_type() -> None:
    with pytest.raises(ValueError, match="start: missing=-1 does not fit uint32"):
        Column("start", np.uint32)


def test_arrow_is_for_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def used(*_: object) -> None:
        raise AssertionError("Arrow")

    path = write(tmp_path / "t.sqlite", [(1, 1, 1, "")] * 10)
    monkeypatch.setattr(arrowreader, "read_chunks", used)
    with open_export(path) as export:
        monkeypatch.setattr(reading, "ARROW_ROWS", 21)
        assert [rows.count for rows in export.read([TableRequest("T", COLUMNS)] * 2)] == [10, 10]
        monkeypatch.setattr(reading, "ARROW_ROWS", 20)
        with pytest.raises(AssertionError, match="Arrow"):
            export.read([TableRequest("T", COLUMNS)] * 2)


def test_interrupt_stops_the_other_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_first: list[str] = []

    def interrupted(_: object, sql: str, __: object) -> None:
        read_first.append(sql)
        raise KeyboardInterrupt

    path = write(tmp_path / "t.sqlite", [(1, 1, 1, "")] * 100 * CHUNK_ROWS)
    monkeypatch.setattr(arrowreader._ArrowConnection, "read_chunk", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read(path, "arrow")
    assert len(read_first) <= 4
