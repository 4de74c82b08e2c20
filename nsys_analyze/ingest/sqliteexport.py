"""An Nsight Systems export in one SQLite file."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from nsys_analyze.errors import ReportError
from nsys_analyze.ingest.columns import Rows, TableRequest
from nsys_analyze.ingest.export import Export
from nsys_analyze.ingest.filling import TextRoom, UnsoundError
from nsys_analyze.ingest.reading import connect, quoted, read_selections
from nsys_analyze.ingest.refusal import cut_short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_STRINGS_A_QUERY = 10_000
_ROWID = frozenset(("rowid", "_rowid_", "oid"))  # what SQLite calls the number of a row, unless a column is called so


class SqliteExport(Export):
    """A SQLite export, opened read-only and as it is: nothing is written to it or beside it."""

    def __init__(self, path: Path, named: str) -> None:
        """Opens the file; see `nsys_analyze.ingest.export.open_export`."""
        try:
            missing = cut_short(path)
        except OSError as error:
            raise ReportError(f"{named}: cannot be read ({error.strerror}); check the path") from error
        if missing:
            raise ReportError(f"{named}: {missing}; export the report again")
        with _damage_reported(named):
            self._connection = connect(path)
            try:
                super().__init__(path, named, _tables(self._connection))
            except BaseException:
                self._connection.close()
                raise

    def close(self) -> None:
        """Closes what is open."""
        self._connection.close()

    def read(self, requests: Sequence[TableRequest]) -> list[Rows]:
        """Reads tables; see `Export.read`."""
        with _damage_reported(self._named):
            return read_selections(self.path, self._connection, self._selections(requests))

    def strings(self, ids: Iterable[int] | NDArray[Any]) -> dict[int, str]:
        """Looks up string ids; see `Export.strings`."""
        wanted = np.unique(np.fromiter(ids, np.int64)).tolist()
        found: dict[int, str] = {}
        with _damage_reported(self._named):
            room = self._room("StringIds")
            for start in range(0, len(wanted), _STRINGS_A_QUERY):
                listed = ",".join(map(str, wanted[start : start + _STRINGS_A_QUERY]))
                sql = f"SELECT id, CAST(value AS TEXT) FROM StringIds WHERE id IN ({listed}) AND value IS NOT NULL"
                for key, value in self._connection.execute(sql):
                    room.take(len(value))
                    found[key] = value
        return found

    def rows(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        """Gives all rows of a small table; see `Export.rows`."""
        real = self.table(name)
        if real is None:
            return []
        selected = ", ".join(quoted(column) if column in self.tables[real] else "NULL" for column in columns)
        with _damage_reported(self._named):
            room, found = self._room(real), []
            for row in self._connection.execute(f"SELECT {selected} FROM {quoted(real)} ORDER BY rowid"):
                room.take(sum(len(value) if isinstance(value, str | bytes) else 1 for value in row))
                found.append(row)
            return found

    def filled(self) -> list[str]:
        """Names the tables that have rows; see `Export.filled`."""
        with _damage_reported(self._named):
            return [
                table
                for table in self.tables
                if self._connection.execute(f"SELECT 1 FROM {quoted(table)} LIMIT 1").fetchone() is not None
            ]

    def _room(self, table: str) -> TextRoom:
        return TextRoom(table, max(self.path.stat().st_size, 2**20))

    def _refuse_foreign(self) -> None:
        super()._refuse_foreign()
        for table, columns in self.tables.items():
            if taken := _ROWID & set(map(str.lower, columns)):
                raise ReportError(
                    f"{self._named}: {table} has a column {min(taken)}, as no export has; export it again"
                )

    def _everything(self) -> list[str]:
        return [name for (name,) in self._connection.execute("SELECT name FROM sqlite_master ORDER BY rowid")]


@contextmanager
def _damage_reported(named: str) -> Iterator[None]:
    try:
        yield
    except UnsoundError as error:
        raise ReportError(f"{named}: {error}; export the report again") from error
    except sqlite3.OperationalError as error:
        endless = "a table of it does not come to an end" if str(error) == "interrupted" else error
        raise ReportError(f"{named}: damaged ({endless}); export the report again") from error
    except sqlite3.Error as error:
        raise ReportError(f"{named}: damaged ({error}); export the report again") from error


def _tables(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    tables: dict[str, tuple[str, ...]] = {}
    for table, column in connection.execute(
        "SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c"
        " WHERE m.type = 'table' AND m.rootpage > 0 AND m.sql LIKE 'CREATE TABLE%' ORDER BY m.rowid, c.cid"
    ):
        tables[table] = (*tables.get(table, ()), column)
    return tables
