"""A trace in Perfetto's own format: TracePackets, see https://perfetto.dev/docs/reference/synthetic-track-event.

Strings are written once and referred to by number ("interned"), which only works within one packet sequence: there
is one. Perfetto orders packets by time and leaves those of the same nanosecond in the file's order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from nsys_analyze.arrays import Int32, Int64
from nsys_analyze.views.protobuf import (
    Rows,
    fixed64,
    interleaved,
    message,
    messages,
    same,
    text,
    varint,
    varints,
)
from nsys_analyze.views.trace_lanes import bracketed
from nsys_analyze.views.trace_layout import Argument, Counter, Layout, Slices, Texts, Track

_CHUNK = 16_384  # events or strings encoded at once; bounds the memory

# Field numbers of perfetto_trace.proto.
_PACKET = 1  # of Trace
_TIMESTAMP, _SEQUENCE, _SEQUENCE_FLAGS, _TRACK_EVENT, _INTERNED, _DESCRIPTOR = 8, 10, 13, 11, 12, 60  # of TracePacket
_TYPE, _TRACK, _NAME, _CATEGORIES, _ANNOTATIONS, _FLOWS, _COUNTER_VALUE = 9, 11, 10, 3, 4, 47, 30  # of TrackEvent
_ANNOTATION_NAME, _INTEGER, _DOUBLE, _STRING = 1, 4, 5, 17  # of DebugAnnotation
_CATEGORY_STRINGS, _NAME_STRINGS, _ANNOTATION_NAMES, _ANNOTATION_STRINGS = 1, 2, 3, 29  # of InternedData
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4  # of TrackEvent.Type
_CLEARED, _NEEDS_INTERNED = 1, 2  # of SequenceFlags
_EXPLICIT = 3  # of ChildTracksOrdering
_ABOUT = "about this trace"


def packets(layout: Layout) -> Iterator[bytes]:
    """The file, piece by piece.

    Perfetto knows no times before zero: where there are some, all are moved, and the trace says by how much.
    """
    earliest = min((int(times.min()) for times in _times(layout)), default=0)
    shift = max(-earliest, 0)
    strings = _Interned()
    yield _first_packet()
    for track in layout.tracks:
        yield _descriptor(track)
    about = layout.about | ({"clock_shift_ns": str(shift)} if shift else {})
    yield from _about(about, len(layout.tracks) + 1, max(earliest, 0), strings)
    for slices in layout.slices:
        yield from _slices(slices, shift, strings)
    for counter in layout.counters:
        yield from _counter(counter, shift)


def _times(layout: Layout) -> Iterator[Int64]:
    yield from (slices.start for slices in layout.slices if len(slices))
    yield from (counter.instant for counter in layout.counters)


@dataclass(slots=True)
class _Interned:
    """Strings written so far. Numbers start at 1, and run on from one table of slices to the next."""

    count: dict[int, int] = field(default_factory=dict)
    small: dict[tuple[int, str], int] = field(default_factory=dict)
    pending: list[bytes] = field(default_factory=list)

    def add(self, kind: int, strings: Sequence[str]) -> int:
        """Takes strings up and returns the number of the first."""
        first = self.count.get(kind, 0) + 1
        self.count[kind] = first + len(strings) - 1
        self.pending += [
            message(kind, varint(1, number), text(2, string)) for number, string in enumerate(strings, start=first)
        ]
        return first

    def once(self, kind: int, string: str) -> int:
        """The number of a string that comes again and again."""
        if (kind, string) not in self.small:
            self.small[kind, string] = self.add(kind, [string])
        return self.small[kind, string]

    def written(self) -> Iterator[bytes]:
        """Packets with what was taken up since the last time."""
        for low in range(0, len(self.pending), _CHUNK):
            part = message(_INTERNED, *self.pending[low : low + _CHUNK])
            yield message(_PACKET, varint(_SEQUENCE, 1), varint(_SEQUENCE_FLAGS, _NEEDS_INTERNED), part)
        self.pending.clear()


def _first_packet() -> bytes:
    return message(_PACKET, varint(_SEQUENCE, 1), varint(_SEQUENCE_FLAGS, _CLEARED))


def _descriptor(track: Track) -> bytes:
    parts = [varint(1, track.number), text(2, track.name), varint(11, _EXPLICIT), varint(12, track.number)]
    if track.parent:
        parts.append(varint(5, track.parent))
    if track.process is not None:
        parts.append(message(3, varint(1, track.process), text(6, track.name)))
    if track.thread is not None:
        parts.append(message(4, varint(1, track.thread[0]), varint(2, track.thread[1]), text(5, track.name)))
    if track.counter:
        parts.append(message(8))
    return message(_PACKET, varint(_SEQUENCE, 1), message(_DESCRIPTOR, *parts))


def _about(about: dict[str, str], track: int, instant: int, strings: _Interned) -> Iterator[bytes]:
    """A track with one instant that carries what the trace says of itself."""
    yield _descriptor(Track(number=track, name=_ABOUT))
    annotations = [
        message(
            _ANNOTATIONS,
            varint(_ANNOTATION_NAME, strings.once(_ANNOTATION_NAMES, name)),
            varint(_STRING, strings.once(_ANNOTATION_STRINGS, value)),
        )
        for name, value in about.items()
    ]
    name = varint(_NAME, strings.once(_NAME_STRINGS, _ABOUT))
    yield from strings.written()
    event = message(_TRACK_EVENT, varint(_TYPE, _INSTANT), varint(_TRACK, track), name, *annotations)
    yield message(
        _PACKET, varint(_TIMESTAMP, instant), varint(_SEQUENCE, 1), varint(_SEQUENCE_FLAGS, _NEEDS_INTERNED), event
    )


@dataclass(frozen=True, slots=True)
class _Column:
    """An argument that is ready to be written: the numbers of its name and of its first string."""

    argument: Argument
    name: int
    first: int

    def rows(self, row: Int64) -> Rows:
        values, there = self.argument.values, self.argument.there
        if isinstance(values, Texts):
            value = varints(_STRING, values.codes[row].astype(np.int64) + self.first)
        elif np.issubdtype(values.dtype, np.integer):
            value = varints(_INTEGER, values[row].astype(np.int64))
        else:
            value = fixed64(_DOUBLE, values[row])
        rows = messages(_ANNOTATIONS, [same(varint(_ANNOTATION_NAME, self.name), len(row)), value])
        return rows if there is None else rows.where(there[row])


def _slices(slices: Slices, shift: int, strings: _Interned) -> Iterator[bytes]:
    name = strings.add(_NAME_STRINGS, slices.name.strings)
    category = strings.add(_CATEGORY_STRINGS, slices.category.strings)
    columns = [_column(argument, strings) for argument in slices.arguments]
    yield from strings.written()
    which, begins = bracketed(slices.track, slices.start, slices.end)
    for low in range(0, len(which), _CHUNK):
        row, begin = which[low : low + _CHUNK], begins[low : low + _CHUNK]
        begun, ended = row[begin], row[~begin]
        details = [
            varints(_NAME, slices.name.codes[begun].astype(np.int64) + name),
            varints(_CATEGORIES, slices.category.codes[begun].astype(np.int64) + category),
            *(
                fixed64(_FLOWS, flow.number[begun] + np.int64(1)).where(flow.number[begun] >= 0)
                for flow in slices.flows
            ),
            *(column.rows(begun) for column in columns),
        ]
        first = _events(slices.start[begun] + shift, _BEGIN, slices.track[begun], details)
        second = _events(slices.end[ended] + shift, _END, slices.track[ended], [])
        yield interleaved(first, second, begin).tobytes()


def _column(argument: Argument, strings: _Interned) -> _Column:
    name = strings.once(_ANNOTATION_NAMES, argument.name)
    values = argument.values
    return _Column(argument, name, strings.add(_ANNOTATION_STRINGS, values.strings) if isinstance(values, Texts) else 0)


def _counter(counter: Counter, shift: int) -> Iterator[bytes]:
    for low in range(0, len(counter.instant), _CHUNK):
        instant, value = counter.instant[low : low + _CHUNK], counter.value[low : low + _CHUNK]
        track = np.full(len(instant), counter.track, np.int32)
        yield _events(instant + shift, _COUNTER, track, [varints(_COUNTER_VALUE, value)]).joined().tobytes()


def _events(instant: Int64, kind: int, track: Int32, details: Sequence[Rows]) -> Rows:
    """Packets with a track event each."""
    rows = len(instant)
    event = [same(varint(_TYPE, kind), rows), varints(_TRACK, track), *details]
    head = same(varint(_SEQUENCE, 1) + varint(_SEQUENCE_FLAGS, _NEEDS_INTERNED), rows)
    return messages(_PACKET, [varints(_TIMESTAMP, instant), head, messages(_TRACK_EVENT, event)])
