"""Reads tables into arrays: plans what to select, and picks the reader that is quicker for so many rows."""

from __future__ import annotations

import sqlite3
from collections import deque
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nsys_analyze.ingest.columns import Among, Column, Rows, TableRequest
from nsys_analyze.ingest.filling import TOO_LONG, Chunk, Filling, TooMuchError, absent
from nsys_analyze.ingest.rowreader import read_chunk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ARROW_ROWS = 60_000  # in all tables together; fewer are read before Arrow would have been imported
_LEAST_ROW_BYTES = 8
_LONGEST_VALUE = 8 * 2**20  # bytes
_LONGEST_TEXT = 16_384  # characters that Arrow is asked for, as it takes a whole chunk at once
_STEPS = 1_000_000  # of SQLite's machine, between two looks at how many there were
_LOOKS, _LOOKS_PER_MB = 100, 100  # a sound file takes less than 10 steps a byte in all


@dataclass(frozen=True, slots=True)
class Selection:
    """What to read, now that the table's real name and columns are known.

    Attributes:
        table: The table's real name, or None where there is none.
        columns: Those of the wanted columns that the table has.
        lacking: The others.
        where: Conditions on the rows.
    """

    table: str | None
    columns: Sequence[Column]
    lacking: Sequence[Column]
    where: tuple[Among, ...]

    def sql(self, span: range | None = None, longest: int | None = None) -> str:
        """The query for the rows of a rowid span, or for all, in the table's order.

        A text of more than `longest` characters becomes `TOO_LONG`.
        """
        selected = ", ".join(_expression(column, longest) for column in self.columns)
        spans = [] if span is None else [f"rowid BETWEEN {span[0]} AND {span[-1]}"]
        return f"SELECT {selected} FROM {quoted(self.table or '')}{self._where(spans)} ORDER BY rowid"

    def sql_count(self) -> str:
        """The query for the number of rows; the LIMIT makes SQLite take them step by step, and so see a limit."""
        return f"SELECT count(*) FROM (SELECT 1 FROM {quoted(self.table or '')}{self._where([])} LIMIT -1)"

    def _where(self, more: list[str]) -> str:
        conditions = [*map(_condition, self.where), *more]
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""


@dataclass(frozen=True, slots=True)
class _Job:
    """A table being read; `span` holds its rowids where they are numbers in a row, as nsys makes them."""

    selection: Selection
    filling: Filling
    span: range | None


def select(request: TableRequest, table: str | None, columns: Sequence[str]) -> Selection:
    """Splits the wanted columns into those that the table has and those that it lacks."""
    there = [column for column in request.columns if column.name in columns]
    lacking = [column for column in request.columns if column.name not in columns]
    return Selection(table, there, lacking, request.where)


def read_selections(path: Path, connection: sqlite3.Connection, selections: Sequence[Selection]) -> list[Rows]:
    """Reads tables of one file.

    Args:
        path: The file.
        connection: The file, opened by `connect`.
        selections: What to read.

    Raises:
        UnsoundError: A column holds what its wanted type cannot, or a table more than there is room for.
        sqlite3.Error: The file is damaged.
    """
    jobs = [_started(path, connection, selection) for selection in selections]
    by_rows = [job for job in jobs if job.selection.columns]
    dense = [job for job in by_rows if job.span is not None]
    if sum(job.filling.capacity for job in dense) >= ARROW_ROWS:
        by_rows = [job for job in by_rows if job.span is None]
        for job in dense:
            _check_end(connection, job)
        _fill_in_parallel(path, dense)
    for job in by_rows:
        read_chunk(connection, job.selection.sql(), job.filling.chunk(0))
    return [finished(job.selection, job.filling) for job in jobs]


def connect(path: Path) -> sqlite3.Connection:
    """Opens a file so that nothing is written to it or beside it, its schema is not trusted, and no query is endless.

    Raises:
        sqlite3.Error: It cannot be opened.
    """
    connection = sqlite3.connect(_uri(path), uri=True, isolation_level=None)
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    connection.execute("PRAGMA trusted_schema = OFF")
    limit(connection, path)
    return connection


def limit(connection: sqlite3.Connection, path: Path) -> None:
    """Keeps queries on a file from taking more time or memory than a sound file of its size could need.

    What goes on for too long ends as `sqlite3.OperationalError`, "interrupted"; too long a value as
    `sqlite3.DataError`. Steps of SQLite's machine are counted, not seconds, so that a slow disk changes nothing.
    """
    left = _LOOKS + _LOOKS_PER_MB * path.stat().st_size // 2**20

    def look() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    connection.set_progress_handler(look, _STEPS)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)


def quoted(name: str) -> str:
    """A name as SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _started(path: Path, connection: sqlite3.Connection, selection: Selection) -> _Job:
    table = selection.table
    size = path.stat().st_size
    if table is None:
        return _Job(selection, Filling("", (), 0, size), None)
    span = _dense_rowids(size, connection, table) if selection.columns else None
    capacity = connection.execute(selection.sql_count()).fetchone()[0] if span is None else len(span)
    if capacity > size:
        raise TooMuchError(table, "rows")
    filling = Filling(table, selection.columns, capacity, size)
    if not selection.columns:
        filling.chunk(0).count = capacity
    return _Job(selection, filling, span)


def _check_end(connection: sqlite3.Connection, job: _Job) -> None:
    """Counts a table of which Arrow is to read some rows only: it could search one without an end for ever."""
    if job.selection.where:
        sql = f"SELECT count(*) FROM (SELECT 1 FROM {quoted(job.filling.table)} LIMIT {job.filling.capacity + 1})"
        if connection.execute(sql).fetchone()[0] > job.filling.capacity:
            raise TooMuchError(job.filling.table, "rows")


def _dense_rowids(size: int, connection: sqlite3.Connection, table: str) -> range | None:
    """A table's rowids, or None if they are so sparse that the file could not hold a row for each."""
    sql = f"SELECT (SELECT min(rowid) FROM {quoted(table)}), (SELECT max(rowid) FROM {quoted(table)})"
    first, last = connection.execute(sql).fetchone()
    if first is None:
        return range(0)
    return range(first, last + 1) if last - first < size // _LEAST_ROW_BYTES else None


def _fill_in_parallel(path: Path, jobs: Sequence[_Job]) -> None:
    from nsys_analyze.ingest.arrowreader import CHUNK_ROWS, read_chunks

    plain: dict[str, str] = {}

    def otherwise(sql: str, chunk: Chunk) -> None:
        with closing(connect(path)) as connection:
            read_chunk(connection, plain[sql], chunk)

    pending: deque[tuple[str, Chunk]] = deque()
    for job in jobs:
        span = job.span or range(0)
        for start in range(0, len(span), CHUNK_ROWS):
            part = span[start : start + CHUNK_ROWS]
            sql = job.selection.sql(part, _LONGEST_TEXT)
            plain[sql] = job.selection.sql(part)
            pending.append((sql, job.filling.chunk(start, len(part))))
    read_chunks(_uri(path), pending, otherwise)


def _condition(among: Among) -> str:
    column = quoted(among.column)
    return f"{column} IS NULL" if among.values is None else f"{column} IN ({','.join(map(str, among.values))})"


def finished(selection: Selection, filling: Filling) -> Rows:
    """What was read, with the columns that the table lacks.

    Raises:
        WrongTypeError: A coded column holds something else than integers.
    """
    rows = filling.finish()
    lacking = absent(selection.lacking, rows.count)
    return Rows(rows.count, rows.arrays | lacking.arrays, rows.values | lacking.values, rows.texts | lacking.texts)


def _uri(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"


def _expression(column: Column, longest: int | None) -> str:
    name = quoted(column.name)
    if column.kind != "text":
        return name
    text = f"CAST({name} AS BLOB)"
    return text if longest is None else f"iif(length({name}) > {longest}, x'{TOO_LONG.hex()}', {text})"
