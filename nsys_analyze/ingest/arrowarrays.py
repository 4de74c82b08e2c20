"""Arrow arrays to NumPy arrays, without pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow

from nsys_analyze.ingest.filling import TOO_LONG, Chunk, Codebook, WrongTypeError

if TYPE_CHECKING:
    from nsys_analyze.ingest.columns import Array, Column


def encoded(column: Column, values: Any, chunk: Chunk) -> Array:
    """An Arrow array of int64 or binary as what a `Chunk` takes: int64 values, or int32 codes in its codebook.

    Raises:
        WrongTypeError: The array is of another type than the column wants, or a text was too long to be asked for.
    """
    if values.null_count == len(values):  # the driver cannot know its type
        integer = column.kind == "integer"
        return np.full(len(values), column.missing if integer else -1, np.int64 if integer else np.int32)
    if values.type != (pyarrow.binary() if column.kind == "text" else pyarrow.int64()):
        raise WrongTypeError(chunk.table, column.name, f"{values.type} values")
    if column.kind == "integer":
        return _plain(values, np.int64, column.missing)
    coded = values.dictionary_encode()
    book: Codebook = chunk.books[column.name]
    distinct = coded.dictionary.to_pylist()
    if TOO_LONG in distinct:
        raise WrongTypeError(chunk.table, column.name, "long texts")
    codes = np.array([*map(book.__getitem__, distinct), -1], np.int32)
    return codes[_plain(coded.indices, np.int32, -1)]


def _plain(values: Any, dtype: type[np.integer[Any]], missing: int) -> Array:
    """An Arrow array's own memory as NumPy array; a copy if there are NULLs. Arrow's to_numpy would import pandas."""
    validity, memory = values.buffers()
    plain = np.frombuffer(memory, dtype, len(values), values.offset * dtype().itemsize)
    if not values.null_count:
        return plain
    valid = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")[values.offset :][: len(values)]
    return np.where(valid, plain, dtype(missing))
