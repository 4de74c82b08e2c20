"""Protocol buffer messages, many at once: in a `Rows`, row i of every piece belongs to message i.

The wire format is that of https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsys_analyze.arrays import Bool, Int64

Bytes = npt.NDArray[np.uint8]

_VARINT, _FIXED64, _LENGTH = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Rows:
    """Byte strings, each made of a few bytes of every block in turn.

    A block is (data, used), both of shape (rows, width): row i consists of the bytes of ``data[i]`` that are used.
    ``lengths`` are those of the whole strings.
    """

    blocks: list[tuple[Bytes, Bool]]
    lengths: Int64

    def where(self, there: Bool) -> Rows:
        """These strings, empty where they are not ``there``."""
        return Rows([(data, used & there[:, None]) for data, used in self.blocks], self.lengths * there)

    def joined(self) -> Bytes:
        """All strings, one after the other."""
        data, used = (np.hstack(parts) for parts in zip(*self.blocks, strict=True))
        out: Bytes = data[used]
        return out


def beside(pieces: Sequence[Rows]) -> Rows:
    """The strings made of the pieces' strings."""
    lengths = np.sum([piece.lengths for piece in pieces], axis=0)
    return Rows([block for piece in pieces for block in piece.blocks], lengths)


def interleaved(first: Rows, second: Rows, takes_first: Bool) -> Bytes:
    """All strings of two sequences: the next of the first wherever it is taken, else the next of the second."""
    lengths = np.empty(len(takes_first), np.int64)
    lengths[takes_first], lengths[~takes_first] = first.lengths, second.lengths
    of_first = np.repeat(takes_first, lengths)
    out = np.empty(len(of_first), np.uint8)
    out[of_first], out[~of_first] = first.joined(), second.joined()
    return out


def same(content: bytes, rows: int) -> Rows:
    """The same string in every row."""
    return _whole(np.broadcast_to(np.frombuffer(content, np.uint8), (rows, len(content))))


def varints(number: int, values: npt.NDArray[np.integer]) -> Rows:
    """A field of integers; negative ones take ten bytes, as int64 has it."""
    return beside([same(_tag(number, _VARINT), len(values)), _varints(values)])


def fixed64(number: int, values: npt.NDArray[np.generic]) -> Rows:
    """A field of values of eight bytes: float64, or integers of type fixed64."""
    data = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), 8)
    return beside([same(_tag(number, _FIXED64), len(values)), _whole(data)])


def messages(number: int, pieces: Sequence[Rows]) -> Rows:
    """A field of messages, each made of the pieces."""
    body = beside(pieces)
    return beside([same(_tag(number, _LENGTH), len(body.lengths)), _varints(body.lengths), body])


def varint(number: int, value: int) -> bytes:
    """A field with one integer that is not negative."""
    return _tag(number, _VARINT) + _varint(value)


def text(number: int, value: str) -> bytes:
    """A field with one text."""
    return message(number, value.encode())


def message(number: int, *pieces: bytes) -> bytes:
    """A field with one message, or with bytes."""
    body = b"".join(pieces)
    return _tag(number, _LENGTH) + _varint(len(body)) + body


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _whole(data: Bytes) -> Rows:
    rows, width = data.shape
    return Rows([(data, np.broadcast_to(np.True_, data.shape))], np.full(rows, width))


def _varints(values: npt.NDArray[np.integer]) -> Rows:
    unsigned = values.astype(np.int64).view(np.uint64)
    width = max(-(-int(unsigned.max(initial=0)).bit_length() // 7), 1)
    if width == 1:
        return _whole(unsigned.astype(np.uint8)[:, None])
    shifts = np.arange(0, 7 * width, 7, dtype=np.uint64)
    lengths = np.ones(len(values), np.int64)
    for shift in shifts[1:]:
        lengths += unsigned >> shift > 0
    data = (unsigned[:, None] >> shifts).astype(np.uint8) | np.uint8(0x80)
    data[np.arange(len(values)), lengths - 1] &= 0x7F  # the last byte says that none follows
    return Rows([(data, np.arange(width) < lengths[:, None])], lengths)
