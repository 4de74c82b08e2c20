"""Leaves out of a report what its numbers do not need, and keeps account of it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nsys_analyze.ingest.ranks import RANK_NAME
from nsys_analyze.ingest.reading import quoted
from nsys_analyze.store.names import Names, role_of_event
from nsys_analyze.store.policy import ColumnPolicy, policy
from nsys_analyze.store.rules import BESIDE, DROPS_ROWS, Rule, rules

if TYPE_CHECKING:
    from sqlite_utils import Database

_CONDITIONS = {
    "PROCESSES": "at_work(t.globalPid)",
    "SAMPLING_CALLCHAINS": "t.stackDepth = 0",  # what was sampled, not who called it
    "ThreadNames": "t.nameId IN (SELECT id FROM source.StringIds WHERE names_rank(CAST(value AS BLOB)))",
}
_VERSION = re.compile(r"_V\d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """How many values of a column were left out or replaced; without a column, rows of a table that were left out."""

    table: str
    column: str | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What to take from a table ``t``: an SQL expression for every column that stays, and a condition on the rows."""

    columns: dict[str, str]
    where: str


class Redaction:
    """How one report is redacted. Once that is done, ``removed`` tells what it took away."""

    def __init__(self, names: Names, processes: Collection[int]) -> None:
        """Redacts by these names; ``processes`` (globalPid) are those that keep the name of their program."""
        self._names, self._processes = names, frozenset(processes)
        self._rules = rules(names)
        self._counts: dict[tuple[str, str | None], int] = {}
        self.raised: BaseException | None = None  # in a function that SQLite called: SQLite itself forgets what it was

    @property
    def removed(self) -> list[Removed]:
        """What was removed, by table."""
        listed = sorted((table, column or "", count) for (table, column), count in self._counts.items() if count)
        return [Removed(table=table, column=column or None, count=count) for table, column, count in listed]

    def count(self, table: str, column: str | None, values: int) -> None:
        """Adds to what was removed."""
        self._counts[table, column] = self._counts.get((table, column), 0) + values

    def install(self, connection: sqlite3.Connection) -> None:
        """Makes the rules known to a connection as SQL functions, two a column of text: one of them counts."""
        connection.create_function("names_rank", 1, lambda raw: bool(RANK_NAME.fullmatch(_text(raw) or "")))
        connection.create_function("at_work", 1, lambda process: process in self._processes)
        for table, columns in policy().tables.items():
            for column in columns:
                if column.kind == "text":
                    name = f"{table}_{column.name}"
                    rule = self._rules[column.how]
                    connection.create_function(f"kept_{name}", 2, self._guarded(rule))
                    counting = self._counting(table, column.name, rule)
                    connection.create_function(f"redacted_{name}", 2, self._guarded(counting))

    def _guarded(self, rule: Rule) -> Callable[[object, object], str | None]:
        """A rule for SQLite's values, which notes what went wrong, such as an interrupt."""

        def guarded(raw: object, beside: object) -> str | None:
            try:
                return rule(_text(raw), _text(beside) if isinstance(beside, bytes) else beside)
            except BaseException as error:
                self.raised = error
                raise

        return guarded

    def _counting(self, table: str, column: str, rule: Rule) -> Rule:
        def counting(before: str | None, beside: object) -> str | None:
            after = rule(before, beside)
            if before and after != before:
                self.count(table, column, 1)
            return after

        return counting

    def columns(self, table: str, there: Collection[str]) -> list[str]:
        """The columns of a table that stay, of those that it has; none if the table goes."""
        return [column.name for column in _policies(table) if column.name in there]

    def selection(self, table: str, required: Mapping[str, bool]) -> Selection:
        """What to take from a table, whose columns are ``required``, NOT NULL, or not."""
        where = [_CONDITIONS.get(_known(table), "1")]
        selected = {}
        for column in _policies(table):
            if column.name not in required:
                continue
            name = f"t.{quoted(column.name)}"
            if column.kind == "text":
                beside = BESIDE.get(column.how, "")
                arguments = f"(CAST({name} AS BLOB), {f't.{quoted(beside)}' if beside in required else 'NULL'})"
                function = f"{_known(table)}_{column.name}{arguments}"
                value, empty = f"redacted_{function}", "''"
                if column.how in DROPS_ROWS:
                    where.append(f"kept_{function} IS NOT NULL")
            else:
                value, empty = f"CASE WHEN typeof({name}) IN ('integer', 'real') THEN {name} END", "0"
            selected[column.name] = f"coalesce({value}, {empty})" if required[column.name] else value
        return Selection(columns=selected, where=" AND ".join(where))

    def fill_strings(self, database: Database, tables: Mapping[str, Collection[str]]) -> None:
        """Copies the strings that the filled tables use, as what they are used for says; other strings stay out.

        Args:
            database: Where the tables are, with the report attached as ``source``.
            tables: The tables and their columns.
        """
        roles: dict[int, str] = {}
        for table, there in tables.items():
            for column in _policies(table):
                if column.kind == "strings" and column.name in there:
                    for number, role in _used(database, table, column, "eventType" in there):
                        if _rank(role) < _rank(roles.get(number)):
                            roles[number] = role
        rows = database.execute("SELECT id, CAST(value AS BLOB) FROM source.StringIds ORDER BY id").fetchall()
        kept = []
        for number, raw in rows:
            before = _text(raw) or ""
            if number in roles:
                after = self._names.roles[roles[number]](before)
                self.count("StringIds", "value", int(after != before))
                kept.append((number, after))
        self.count("StringIds", None, len(rows) - len(kept))
        database.conn.executemany("INSERT INTO main.StringIds (id, value) VALUES (?, ?)", kept)


def _used(database: Database, table: str, column: ColumnPolicy, typed: bool) -> list[tuple[int, str]]:
    """The strings that a column names, each with its role."""
    kind = "eventType" if column.how == "nvtx" and typed else "NULL"
    sql = f"SELECT DISTINCT {quoted(column.name)}, {kind} FROM main.{quoted(table)}"
    rows = database.execute(f"{sql} WHERE {quoted(column.name)} IS NOT NULL").fetchall()
    return [(number, role_of_event(event) if column.how == "nvtx" else column.how) for number, event in rows]


_ROLES = ("call", "os_call", "activity", "rank", "range", "domain", "kernel", "function", "module", "other")


def _rank(role: str | None) -> int:
    """Which role decides where a string has several: the first."""
    return len(_ROLES) if role is None else _ROLES.index(role)


def _known(table: str) -> str:
    """The name of a table without a version: NVTX_EVENTS_V2 is NVTX_EVENTS."""
    return _VERSION.sub("", table)


def _policies(table: str) -> tuple[ColumnPolicy, ...]:
    return policy().tables.get(_known(table), ())


def _text(raw: object) -> str | None:
    return raw.decode(errors="replace") if isinstance(raw, bytes) else None if raw is None else str(raw)
