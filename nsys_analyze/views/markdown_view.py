"""The page as GitHub-flavoured Markdown, safe to paste into an issue whatever the names hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nsys_analyze.metrics.results import Analysis, RankedProgram
from nsys_analyze.views.document import Document, Remarks, Table
from nsys_analyze.views.page import Layout, compose
from nsys_analyze.views.text import shorten
from nsys_analyze.views.units import Number

_NAME_MOST = 80
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&#$])")


def render(analyses: Sequence[Analysis], layout: Layout, ranks: Sequence[RankedProgram] = ()) -> str:
    """Returns the page as Markdown."""
    return draw(compose(analyses, layout, ranks))


def draw(document: Document) -> str:
    """Returns a composed page as Markdown."""
    blocks = [_heading(facts) for facts in document.headings]
    for table in document.tables:
        blocks += _table(table)
    for remarks in document.remarks:
        blocks += _remarks(remarks)
    return "\n\n".join(block for block in blocks if block) + "\n"


def code(text: str) -> str:
    """Returns ``text`` as a code span that shows it as it is, inside a table too: no markup in it lives."""
    text = shorten(text, _NAME_MOST)
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{fence}{space}{text}{space}{fence}".replace("|", "\\|")


def plain(text: str) -> str:
    """Returns running text with Markdown's characters escaped; an empty comment keeps ``@name`` no mention."""
    return _SPECIAL.sub(r"\\\1", text).replace("@", "@<!-- -->")


def _sentence(text: str) -> str:
    """Running text in which names stand between backticks; whatever is between, each piece is made safe."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return plain(text)
    return "".join(code(piece) if place % 2 else plain(piece) for place, piece in enumerate(pieces))


def _heading(facts: Sequence[str]) -> str:
    return " · ".join([f"**{code(facts[0])}**", *(plain(fact) for fact in facts[1:])])


def _table(table: Table) -> list[str]:
    processes = any(row.process for row in table.rows)
    titles = [table.title, *(["process"] if processes else []), *(column.title for column in table.columns)]
    lines = [_line(titles), _line([":---"] * (1 + processes) + ["---:"] * len(table.columns))]
    cells = _cells(table)
    for group in table.groups:
        lines += [_line([f"**{code(group.heading)}**", *[""] * (len(titles) - 1)])] if group.heading else []
        for row in group.rows:
            texts = [code(row.name.full), *([plain(row.process)] if processes else [])]
            lines += [_line([*texts, *next(cells)])]
    return ["\n".join(lines), "\n".join(_below(table)), *(plain(sentence) for sentence in table.footer)]


def _below(table: Table) -> list[str]:
    """The rows' remarks, which a Markdown table has no place for."""
    items = []
    for group in table.groups:
        report = f"{code(group.heading)} " if group.heading else ""
        for row in group.rows:
            items += [f"- {report}{code(row.name.full)}: {_sentence('; '.join(remark))}" for remark in row.remarks]
    return items


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(table: Table) -> Iterator[list[str]]:
    """The numbers of each row; those that stand out are bold."""
    for place, numbers in enumerate(table.lines):
        marked = [bool(column.marks) and column.marks[place] for column in table.columns]
        texts = map(_cell, numbers)
        yield [f"**{text}**" if mark else text for text, mark in zip(texts, marked, strict=True)]


def _cell(number: Number | None) -> str:
    return "-" if number is None else str(number)


def _remarks(remarks: Remarks) -> list[str]:
    heading = [f"**{code(remarks.heading)}**"] if remarks.heading else []
    sentences = " ".join(plain(sentence) for sentence in remarks.sentences)
    notes = [f"- **{plain(note.level)}** {code(note.code)}: {_sentence(note.message)}" for note in remarks.notes]
    return [*heading, sentences, "\n".join(notes)]
