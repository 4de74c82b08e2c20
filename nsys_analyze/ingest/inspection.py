"""What a file holds, whether it is whole, and how it was captured: asked without reading its events."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from nsys_analyze.ingest.export import Export
from nsys_analyze.ingest.reading import connect, quoted
from nsys_analyze.ingest.tablefiles import open_table, table_files
from nsys_analyze.ingest.values import as_text

_MAGIC = b"SQLite format 3\0"
_STEPS = 100_000  # of SQLite's machine, between two looks at the clock
_NAMES = 8  # of tables, in the description of a file that is no export
_ENVIRONMENT = "ENVIRONMENT_VARIABLE"


@dataclass(frozen=True, slots=True)
class Inspection:
    """What an export says of itself.

    ``filled`` lists the tables that have rows; ``settings`` holds the capture's settings, the last of each name,
    without ``PROCESS_0:`` in front; ``variables`` counts the environment variables that it recorded.
    """

    filled: frozenset[str]
    settings: Mapping[str, str]
    variables: int
    machine_gpus: int

    def has(self, *tables: str) -> bool:
        """Whether one of the tables has rows."""
        return not self.filled.isdisjoint(tables)


def inspect(export: Export) -> Inspection:
    """Looks at the tables of an export.

    Raises:
        ReportError: The file is damaged.
    """
    settings = [(str(name), as_text(value) or "") for name, value in export.rows("META_DATA_CAPTURE", "name", "value")]
    plain = [(name.removeprefix("PROCESS_0:"), value) for name, value in settings]
    return Inspection(
        filled=frozenset(export.filled()),
        settings=dict(plain),
        variables=sum(name == _ENVIRONMENT for name, _ in plain),
        machine_gpus=len(export.rows("TARGET_INFO_GPU", "id")),
    )


def damage(path: Path, seconds: float) -> str | None:
    """What is wrong with an export, "" for nothing, None if the time was too short to tell.

    A SQLite file gets SQLite's own check; the tables of a folder are read through.
    """
    deadline = time.monotonic() + seconds
    if path.is_dir():
        return _damage_in_folder(path, deadline)
    try:
        with closing(connect(path)) as connection:
            connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
            found = [str(line) for (line,) in connection.execute("PRAGMA quick_check(1)")]
    except sqlite3.OperationalError as error:
        return None if "interrupted" in str(error) else str(error)
    except sqlite3.Error as error:
        return str(error)
    return "" if found == ["ok"] else " ".join(found)


def _damage_in_folder(folder: Path, deadline: float) -> str | None:
    from pyarrow import ArrowException

    for path in table_files(folder).values():
        try:
            table = open_table(path)
            for _ in table.batches(table.names):
                if time.monotonic() > deadline:
                    return None
        except (ArrowException, OSError) as error:
            return f"{path.name}: {' '.join(str(error).split())}"
    return ""


def described(path: Path) -> list[str] | None:
    """What can be said of a SQLite file that cannot be read as an export, in phrases; None if it is no SQLite file."""
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            return None
    size = f"a SQLite file of {path.stat().st_size:,} bytes"
    try:
        with closing(connect(path)) as connection:
            names = [str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return [size, _tables(names), *_versions(connection, names)]
    except sqlite3.Error:
        return [size]


def _tables(names: list[str]) -> str:
    if not names:
        return "no table"
    more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    return f"{len(names):,} table{'' if len(names) == 1 else 's'}: {', '.join(names[:_NAMES])}{more}"


def _versions(connection: sqlite3.Connection, names: list[str]) -> list[str]:
    """The versions that a damaged export may still tell."""
    for table in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
        if table in names:
            try:
                stamps = dict(connection.execute(f"SELECT name, value FROM {quoted(table)}").fetchall())
            except (sqlite3.Error, ValueError):
                return []
            return [f"exported by nsys {stamps.get('EXPORT_PRODUCT_VERSION', 'of an unknown version')}"]
    return []
