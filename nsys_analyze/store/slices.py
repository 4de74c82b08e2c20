"""Writes a report again, as SQLite: the whole of it or a part, as it is or redacted.

sqlite-utils makes the tables of a redacted report and knows the indexes. A report that is not redacted keeps the very
statements that made its tables, with their comments and types, which sqlite-utils would write its own way. Rows go
from one file to the other inside SQLite and never become Python objects, so that odd values stay as they are.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nsys_analyze.errors import ReportError
from nsys_analyze.ingest.export import PART, Export
from nsys_analyze.ingest.reading import connect, limit, quoted
from nsys_analyze.store.rows import CHAINS, RowSpans, rows_of_part

if TYPE_CHECKING:
    from sqlite_utils import Database

    from nsys_analyze.store.parts import Part
    from nsys_analyze.store.redaction import Redaction

STRINGS = "StringIds"
_REFERENCE = re.compile(r'^\s*"?(\w+)"?\s.*REFERENCES StringIds', re.MULTILINE)
_STRING_COLUMNS = frozenset(
    (
        *("nameId", "textId", "jsonTextId", "demangledName", "shortName", "mangledName"),
        *("symbol", "module", "filenameId", "contentId", "apiCallId"),
    )
)


def write_slice(
    export: Export, target: Path, part: Part | None, redaction: Redaction | None, origin: str | None, named: str
) -> None:
    """Writes what belongs to a part of a report to a new file.

    Args:
        export: The report.
        target: The file to make.
        part: What to keep; None keeps all rows.
        redaction: How to redact, which then knows what it removed, or None to keep what is there.
        origin: What the new report says of the part that it is, or None.
        named: What the user calls the report, for messages.

    Raises:
        ReportError: A table cannot be copied.
    """
    try:
        with closing(connect(export.path)) as source, _created(target, export.path, source) as database:
            rows = {} if part is None else rows_of_part(export, source, part)
            writer = _Writer(export, database, rows, part is not None, redaction)
            writer.write()
            if origin is not None:
                writer.sign(origin)
    except sqlite3.Error as error:
        if redaction is not None and redaction.raised is not None:
            raise redaction.raised from error
        full = getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)
        advice = "set TMPDIR to a roomier place" if full else "export the report again"
        raise ReportError(f"{named}: cannot be copied ({error}); {advice}") from error


@contextmanager
def _created(target: Path, path: Path, source: sqlite3.Connection) -> Iterator[Database]:
    """An empty database beside which the report is attached, as ``source``; all goes into it at once."""
    from sqlite_utils import Database

    connection = sqlite3.connect(target.absolute().as_uri(), uri=True, isolation_level=None)
    with closing(connection):
        connection.execute("PRAGMA trusted_schema = OFF")
        (encoding,) = source.execute("PRAGMA encoding").fetchone()
        connection.execute(f"PRAGMA encoding = '{encoding}'")
        connection.execute("PRAGMA journal_mode = OFF").fetchall()
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("ATTACH ? AS source", (f"{path.absolute().as_uri()}?mode=ro&immutable=1",))
        limit(connection, path)
        connection.execute("CREATE TEMP TABLE spans (first INTEGER PRIMARY KEY, last INTEGER)")
        database = Database(connection, recursive_triggers=False, execute_plugins=False)
        with database.atomic():
            yield database


@dataclass(frozen=True, slots=True)
class _Writer:
    """Fills a database from a report.

    ``rows`` says which rows of a table to take, all of a table that is not in it; ``part`` whether it is a part.
    """

    export: Export
    database: Database
    rows: dict[str, RowSpans]
    part: bool
    redaction: Redaction | None

    def write(self) -> None:
        if self.redaction is not None:
            self.redaction.install(self.database.conn)
        sql = "SELECT name, sql FROM source.sqlite_master WHERE type = 'table'"
        statements = dict(self.database.execute(sql).fetchall())
        there = {table: self._columns(table) for table in self.export.tables if not table.startswith("sqlite_")}
        tables = {table: columns for table, columns in there.items() if columns}
        for table, columns in tables.items():
            self._create(table, statements[table], columns)
        for table in sorted(tables.keys() - {STRINGS}, key=lambda name: (name in CHAINS, name)):
            self._fill(table, tables[table])
        self._fill_strings(tables, statements)
        self._index(tables)
        for table in there.keys() - tables.keys():
            known = "ENUM_*" if table.startswith("ENUM_") else table
            self._count_left_out(known, None, f"source.{quoted(table)}")

    def sign(self, origin: str) -> None:
        """Notes that this is a part, where the export describes itself."""
        table = next((name for name in ("META_DATA_EXPORT", "EXPORT_META_DATA") if name in self.export.tables), None)
        if table is not None:
            self.database.table(table).insert({"name": PART, "value": origin})

    def _columns(self, table: str) -> list[str]:
        there = list(self.export.tables[table])
        return there if self.redaction is None else self.redaction.columns(table, there)

    def _create(self, table: str, statement: str, columns: list[str]) -> None:
        if self.redaction is None:
            self.database.execute(statement)
            return
        listed = self.database.execute(f"PRAGMA source.table_info({quoted(table)})").fetchall()
        kept = {name: (declared, required, key) for _, name, declared, required, _, key in listed if name in columns}
        keys = [name for _, name in sorted((key, name) for name, (_, _, key) in kept.items() if key)]
        self.database.create_table(
            table,
            {name: _declared(declared) for name, (declared, _, _) in kept.items()},
            pk=keys if len(keys) > 1 else keys[0] if keys else None,
            not_null=[name for name, (_, required, _) in kept.items() if required],
        )

    def _fill(self, table: str, columns: list[str]) -> None:
        values, where = [f"t.{quoted(column)}" for column in columns], "1"
        if self.redaction is not None:
            selection = self.redaction.selection(table, self._required(table))
            values, where = [selection.columns[column] for column in columns], selection.where
        origin = f"source.{quoted(table)} AS t"
        if table in self.rows:
            self.database.execute("DELETE FROM temp.spans")
            spans = zip(self.rows[table].first.tolist(), self.rows[table].last.tolist(), strict=True)
            self.database.conn.executemany("INSERT INTO temp.spans VALUES (?, ?)", spans)
            origin = f"temp.spans AS s CROSS JOIN {origin} ON t.rowid BETWEEN s.first AND s.last"
        elif self.part and table in CHAINS and self.export.has(*CHAINS[table]):
            owner, column = CHAINS[table]
            origin += f" JOIN (SELECT DISTINCT {quoted(column)} AS used FROM main.{quoted(owner)}) ON t.id = used"
        names = ", ".join(map(quoted, columns))
        self.database.execute(
            f"INSERT INTO main.{quoted(table)} ({names}) SELECT {', '.join(values)} FROM {origin} WHERE {where}"
        )
        for column in self.export.tables[table]:
            if column not in columns:
                self._count_left_out(table, column, origin)
        if self.redaction is not None and where != "1" and table not in CHAINS:
            dropped = f"{origin} WHERE NOT ({where})"
            self._count_left_out(table, None, dropped)

    def _required(self, table: str) -> dict[str, bool]:
        """The columns of a table, and which of them are NOT NULL."""
        listed = self.database.execute(f"PRAGMA source.table_info({quoted(table)})").fetchall()
        return {name: bool(required) for _, name, _, required, _, _ in listed}

    def _count_left_out(self, table: str, column: str | None, origin: str) -> None:
        if self.redaction is not None:
            counted = "*" if column is None else f"t.{quoted(column)}"
            (count,) = self.database.execute(f"SELECT count({counted}) FROM {origin}").fetchone()
            self.redaction.count(table, column, count)

    def _fill_strings(self, tables: dict[str, list[str]], statements: dict[str, str]) -> None:
        if self.redaction is not None:
            self.redaction.fill_strings(self.database, tables)
            return
        used = [
            f"SELECT {quoted(column)} FROM main.{quoted(table)}"
            for table, columns in tables.items()
            for column in columns
            if column in _STRING_COLUMNS or column in _REFERENCE.findall(statements[table])
        ]
        where = f" WHERE id IN ({' UNION '.join(used)})" if self.part and used else ""
        names = ", ".join(map(quoted, tables[STRINGS]))
        self.database.execute(f"INSERT INTO main.StringIds ({names}) SELECT {names} FROM source.StringIds{where}")

    def _index(self, tables: dict[str, list[str]]) -> None:
        """Makes the indexes anew; those of a redacted report under names of our own, and over its columns only."""
        if self.redaction is None:
            sql = "SELECT tbl_name, sql FROM source.sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
            for table, statement in self.database.execute(sql).fetchall():
                if table in tables:
                    self.database.execute(statement)
            return
        for table, columns in tables.items():
            listed = self.database.execute(f"PRAGMA source.index_list({quoted(table)})").fetchall()
            for _, name, _, origin, partial in listed:
                rows = self.database.execute(f"PRAGMA source.index_info({quoted(name)})").fetchall()
                indexed = [column for _, _, column in rows]
                if origin == "c" and not partial and set(indexed) <= set(columns):
                    self.database.table(table).create_index(indexed, if_not_exists=True)


def _declared(declared: str) -> str:
    """A column's type, of those that sqlite-utils knows."""
    return declared.upper() if declared.upper() in ("TEXT", "REAL", "FLOAT") else "INTEGER"
