"""Pieces of Markdown that generated pages share."""

from __future__ import annotations

import re
import textwrap

_SPECIAL = re.compile(r"([*_<>\[\]|])")
WIDTH = 120


def prose(text):
    """Running text in which Markdown's characters mean themselves, but for code between backticks."""
    pieces = re.split(r"(`+[^`]+`+)", text)
    return "".join(piece if at % 2 else _SPECIAL.sub(r"\\\1", piece) for at, piece in enumerate(pieces))


def filled(text, indent=""):
    return textwrap.fill(
        text, WIDTH, initial_indent=indent, subsequent_indent=" " * len(indent), break_long_words=False
    )


def fenced(text, language="text"):
    return f"```{language}\n{textwrap.dedent(text).strip()}\n```"


def cell(text):
    return text.replace("|", "\\|")


def table(titles, rows):
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(*blocks):
    return "\n\n".join(block for block in blocks if block) + "\n"
