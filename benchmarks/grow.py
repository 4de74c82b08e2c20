"""Repeats a report in time, to measure on: grow.py REPORT TIMES OUT.

Each copy comes one capture later, with correlation and range ids of its own, so joins, nesting and order stay as real
as in the report. Definitions (strings, domains, categories, graphs, metadata) stay single.
"""

import argparse
import sqlite3
from contextlib import closing
from pathlib import Path

SINGLE_TABLES = ("CUDA_GRAPH_EVENTS", "CUDA_GRAPH_NODE_EVENTS", "DIAGNOSTIC_EVENT")
DEFINITIONS = "33, 39, 75, 76"  # NVTX event types: category, thread name, domain create and destroy
OWN_IDS = ("correlationId", "rangeId")
ID_LIMITS = {"correlationId": 2**32, "rangeId": 2**63}


def grow(report: Path, times: int, out: Path) -> dict[str, int]:
    """Writes `report` repeated `times` times to `out`; gives the rows of each repeated table."""
    unfinished = out.with_name(out.name + ".part")
    unfinished.write_bytes(report.read_bytes())
    with closing(sqlite3.connect(unfinished, isolation_level=None)) as grown:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -200000"):
            grown.execute(f"PRAGMA {pragma}")
        grown.execute("ATTACH ? AS source", (str(report),))
        tables = repeated_tables(grown)
        shift = capture_length(grown, tables)
        strides = {column: stride(grown, tables, column, times) for column in OWN_IDS}
        grown.execute("BEGIN")
        for copy in range(1, times):
            for table, columns in tables.items():
                shifted = [expression(column, columns, shift * copy, strides, copy) for column in columns]
                names = ", ".join(quoted(column) for column in columns)
                condition = f"WHERE eventType NOT IN ({DEFINITIONS})" if table.startswith("NVTX_EVENTS") else ""
                grown.execute(
                    f"INSERT INTO main.{quoted(table)} ({names})"
                    f" SELECT {', '.join(shifted)} FROM source.{quoted(table)} {condition} ORDER BY rowid"
                )
        lengthen(grown, shift * (times - 1))
        grown.execute("COMMIT")
        counts = {table: grown.execute(f"SELECT count(*) FROM main.{quoted(table)}").fetchone()[0] for table in tables}
    unfinished.rename(out)
    return counts


def repeated_tables(grown: sqlite3.Connection) -> dict[str, list[str]]:
    """Columns of the tables that hold events: those with a start, and no key of their own."""
    tables = {}
    for (table,) in grown.execute("SELECT name FROM source.sqlite_master WHERE type = 'table'").fetchall():
        described = grown.execute("SELECT name, pk FROM pragma_table_info(?, 'source')", (table,)).fetchall()
        columns = [name for name, _ in described]
        if "start" in columns and not any(key for _, key in described) and table not in SINGLE_TABLES:
            tables[table] = columns
    return tables


def capture_length(grown: sqlite3.Connection, tables: dict[str, list[str]]) -> int:
    """Nanoseconds from the first event to the last, times of 0 to 0 (not measured) left out."""
    first, last = [], []
    for table, columns in tables.items():
        end = "coalesce(end, start)" if "end" in columns else "start"
        low, high = grown.execute(
            f"SELECT min(start), max({end}) FROM source.{quoted(table)} WHERE start != 0 OR {end} != 0"
        ).fetchone()
        if low is not None:
            first.append(low)
            last.append(high)
    return max(last) - min(first) + 1


def stride(grown: sqlite3.Connection, tables: dict[str, list[str]], column: str, times: int) -> int:
    """How far ids of one copy lie from the next copy's."""
    with_ids = [table for table, columns in tables.items() if column in columns]
    found = (grown.execute(f"SELECT max({column}) FROM source.{quoted(table)}").fetchone()[0] for table in with_ids)
    step = 1 + max((highest for highest in found if highest is not None), default=0)
    if step * times > ID_LIMITS[column]:
        raise SystemExit(f"{column}: only {ID_LIMITS[column] // step} copies have room for ids of their own")
    return step


def expression(column: str, columns: list[str], shift: int, strides: dict[str, int], copy: int) -> str:
    if column in ("start", "end"):
        measured = " AND (start != 0 OR end != 0)" if "end" in columns else ""
        return f"CASE WHEN {column} IS NOT NULL{measured} THEN {column} + {shift} ELSE {column} END"
    if column in strides:
        return f"CASE WHEN {column} > 0 THEN {column} + {strides[column] * copy} ELSE {column} END"
    return quoted(column)


def lengthen(grown: sqlite3.Connection, by: int) -> None:
    if grown.execute("SELECT 1 FROM main.sqlite_master WHERE name = 'ANALYSIS_DETAILS'").fetchone():
        grown.execute("UPDATE main.ANALYSIS_DETAILS SET duration = duration + ?1, stopTime = stopTime + ?1", (by,))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path, metavar="REPORT")
    parser.add_argument("times", type=int, metavar="TIMES")
    parser.add_argument("out", type=Path, metavar="OUT")
    arguments = parser.parse_args()
    if arguments.times < 1:
        parser.error("TIMES is at least 1")
    for table, rows in grow(arguments.report, arguments.times, arguments.out).items():
        print(f"{rows:12,}  {table}")


if __name__ == "__main__":
    main()
