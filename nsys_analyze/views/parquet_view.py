"""The results as Parquet: the columns of CSV, typed; what the capture cannot say is null."""

from __future__ import annotations

from nsys_analyze.views.flat_rows import FlatRows
from nsys_analyze.views.text import visible


def render(table: FlatRows) -> bytes:
    """Returns the table as a Parquet file. Names are as the report has them; a path is a list of strings."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string(), list: pa.list_(pa.string())}
    columns = zip(*table.rows, strict=True) if table.rows else ((),) * len(table.header)
    arrays = [
        pa.array([_storable(value) for value in values], types[kind])
        for values, kind in zip(columns, table.kinds, strict=True)
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_arrays(arrays, names=table.header), sink, compression="zstd")
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _storable(value: object) -> object:
    """A value as UTF-8 can hold it: half a surrogate pair becomes its escape."""
    if isinstance(value, list):
        return [_storable(each) for each in value]
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return visible(value)
    return value
