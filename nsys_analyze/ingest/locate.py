"""Finds the export behind what the user named: as it is, unpacked, settled, or made by nsys."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nsys_analyze.errors import ReportError
from nsys_analyze.ingest.nsys import REPORT_MAGIC, REPORT_SUFFIXES, export_report
from nsys_analyze.ingest.tablefiles import table_files
from nsys_analyze.ingest.unpacking import unpack
from nsys_analyze.temporary import temporary_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

Content = Literal["export", "packed", "report"]

_HEAD_BYTES = 512
_SIDECARS = ("-wal", "-journal")
_CONTENTS: tuple[tuple[bytes, Content], ...] = (
    (b"SQLite format 3\0", "export"),
    (b"\xfd7zXZ\0", "packed"),
    (REPORT_MAGIC, "report"),
)
_FOREIGN = (
    (b"version https://git-lfs", "a Git LFS pointer; run `git lfs pull`"),
    (b"\x1f\x8b", "a gzip file; unpack it first"),
    (b"PK\x03\x04", "a zip file; unpack it first"),
    (b"(\xb5/\xfd", "a zstd file; unpack it first"),
    (b"BZh", "a bzip2 file; unpack it first"),
    (b"PAR1", "one table of a Parquet export; name the folder that it lies in"),
    (b"ARROW1", "an Arrow file; export with `nsys export --type sqlite`"),
    (b"\xff\xff\xff\xff", "an Arrow stream; name the folder of an arrowdir export, or export with `--type sqlite`"),
    (b"\x89HDF", "an HDF5 file; export with `nsys export --type sqlite`"),
)
_PLAIN = "export the .nsys-rep with `nsys export --type sqlite`"


@contextmanager
def located(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yields the path of an export for what the user named.

    A folder with Parquet or Arrow files in it is an export, one file a table, and is used where it lies. What a file
    is, its content decides: a SQLite export is used where it lies, too; an .xz is unpacked, a report is exported by
    nsys, and an export with a -wal or -journal file beside it is copied and settled, each in a temporary folder that
    goes when the context ends. Nothing is written to the input or beside it.

    Args:
        path: An export (.sqlite, or a folder), a SQLite export packed by xz, or a report (.nsys-rep, .qdrep).

    Raises:
        ReportError: There is nothing to read, it is something else, it could not be unpacked or exported, or it
            changed meanwhile.
    """
    source = Path(path)
    if is_table_folder(source):
        yield source
        return
    content = _content(source)
    if content == "export" and not _sidecars(source):
        with _unchanged(source):
            yield source
        return
    with temporary_folder() as folder:
        yield _made(source, content, folder)


@contextmanager
def _unchanged(source: Path) -> Iterator[None]:
    """Refuses what was read of a file that somebody wrote to, cut or removed meanwhile: it may be of two halves."""
    before = _fingerprint(source)
    try:
        yield
    except (ReportError, OSError) as error:
        if _changed(source, before):
            raise _meanwhile(source) from error
        raise
    if _changed(source, before):
        raise _meanwhile(source)


def _changed(source: Path, before: tuple[int, ...]) -> bool:
    try:
        return _fingerprint(source) != before
    except OSError:
        return True


def _meanwhile(source: Path) -> ReportError:
    return ReportError(f"{source}: changed while it was read; wait until its export is done")


def is_table_folder(path: Path) -> bool:
    """Whether a path is a folder that holds tables, as `nsys export --type parquetdir` and `arrowdir` write it."""
    try:
        return path.is_dir() and bool(table_files(path))
    except OSError:
        return False


def is_export_folder(path: Path) -> bool:
    """Whether a folder of tables is the export of a report: other programs keep Parquet files, too."""
    return is_table_folder(path) and "StringIds" in table_files(path)


def _made(source: Path, content: Content, folder: Path) -> Path:
    try:
        if content == "report":
            return export_report(source, folder)
        return _unpacked(source, folder) if content == "packed" else _settled(source, folder)
    except OSError as error:
        why = error.strerror or str(error)
        raise ReportError(
            f"{source}: cannot be copied to {folder.parent} ({why}); set TMPDIR to a roomier place"
        ) from error


def _content(source: Path) -> Content:
    head = _head(source)
    if not head:
        raise ReportError(f"{source}: empty file; export the .nsys-rep again")
    if content := _known(head):
        return content
    looks = _looks(head)
    if looks is None and source.suffix in REPORT_SUFFIXES:
        return "report"  # nsys may know a format that is not known here
    raise ReportError(f"{source}: not an Nsight Systems export; it looks like {looks or f'binary data; {_PLAIN}'}")


def _known(head: bytes) -> Content | None:
    return next((content for magic, content in _CONTENTS if head.startswith(magic)), None)


def _head(source: Path) -> bytes:
    try:
        mode = source.stat().st_mode
        if stat.S_ISDIR(mode):
            raise ReportError(
                f"{source}: a folder without the tables of an export; name a .sqlite or .nsys-rep file in it"
            )
        if not stat.S_ISREG(mode):
            raise ReportError(f"{source}: not a regular file; save it to a file first")
        with source.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except FileNotFoundError:
        raise ReportError(f"{source}: no such file; check the path") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ReportError(f"{source}: cannot be read ({why}); check the path and its permissions") from error


def _looks(head: bytes) -> str | None:
    for magic, what in _FOREIGN:
        if head.startswith(magic):
            return what
    if not head.strip(b"\0"):
        return f"a file of zeros, perhaps a download cut short; {_PLAIN}"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"{", b"[")):
        return f"JSON; {_PLAIN}"
    if start.startswith(b"<"):
        return f"HTML or XML; {_PLAIN}"
    printable = all(byte >= 32 or byte in b"\t\n\r\f\x1b" for byte in head)
    return f"text; {_PLAIN}" if printable else None


def _sidecars(source: Path) -> list[Path]:
    """Files of an unfinished write beside an export, which a read of the export alone would miss."""
    real = source.resolve()
    paths = [real.with_name(real.name + suffix) for suffix in _SIDECARS]
    return [path for path in paths if path.is_file() and path.stat().st_size]


def _unpacked(source: Path, folder: Path) -> Path:
    target = folder / (source.name.removesuffix(".xz") or "export.sqlite")
    unpack(source, target)
    with target.open("rb") as plain:
        head = plain.read(_HEAD_BYTES)
    if _known(head) != "export":
        raise ReportError(f"{source}: what is packed in it is not a SQLite export; unpack it and name what comes out")
    return target


def _settled(source: Path, folder: Path) -> Path:
    """Copies an export with its unfinished writes, and lets SQLite finish or undo them in the copy."""
    files = [source.resolve(), *_sidecars(source)]
    before = [_fingerprint(file) for file in files]
    for file in files:
        shutil.copyfile(file, folder / file.name)
    if before != [_fingerprint(file) for file in files]:
        raise ReportError(f"{source}: still being written to; wait until its export is done")
    target = folder / files[0].name
    try:
        with closing(sqlite3.connect(target, isolation_level=None)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    except sqlite3.Error as error:
        raise ReportError(f"{source}: damaged ({error}); export the report again") from error
    return target


def _fingerprint(file: Path) -> tuple[int, ...]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino
