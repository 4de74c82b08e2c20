"""Reads tables through ADBC's SQLite driver, several chunks at once: fast a row, but dear to import.

SQLite steps through a chunk without Python's lock, so threads scale. A chunk is one batch: the driver settles the type
of each column by the first batch of a query, so none can change later on.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

import adbc_driver_manager
import adbc_driver_sqlite
import pyarrow

from nsys_analyze.ingest.arrowarrays import encoded
from nsys_analyze.ingest.filling import Chunk, UnsoundError

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable

CHUNK_ROWS = 32_768
_MOST_WORKERS = 4


def read_chunks(uri: str, pending: deque[tuple[str, Chunk]], otherwise: Callable[[str, Chunk], None]) -> None:
    """Runs queries and stores their rows, in as many threads as there are processors, at most four.

    Args:
        uri: SQLite URI of the file.
        pending: Queries and the chunks they fill, of at most `CHUNK_ROWS` rows each; empty afterwards.
        otherwise: Reads a chunk that Arrow cannot, or says why nobody can; called in the worker's thread.
    """
    workers = min(_processors(), _MOST_WORKERS, len(pending))
    with ThreadPoolExecutor(workers) as pool:
        jobs = [pool.submit(_drain, uri, pending, otherwise) for _ in range(workers)]
        try:
            for job in jobs:
                job.result()
        finally:
            pending.clear()


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _drain(uri: str, pending: deque[tuple[str, Chunk]], otherwise: Callable[[str, Chunk], None]) -> None:
    with _ArrowConnection(uri) as connection:
        while True:
            try:
                sql, chunk = pending.popleft()
            except IndexError:
                return
            try:
                connection.read_chunk(sql, chunk)
            except (UnsoundError, adbc_driver_manager.Error, pyarrow.ArrowException, OSError):
                chunk.clear()
                otherwise(sql, chunk)


class _ArrowConnection:
    """One thread's connection."""

    def __init__(self, uri: str) -> None:
        with ExitStack() as opened:
            database = opened.enter_context(adbc_driver_sqlite.connect(uri))
            connection = opened.enter_context(adbc_driver_manager.AdbcConnection(database))
            self._statement = opened.enter_context(adbc_driver_manager.AdbcStatement(connection))
            self._statement.set_sql_query("PRAGMA trusted_schema = OFF")
            self._statement.execute_update()
            self._statement.set_options(**{adbc_driver_sqlite.StatementOptions.BATCH_ROWS.value: str(CHUNK_ROWS)})
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def read_chunk(self, sql: str, chunk: Chunk) -> None:
        self._statement.set_sql_query(sql)
        stream, _ = self._statement.execute_query()
        with pyarrow.RecordBatchReader.from_stream(stream) as batches:
            for batch in filter(len, batches):
                chunk.append([encoded(column, batch.column(i), chunk) for i, column in enumerate(chunk.columns)])
