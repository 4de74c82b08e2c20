"""What a page says before any format draws it: a heading, tables of cells, lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nsys_analyze.views.units import Number


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a row: ``text`` under ``indent`` levels of a tree, or ``full`` where there is no tree."""

    text: str
    indent: int = 0
    full: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of numbers. ``drop`` says how early it goes when room is short; 0 is never.

    ``emphasis`` is for all cells of the column; ``marks`` says for each cell whether it stands out, if there are any.
    """

    title: str
    cells: Sequence[Number | None]
    drop: int = 0
    emphasis: bool = False
    marks: Sequence[bool] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """The start of a row: its name, its process where there are several, and remarks to write below it."""

    name: Name
    process: str = ""
    remarks: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows that belong together, under a heading where there is more than one group."""

    heading: str
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with a title. ``footer`` says what it leaves out, and how to see it.

    Columns go before names get shorter than ``name_kept``.
    """

    title: str
    groups: Sequence[Group]
    columns: Sequence[Column]
    footer: Sequence[str] = ()
    name_kept: int = 26

    @property
    def rows(self) -> list[Row]:
        """The rows of all groups, in order: one for each cell of a column."""
        return [row for group in self.groups for row in group.rows]

    @property
    def lines(self) -> list[list[Number | None]]:
        """The numbers of each row, in the order of ``rows``."""
        return [[column.cells[place] for column in self.columns] for place in range(len(self.rows))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A finding: its level and code stand in front of the sentence."""

    level: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Remarks:
    """What follows the tables for one report: sentences on coverage, then findings."""

    heading: str
    sentences: Sequence[str]
    notes: Sequence[Note]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page: one heading a report (a list of facts each), then the tables, then the remarks."""

    headings: Sequence[Sequence[str]]
    tables: Sequence[Table]
    remarks: Sequence[Remarks] = field(default_factory=list)
