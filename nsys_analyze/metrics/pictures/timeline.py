"""One instance on a time axis: its ranges, the CUDA calls of its threads, the streams of its GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.arrays import AnyInt, Bool, Int64, expand_slices, order_by_both
from nsys_analyze.attribution import Moments, attribute
from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.coverage import knows_gpu, lost_launches
from nsys_analyze.metrics.pictures.spans import Span, Window, merged
from nsys_analyze.metrics.pictures.stage_rows import stage_rows
from nsys_analyze.metrics.pictures.unseen import cut, unseen
from nsys_analyze.metrics.results import Stage
from nsys_analyze.model.calls import CallPart
from nsys_analyze.timeline import union

if TYPE_CHECKING:
    from nsys_analyze.report import Report

COLUMNS = 1_200
_IDLE = ("startup", "between", "tail", "unknown")
_UNKNOWN = _IDLE.index("unknown")
_MOST_LEVELS, _MOST_THREADS, _MOST_STREAMS = 6, 3, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A row of spans. ``thread`` is the thread's id; ``device`` and ``stream`` are None for ranges and calls."""

    thread: int | None
    device: int | None
    stream: int | None
    spans: list[Span]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The instance's startup gap in its parts, ns; it begins at 0."""

    total: int
    prelude: int
    launch: int
    queue: int
    exposed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """One instance, times in ns after its start. ``wall`` is where its range ends, ``elapsed`` where its work does.

    ``ranges`` go from the outermost level down, thread by thread; ``calls`` hold a lane a thread; ``streams`` a lane a
    stream. ``idle`` has for each device when nothing ran on it, by kind: startup (until the instance's own first
    operation), between, tail; unknown where work may have run that the capture lost. ``lost`` counts the instance's
    launch calls without an operation; where it has no other work, ``unseen`` is when theirs may have run.
    ``lanes_left_out`` counts lanes there was no room for; what is thinner than ``column`` was run together.
    """

    index: int
    instances: int
    name: str
    finished: bool
    wall: int
    elapsed: int
    ranges: list[Lane]
    calls: list[Lane]
    streams: list[Lane]
    idle: dict[int, list[Span]]
    gap: Gap | None
    lost: int
    unseen: list[Span]
    lanes_left_out: int
    column: float


def timeline(report: Report, stage: Stage, index: int | None = None, columns: int = COLUMNS) -> Timeline:
    """Returns one instance of a stage.

    Args:
        report: The report that the stage is of.
        stage: The stage.
        index: Which instance, as ``--by instance`` counts them; None for the stage's median one by elapsed time.
        columns: How many pixels the picture is wide: what is thinner is run together.

    Raises:
        UsageError: If there is no such instance.
    """
    rows = stage_rows(report, stage)
    index = _usual(report, stage, rows) if index is None else index
    if not 0 <= index < len(rows):
        raise UsageError(f"instance {index}: there are 0 to {len(rows) - 1}")
    return _Instance(report, int(rows[index]), columns).timeline(index, len(rows))


def _usual(report: Report, stage: Stage, rows: Int64) -> int:
    """The median instance of a stage, which the table names too; without one, its first finished one if it has any."""
    if stage.median_instance is not None:
        return stage.median_instance.index
    return int(np.argmax(report.trace.ranges.finished[rows]))


class _Instance:
    """One range and all that it owns."""

    def __init__(self, report: Report, row: int, columns: int) -> None:
        self._report, self._trace, self._row = report, report.trace, row
        self._start, self._end = int(self._trace.ranges.start[row]), int(self._trace.ranges.end[row])
        self._window = Window(self._start, max(int(report.instances.completion[row]), self._start + 1), columns)
        launches = self._trace.launches
        _, self._launches = report.launched.members.pairs(np.array([row]))
        _, position = expand_slices(launches.first_op[self._launches], launches.first_op[self._launches + 1])
        self._own = np.zeros(len(self._trace.ops), bool)
        self._own[launches.ops[position]] = True

    def timeline(self, index: int, instances: int) -> Timeline:
        ranges, levels_out = self._range_lanes()
        calls, threads_out = self._call_lanes()
        streams, streams_out = self._stream_lanes()
        lost = self._lost()
        return Timeline(
            index=index,
            instances=instances,
            name=self._trace.ranges.names[self._trace.ranges.name[self._row]],
            finished=bool(self._trace.ranges.finished[self._row]),
            wall=self._end - self._start,
            elapsed=self._window.end - self._start,
            ranges=ranges,
            calls=calls,
            streams=streams,
            idle={device: self._idle(device) for device in np.unique(self._trace.ops.device[self._own]).tolist()},
            gap=self._gap(),
            lost=len(lost),
            unseen=[] if streams else self._unseen(lost),
            lanes_left_out=levels_out + threads_out + streams_out,
            column=self._window.pixel,
        )

    def _range_lanes(self) -> tuple[list[Lane], int]:
        """The range itself and all below it, a lane a thread and level."""
        report, ranges = self._report, self._trace.ranges
        rows = self._descendants()
        depth = report.paths.depth[report.instances.path]
        level = depth[rows] - depth[self._row]
        own_first = ranges.thread[rows] != ranges.thread[self._row]
        key = np.stack([own_first, ranges.thread[rows], level])
        lanes, number = np.unique(key, axis=1, return_inverse=True)
        found = []
        for lane, (_, thread, _) in enumerate(lanes.T.tolist()[:_MOST_LEVELS]):
            chosen = rows[number.reshape(-1) == lane]
            spans = self._merged(ranges.start, ranges.end, chosen, ranges.names, ranges.name, "range")
            found.append(Lane(thread=self._tid(thread), device=None, stream=None, spans=spans))
        return found, lanes.shape[1] - len(found)

    def _descendants(self) -> Int64:
        """Rows of the range and of all ranges below it, on whatever thread."""
        ranges, parent = self._trace.ranges, self._report.instances.parent
        rows = np.flatnonzero((ranges.start >= self._start) & (ranges.start < self._window.end))
        above = rows.copy()
        while (climbing := (above >= 0) & (above != self._row)).any():
            above[climbing] = parent[above[climbing]]
        below: Int64 = rows[above == self._row]
        return below

    def _call_lanes(self) -> tuple[list[Lane], int]:
        """Calls that began within the range, on its own thread and on those that launched for it."""
        calls, own = self._trace.calls, int(self._trace.ranges.thread[self._row])
        others = np.setdiff1d(self._trace.launches.thread[self._launches], [own]).tolist()
        inside = (calls.start >= self._start) & (calls.start < self._end)
        lanes = [self._calls(thread, inside) for thread in (own, *others)[:_MOST_THREADS]]
        return [lane for lane in lanes if lane.spans], max(0, 1 + len(others) - _MOST_THREADS)

    def _calls(self, thread: int, inside: Bool) -> Lane:
        calls = self._trace.calls
        rows = np.flatnonzero(inside & (calls.thread == thread))
        part = calls.parts[calls.name[rows]]
        spans = [
            span
            for kind in reversed(CallPart)  # launches are drawn over what matters less
            for span in self._merged(
                calls.start, calls.end, rows[part == kind], calls.names, calls.name, kind.name.lower()
            )
        ]
        return Lane(thread=self._tid(thread), device=None, stream=None, spans=spans)

    def _stream_lanes(self) -> tuple[list[Lane], int]:
        """What ran on the GPUs that the instance used, a lane a stream; its own streams first."""
        ops = self._trace.ops
        used = np.unique(ops.device[self._own])
        shown = (ops.end > self._start) & (ops.start < self._window.end) & np.isin(ops.device, used)
        rows = np.flatnonzero(shown | self._own)
        streams, number = np.unique(np.stack([ops.device[rows], ops.stream[rows]]), axis=1, return_inverse=True)
        number = number.reshape(-1)
        owned = np.bincount(number[self._own[rows]], minlength=streams.shape[1])
        order = np.lexsort((np.arange(len(owned)), owned == 0))
        lanes = []
        for place in sorted(order[:_MOST_STREAMS].tolist()):
            device, stream = streams[:, place].tolist()
            lanes.append(self._stream(device, stream, rows[number == place]))
        return lanes, len(order) - len(lanes)

    def _stream(self, device: int, stream: int, rows: Int64) -> Lane:
        ops = self._trace.ops
        spans = [
            span
            for kind, chosen in (("other", rows[~self._own[rows]]), ("own", rows[self._own[rows]]))
            for span in self._merged(ops.start, ops.end, chosen, ops.names, ops.name, kind)
        ]
        return Lane(thread=None, device=device, stream=stream, spans=spans)

    def _idle(self, device: int) -> list[Span]:
        """When the device did nothing at all, as far as it shows."""
        ops, window = self._trace.ops, self._window
        there = ops.device == device
        own = np.flatnonzero(there & self._own)
        busy_start, busy_end = union(ops.start[there], ops.end[there])
        seen = (busy_end > window.start) & (busy_start < window.end)
        start = np.append(window.start, busy_end[seen])
        end = np.append(busy_start[seen], window.end)
        wide = end - start >= window.pixel
        start, end, unknown = cut(start[wide], end[wide], *unseen(self._trace, device))
        tail = start >= ops.end[own].max()
        kind = np.where(end <= max(int(ops.start[own].min()), window.start), 0, np.where(tail, 2, 1))
        kind[unknown] = _UNKNOWN
        return [
            span
            for number, name in enumerate(_IDLE)
            for span in merged(window, start[kind == number], end[kind == number], kind[kind == number], _IDLE, name)
        ]

    def _lost(self) -> Int64:
        """When its launch calls began whose operations the capture lacks."""
        report, calls = self._report, self._trace.calls
        rows = np.flatnonzero(lost_launches(self._trace))
        rows = rows[order_by_both(calls.thread[rows], calls.start[rows])]
        moments = Moments(calls.thread[rows], calls.start[rows])
        found = attribute(moments, self._trace, report.nesting, report.settings.attribution)
        return moments.start[found.members.pairs(np.array([self._row]))[1]]

    def _unseen(self, lost: Int64) -> list[Span]:
        """When all of its work may have run, where the capture has none of it; nothing where it had none."""
        if not len(lost) and knows_gpu(self._trace):
            return []
        begin = int(lost.min(initial=self._window.end)) - self._start if len(lost) else 0
        return [Span(start=begin, end=self._window.end - self._start, kind="unknown", count=1, name="unknown")]

    def _gap(self) -> Gap | None:
        gap, row = self._report.instances.gap, self._row
        if not self._report.instances.has_gpu[row]:
            return None
        return Gap(**{name: int(getattr(gap, name)[row]) for name in Gap.__slots__})

    def _merged(self, start: Int64, end: Int64, rows: Int64, names: list[str], name: AnyInt, kind: str) -> list[Span]:
        return merged(self._window, start[rows], end[rows], name[rows], names, kind)

    def _tid(self, thread: int) -> int:
        return int(self._trace.threads.tid[thread])
