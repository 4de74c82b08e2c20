"""What a trace consists of, whatever the file's format: tracks, slices on them with their arguments, counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nsys_analyze.arrays import AnyInt, Bool, Int32, Int64
from nsys_analyze.percentiles import Float64


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """A row of the picture, or a group of rows; ``number`` is positive, and 0 is the parent of the outermost.

    Siblings come in the order of their numbers. ``process`` (its pid) and ``thread`` (pid and tid) are set on the
    track that stands for one.
    """

    number: int
    name: str
    parent: int = 0
    process: int | None = None
    thread: tuple[int, int] | None = None
    counter: bool = False


@dataclass(frozen=True, slots=True)
class Texts:
    """A column of texts: ``codes`` index ``strings``."""

    codes: AnyInt
    strings: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """A number or a text that slices carry, where it is ``there`` (None: everywhere)."""

    name: str
    values: AnyInt | Float64 | Texts
    there: Bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Arrows: slices with the same number are joined, in order of time; -1 is none."""

    number: Int32


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    """Slices, ordered by (track, start, longer first); two on a track nest or are apart. Times are ns."""

    track: Int32
    start: Int64
    end: Int64
    name: Texts
    category: Texts
    arguments: Sequence[Argument] = ()
    flows: Sequence[Flow] = ()

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """A number over time: ``value[i]`` holds from ``instant[i]`` on, ns."""

    track: int
    instant: Int64
    value: Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A whole trace. ``about`` is what it says of itself."""

    about: dict[str, str]
    tracks: list[Track]
    slices: list[Slices]
    counters: list[Counter]

    @property
    def events(self) -> int:
        """Slices and counter values."""
        return sum(map(len, self.slices)) + sum(len(counter.instant) for counter in self.counters)


@dataclass(slots=True)
class Tracks:
    """The tracks of a trace as they are added."""

    all: list[Track] = field(default_factory=list)

    def add(
        self,
        name: str,
        parent: int = 0,
        *,
        process: int | None = None,
        thread: tuple[int, int] | None = None,
        counter: bool = False,
    ) -> int:
        """Adds a track and returns its number."""
        number = len(self.all) + 1
        track = Track(number=number, name=name, parent=parent, process=process, thread=thread, counter=counter)
        self.all.append(track)
        return number

    def lanes(self, name: str, parent: int, lanes: int) -> list[int]:
        """Adds tracks of one name, for slices that cross; returns their numbers."""
        return [self.add(f"{name} ({lane + 1})" if lane else name, parent) for lane in range(lanes)]
