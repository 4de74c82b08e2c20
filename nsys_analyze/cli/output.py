"""Where results go: to standard output, or to a file that is either wholly new or untouched."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, TextIO

from nsys_analyze.errors import UsageError
from nsys_analyze.temporary import replacing

_PIPED_COLUMNS = 160  # wide enough for every column, when no terminal says otherwise


def write(content: str | bytes, target: str | None) -> None:
    """Writes ``content`` to the file ``target``, or to standard output for None or "-".

    Raises:
        UsageError: If the file cannot be written.
        BrokenPipeError: If nobody reads standard output any more.
    """
    if target is None or target == "-":
        _write_out(content)
        return
    with writing(target) as file:
        file.write(content if isinstance(content, bytes) else content.encode("utf-8"))


@contextlib.contextmanager
def writing(target: str) -> Iterator[BinaryIO]:
    """Opens the file ``target``, or standard output for "-", to be written piece by piece.

    The file appears, or replaces what was there, when the block ends well; else all stays as it was.

    Raises:
        UsageError: If it cannot be written, also from within the block.
        BrokenPipeError: If nobody reads standard output any more.
    """
    with _failing_as_usage("standard output" if target == "-" else target):
        if target == "-":
            with _standard_output() as out:
                yield out.buffer
        else:
            with _opened(Path(target).resolve()) as file:
                yield file


def forget_reader() -> None:
    """Keeps Python from complaining at exit when whoever read standard output is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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


def check_target(
    target: str, inputs: Sequence[str], what: str = "one of the reports", option: str = "--output"
) -> None:
    """Refuses to write over what is being read, which the message calls ``what``; it names the ``option``.

    Raises:
        UsageError: If ``target`` is one of ``inputs``.
    """
    for path in map(Path, inputs):
        if path.exists() and Path(target).exists() and path.samefile(target):
            raise UsageError(f"{target}: is {what}; {option} would overwrite it")


def _write_out(content: str | bytes) -> None:
    with _failing_as_usage("standard output"), _standard_output() as out:
        if isinstance(content, bytes):
            out.buffer.write(content)
        else:
            out.write(_encodable(content, out.encoding or "utf-8"))


@contextlib.contextmanager
def _failing_as_usage(name: str) -> Iterator[None]:
    """Says what could not be written, and why; a reader who is gone is no failure."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"{name}: cannot write: {error.strerror or error}") from error


@contextlib.contextmanager
def _standard_output() -> Iterator[TextIO]:
    if sys.stdout is None:
        raise UsageError("standard output is closed: nowhere to write to")
    yield sys.stdout
    sys.stdout.flush()


def _encodable(text: str, encoding: str) -> str:
    """The text, with what the encoding lacks written otherwise."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.replace("·", "-").replace("…", "~").encode(encoding, "backslashreplace").decode(encoding)
    return text


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file itself if it is a device or a pipe, which renaming would replace; else one that takes its place."""
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    with replacing(path, _mode(path)) as file:
        yield file


def _mode(path: Path) -> int:
    """The mode that the file has, or that a new file would get."""
    if path.exists():
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
