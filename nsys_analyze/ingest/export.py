"""One Nsight Systems SQLite export, opened for reading: its tables, its columns as arrays, its strings."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from nsys_analyze.errors import ReportError
from nsys_analyze.ingest.columns import Column, Rows, TableRequest
from nsys_analyze.ingest.filling import TextRoom, UnsoundError
from nsys_analyze.ingest.reading import connect, quoted, read_selections, select
from nsys_analyze.ingest.refusal import cut_short, foreign
from nsys_analyze.ingest.values import as_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

PART = "NSYS_ANALYZE_PART"  # written by `slice` among what an export says about itself

_STRINGS_A_QUERY = 10_000
_ROWID = frozenset(("rowid", "_rowid_", "oid"))  # what SQLite calls the number of a row, unless a column is called so


class Export:
    """A SQLite export, opened read-only; use it as a context manager.

    Attributes:
        path: The file.
        tables: Columns of each table by its real name; views and virtual tables do not count.
        schema_version: Version of the export's schema such as "3.20.3", or None where it does not say (2020 and 2021).
        nsys_version: Version of the nsys that exported it such as "2025.3.2.0", or None.
        part: How it was cut out of a larger export, by "stages", "window" or both, or None.
    """

    def __init__(self, path: Path, named: str) -> None:
        """Opens the file; see `open_export`."""
        self.path, self._named = path, named
        with self._damage_reported():
            self._connection = connect(path)
            try:
                self.tables: Mapping[str, tuple[str, ...]] = _tables(self._connection)
                self._refuse_foreign()
                about = self._about_itself()
            except BaseException:
                self._connection.close()
                raise
        self.schema_version = about.get("EXPORT_SCHEMA_VERSION")
        self.nsys_version = about.get("EXPORT_PRODUCT_VERSION")
        self.part = about.get(PART)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; arrays that were read stay valid."""
        self._connection.close()

    def table(self, name: str) -> str | None:
        """The real name of a table, which may carry a version (NVTX_EVENTS_V2); None if there is no such table."""
        if name in self.tables:
            return name
        versioned = re.compile(re.escape(name) + r"_V(\d+)")
        found = [(int(match[1]), table) for table in self.tables if (match := versioned.fullmatch(table))]
        return max(found)[1] if found else None

    def has(self, name: str, *columns: str) -> bool:
        """Whether the table exists and has all these columns."""
        real = self.table(name)
        return real is not None and set(columns) <= set(self.tables[real])

    def columns(self, name: str, wanted: Sequence[Column], where: str | None = None) -> Rows:
        """Reads one table: `read` for a single request."""
        return self.read([TableRequest(name, wanted, where)])[0]

    def read(self, requests: Sequence[TableRequest]) -> list[Rows]:
        """Reads tables, large ones by several threads at once, so ask for all that are needed together.

        Returns:
            One `Rows` a request, in order. A table that the export lacks has no rows; a column that a table lacks is
            all missing.

        Raises:
            ReportError: The file is damaged, or a column holds what its wanted type cannot.
        """
        with self._damage_reported():
            tables = [self.table(request.table) for request in requests]
            selections = [
                select(request, table, self.tables[table] if table else ())
                for request, table in zip(requests, tables, strict=True)
            ]
            return read_selections(self.path, self._connection, selections)

    def strings(self, ids: Iterable[int] | NDArray[Any]) -> dict[int, str]:
        """Looks up string ids.

        Returns:
            The string of each id; ids without one are left out. Bytes that are not UTF-8 are replaced.
        """
        wanted = np.unique(np.fromiter(ids, np.int64)).tolist()
        found: dict[int, str] = {}
        with self._damage_reported():
            room = self._room("StringIds")
            for start in range(0, len(wanted), _STRINGS_A_QUERY):
                listed = ",".join(map(str, wanted[start : start + _STRINGS_A_QUERY]))
                sql = f"SELECT id, CAST(value AS TEXT) FROM StringIds WHERE id IN ({listed}) AND value IS NOT NULL"
                for key, value in self._connection.execute(sql):
                    room.take(len(value))
                    found[key] = value
        return found

    def rows(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        """All rows of a small table, as Python values; columns that it lacks are None.

        Returns:
            One tuple a row, in the table's order; empty if there is no such table.
        """
        real = self.table(name)
        if real is None:
            return []
        selected = ", ".join(quoted(column) if column in self.tables[real] else "NULL" for column in columns)
        with self._damage_reported():
            room, found = self._room(real), []
            for row in self._connection.execute(f"SELECT {selected} FROM {quoted(real)} ORDER BY rowid"):
                room.take(sum(len(value) if isinstance(value, str | bytes) else 1 for value in row))
                found.append(row)
            return found

    def _room(self, table: str) -> TextRoom:
        return TextRoom(table, max(self.path.stat().st_size, 2**20))

    def filled(self) -> list[str]:
        """The tables that have at least one row."""
        with self._damage_reported():
            return [
                table
                for table in self.tables
                if self._connection.execute(f"SELECT 1 FROM {quoted(table)} LIMIT 1").fetchone() is not None
            ]

    def _refuse_foreign(self) -> None:
        if not self.has("StringIds", "id", "value"):
            names = [name for (name,) in self._connection.execute("SELECT name FROM sqlite_master ORDER BY rowid")]
            raise ReportError(f"{self._named}: not an Nsight Systems export (no StringIds table); {foreign(names)}")
        for table, columns in self.tables.items():
            if taken := _ROWID & set(map(str.lower, columns)):
                raise ReportError(
                    f"{self._named}: {table} has a column {min(taken)}, as no export has; export it again"
                )
        if set(self.tables) <= {"StringIds", "ProcessStreams"}:
            raise ReportError(f"{self._named}: a failed export, it holds strings only; export the .nsys-rep again")

    def _about_itself(self) -> dict[str, str]:
        for name in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
            if self.has(name, "name", "value"):
                return {str(key): as_text(value) or "" for key, value in self.rows(name, "name", "value")}
        return {}

    @contextmanager
    def _damage_reported(self) -> Iterator[None]:
        try:
            yield
        except UnsoundError as error:
            raise ReportError(f"{self._named}: {error}; export the report again") from error
        except sqlite3.OperationalError as error:
            endless = "a table of it does not come to an end" if str(error) == "interrupted" else error
            raise ReportError(f"{self._named}: damaged ({endless}); export the report again") from error
        except sqlite3.Error as error:
            raise ReportError(f"{self._named}: damaged ({error}); export the report again") from error


def open_export(path: Path, named: str | os.PathLike[str] | None = None) -> Export:
    """Opens a SQLite export, read-only and as it is: nothing is written to it or beside it.

    Args:
        path: The file, as `located` gives it.
        named: What the user calls it, for messages; the path itself unless given.

    Raises:
        ReportError: Not an Nsight Systems export, a failed one, or a damaged one.
    """
    name = os.fspath(path if named is None else named)
    try:
        missing = cut_short(path)
    except OSError as error:
        raise ReportError(f"{name}: cannot be read ({error.strerror}); check the path") from error
    if missing:
        raise ReportError(f"{name}: {missing}; export the report again")
    return Export(path, name)


def _tables(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    tables: dict[str, tuple[str, ...]] = {}
    for table, column in connection.execute(
        "SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c"
        " WHERE m.type = 'table' AND m.rootpage > 0 AND m.sql LIKE 'CREATE TABLE%' ORDER BY m.rowid, c.cid"
    ):
        tables[table] = (*tables.get(table, ()), column)
    return tables
