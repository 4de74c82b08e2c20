"""An Nsight Systems export in a folder, one file a table: what `nsys export --type parquetdir` and `arrowdir` write.

Tables and columns have the names of the SQLite export; their types are narrower or unsigned, and become what SQLite
would give: integers of 64 bits with a sign.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow
from pyarrow import compute

from nsys_analyze.errors import ReportError
from nsys_analyze.ingest.arrowarrays import encoded
from nsys_analyze.ingest.export import Export
from nsys_analyze.ingest.filling import Filling, TooMuchError, UnsoundError
from nsys_analyze.ingest.reading import Selection, finished
from nsys_analyze.ingest.tablefiles import TableFile, open_table, table_files
from nsys_analyze.ingest.unpacking import room

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from nsys_analyze.ingest.columns import Among, Rows, TableRequest

_TABLES_AT_ONCE = 2  # the largest are two, and Arrow decodes the columns of each in threads of its own


class FolderExport(Export):
    """A folder of tables, opened read-only."""

    def __init__(self, path: Path, named: str) -> None:
        """Opens every table; see `nsys_analyze.ingest.export.open_export`."""
        self._files: dict[str, TableFile] = {}
        self._paths = table_files(path)
        for table, file in self._paths.items():
            with _damage_reported(named, file):
                self._files[table] = open_table(file)
        super().__init__(path, named, {table: tuple(file.names) for table, file in self._files.items()})

    def close(self) -> None:
        """Closes what is open."""
        self._files.clear()

    def read(self, requests: Sequence[TableRequest]) -> list[Rows]:
        """Reads tables; see `Export.read`."""
        with ThreadPoolExecutor(_TABLES_AT_ONCE) as pool:
            jobs = [pool.submit(self._read_table, selection) for selection in self._selections(requests)]
            try:
                return [job.result() for job in jobs]
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def strings(self, ids: Iterable[int] | NDArray[Any]) -> dict[int, str]:
        """Looks up string ids; see `Export.strings`."""
        wanted = pyarrow.array(np.unique(np.fromiter(ids, np.int64)))
        found: dict[int, str] = {}
        for batch in self._batches("StringIds", ["id", "value"]) if len(wanted) else ():
            identity = _settled(batch.column(0))
            used = compute.and_(compute.is_in(identity, value_set=wanted), compute.is_valid(batch.column(1)))
            found.update(zip(identity.filter(used).to_pylist(), _plain(batch.column(1).filter(used)), strict=True))
        return found

    def rows(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        """Gives all rows of a small table; see `Export.rows`."""
        real = self.table(name)
        if real is None:
            return []
        there = [column for column in columns if column in self.tables[real]]
        found: list[tuple[Any, ...]] = []
        for batch in self._batches(real, there):
            values = {column: _plain(batch.column(place)) for place, column in enumerate(there)}
            found += zip(*(values.get(column, [None] * len(batch)) for column in columns), strict=True)
        return found

    def filled(self) -> list[str]:
        """Names the tables that have rows; see `Export.filled`."""
        found = []
        for table, file in self._files.items():
            with _damage_reported(self._named, self._paths[table]):
                found += [table] if file.count() else []
        return found

    def _batches(self, table: str, columns: Sequence[str]) -> Iterator[Any]:
        with _damage_reported(self._named, self._paths[table]):
            yield from self._files[table].batches(columns)

    def _read_table(self, selection: Selection) -> Rows:
        table = selection.table
        if table is None:
            return finished(selection, Filling("", (), 0, 0))
        with _damage_reported(self._named, self._paths[table]):
            file = self._files[table]
            most = room(self._paths[table].stat().st_size)
            if file.count() > most:
                raise TooMuchError(table, "rows")
            filling = Filling(table, selection.columns, file.count(), most)
            chunk = filling.chunk(0)
            for batch in file.batches(_needed(selection, file)):
                rows = _chosen(batch, selection.where)
                if selection.columns:
                    chunk.append([encoded(each, _settled(rows.column(each.name)), chunk) for each in chunk.columns])
                else:
                    chunk.count += len(rows)
            return finished(selection, filling)


def _needed(selection: Selection, file: TableFile) -> list[str]:
    """The columns to read: wanted, or in a condition; any one, to count rows by, where there are none."""
    names = dict.fromkeys([*(each.name for each in selection.columns), *(each.column for each in selection.where)])
    return list(names) or file.names[:1]


def _chosen(batch: Any, where: Iterable[Among]) -> Any:
    """The rows of a batch that meet all conditions."""
    for among in where:
        values = batch.column(among.column)
        if among.values is None:
            batch = batch.filter(compute.is_null(values))
        else:
            listed = pyarrow.array(among.values, pyarrow.int64())
            batch = batch.filter(compute.is_in(_settled(values), value_set=listed))
    return batch


def _settled(values: Any) -> Any:
    """An Arrow array as SQLite would give it: integers of 64 bits, the unsigned ones wrapped; text as bytes."""
    kind = values.type
    if pyarrow.types.is_uint64(kind):
        return values.view(pyarrow.int64())
    if pyarrow.types.is_integer(kind) or pyarrow.types.is_boolean(kind):
        return values.cast(pyarrow.int64())
    return values.view(pyarrow.binary()) if pyarrow.types.is_string(kind) else values


def _plain(values: Any) -> list[Any]:
    """An Arrow array as Python values; bytes that are not UTF-8 are replaced."""
    found: list[Any] = _settled(values).to_pylist()
    return [value.decode(errors="replace") if isinstance(value, bytes) else value for value in found]


@contextmanager
def _damage_reported(named: str, file: Path) -> Iterator[None]:
    try:
        yield
    except UnsoundError as error:
        raise ReportError(f"{named}: {error}; export the report again") from error
    except (pyarrow.ArrowException, OSError) as error:
        said = " ".join(str(error).split())
        raise ReportError(f"{named}: {file.name} is damaged ({said}); export the report again") from error
