"""The plot ``timeline``: one instance's ranges, CUDA calls and GPU streams on a common axis of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nsys_analyze.durations import natural_unit
from nsys_analyze.metrics.breakdown import HOST_PARTS, Kind
from nsys_analyze.metrics.pictures.spans import Span
from nsys_analyze.metrics.pictures.timeline import Lane, Timeline
from nsys_analyze.model.kernel_names import taken_apart
from nsys_analyze.views import units
from nsys_analyze.views.plots.lettering import BODY, LINE, SMALL, fitted, safe, width
from nsys_analyze.views.plots.sheet import Heading, KeyLine, Sheet, Size, new_sheet, sentence
from nsys_analyze.views.plots.style import GAP, GPU, HOST, INK, MUTED, UNKNOWN, VERMILLION, Look
from nsys_analyze.views.plots.subjects import Subjects, count_of
from nsys_analyze.views.text import ELLIPSIS
from nsys_analyze.views.wording import part_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_RANGE = Look("#CFE3F1")
_LOOKS = {"range": _RANGE, "unknown": UNKNOWN, **HOST, **GPU, **GAP}
_IDLE = {"startup": "idle_startup", "between": "idle_between", "tail": "idle_tail"}
_AXIS = 2 * BODY * LINE + 8.0
_SPACE = 7.0  # between sorts of tracks
_STEPS = 8  # heights of spans that are thin or stand for several
_NAMED = 26.0  # points from which a span may carry a name
_TELLING = 8  # characters from which a name that was cut is worth showing
_LEAST = 130.0  # points that the tracks are high together


@dataclass(frozen=True, slots=True, kw_only=True)
class _Track:
    """A lane with its name, its height in points and the idle times behind it."""

    name: str
    spans: Sequence[Span]
    high: float
    names: bool
    idle: Sequence[Span] = ()
    space: float = 0.0


def draw(data: Timeline | None, subjects: Subjects, size: Size | None) -> Figure:
    """Draws an instance of the one subject; None where there is none."""
    if data is None:
        return sentence(f"Timeline · {subjects.common}", subjects.nothing, size)
    at = f"instance {data.index} (of 0 to {data.instances - 1})" if data.instances > 1 else "its only instance"
    heading = Heading(title=f"{subjects.common}, {at}", notes=[_note(data, subjects.shown[0].idle)])
    tracks = list(_tracks(data))
    needed = sum(track.high + track.space for track in tracks)
    sheet = new_sheet(heading, _key(data), size, max(needed, _LEAST) + _AXIS)
    _draw_tracks(sheet, tracks, data, needed)
    return sheet.finished()


def _tracks(data: Timeline) -> Iterator[_Track]:
    threads = {lane.thread for lane in (*data.ranges, *data.calls)}
    for place, lane in enumerate(data.ranges):
        name = _of_thread("ranges", lane, threads) if place == 0 or lane.thread != data.ranges[place - 1].thread else ""
        yield _Track(name=name, spans=lane.spans, high=16.0, names=True)
    for place, lane in enumerate(data.calls):
        name = _of_thread("calls", lane, threads)
        yield _Track(name=name, spans=lane.spans, high=18.0, names=False, space=0.0 if place else _SPACE)
    if data.gap is not None:
        yield _Track(name="startup gap", spans=_gap_spans(data), high=14.0, names=False, space=_SPACE)
    for place, lane in enumerate(data.streams):
        idle = data.idle.get(lane.device if lane.device is not None else -1, [])
        name = f"GPU {lane.device}, stream {lane.stream}"
        yield _Track(name=name, spans=lane.spans, high=24.0, names=True, idle=idle, space=0.0 if place else _SPACE)

    if data.unseen:
        yield _Track(name="GPU", spans=data.unseen, high=24.0, names=True, space=_SPACE)


def _of_thread(what: str, lane: Lane, threads: set[int | None]) -> str:
    return f"{what}, thread {lane.thread}" if len(threads) > 1 else what


def _gap_spans(data: Timeline) -> list[Span]:
    gap, at, spans = data.gap, 0, []
    for kind in ("prelude", "launch", "queue"):
        length = getattr(gap, kind)
        spans.append(Span(start=at, end=at + length, kind=kind, count=1, name=kind))
        at += length
    return [span for span in spans if span.end > span.start]


def _draw_tracks(sheet: Sheet, tracks: Sequence[_Track], data: Timeline, needed: float) -> None:
    from matplotlib.ticker import MaxNLocator

    factor, unit = natural_unit(data.elapsed)
    left = sheet.left + min(max(width(track.name, SMALL) for track in tracks), 0.3 * sheet.width) + 6
    right, bottom = sheet.right - 8, sheet.bottom + _AXIS
    across = right - left
    axes = sheet.axes(left, bottom, right, sheet.top)
    axes.set_xlim(0, data.elapsed / factor)
    axes.set_ylim(max(needed, 1.0), 0)
    axes.xaxis.set_major_locator(MaxNLocator(max(2, int(across / 60)), steps=[1, 2, 2.5, 5, 10]))
    axes.set_xlabel(fitted(f"{unit} after the start of the range", across, BODY), labelpad=2)
    axes.spines["left"].set_visible(False)
    top, middles = 0.0, []
    for track in tracks:
        top += track.space
        _draw_track(axes, track, top, data.column, factor, across / (data.elapsed / factor))
        middles.append(top + track.high / 2)
        if track.name == "startup gap":
            _mark_gap(axes, data, top, track.high, factor, across)
        top += track.high
    axes.set_yticks(middles, [fitted(track.name, left - sheet.left - 6, SMALL) for track in tracks])
    axes.tick_params(axis="y", length=0, pad=3)
    if data.wall < data.elapsed:
        axes.axvline(data.wall / factor, color=MUTED, linewidth=1.0, linestyle="--")


def _draw_track(axes: Axes, track: _Track, top: float, column: float, factor: float, points: float) -> None:
    """Draws the idle times, then the spans kind by kind, none thinner than a column of pixels.

    What fills a column or a span only in part is less high instead, so that its area is true. ``points`` is how wide a
    unit of the axis is.
    """
    for kind, spans in _by_kind(track.idle):
        look = UNKNOWN if kind == "unknown" else GPU[_IDLE[kind]]
        extents = _extents(spans, factor)
        axes.broken_barh(extents, (top, track.high), facecolors=look.fill, hatch=look.hatch or None, linewidth=0)
    inset = 2.0 if track.idle else 1.0
    bottom, high = top + track.high - inset, track.high - 2 * inset
    for kind, level, spans in _by_level(track.spans):
        look = _LOOKS[kind]
        how: dict[str, Any] = {"facecolors": look.fill, "hatch": look.hatch or None, "linewidth": 0}
        axes.broken_barh(_extents(spans, factor, column), (bottom - high * level, high * level), **how)
    if track.names:
        _write_names(axes, track, (top + inset, track.high - 2 * inset), factor, points)


def _write_names(axes: Axes, track: _Track, where: tuple[float, float], factor: float, points: float) -> None:
    """Writes their names on the spans that have room for one, and parts these from their neighbours."""
    top, high = where
    for span in track.spans:
        room = (span.end - span.start) / factor * points
        text = fitted(_name(span), room - 4, SMALL - 1) if room > _NAMED else ""
        if not text or (len(text) < _TELLING and ELLIPSIS in text):
            continue
        ends = [span.start / factor, span.end / factor]
        colour = _LOOKS[span.kind].text if _level(span) == 1.0 else INK
        how: dict[str, Any] = {"ha": "center", "va": "center_baseline", "color": colour}
        axes.text(sum(ends) / 2, top + high / 2, text, fontsize=SMALL - 1, **how)
        axes.vlines(ends, top, top + high, color="white", linewidth=0.8)


def _by_kind(spans: Sequence[Span]) -> Iterator[tuple[str, list[Span]]]:
    for kind in dict.fromkeys(span.kind for span in spans):
        yield kind, [span for span in spans if span.kind == kind]


def _by_level(spans: Sequence[Span]) -> Iterator[tuple[str, float, list[Span]]]:
    """Spans of a kind that are equally high: as high as they are filled, in steps, but for ranges."""
    for kind, alike in _by_kind(spans):
        levels = [_level(span) for span in alike]
        for level in sorted(set(levels)):
            yield kind, level, [span for span, high in zip(alike, levels, strict=True) if high == level]


def _level(span: Span) -> float:
    return 1.0 if span.kind == "range" else max(round(span.filled * _STEPS), 1) / _STEPS


def _extents(spans: Sequence[Span], factor: float, least: float = 0.0) -> list[tuple[float, float]]:
    return [(span.start / factor, max(span.end - span.start, least) / factor) for span in spans]


def _name(span: Span) -> str:
    """What stands on a span; of a kernel's signature only the function."""
    if span.count > 1:
        return f"{span.count:,} x"
    return span.name if span.kind == "range" else taken_apart(span.name).short or span.name


def _mark_gap(axes: Axes, data: Timeline, top: float, high: float, factor: float, across: float) -> None:
    """Says how long the gap is, beside it, and where it ends on all tracks."""
    if data.gap is None:
        return
    end = data.gap.total / factor
    axes.axvline(end, color=VERMILLION, linewidth=1.0)
    total, *parts = units.split(data.gap.total, [data.gap.prelude, data.gap.launch, data.gap.queue, data.gap.exposed])
    told = f"{total} = prelude {parts[0]} + launch {parts[1]} + queue {parts[2]}; exposed {parts[3]}"
    options = (told, f"{total}, exposed {parts[3]}", total)
    room = across * (data.elapsed - data.gap.total) / data.elapsed - 6
    after = next((option for option in options if width(option, SMALL) <= room), "")
    how: dict[str, Any] = {"ha": "left" if after else "right", "va": "center_baseline", "fontsize": SMALL, "color": INK}
    box = None if after else {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    offset = (5 if after else -5, 0)
    axes.annotate(after or total, (end, top + high / 2), offset, textcoords="offset points", bbox=box, **how)


def _note(data: Timeline, idle: str) -> str:
    until = "its GPU work" if data.streams else "the range"
    parts = [f"{safe(data.name)}: {units.duration(data.elapsed)} from its start to the end of {until}"]
    if not data.finished:
        parts.append("it never ended, and is cut at the end of the capture")
    if data.wall < data.elapsed:
        parts.append(f"the range ends after {units.duration(data.wall)} (dashed)")
    if data.lanes_left_out:
        parts.append(f"{count_of(data.lanes_left_out, 'track')} left out")
    if data.lost:
        parts.append(
            f"{count_of(data.lost, 'launch call')} of it {'has' if data.lost == 1 else 'have'} no GPU operation"
        )
    sentences = ["; ".join(parts), *([] if data.streams or not idle else [f"no GPU work to show: {idle}"])]
    if any(_level(span) < 1.0 for lane in (*data.calls, *data.streams) for span in lane.spans):
        sentences.append("what fills its width only in part is less high")
    return " ".join(f"{said[:1].upper() if place else said[:1]}{said[1:]}." for place, said in enumerate(sentences))


def _key(data: Timeline) -> list[KeyLine]:
    calls = {span.kind for lane in data.calls for span in lane.spans}
    work = {span.kind for lane in data.streams for span in lane.spans}
    idle = {_IDLE.get(span.kind, span.kind) for spans in data.idle.values() for span in spans}
    lines = []
    if calls:
        lines.append(KeyLine(title="calls", entries=[(HOST_PARTS[kind], HOST[kind]) for kind in HOST if kind in calls]))
    if data.gap is not None:
        present = [span.kind for span in _gap_spans(data)]
        lines.append(KeyLine(title="gap", entries=[(kind, GAP[kind]) for kind in present]))
    entries = [(part_name(Kind.GPU, kind), GPU[kind]) for kind in GPU if kind in work or kind in idle]
    if "unknown" in idle or data.unseen:
        entries.append(("unknown: work may be missing", UNKNOWN))
    if entries:
        lines.append(KeyLine(title="GPU", entries=entries))
    return lines
