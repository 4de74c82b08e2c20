"""Reads a trace as Perfetto does, by its own protocol buffers: one object a slice, slices nested by begins and ends."""

from __future__ import annotations

import gzip
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket, TrackEvent

if TYPE_CHECKING:
    from pathlib import Path

CLEARED, NEEDS = TracePacket.SEQ_INCREMENTAL_STATE_CLEARED, TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
ABOUT = "about this trace"


@dataclass(eq=False)
class Slice:
    """A slice or, without an end, an instant; `parent` is the slice around it on its track."""

    track: int
    name: str
    category: str
    start: int
    arguments: dict[str, Any]
    flows: list[int]
    end: int | None = None
    parent: Slice | None = None


@dataclass
class Decoded:
    """All that a trace says."""

    tracks: dict[int, Any] = field(default_factory=dict)
    slices: list[Slice] = field(default_factory=list)
    counters: dict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    about: dict[str, str] = field(default_factory=dict)

    def of(self, *categories: str) -> list[Slice]:
        """Give the slices of some categories."""
        return [piece for piece in self.slices if piece.category in categories]

    def path(self, track: int) -> list[str]:
        """Name the groups that a track lies in, and the track."""
        found = []
        while track:
            found.append(self.tracks[track].name)
            track = self.tracks[track].parent_uuid
        return found[::-1]


def decode(path: Path) -> Decoded:
    """Read a trace, unpacking it if need be; what Perfetto would drop or mend fails here."""
    content = path.read_bytes()
    return _Decoder().read(gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content)


class _Decoder:
    def __init__(self) -> None:
        self.out = Decoded()
        self.strings: dict[tuple[str, int], str] = {}
        self.open: dict[int, list[Slice]] = defaultdict(list)

    def read(self, content: bytes) -> Decoded:
        trace = Trace.FromString(content)
        assert trace.SerializeToString() and not _unknown(trace)
        assert trace.packet[0].sequence_flags == CLEARED
        events = []
        for packet in trace.packet:
            assert packet.trusted_packet_sequence_id == 1
            self.intern(packet)
            if packet.HasField("track_descriptor"):
                self.describe(packet.track_descriptor)
            if packet.HasField("track_event"):
                events.append((packet.timestamp, self.resolved(packet), packet.track_event))
        for instant, piece, event in sorted(events, key=lambda each: each[0]):  # stable, as Perfetto's sorter is
            self.event(instant, piece, event)
        assert not any(self.open.values())
        return self.out

    def intern(self, packet: TracePacket) -> None:
        data = packet.interned_data
        for kind in ("event_categories", "event_names", "debug_annotation_names", "debug_annotation_string_values"):
            for entry in getattr(data, kind):
                assert packet.sequence_flags == NEEDS and entry.iid > 0
                assert (kind, entry.iid) not in self.strings
                self.strings[kind, entry.iid] = entry.str.decode() if kind.endswith("values") else entry.name

    def describe(self, track: Any) -> None:
        assert track.uuid > 0 and track.uuid not in self.out.tracks
        assert not track.parent_uuid or track.parent_uuid in self.out.tracks
        assert track.child_ordering == track.EXPLICIT
        self.out.tracks[track.uuid] = track

    def resolved(self, packet: TracePacket) -> Slice | None:
        """Give the slice that a packet begins, with the strings that are known by then."""
        event = packet.track_event
        assert packet.sequence_flags == NEEDS and event.track_uuid in self.out.tracks
        if event.type not in (TrackEvent.TYPE_SLICE_BEGIN, TrackEvent.TYPE_INSTANT):
            return None
        category = self.strings["event_categories", event.category_iids[0]] if event.category_iids else ""
        arguments = {
            self.strings["debug_annotation_names", each.name_iid]: self.value(each) for each in event.debug_annotations
        }
        assert len(arguments) == len(event.debug_annotations)
        name = self.strings["event_names", event.name_iid]
        return Slice(event.track_uuid, name, category, packet.timestamp, arguments, list(event.flow_ids))

    def value(self, annotation: Any) -> Any:
        kind = annotation.WhichOneof("value")
        value = getattr(annotation, kind)
        return self.strings["debug_annotation_string_values", value] if kind == "string_value_iid" else value

    def event(self, instant: int, piece: Slice | None, event: TrackEvent) -> None:
        opened = self.open[event.track_uuid]
        if event.type == TrackEvent.TYPE_COUNTER:
            assert self.out.tracks[event.track_uuid].HasField("counter")
            self.out.counters[event.track_uuid].append((instant, event.counter_value))
        elif event.type == TrackEvent.TYPE_SLICE_END:
            opened.pop().end = instant
        elif piece is not None and event.type == TrackEvent.TYPE_INSTANT:
            assert piece.name == ABOUT
            self.out.about = piece.arguments
        elif piece is not None:
            piece.parent = opened[-1] if opened else None
            opened.append(piece)
            self.out.slices.append(piece)


def _unknown(trace: Trace) -> bool:
    """Tell whether a packet holds a field that nobody defined."""
    return trace.ByteSize() != _known_size(trace)


def _known_size(trace: Trace) -> int:
    copy = Trace()
    copy.CopyFrom(trace)
    copy.DiscardUnknownFields()
    return copy.ByteSize()
