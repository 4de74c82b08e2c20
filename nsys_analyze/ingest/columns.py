"""What to read from a table, and what reading it gives: typed arrays, one a column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Kind = Literal["integer", "coded", "text"]
Array: TypeAlias = "NDArray[Any]"


@dataclass(frozen=True, slots=True)
class Column:
    """One column wanted from a table.

    Attributes:
        name: Name of the column in the export.
        dtype: Integer type of the array, for kind "integer"; a value that it cannot hold is a `ReportError`.
        missing: What stands for NULL, and fills a column that the table lacks, for kind "integer".
        kind: "integer" gives the values; "coded" (integers) and "text" are for columns of few distinct values and give
            the number of each row's value in the column's list of distinct values, -1 for NULL.
    """

    name: str
    dtype: type[np.integer[Any]] = np.int64
    missing: int = -1
    kind: Kind = "integer"

    def __post_init__(self) -> None:
        limits = np.iinfo(self.dtype)
        if not limits.min <= self.missing <= limits.max:
            raise ValueError(f"{self.name}: missing={self.missing} does not fit {limits.dtype}")


def coded(name: str) -> Column:
    """A column of integers, few of them distinct, such as globalTid."""
    return Column(name, kind="coded")


def text(name: str) -> Column:
    """A column of strings, few of them distinct."""
    return Column(name, kind="text")


@dataclass(frozen=True, slots=True)
class Among:
    """A condition on rows: a column of integers holds one of these; with None in their place, it is NULL."""

    column: str
    values: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class TableRequest:
    """Columns wanted from one table.

    Attributes:
        table: Name of the table, without a suffix such as _V2; a table that the export lacks has no rows.
        columns: The columns wanted.
        where: Conditions that a row has to meet, all of them; they may only name columns that the table has.
    """

    table: str
    columns: Sequence[Column]
    where: tuple[Among, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """Columns of one table, in the table's own order of rows.

    Attributes:
        count: Number of rows.
        arrays: One array of shape (count,) a column: values in the wanted dtype for kind "integer", else codes in the
            smallest of int8, int16 and int32 that holds them.
        values: For each "coded" column its distinct values, int64, in order of first appearance.
        texts: For each "text" column its distinct strings, in order of first appearance.
    """

    count: int
    arrays: dict[str, Array]
    values: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)

    def __getitem__(self, column: str) -> Array:
        return self.arrays[column]

    def only(self, keep: Array) -> Rows:
        """The rows to keep, in the same order."""
        arrays = {name: column[keep] for name, column in self.arrays.items()}
        return Rows(int(np.count_nonzero(keep)), arrays, self.values, self.texts)

    def free(self) -> None:
        """Forgets the arrays, whose memory others need; the count stays."""
        self.arrays.clear()

    def __len__(self) -> int:
        return self.count
