"""Reads tables through Python's own sqlite3: slower a row than Arrow, but cheap to start and of no mind about types."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from nsys_analyze.ingest.filling import Chunk, Codebook, WrongTypeError

if TYPE_CHECKING:
    import sqlite3

    from nsys_analyze.ingest.columns import Array, Column

BATCH_ROWS = 16_384
TEXT_BATCH_ROWS = 128  # as each may hold a text of megabytes


def read_chunk(connection: sqlite3.Connection, sql: str, chunk: Chunk) -> None:
    """Runs a query and stores its rows.

    Args:
        connection: Where to run it.
        sql: Selects the chunk's columns in order, text as BLOB.
        chunk: What to fill.

    Raises:
        UnsoundError: A value does not fit its column, or the rows not their room.
        sqlite3.Error: The file is damaged.
    """
    cursor = connection.execute(sql)
    size = TEXT_BATCH_ROWS if any(column.kind == "text" for column in chunk.columns) else BATCH_ROWS
    while rows := cursor.fetchmany(size):
        by_column = zip(*rows, strict=True)
        chunk.append([_encoded(column, values, chunk) for column, values in zip(chunk.columns, by_column, strict=True)])


def _encoded(column: Column, values: tuple[Any, ...], chunk: Chunk) -> Array:
    if column.kind == "integer":
        return _integers(column, values, chunk)
    book: Codebook = chunk.books[column.name]
    return np.fromiter(map(book.__getitem__, values), np.int32, len(values))


def _integers(column: Column, values: tuple[Any, ...], chunk: Chunk) -> Array:
    """Values as int64; array() takes integers only, so nothing is rounded or parsed on the way."""
    try:
        return np.frombuffer(array("q", values), np.int64)
    except TypeError:
        filled = [column.missing if value is None else value for value in values]
    try:
        return np.frombuffer(array("q", filled), np.int64)
    except TypeError:
        bad = next(value for value in filled if not isinstance(value, int))
        raise WrongTypeError(chunk.table, column.name, f"{type(bad).__name__} values where integers belong") from None
