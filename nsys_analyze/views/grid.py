"""Lays a table out as lines of plain text: numbers on their decimal points, columns that fit the width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nsys_analyze.views.document import Column, Table
from nsys_analyze.views.text import pad, shorten, shorten_apart, width, wrap
from nsys_analyze.views.units import Number

_GAP = "  "
_INDENT = "  "
_MISSING = "-"
_NAME_LEAST = 8
_NAME_USUAL = 20
_NAME_MOST = 60


@dataclass(frozen=True, slots=True)
class _Block:
    """A column ready to print: its title and cells, all of one width."""

    title: str
    cells: list[str]
    drop: int = 0
    marks: Sequence[bool] = ()

    @property
    def width(self) -> int:
        return width(self.title)


def grid(table: Table, columns: int, emphasize: Callable[[str], str]) -> list[str]:
    """Returns the table as lines of at most ``columns``, without the columns that are needed least if room is short.

    ``emphasize`` is applied to the cells that matter most.
    """
    names = _name_texts(table)
    needed = max(map(width, [table.title, *names]))
    blocks = _fitting(_blocks(table), _room(table, columns))
    blocks.insert(0, _left(table.title, names, _name_width(needed, columns - _taken(blocks))))
    lines = [_GAP.join(block.title for block in blocks).rstrip()]
    place = 0
    for group in table.groups:
        lines += [shorten(group.heading, columns)] if group.heading else []
        for row in group.rows:
            lines.append(_line(blocks, place, emphasize))
            indent = _INDENT * (row.name.indent + bool(group.heading) + 1)
            for remark in row.remarks:
                lines += _remark(remark, columns, indent)
            place += 1
    return lines + [line for sentence in table.footer for line in wrap(sentence.split(), " ", columns, _INDENT)]


def left_out(table: Table, columns: int) -> list[str]:
    """Returns the titles of the columns for which there is no room at that width."""
    blocks = _blocks(table)
    kept = _fitting(blocks, _room(table, columns))
    return [block.title.strip() for block in blocks if block not in kept]


def _room(table: Table, columns: int) -> int:
    """What the names leave for the other columns."""
    needed = max(map(width, [table.title, *_name_texts(table)]))
    return columns - max(_NAME_LEAST, min(needed, table.name_kept))


def _remark(parts: Sequence[str], columns: int, indent: str) -> list[str]:
    """A remark's lines, each part on one line where it fits."""
    lines = wrap([indent + parts[0], *parts[1:]], "; ", columns, indent + _INDENT)
    return [
        short
        for line in lines
        for short in ([line] if width(line) <= columns else _by_words(line, columns, indent + _INDENT))
    ]


def _by_words(line: str, columns: int, indent: str) -> list[str]:
    start = len(line) - len(line.lstrip())
    first, *rest = line.split()
    return wrap([line[:start] + first, *rest], " ", columns, indent)


def _line(blocks: Sequence[_Block], place: int, emphasize: Callable[[str], str]) -> str:
    cells = [
        emphasize(block.cells[place]) if block.marks and block.marks[place] else block.cells[place] for block in blocks
    ]
    return _GAP.join(cells).rstrip()


def _name_texts(table: Table) -> list[str]:
    """What the name column holds: indented by the tree's levels, and once more below a group's heading."""
    return [
        _INDENT * (row.name.indent + bool(group.heading)) + row.name.text
        for group in table.groups
        for row in group.rows
    ]


def _name_width(needed: int, room: int) -> int:
    """As much as the names need, and where there is room the usual width, so that tables line up with each other."""
    return max(_NAME_LEAST, min(room, max(_NAME_USUAL, min(needed, _NAME_MOST))))


def _taken(blocks: Sequence[_Block]) -> int:
    return sum(len(_GAP) + block.width for block in blocks)


def _blocks(table: Table) -> list[_Block]:
    blocks = [_number_block(column) for column in table.columns]
    processes = [row.process for row in table.rows]
    if any(processes):
        blocks.insert(0, _left("process", processes, max(map(width, ["process", *processes]))))
    return blocks


def _left(title: str, texts: Sequence[str], columns: int) -> _Block:
    return _Block(pad(shorten(title, columns), columns), [pad(text, columns) for text in shorten_apart(texts, columns)])


def _number_block(column: Column) -> _Block:
    numbers = [number for number in column.cells if number]
    whole = max((len(number.whole) for number in numbers), default=1)
    tail = max((len(_tail(number)) for number in numbers), default=0)
    texts = [
        _MISSING if number is None else number.whole.rjust(whole) + _tail(number).ljust(tail) for number in column.cells
    ]
    columns = max(map(width, [column.title, *texts]))
    cells = [pad(text, columns, right=True) for text in texts]
    marks = [True] * len(cells) if column.emphasis else column.marks
    return _Block(pad(column.title, columns, right=True), cells, column.drop, marks)


def _tail(number: Number) -> str:
    """What stands right of where the decimal point is or would be."""
    return f"{number.fraction} {number.unit}" if number.unit else number.fraction


def _fitting(blocks: list[_Block], columns: int) -> list[_Block]:
    """The blocks that fit into ``columns``, those with the highest ``drop`` gone first."""
    while _taken(blocks) > columns:
        least = max(block.drop for block in blocks)
        if not least:
            break
        blocks = [block for block in blocks if block.drop != least]
    return blocks
