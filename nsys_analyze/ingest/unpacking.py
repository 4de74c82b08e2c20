"""Unpacks xz files, which may be made to fill a disk or a memory."""

from __future__ import annotations

import lzma
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from nsys_analyze.errors import ReportError

LIMIT = "NSYS_ANALYZE_MAX_UNPACKED"  # the variable that says how many bytes may come out of an .xz
_TIMES, _AT_LEAST = 300, 256 * 2**20  # as large as its packed size, and what even a small one may unpack to
_MEMORY = 2**30  # bytes that unpacking may take; xz -9 takes 65 MB
_BYTES = 2**20


def unpack(source: Path, target: Path) -> None:
    """Unpacks an xz file.

    Args:
        source: The file.
        target: Where it goes.

    Raises:
        ReportError: It is cut or damaged, or what comes out is larger than allowed.
        OSError: There is no room.
    """
    allowed = _allowed(source)
    try:
        with source.open("rb") as packed, target.open("wb") as plain:
            for piece in _pieces(packed):
                allowed -= len(piece)
                if allowed < 0:
                    raise ReportError(f"{source}: unpacks to too much; if it is a report, set {LIMIT} to its bytes")
                plain.write(piece)
    except (EOFError, lzma.LZMAError) as error:
        raise ReportError(f"{source}: cut or damaged xz file ({error}); fetch it again") from error


def room(packed: int) -> int:
    """How many bytes may come out of so many packed ones."""
    return max(_TIMES * packed, _AT_LEAST)


def _allowed(source: Path) -> int:
    given = os.environ.get(LIMIT)
    if not given:
        return room(source.stat().st_size)
    if not given.isdecimal():
        raise ReportError(f"{source}: {LIMIT} is {given}; give a number of bytes")
    return int(given)


def _pieces(packed: BinaryIO) -> Iterator[bytes]:
    """What is in a file of one xz stream or several, in small pieces."""
    rest = packed.read(_BYTES)
    while rest.strip(b"\0"):  # streams may be padded
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY)
        while not stream.eof:
            if stream.needs_input and not rest:
                rest = packed.read(_BYTES)
                if not rest:
                    raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            yield stream.decompress(rest, _BYTES)
            rest = b""
        rest = (stream.unused_data or packed.read(_BYTES)).lstrip(b"\0")
