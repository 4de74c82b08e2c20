"""Arrays of a table while it is read: preallocated, filled by rowid chunks, closed up at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nsys_analyze.ingest.columns import Array, Column, Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


TOO_LONG = b"\0too long\0"  # stands for a text that a reader did not ask for; in a report, it only costs time


class UnsoundError(Exception):
    """A table holds what no export has."""


class WrongTypeError(UnsoundError):
    """A column holds something that its wanted type cannot."""

    def __init__(self, table: str, column: str, holds: str) -> None:
        super().__init__(f"{table}.{column} holds {holds}")


class TooMuchError(UnsoundError):
    """A table gives more than its file has room for, as one whose pages point at each other does."""

    def __init__(self, table: str, what: str) -> None:
        super().__init__(f"{table} gives more {what} than the file has room for")


class TextRoom:
    """How many more bytes of text a table can hold, by the size of its file."""

    def __init__(self, table: str, size: int) -> None:
        self._table, self._left = table, size

    def take(self, length: int) -> None:
        """Counts a text.

        Raises:
            TooMuchError: The texts are longer, all together, than the file.
        """
        self._left -= length
        if self._left < 0:
            raise TooMuchError(self._table, "text")


class Codebook(dict[Any, int]):
    """Numbers distinct values in order of first appearance; None is always -1. ``room`` is for those of bytes."""

    def __init__(self, room: TextRoom | None = None) -> None:
        super().__init__({None: -1})
        self._room = room

    def __missing__(self, value: Any) -> int:
        if self._room is not None and isinstance(value, bytes):
            self._room.take(len(value))
        code = self[value] = len(self) - 1
        return code

    def distinct(self) -> list[Any]:
        """The values by code."""
        return [value for value, code in self.items() if code >= 0]


@dataclass(slots=True)
class Chunk:
    """Rows of one rowid span: where they start in the table's arrays, how many there are, their own codebooks.

    ``most`` is how many rows there can be, and ``room`` what is left for texts.
    """

    table: str
    columns: Sequence[Column]
    arrays: dict[str, Array]
    start: int
    most: int
    room: TextRoom
    count: int = 0
    books: dict[str, Codebook] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forgets the rows stored so far."""
        self.count = 0
        self.books = {column.name: Codebook(self.room) for column in self.columns if column.kind != "integer"}

    def append(self, batch: Sequence[Array]) -> None:
        """Stores one batch of rows.

        Args:
            batch: For each column its int64 values, or its int32 codes in this chunk's codebook.

        Raises:
            TooMuchError: There is no room for so many rows.
            WrongTypeError: A value is out of its column's range.
        """
        here = self.start + self.count
        if self.count + len(batch[0]) > self.most:
            raise TooMuchError(self.table, "rows")
        for column, values in zip(self.columns, batch, strict=True):
            target = self.arrays[column.name]
            if target.dtype.itemsize < values.dtype.itemsize:
                self._check_range(column, values)
            target[here : here + len(values)] = values
        self.count += len(batch[0])

    def _check_range(self, column: Column, values: Array) -> None:
        limits = np.iinfo(column.dtype)
        for extreme in (int(values.min()), int(values.max())) if len(values) else ():
            if not limits.min <= extreme <= limits.max:
                raise WrongTypeError(self.table, column.name, f"{extreme}, which is out of range")


class Filling:
    """One table's arrays while chunks of it are read, in any order and from any thread."""

    def __init__(self, table: str, columns: Sequence[Column], capacity: int, size: int) -> None:
        """Reserves room for `capacity` rows of a file of `size` bytes; memory is only taken for rows that arrive."""
        self.table = table
        self.columns = columns
        self.capacity = capacity
        self.chunks: list[Chunk] = []
        self._room = TextRoom(table, size)
        self._arrays: dict[str, Array] = {
            column.name: np.empty(capacity, column.dtype if column.kind == "integer" else np.int32)
            for column in columns
        }

    def chunk(self, start: int, most: int | None = None) -> Chunk:
        """Adds the chunk whose first row goes to `start`; called in the table's order.

        It has at most `most` rows: those that there is room for, unless told.
        """
        room = self.capacity - start
        chunk = Chunk(self.table, self.columns, self._arrays, start, room if most is None else most, self._room)
        self.chunks.append(chunk)
        return chunk

    def finish(self) -> Rows:
        """Closes the gaps between chunks, joins their codebooks, and gives the table.

        Raises:
            WrongTypeError: A coded column holds something else than integers.
        """
        rows = Rows(sum(chunk.count for chunk in self.chunks), {})
        for column in self.columns:
            if column.kind == "integer":
                rows.arrays[column.name] = self._closed(column, rows.count)
                continue
            book = Codebook()
            tables = [self._joined(column, chunk.books[column.name], book) for chunk in self.chunks]
            rows.arrays[column.name] = self._recoded(column, tables, rows.count, len(book) - 1)
            if column.kind == "coded":
                rows.values[column.name] = np.array(book.distinct(), np.int64)
            else:
                rows.texts[column.name] = book.distinct()
        return rows

    def _closed(self, column: Column, count: int) -> Array:
        array = self._arrays.pop(column.name)
        here = 0
        for chunk in self.chunks:
            if chunk.start != here:
                array[here : here + chunk.count] = array[chunk.start : chunk.start + chunk.count]
            here += chunk.count
        return array[:count] if count * 2 > self.capacity else array[:count].copy()

    def _joined(self, column: Column, part: Codebook, whole: Codebook) -> NDArray[np.int32]:
        """Enters a chunk's values into the table's codebook; gives the table's code of each, and -1 last, for -1."""
        values = part.distinct()
        if column.kind == "text":
            values = [value.decode(errors="replace") for value in values]
        elif bad := [value for value in values if not isinstance(value, int)]:
            raise WrongTypeError(self.table, column.name, f"{type(bad[0]).__name__} values where integers belong")
        return np.array([*map(whole.__getitem__, values), -1], np.int32)

    def _recoded(self, column: Column, tables: list[NDArray[np.int32]], count: int, distinct: int) -> Array:
        """A column's codes by the table's codebook, in the smallest type that holds them."""
        array = self._arrays.pop(column.name)
        codes = np.empty(count, np.min_scalar_type(-max(distinct, 1)))
        here = 0
        for chunk, table in zip(self.chunks, tables, strict=True):
            codes[here : here + chunk.count] = table[array[chunk.start : chunk.start + chunk.count]]
            here += chunk.count
        return codes


def absent(columns: Sequence[Column], count: int) -> Rows:
    """Columns that a table of `count` rows lacks: all missing. They take no memory and cannot be written to."""
    rows = Rows(count, {})
    for column in columns:
        if column.kind == "integer":
            rows.arrays[column.name] = np.broadcast_to(column.dtype(column.missing), count)
            continue
        rows.arrays[column.name] = np.broadcast_to(np.int8(-1), count)
        if column.kind == "coded":
            rows.values[column.name] = np.empty(0, np.int64)
        else:
            rows.texts[column.name] = []
    return rows
