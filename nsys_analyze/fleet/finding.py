"""Which reports a fleet consists of: patterns, folders and files, as the user named them."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from nsys_analyze.comparing import reports_among
from nsys_analyze.errors import UsageError
from nsys_analyze.ingest.locate import is_export_folder


def find_reports(patterns: Sequence[str], out: Path) -> list[Path]:
    """Returns the files that patterns name, sorted and once each; what lies in the folder ``out`` is left out.

    A folder stands for all reports in it and below, once each where it holds them in several forms. A pattern is
    expanded here, so that it can be quoted: ``*``, ``?``, ``[...]``, and ``**`` for any folders; what it matches is
    taken as it is, and a folder that it matches as if it were named.

    Raises:
        UsageError: A pattern matches nothing, or a folder holds no report.
    """
    found: dict[Path, Path] = {}
    for pattern in patterns:
        matched = _matched(pattern)
        files = [path for path in matched if not _is_within(path, out)]
        if not files and matched:
            raise UsageError(f"{pattern}: lies in the folder for results; name another with --output")
        if not files:
            raise UsageError(f"{pattern}: no report there (.sqlite, .sqlite.xz, .nsys-rep, a folder of tables)")
        for path in files:
            found.setdefault(path.absolute(), path)
    return [found[path] for path in sorted(found)]


def _matched(pattern: str) -> list[Path]:
    if pattern and Path(pattern).exists():
        return _reports(Path(pattern))
    matches = [Path(name) for name in glob.glob(pattern, recursive=True)]  # noqa: PTH207  Path.glob wants no root
    folders = [path for path in matches if path.is_dir()] if not pattern.rstrip("/").endswith("**") else []
    files = [path for path in matches if path.is_file()]
    if pattern.endswith(("*", "/")):  # of everything there, what looks like a report
        files = reports_among(files)
    return [*files, *(path for folder in folders for path in _reports(folder))]


def _reports(path: Path) -> list[Path]:
    if not path.is_dir() or is_export_folder(path):
        return [path]
    inside = list(path.rglob("*"))
    return [*reports_among([each for each in inside if each.is_file()]), *filter(is_export_folder, inside)]


def _is_within(path: Path, folder: Path) -> bool:
    return path.absolute().is_relative_to(folder.absolute())
