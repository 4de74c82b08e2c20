"""Where results go: to standard output, or to a file that is either wholly new or untouched."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from nsys_analyze.errors import UsageError

_PIPED_COLUMNS = 160  # wide enough for every column, when no terminal says otherwise


def write(text: str, target: str | None) -> None:
    """Writes ``text`` to the file ``target``, or to standard output for None or "-".

    Raises:
        UsageError: If the file cannot be written.
        BrokenPipeError: If nobody reads standard output any more.
    """
    if target is None or target == "-":
        _write_out(text)
        return
    try:
        _write_file(text, Path(target))
    except OSError as error:
        raise UsageError(f"{target}: cannot write: {error.strerror or error}") from error


def columns(target: str | None) -> int:
    """Returns how wide a page may be: COLUMNS, else the terminal's width if it goes to one, else 160."""
    if target is None:
        return shutil.get_terminal_size((_PIPED_COLUMNS, 24)).columns
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdecimal() and int(given) else _PIPED_COLUMNS


def wants_colour(target: str | None) -> bool:
    """Whether colour will reach a terminal that shows it, and nobody asked for none (NO_COLOR)."""
    dull = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return target is None and not dull and is_terminal(sys.stdout)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream is there and shows on a terminal."""
    return stream is not None and stream.isatty()


def check_target(target: str, inputs: Sequence[str]) -> None:
    """Refuses to write over a report that is being read.

    Raises:
        UsageError: If ``target`` is one of ``inputs``.
    """
    for path in map(Path, inputs):
        if path.exists() and Path(target).exists() and path.samefile(target):
            raise UsageError(f"{target}: is one of the reports; --output would overwrite it")


def _write_out(text: str) -> None:
    if sys.stdout is None:
        raise UsageError("standard output is closed: nowhere to write to")
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.replace("·", "-").replace("…", "~").encode(encoding, "backslashreplace").decode(encoding)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"standard output: cannot write: {error.strerror or error}") from error


def _write_file(text: str, path: Path) -> None:
    path = path.resolve()
    if path.exists() and not path.is_file():  # a device or a pipe: renaming would replace it
        path.write_text(text, encoding="utf-8")
        return
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        temporary.chmod(_mode(path))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    """The mode that the file has, or that a new file would get."""
    if path.exists():
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
