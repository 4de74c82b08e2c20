"""What tells the content of a report from any other's."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from nsys_analyze.ingest.tablefiles import table_files

if TYPE_CHECKING:
    from pathlib import Path


def sha256(path: Path) -> str:
    """The SHA-256 of a file; for a folder of tables, of a line ``SHA-256  NAME`` for each file, as sha256sum has it."""
    if not path.is_dir():
        return _of_file(path)
    lines = (f"{_of_file(file)}  {file.name}\n" for file in table_files(path).values())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
