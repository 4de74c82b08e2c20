"""Whether a file is the one that was analysed: at a glance by its times and sizes, for certain by its content."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from nsys_analyze._version import __version__
from nsys_analyze.driver.records import record_paths
from nsys_analyze.ingest.tablefiles import table_files

_SIDECARS = ("-wal", "-journal")


def fingerprint(path: Path) -> str:
    """Sizes and times of a report's files. No write leaves the time of the last change (ctime) as it was.

    Raises:
        OSError: If the report cannot be looked at.
    """
    stats = [each.stat() for each in _files(path)]
    return ",".join(f"{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}" for stat in stats)


def digest(path: Path) -> str:
    """SHA-256 of a report with what is read beside it: an unfinished write, the record of the captured case.

    Raises:
        OSError: If one of them cannot be read.
    """
    total = hashlib.sha256()
    for each in _files(path):
        with each.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def settings_key(reading: dict[str, Any]) -> str:
    """What tells results apart that were made by another version or in another way, of the same reports.

    Raises:
        OSError: If a file of rules cannot be read.
    """
    rules = reading.get("compile_rules")
    content = None if rules is None else hashlib.sha256(Path(rules).read_bytes()).hexdigest()
    stated = json.dumps({**reading, "compile_rules": content, "version": __version__}, sort_keys=True)
    return hashlib.sha256(stated.encode()).hexdigest()[:16]


def _files(path: Path) -> list[Path]:
    """What a report consists of: one file or, for a folder, one for each table; and what is read beside it."""
    real = path.resolve()
    beside = [*(real.with_name(real.name + suffix) for suffix in _SIDECARS), *record_paths(path)]
    own = table_files(path).values() if path.is_dir() else [path]
    return [*own, *(file for file in beside if file.is_file())]
