"""Compares ways to read a report's API calls and kernels into arrays: readers.py REPORT [READER ...].

Each way runs in a process of its own, and all take turns, several times over; all fill the same arrays. "read" and
"CPU" are the best time and the median processor time, as ratios to the yardstick's in the same processes; on a machine
that does other work too, trust the latter. "start" is what importing the libraries costs; "peak" is the process's peak
memory, interpreter and libraries included. Other numbers are the best of all runs.
"""

import argparse
import importlib
import itertools
import json
import resource
import statistics
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from yardstick import REQUESTS, yardstick

from nsys_analyze.ingest import reading, rowreader
from nsys_analyze.ingest.export import open_export
from nsys_analyze.ingest.filling import Chunk, Filling
from nsys_analyze.ingest.reading import Selection, select

Job = tuple[Selection, Filling, range]


def jobs(report: Path) -> list[Job]:
    """The tables to read, with room for their rows."""
    found = []
    with open_export(report) as export:
        for request in REQUESTS:
            table = export.table(request.table)
            if table is None:
                continue
            selection = select(request, table, export.tables[table])
            first, last = export._connection.execute(f"SELECT min(rowid), max(rowid) FROM {table}").fetchone()
            span = range(first, last + 1)
            found.append((selection, Filling(table, selection.columns, len(span), report.stat().st_size), span))
    return found


def uri(report: Path) -> str:
    return f"{report.absolute().as_uri()}?mode=ro&immutable=1"


def product(report: Path) -> None:
    """What the tool does."""
    with open_export(report) as export:
        export.read(REQUESTS)


def sqlite3_rows(report: Path, batch: int = rowreader.BATCH_ROWS) -> None:
    """Python's sqlite3: fetchmany, transposed, each column through array.array."""
    rowreader.BATCH_ROWS = batch
    with closing(reading.connect(report)) as connection:
        for selection, filling, _ in jobs(report):
            rowreader.read_chunk(connection, selection.sql(), filling.chunk(0))
            filling.finish()


def flat(rows: Iterator[tuple[Any, ...]], selection: Selection, filling: Filling) -> None:
    """Rows without NULLs, as one flat array."""
    chunk, width = filling.chunk(0), len(selection.columns)
    while len(batch := np.fromiter(itertools.chain.from_iterable(itertools.islice(rows, 65_536)), np.int64)):
        store(batch.reshape(-1, width).T, chunk)


def store(columns: Sequence[Any], chunk: Chunk) -> None:
    """Stores int64 columns; coded ones go through np.unique."""
    chunk.append(
        [encoded(values, chunk.books.get(column.name)) for column, values in zip(chunk.columns, columns, strict=True)]
    )


def encoded(values: Any, book: Any) -> Any:
    if book is None:
        return values
    distinct, codes = np.unique(values, return_inverse=True)
    return np.array([book[value] for value in distinct.tolist()], np.int32)[codes]


def without_null(selection: Selection) -> str:
    """The query with NULL as -1, for readers that know integers only."""
    names = ", ".join(f"coalesce({column.name}, -1)" for column in selection.columns)
    return f"SELECT {names} FROM {selection.table} ORDER BY rowid"


def sqlite3_flat(report: Path) -> None:
    """Python's sqlite3: np.fromiter over the chained rows."""
    with closing(reading.connect(report)) as connection:
        for selection, filling, _ in jobs(report):
            flat(connection.execute(without_null(selection)), selection, filling)
            filling.finish()


def sqlite3_struct(report: Path) -> None:
    """Python's sqlite3: each row packed by struct."""
    with closing(reading.connect(report)) as connection:
        for selection, filling, _ in jobs(report):
            width = len(selection.columns)
            pack = struct.Struct(f"={width}q").pack
            rows, chunk = connection.execute(without_null(selection)), filling.chunk(0)
            while packed := b"".join(itertools.starmap(pack, itertools.islice(rows, 65_536))):
                store(np.frombuffer(packed, np.int64).reshape(-1, width).T, chunk)
            filling.finish()


def sqlite3_text(report: Path) -> None:
    """Python's sqlite3: SQLite joins 1,000 rows into one text a column, NumPy parses it."""
    with closing(reading.connect(report)) as connection:
        for selection, filling, _ in jobs(report):
            names = ", ".join(f"group_concat(coalesce({column.name}, -1))" for column in selection.columns)
            chunk = filling.chunk(0)
            for texts in connection.execute(f"SELECT {names} FROM {selection.table} GROUP BY rowid / 1000"):
                store([np.fromstring(text, np.int64, sep=",") for text in texts], chunk)
            filling.finish()


def apsw_flat(report: Path) -> None:
    """APSW without SQLite's mutexes: np.fromiter over the chained rows."""
    import apsw

    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOMUTEX
    with closing(apsw.Connection(uri(report), flags=flags)) as connection:
        for selection, filling, _ in jobs(report):
            flat(connection.execute(without_null(selection)), selection, filling)
            filling.finish()


def duckdb_scan(report: Path) -> None:
    """DuckDB's SQLite scanner (not in its wheel: it must have been installed into DuckDB before)."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("LOAD sqlite_scanner")
        for selection, filling, _ in jobs(report):
            names = ", ".join(f'coalesce("{column.name}", -1) AS "{column.name}"' for column in selection.columns)
            found = connection.execute(f"SELECT {names} FROM sqlite_scan('{report}', '{selection.table}')").fetchnumpy()
            store([found[column.name] for column in selection.columns], filling.chunk(0))
            filling.finish()


def adbc(report: Path, *, batch: int, span: int | None, threads: int) -> None:
    """ADBC: queries over `span` rowids each (None: the whole table), `batch` rows a batch."""
    from nsys_analyze.ingest import arrowreader

    arrowreader.CHUNK_ROWS = batch
    tables = jobs(report)
    pending: deque[tuple[str, Chunk]] = deque()
    for selection, filling, rowids in tables:
        for start in range(0, len(rowids), span or len(rowids)):
            part = rowids[start : start + span] if span else None
            pending.append((selection.sql(part), filling.chunk(start)))
    with ThreadPoolExecutor(threads) as pool:
        for job in [pool.submit(arrowreader._drain, uri(report), pending, refused) for _ in range(threads)]:
            job.result()
    for _, filling, _ in tables:
        filling.finish()


def refused(sql: str, _: Chunk) -> None:
    raise RuntimeError(f"ADBC could not run {sql}")


@dataclass(frozen=True)
class Reader:
    read: Callable[..., None]
    options: dict[str, Any] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()


ARROW = ("pyarrow.compute", "adbc_driver_sqlite")
READERS = {
    "tool": Reader(product, libraries=ARROW),
    "sqlite3": Reader(sqlite3_rows),
    "sqlite3, 1,000 rows": Reader(sqlite3_rows, {"batch": 1000}),
    "sqlite3, 65,536 rows": Reader(sqlite3_rows, {"batch": 65_536}),
    "sqlite3, flat": Reader(sqlite3_flat),
    "sqlite3, struct": Reader(sqlite3_struct),
    "sqlite3, text": Reader(sqlite3_text),
    "apsw, flat": Reader(apsw_flat, libraries=("apsw",)),
    "duckdb": Reader(duckdb_scan, libraries=("duckdb",)),
}
for threads, batch in itertools.product((1, 2), (1024, 65_536)):
    options = {"batch": batch, "span": None, "threads": threads}
    READERS[f"adbc, {threads} at once, whole tables, batches of {batch:,}"] = Reader(adbc, options, ARROW)
for span in (8192, 32_768, 131_072):
    options = {"batch": span, "span": span, "threads": 2}
    READERS[f"adbc, 2 at once, parts of {span:,}"] = Reader(adbc, options, ARROW)


def measure(reader: str, report: Path) -> None:
    """Runs one reader in this process, and prints what it took as JSON."""
    chosen = READERS[reader]
    unit, cpu_unit = yardstick(report, repeats=1)
    start = time.perf_counter()
    for library in chosen.libraries:
        importlib.import_module(library)
    imported, cpu_before = time.perf_counter(), time.process_time()
    chosen.read(report, **chosen.options)
    done, cpu = time.perf_counter(), time.process_time() - cpu_before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    times = {"unit": unit, "start": imported - start, "read": done - imported, "cpu": cpu / cpu_unit}
    print(json.dumps(times | {"peak": peak}))


def compare(report: Path, readers: Sequence[str], runs: int) -> None:
    taken: dict[str, list[dict[str, float]]] = {reader: [] for reader in readers}
    for _, reader in itertools.product(range(runs), readers):
        command = [sys.executable, __file__, str(report), "--measure", reader]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{reader}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        else:
            taken[reader].append(json.loads(done.stdout))
    unit = min(run["unit"] for run in itertools.chain.from_iterable(taken.values()))
    print(f"yardstick {unit:.3f} s", "", "| reader | read | CPU | start, s | read, s | peak, MB |", sep="\n")
    print("| --- | --- | --- | --- | --- | --- |")
    for reader, times in taken.items():
        if times:
            start, read, peak = (min(run[key] for run in times) for key in ("start", "read", "peak"))
            cpu = statistics.median(run["cpu"] for run in times)
            print(f"| {reader} | {read / unit:.2f} | {cpu:.2f} | {start:.2f} | {read:.2f} | {peak:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path, metavar="REPORT")
    parser.add_argument("readers", nargs="*", metavar="READER", help=f"of: {'; '.join(READERS)}")
    parser.add_argument("--runs", type=int, default=5, help="how often each reader runs (5)")
    parser.add_argument("--measure", metavar="READER", help="run one reader in this process")
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure, arguments.report)
    else:
        compare(arguments.report, arguments.readers or list(READERS), arguments.runs)


if __name__ == "__main__":
    main()
