"""A verdict as Markdown for a job's summary or a comment: worst first, and short enough for either."""

from __future__ import annotations

from collections.abc import Sequence

from nsys_analyze.verdict.results import FAILING, Check, State, Verdict
from nsys_analyze.views.markdown_view import code, plain
from nsys_analyze.views.verdict_text import (
    change_text,
    first_line,
    reason_text,
    sentences,
    stage_text,
    state_name,
    state_text,
)

MOST = 65_000  # characters: a comment holds 65,536, a job's summary 1 MiB
_RESERVE = 200  # for the line that counts what was left out
_SECTIONS: tuple[tuple[str, tuple[State, ...]], ...] = (
    ("Failed", FAILING),
    ("Cannot be compared", (State.INCOMPARABLE,)),
    ("Not settled", (State.SUSPECT, State.INCONCLUSIVE)),
    ("Accepted", (State.ACCEPTED,)),
    ("Improved", (State.IMPROVED,)),
    ("New", (State.NEW,)),
    ("Fine", (State.OK,)),
)
_FOLDED = ("Improved", "New", "Fine")
_HEADER = "| verdict | stage | | was → is | why |\n| --- | --- | --- | --- | --- |"


def render(verdict: Verdict, most: int = MOST) -> str:
    """Returns the verdict as Markdown of at most ``most`` characters; what does not fit is counted."""
    blocks = [f"**{plain(first_line(verdict))}**"]
    said = sentences(verdict)
    if said:
        blocks.append("\n".join(f"- {plain(sentence)}" for sentence in said))
    room = most - sum(len(block) + 2 for block in blocks) - _RESERVE * len(_SECTIONS)
    for title, states in _SECTIONS:
        checks = verdict.having(*states)
        if checks:
            block = _section(title, checks, room)
            room -= len(block) + 2
            blocks.append(block)
    text = "\n\n".join(blocks) + "\n"
    return text if len(text) <= most else text[: most - 2] + "…\n"


def _section(title: str, checks: Sequence[Check], room: int) -> str:
    """A section with as many rows as there is room for."""
    rows: list[str] = []
    for row in map(_row, checks):
        room -= len(row) + 1
        if room < len(_HEADER):
            break
        rows.append(row)
    left_out = len(checks) - len(rows)
    table = "\n".join([_HEADER, *rows]) if rows else ""
    more = f"{left_out:,} more {state_name(checks[-1].state)}" if left_out else ""
    body = "\n\n".join(part for part in (table, more) if part)
    heading = f"{title}: {len(checks):,}"
    if title in _FOLDED:
        return f"<details><summary>{heading}</summary>\n\n{body}\n\n</details>"
    return f"### {heading}\n\n{body}"


def _row(check: Check) -> str:
    change = change_text(check).replace("->", "→")
    cells = (plain(state_text(check)), code(stage_text(check)), plain(check.title), plain(change))
    return f"| {' | '.join(cells)} | {plain(reason_text(check))} |"
