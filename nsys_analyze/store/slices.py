"""Writes a report again, as SQLite: the whole of it or a part, as it is or redacted.

sqlite-utils makes the tables of a redacted report and knows the indexes. A report that is not redacted keeps the very
statements that made its tables, with their comments and types, which sqlite-utils would write its own way. Rows go
from one file to the other inside SQLite: it took a fifth of the time that rows through Python did.
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
from nsys_analyze.ingest.export import Export
from nsys_analyze.ingest.reading import connect, quoted
from nsys_analyze.store.rows import CHAINS, RowSpans, rows_of_part

if TYPE_CHECKING:
    from sqlite_utils import Database

    from nsys_analyze.store.parts import Part
    from nsys_analyze.store.redaction import Redaction

STRINGS = "StringIds"
_REFERENCE = re.compile(r'^\s*"?(\w+)"?\s.*REFERENCES StringIds', re.MULTILINE)
_STRING_COLUMNS = frozenset(
    "nameId textId demangledName shortName mangledName symbol module jsonTextId filenameId contentId apiCallId".split()
)


def write_slice(export: Export, target: Path, part: Part | None, redaction: Redaction | None) -> None:
    """Writes what belongs to a part of a report to a new file.

    Args:
        export: The report.
        target: The file to make.
        part: What to keep; None keeps all rows.
        redaction: How to redact, or None to keep what is there; it then knows what it removed.

    Raises:
        ReportError: A table cannot be copied.
    """
    with closing(connect(export.path)) as source, _created(target, export.path, source) as database:
        rows = {} if part is None else rows_of_part(export, source, part)
        writer = _Writer(export, database, rows, part is not None, redaction)
        try:
            writer.write()
        except sqlite3.Error as error:
            raise ReportError(f"{export.path.name}: cannot be copied ({error}); export the report again") from error


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
        connection.execute("CREATE TEMP TABLE spans (first INTEGER PRIMARY KEY, last INTEGER)")
        database = Database(connection, recursive_triggers=False, execute_plugins=False)
        with database.atomic():
            yield database


@dataclass(frozen=True, slots=True)
class _Writer:
    export: Export
    database: Database
    rows: dict[str, RowSpans]
    cut: bool
    redaction: Redaction | None

    def write(self) -> None:
        if self.redaction is not None:
            self.redaction.install(self.database.conn)
        statements = dict(
            self.database.execute("SELECT name, sql FROM source.sqlite_master WHERE type = 'table'").fetchall()
        )
        there = [table for table in self.export.tables if not table.startswith("sqlite_") and self._kept(table)]
        for table in there:
            self._create(table, statements[table])
        chains_last = sorted(there, key=lambda table: table in CHAINS)
        for table in chains_last:
            if table != STRINGS:
                self._fill(table)
        self._fill_strings({table: statements[table] for table in there})
        self._index(there)

    def _kept(self, table: str) -> bool:
        return self.redaction is None or self.redaction.keeps(self.export, table)

    def _create(self, table: str, statement: str) -> None:
        if self.redaction is None:
            self.database.execute(statement)
            return
        columns = self.database.execute(f"PRAGMA source.table_info({quoted(table)})").fetchall()
        kept = {name: (declared, required, key) for _, name, declared, required, _, key in columns}
        kept = {name: kept[name] for name in self.redaction.columns(self.export, table)}
        keys = sorted((key, name) for name, (_, _, key) in kept.items() if key)
        self.database.create_table(
            table,
            {name: _declared(declared) for name, (declared, _, _) in kept.items()},
            pk=[name for _, name in keys] if len(keys) > 1 else keys[0][1] if keys else None,
            not_null={name for name, (_, required, _) in kept.items() if required},
        )

    def _fill(self, table: str) -> None:
        columns = self.export.tables[table]
        selected, where = [quoted(column) for column in columns], "1"
        if self.redaction is not None:
            columns = self.redaction.columns(self.export, table)
            selected, where = self.redaction.selection(self.export, table)
        origin = f"source.{quoted(table)} AS t"
        if table in self.rows:
            self.database.execute("DELETE FROM temp.spans")
            spans = zip(self.rows[table].first.tolist(), self.rows[table].last.tolist(), strict=True)
            self.database.conn.executemany("INSERT INTO temp.spans VALUES (?, ?)", spans)
            origin = f"temp.spans AS s CROSS JOIN {origin} ON t.rowid BETWEEN s.first AND s.last"
        elif self.cut and table in CHAINS:
            owner, column = CHAINS[table]
            if self.export.has(owner, column):
                where += f" AND t.id IN (SELECT {quoted(column)} FROM main.{quoted(owner)})"
        names = ", ".join(quoted(column) for column in columns)
        self.database.execute(
            f"INSERT INTO main.{quoted(table)} ({names}) SELECT {', '.join(selected)} FROM {origin} WHERE {where}"
        )

    def _fill_strings(self, statements: dict[str, str]) -> None:
        if self.redaction is not None:
            self.redaction.fill_strings(self.export, self.database)
            return
        used = [
            f"SELECT {quoted(column)} FROM main.{quoted(table)}"
            for table, statement in statements.items()
            for column in self.export.tables[table]
            if column in _STRING_COLUMNS or column in _REFERENCE.findall(statement)
        ]
        where = f" WHERE id IN ({' UNION '.join(used)})" if self.cut and used else ""
        names = ", ".join(quoted(column) for column in self.export.tables[STRINGS])
        self.database.execute(f"INSERT INTO main.StringIds ({names}) SELECT {names} FROM source.StringIds{where}")

    def _index(self, tables: list[str]) -> None:
        """Makes the indexes anew; of a redacted report, those over plain columns, under names of our own."""
        if self.redaction is None:
            sql = "SELECT tbl_name, sql FROM source.sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
            for table, statement in self.database.execute(sql).fetchall():
                if table in tables:
                    self.database.execute(statement)
            return
        for table in tables:
            listed = self.database.execute(f"PRAGMA source.index_list({quoted(table)})").fetchall()
            for _, name, unique, origin, partial in listed:
                rows = self.database.execute(f"PRAGMA source.index_info({quoted(name)})").fetchall()
                columns = [column for _, _, column in rows]
                if origin == "c" and not partial and set(columns) <= set(self.redaction.columns(self.export, table)):
                    self.database.table(table).create_index(columns, unique=bool(unique), if_not_exists=True)


def _declared(declared: str) -> str:
    """A column's type, of those that sqlite-utils knows."""
    upper = declared.upper()
    return "TEXT" if upper == "TEXT" else "FLOAT" if upper in ("REAL", "FLOAT") else "INTEGER"
