"""Says what a file is, when it is not the export that was hoped for."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_KNOWN = (
    ({"view_op_nodes"}, "a DLProf database"),
    ({"sessions", "history"}, "a Jupyter history"),
    ({"CUPTI_ACTIVITY_KIND_KERNEL", "StringTable"}, "an nvprof database"),
    ({"rocpd_string"}, "a ROCm rocpd database"),
)
_NAMES_SHOWN = 3
# Of a SQLite file: page size, change counter, number of pages, and at which change they were counted.
_HEADER = struct.Struct(">16xH6xII60xI4x")


def foreign(names: Sequence[str]) -> str:
    """What a database with these tables and views looks like."""
    for marks, what in _KNOWN:
        if marks <= set(names):
            return f"it looks like {what}"
    if not names:
        return "it is an empty database; export the .nsys-rep again"
    more = ", ..." if len(names) > _NAMES_SHOWN else ""
    return f"its tables are {', '.join(names[:_NAMES_SHOWN])}{more}"


def cut_short(path: Path) -> str | None:
    """How much of a SQLite file is missing at its end; SQLite itself would not notice that half a page is."""
    with path.open("rb") as file:
        header = file.read(_HEADER.size)
        size = os.fstat(file.fileno()).st_size
    if len(header) < _HEADER.size:
        return f"cut short, {size:,} bytes are there"
    page_size, changes, pages, counted_at = _HEADER.unpack(header)
    whole = pages * (65_536 if page_size == 1 else page_size)
    if size < whole and changes == counted_at:
        return f"cut short, {size:,} of {whole:,} bytes are there"
    return None
