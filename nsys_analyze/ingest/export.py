"""One Nsight Systems export, opened for reading: its tables, its columns as arrays, its strings."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

from nsys_analyze.errors import ReportError
from nsys_analyze.ingest.columns import Among, Column, Rows, TableRequest
from nsys_analyze.ingest.reading import Selection, select
from nsys_analyze.ingest.refusal import foreign
from nsys_analyze.ingest.values import as_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

PART = "NSYS_ANALYZE_PART"  # written by `slice` among what an export says about itself


class Export(ABC):
    """An export, opened read-only; use it as a context manager.

    Attributes:
        path: The file, or the folder.
        tables: Columns of each table by its real name; views and virtual tables do not count.
        schema_version: Version of the export's schema such as "3.20.3", or None where it does not say (2020 and 2021).
        nsys_version: Version of the nsys that exported it such as "2025.3.2.0", or None.
        part: How it was cut out of a larger export, by "stages", "window" or both, or None.
    """

    def __init__(self, path: Path, named: str, tables: Mapping[str, tuple[str, ...]]) -> None:
        """Takes what every form of export has; see `open_export`."""
        self.path, self._named, self.tables = path, named, tables
        self._refuse_foreign()
        about = self._about_itself()
        self.schema_version = about.get("EXPORT_SCHEMA_VERSION")
        self.nsys_version = about.get("EXPORT_PRODUCT_VERSION")
        self.part = about.get(PART)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Closes what is open; arrays that were read stay valid."""

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

    def columns(self, name: str, wanted: Sequence[Column], where: tuple[Among, ...] = ()) -> Rows:
        """Reads one table: `read` for a single request."""
        return self.read([TableRequest(name, wanted, where)])[0]

    @abstractmethod
    def read(self, requests: Sequence[TableRequest]) -> list[Rows]:
        """Reads tables, large ones by several threads at once, so ask for all that are needed together.

        Returns:
            One `Rows` a request, in order. A table that the export lacks has no rows; a column that a table lacks is
            all missing.

        Raises:
            ReportError: The export is damaged, or a column holds what its wanted type cannot.
        """

    @abstractmethod
    def strings(self, ids: Iterable[int] | NDArray[Any]) -> dict[int, str]:
        """Looks up string ids.

        Returns:
            The string of each id; ids without one are left out. Bytes that are not UTF-8 are replaced.
        """

    @abstractmethod
    def rows(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        """All rows of a small table, as Python values; columns that it lacks are None.

        Returns:
            One tuple a row, in the table's order; empty if there is no such table.
        """

    @abstractmethod
    def filled(self) -> list[str]:
        """The tables that have at least one row."""

    def _selections(self, requests: Sequence[TableRequest]) -> list[Selection]:
        """What to read for requests, of the tables and columns that there are."""
        tables = [self.table(request.table) for request in requests]
        return [
            select(request, table, self.tables[table] if table else ())
            for request, table in zip(requests, tables, strict=True)
        ]

    def _everything(self) -> list[str]:
        """The names that tell what this is, if it is no export."""
        return list(self.tables)

    def _refuse_foreign(self) -> None:
        if not self.has("StringIds", "id", "value"):
            looks = foreign(self._everything())
            raise ReportError(f"{self._named}: not an Nsight Systems export (no StringIds table); {looks}")
        if set(self.tables) <= {"StringIds", "ProcessStreams"}:
            raise ReportError(f"{self._named}: a failed export, it holds strings only; export the .nsys-rep again")

    def _about_itself(self) -> dict[str, str]:
        for name in ("META_DATA_EXPORT", "EXPORT_META_DATA"):
            if self.has(name, "name", "value"):
                return {str(key): as_text(value) or "" for key, value in self.rows(name, "name", "value")}
        return {}


def open_export(path: Path, named: str | os.PathLike[str] | None = None) -> Export:
    """Opens an export, read-only and as it is: nothing is written to it or beside it.

    Args:
        path: The SQLite file, or the folder of Parquet or Arrow files, as `located` gives it.
        named: What the user calls it, for messages; the path itself unless given.

    Raises:
        ReportError: Not an Nsight Systems export, a failed one, or a damaged one.
    """
    name = os.fspath(path if named is None else named)
    if path.is_dir():
        from nsys_analyze.ingest.folderexport import FolderExport

        return FolderExport(path, name)
    from nsys_analyze.ingest.sqliteexport import SqliteExport

    return SqliteExport(path, name)
