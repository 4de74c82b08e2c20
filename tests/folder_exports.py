"""SQLite exports as folders, in the layout of `nsys export --type parquetdir` and `arrowdir`.

As nsys 2023.4 writes them: a file a table, named after it; Parquet of version 1.0, not compressed, in several row
groups; Arrow as a stream. Columns are the same as in SQLite, but ids and counts are unsigned and flags are booleans.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pyarrow
from pyarrow import ipc, parquet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SUFFIXES = (".parquet", ".arrow")
_FLAGS = ("isSchedIn", "unresolved", "kernelMode", "thumbCode", "specialEntry")
_ROWS = 1000  # in a row group or a batch


def as_folder(export: Path, folder: Path, suffix: str, *, rows: int = _ROWS) -> Path:
    """Writes the tables of a SQLite export to a new folder."""
    folder.mkdir()
    with closing(sqlite3.connect(f"{export.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        connection.text_factory = bytes
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for name in [raw.decode() for (raw,) in names]:
            write_table(folder / f"{name}{suffix}", _table(connection, name), rows)
    return folder


def write_table(path: Path, table: pyarrow.Table, rows: int = _ROWS) -> None:
    if path.suffix == ".parquet":
        parquet.write_table(table, path, version="1.0", compression="NONE", row_group_size=rows)
    else:
        with ipc.new_stream(str(path), table.schema) as stream:
            stream.write_table(table, max_chunksize=rows)


def _table(connection: sqlite3.Connection, name: str) -> pyarrow.Table:
    cursor = connection.execute(f'SELECT * FROM "{name}" ORDER BY rowid')
    columns = [described[0] for described in cursor.description]
    values = zip(*found, strict=True) if (found := cursor.fetchall()) else ([] for _ in columns)
    return pyarrow.table([_array(*each) for each in zip(columns, values, strict=True)], names=columns)


def _array(column: str, values: Sequence[Any]) -> pyarrow.Array:
    there = [value for value in values if value is not None]
    if any(isinstance(value, bytes) for value in there):  # text, which is not always UTF-8
        return pyarrow.array(values, pyarrow.binary()).view(pyarrow.string())
    if column in _FLAGS:
        return pyarrow.array([None if value is None else bool(value) for value in values], pyarrow.bool_())
    if any(isinstance(value, float) for value in there):
        return pyarrow.array(values, pyarrow.float64())
    signed = pyarrow.array(values, pyarrow.int64())
    if column.startswith("global"):
        return signed.view(pyarrow.uint64())
    narrow = column not in ("start", "end") and min(there, default=0) >= 0 and max(there, default=0) < 2**32
    return signed.cast(pyarrow.uint32()) if narrow else signed
