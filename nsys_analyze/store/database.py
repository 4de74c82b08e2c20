"""Opens the database of a history: refuses what is none, and brings the tables of earlier versions up to date.

Every change is one transaction that begins by locking the file, so that two jobs write one after the other, and one
that is killed leaves what was there before. The journal is SQLite's usual one rather than a write-ahead log: what is at
rest is one file, which can be kept as an artifact or lie on a network drive.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nsys_analyze.errors import ReportError

if TYPE_CHECKING:
    from sqlite_utils import Database

PATIENCE = 60.0  # seconds to wait for another job that writes


@contextlib.contextmanager
def opened(path: Path, *, create: bool = False) -> Iterator[Database]:
    """Opens the history ``path``; with ``create``, makes one where there is no file.

    Raises:
        ReportError: If it is no history, cannot be read or written, or a later version made it.
    """
    if not create and not path.is_file():
        raise ReportError(f"{path}: no such history; check REPORT... --save {path} makes one")
    with _explained(path), contextlib.closing(_connected(path, "rwc" if create else "rw")) as connection:
        yield _up_to_date(connection, path, create=create)


@contextlib.contextmanager
def changing(database: Database) -> Iterator[None]:
    """Makes what happens inside one change, which no other process sees half of."""
    database.conn.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.commit()
    except BaseException:
        database.rollback()
        raise


def _connected(path: Path, mode: Literal["rw", "rwc"]) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=PATIENCE)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _up_to_date(connection: sqlite3.Connection, path: Path, *, create: bool) -> Database:
    from sqlite_utils import Database

    from nsys_analyze.store.migrations import migrations

    database = Database(connection, execute_plugins=False)
    _check(database, path, create=create)
    if migrations.pending(database):
        with changing(database):  # another process may have been first: only then it is known what is left to do
            migrations.apply(database)
    return database


def _check(database: Database, path: Path, *, create: bool) -> None:
    from sqlite_utils import Database as AnyDatabase

    from nsys_analyze.store.migrations import migrations

    applied = {migration.name for migration in migrations.applied(database)}
    if not applied and (database.table_names() or not create):
        raise ReportError(f"{path}: a database, but no history of nsys-analyze; give another file")
    known = {migration.name for migration in migrations.pending(AnyDatabase(memory=True))}
    if applied - known:
        raise ReportError(f"{path}: written by a later version of nsys-analyze; update this one to read it")


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise ReportError(f"{path}: another process has been writing for {PATIENCE:.0f} s; try again") from error
        raise ReportError(f"{path}: cannot be read or written ({error}); check the path and its rights") from error
    except sqlite3.DatabaseError as error:
        raise ReportError(f"{path}: no history of nsys-analyze, or a damaged one ({error})") from error
