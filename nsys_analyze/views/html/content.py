"""What the template is given: texts and places only, nothing that still has to be worked out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nsys_analyze.views.document import Remarks


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A number: its digits (padded so that a column aligns on the decimal point), its unit, its value for sorting.

    ``value`` is the number itself, empty where it is missing or the row is not for it.
    """

    text: str = ""
    unit: str = ""
    value: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A column: its title, what its numbers mean, how exact values are to be read ("ns" or a count), its width.

    ``width`` is in characters, the most that a cell of the column takes; ``of`` is which number of several instances
    it is: their mean or their median.
    """

    title: str
    meaning: str
    exact: str
    width: int
    strong: bool = False
    of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a bar: the name of its look, where it begins and how long it is, in thousandths of the room."""

    look: str
    start: float
    length: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A stacked bar; ``words`` say all that it shows, a line each."""

    words: str
    segments: Sequence[Segment]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRow:
    """A row of the tree; ``full`` is its name in full where ``name`` is shorter, ``card`` the number of its details.

    A row is ``shut`` if it has children that are not shown at first, ``hidden`` if it lies below a shut one.
    """

    name: str
    full: str
    level: int
    parent: bool
    shut: bool
    hidden: bool
    card: int | None = None
    heading: bool = False
    cells: Sequence[Cell] = ()
    bars: Sequence[Bar] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The tree of stages. ``looks`` is the key to its bars, ``footer`` says what it leaves out, and how to see it."""

    headers: Sequence[Header]
    rows: Sequence[TreeRow]
    looks: Sequence[tuple[str, Sequence[tuple[str, str]]]]
    footer: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatRow:
    """A row of a plain table, with remarks to write below it."""

    name: str
    full: str
    level: int
    texts: Sequence[str]
    cells: Sequence[Cell]
    marks: Sequence[bool]
    remarks: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatTable:
    """A plain table: columns of text, then columns of numbers; groups of rows under a heading each."""

    title: str
    texts: Sequence[str]
    headers: Sequence[Header]
    groups: Sequence[tuple[str, Sequence[FlatRow]]]
    footer: Sequence[str] = ()
    sortable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a panel: the look of its swatch if it has one, a name, the numbers."""

    name: str
    numbers: Sequence[str]
    look: str = ""
    meaning: str = ""
    full: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A small table about one side of a stage, under a bar where that shows its parts."""

    title: str
    meaning: str
    headers: Sequence[str]
    lines: Sequence[Line]
    bar: Bar | None = None
    wide: bool = False
    footer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """All about one stage. ``facts`` are its figures in brief."""

    number: int
    name: str
    full: str
    report: str
    facts: str
    shown: bool
    panels: Sequence[Panel]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What heads a report: its file, facts, how much is covered, findings; a name stands at odd places of a message."""

    label: str
    facts: Sequence[str]
    remarks: Remarks
    share: float | None
    warnings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A plot as SVG markup that is safe to write into the page, and what it shows in words."""

    title: str
    svg: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The whole page."""

    title: str
    heads: Sequence[Head]
    loops: FlatTable | None
    tree: Tree
    cards: Sequence[Card]
    cards_left_out: str
    tables: Sequence[FlatTable]
    terms: Sequence[tuple[str, str]]
    settings: Sequence[str]
    pictures: Sequence[Picture] = field(default_factory=list)
