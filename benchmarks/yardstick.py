"""What reading cannot beat by much: the columns the tool reads, summed inside SQLite. yardstick.py REPORT.

Every other time in these benchmarks is given as a ratio to this one, taken in the same run, so that numbers from
different machines, or from a busy one, can be compared.
"""

import argparse
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from nsys_analyze.ingest.columns import TableRequest
from nsys_analyze.ingest.events import CALL_COLUMNS, CALLS, KERNEL_COLUMNS, KERNELS
from nsys_analyze.ingest.export import open_export

REQUESTS = (TableRequest(CALLS, CALL_COLUMNS), TableRequest(KERNELS, KERNEL_COLUMNS))


def statements(report: Path) -> list[str]:
    """One query a table, over those of the tool's columns that the report has."""
    with open_export(report) as export:
        tables = {export.table(request.table): request.columns for request in REQUESTS}
        return [
            f"SELECT {', '.join(f'total({column.name})' for column in columns if export.has(table, column.name))}"
            f" FROM {table}"
            for table, columns in tables.items()
            if table is not None
        ]


class Sums(NamedTuple):
    """Seconds by the clock and of the processor."""

    wall: float
    cpu: float


def yardstick(report: Path, repeats: int = 3) -> Sums:
    """Best times of `repeats`."""
    queries = statements(report)
    times = []
    with closing(sqlite3.connect(f"{report.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        for _ in range(repeats):
            start, cpu = time.perf_counter(), time.process_time()
            for query in queries:
                connection.execute(query).fetchall()
            times.append(Sums(time.perf_counter() - start, time.process_time() - cpu))
    return Sums(min(each.wall for each in times), min(each.cpu for each in times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path, metavar="REPORT")
    taken = yardstick(parser.parse_args().report)
    print(f"{taken.wall:.3f} s, {taken.cpu:.3f} s of the processor, SQLite {sqlite3.sqlite_version}")


if __name__ == "__main__":
    main()
