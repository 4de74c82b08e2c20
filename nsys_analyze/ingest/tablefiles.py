"""The files of an export that is a folder: each holds one table, as Parquet or as an Arrow stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

SUFFIXES = (".parquet", ".arrow")  # the first one that a folder has; nsys writes one of them
BATCH_ROWS = 65_536
_BUFFER = 1 << 20  # bytes of a column
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


def table_files(folder: Path) -> dict[str, Path]:
    """The files of a folder that hold a table, by the table's name, in the order of the names."""
    files = sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())
    for suffix in SUFFIXES:
        if found := {path.stem: path for path in files if path.suffix == suffix}:
            return found
    return {}


class TableFile(Protocol):
    """One table, opened."""

    names: list[str]

    def count(self) -> int:
        """Number of rows."""
        ...

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Arrow record batches of these columns, in the table's order of rows."""
        ...


def open_table(path: Path) -> TableFile:
    """Opens the file of a table.

    Raises:
        pyarrow.ArrowException: It is damaged.
        OSError: It cannot be read.
    """
    return _ParquetTable(path) if path.suffix == ".parquet" else _ArrowTable(path)


class _ParquetTable:
    def __init__(self, path: Path) -> None:
        from pyarrow import parquet

        self._file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER)  # else it reads a table ahead
        self.names: list[str] = self._file.schema_arrow.names

    def count(self) -> int:
        return int(self._file.metadata.num_rows)

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        yield from self._file.iter_batches(BATCH_ROWS, columns=list(columns))


class _ArrowTable:
    """A stream, which says only at its end how many rows it has. It is mapped: what is not asked for is not read."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - len(_END_OF_STREAM), 0))
            if file.read() != _END_OF_STREAM:  # Arrow would take what is there for all of it
                raise OSError("the end of its stream is missing")
        self._path = path
        self.names: list[str] = self._stream().schema.names

    def count(self) -> int:
        return sum(len(batch) for batch in self._stream(self.names[:1]))

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        for batch in self._stream(columns):
            for start in range(0, len(batch), BATCH_ROWS):
                yield batch.slice(start, BATCH_ROWS).select(list(columns))

    def _stream(self, columns: Sequence[str] | None = None) -> Any:
        import pyarrow
        from pyarrow import ipc

        wanted = None if columns is None else [self.names.index(name) for name in columns]
        return ipc.open_stream(pyarrow.memory_map(str(self._path)), options=ipc.IpcReadOptions(included_fields=wanted))
