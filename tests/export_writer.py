"""Writes the rows of an ExportBuilder to a SQLite file."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from tests.export_schema import ENUMS, column_name, column_type, is_required

if TYPE_CHECKING:
    from pathlib import Path

    from tests.exports import ExportBuilder, Row

WAL = "-wal"


def write_export(builder: ExportBuilder, path: Path, *, shuffle: int | None, wal: bool) -> None:
    building = path.with_name(f"{path.name}.building") if wal else path
    for leftover in (p.with_name(p.name + suffix) for p in (path, building) for suffix in ("", WAL, "-shm")):
        leftover.unlink(missing_ok=True)
    with closing(sqlite3.connect(building, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {'WAL' if wal else 'OFF'}")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        _Writer(builder, connection, shuffle).write()
        connection.execute("COMMIT")
        if wal:  # closing would move the rows out of the -wal file
            shutil.copy(building, path)
            shutil.copy(f"{building}{WAL}", f"{path}{WAL}")
    if wal:
        building.unlink()


class _Writer:
    def __init__(self, builder: ExportBuilder, connection: sqlite3.Connection, shuffle: int | None) -> None:
        self.builder = builder
        self.profile = builder.profile
        self.connection = connection
        self.random = None if shuffle is None else random.Random(shuffle)

    def write(self) -> None:
        rows = {**self.builder.rows, "StringIds": self.string_rows(), "META_DATA_EXPORT": self.stamps()}
        for table in self.profile.tables():
            if rows.get(table) or not self.builder.lazy:
                self.write_table(table, list(rows.get(table, ())))
        if self.profile.enums:
            for enum, labels in ENUMS.items():
                self.connection.execute(self.profile.create_enum(enum))
                values = [(number, label.upper(), label) for number, label in labels.items()]
                self.connection.executemany(f'INSERT INTO "{self.profile.stored_name(enum)}" VALUES (?, ?, ?)', values)

    def string_rows(self) -> list[Row]:
        return [
            {"id": 0, "value": "GpuMetrics"},
            *({"id": n, "value": text} for text, n in self.builder.strings.items()),
        ]

    def stamps(self) -> list[Row]:
        schema = self.profile.schema or ""
        major, minor, micro = schema.split(".") if schema else ("", "", "")
        stamps = {
            "EXPORT_PRODUCT_NAME": "NVIDIA Nsight Systems",
            "EXPORT_PRODUCT_VERSION": self.profile.product,
            "EXPORT_SCHEMA_VERSION": schema,
            "EXPORT_SCHEMA_VERSION_MAJOR": major,
            "EXPORT_SCHEMA_VERSION_MINOR": minor,
            "EXPORT_SCHEMA_VERSION_MICRO": micro,
            self.profile.output_key: "report.sqlite",
            "EXPORT_PARAM_LAZY": str(self.builder.lazy).lower(),
        }
        return [{"name": name, "value": value} for name, value in stamps.items()]

    def columns(self, table: str) -> list[str]:
        without = self.builder.without.get(table, "").split()
        kept = [column for column in self.profile.columns(table) if column_name(column) not in without]
        return [*kept, *self.builder.extra.get(table, "").split()]

    def write_table(self, table: str, rows: list[Row]) -> None:
        columns = self.columns(table)
        name = self.builder.nvtx_table if table == "NVTX_EVENTS" else self.profile.stored_name(table)
        self.connection.execute(self.profile.create_table(table, columns, name))
        if self.random is not None:
            self.random.shuffle(rows)
        slots = ", ".join("CAST(? AS TEXT)" if column_type(column) == "TEXT" else "?" for column in columns)
        values = ([_value(row, column) for column in columns] for row in rows)
        self.connection.executemany(f'INSERT INTO "{name}" VALUES ({slots})', values)


def _value(row: Row, column: str) -> Any:
    value = row.get(column_name(column))
    if value is None and is_required(column):
        return "" if column_type(column) == "TEXT" else 0
    return value
