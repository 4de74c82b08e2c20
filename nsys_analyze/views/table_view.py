"""The terminal's view: plain text that fits a width, with one number a row in colour at most."""

from __future__ import annotations

from collections.abc import Sequence

from nsys_analyze.metrics.results import Analysis, RankedProgram
from nsys_analyze.views.document import Document, Remarks
from nsys_analyze.views.grid import grid, left_out
from nsys_analyze.views.page import Layout, compose
from nsys_analyze.views.text import shorten, wrap

_YELLOW = "\x1b[33m"
_RESET = "\x1b[0m"
_LABEL_MOST = 60


def render(
    analyses: Sequence[Analysis],
    layout: Layout,
    *,
    columns: int,
    colour: bool = False,
    ranks: Sequence[RankedProgram] = (),
) -> str:
    """Returns the page as text of ``columns`` columns; with ``colour``, what the GPU really lost stands out."""
    return draw(compose(analyses, layout, ranks), columns, colour)


def draw(document: Document, columns: int, colour: bool) -> str:
    """Returns a composed page as text."""
    blocks = [[line for facts in document.headings for line in _heading(facts, columns)]]
    blocks += [grid(table, columns, _yellow if colour else str) for table in document.tables]
    blocks.append(_left_out(document, columns))
    blocks += [_remarks(remarks, columns) for remarks in document.remarks]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines) + "\n"


def _left_out(document: Document, columns: int) -> list[str]:
    """What the tables have no room for, and where to find it."""
    titles = dict.fromkeys(title for table in document.tables for title in left_out(table, columns))
    sentence = f"No room at {columns} columns for {', '.join(titles)}; a wider terminal or --format md shows all."
    return wrap(sentence.split(), " ", columns, "  ") if titles else []


def _yellow(text: str) -> str:
    return f"{_YELLOW}{text}{_RESET}" if text.strip() else text


def _heading(facts: Sequence[str], columns: int) -> list[str]:
    return wrap([shorten(fact, min(_LABEL_MOST, columns)) for fact in facts], " · ", columns, "  ")


def _remarks(remarks: Remarks, columns: int) -> list[str]:
    lines = [shorten(remarks.heading, columns)] if remarks.heading else []
    for sentence in remarks.sentences:
        lines += wrap(sentence.split(), " ", columns, "  ")
    codes = max((len(note.code) for note in remarks.notes), default=0)
    for note in remarks.notes:
        lead = f"{note.level:<8} {note.code:<{codes}}  "
        words = [shorten(word, columns) for word in note.message.split()] or [""]
        lines += wrap([lead + words[0], *words[1:]], " ", columns, " " * len(lead))
    return lines
