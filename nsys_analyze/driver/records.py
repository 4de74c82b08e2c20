"""The record of a finished case: a JSON file beside its report."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Record = dict[str, Any]

SCHEMA_VERSION = 1
SUFFIX = ".case.json"


def record_path(folder: Path, name: str) -> Path:
    """Where the record of a case lies."""
    return folder / f"{name}{SUFFIX}"


def read_records(folder: Path) -> list[Record]:
    """The records of a folder, oldest first."""
    paths = sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    return [record for path in paths if (record := _read(path)) is not None]


def finished(folder: Path, name: str, settings: Mapping[str, Any]) -> bool:
    """Whether a case was captured with these very settings, and its reports are there."""
    record = _read(record_path(folder, name))
    if record is None or record.get("case") != json.loads(json.dumps(settings)):
        return False
    return all((folder / report).is_file() for report in record["reports"])


def write_record(folder: Path, name: str, record: Record) -> None:
    """Writes a record, wholly or not at all."""
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"schema_version": SCHEMA_VERSION, **record}, file, indent=1)
            file.write("\n")
        Path(temporary).chmod(0o644)
        Path(temporary).replace(record_path(folder, name))
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _read(path: Path) -> Record | None:
    """The record in a file, or None where there is none that this version understands."""
    with contextlib.suppress(OSError, ValueError):
        record = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(record, dict) and record.get("schema_version") == SCHEMA_VERSION:
            return record
    return None
