"""A verdict on a terminal: the outcome first, then what matters, then where to look."""

from __future__ import annotations

from collections.abc import Sequence

from nsys_analyze.verdict.results import FAILING, Check, State, Verdict
from nsys_analyze.views.text import pad, shorten, width, wrap
from nsys_analyze.views.verdict_text import (
    change_text,
    counted,
    first_line,
    notable,
    reason_text,
    sentences,
    stage_text,
    state_name,
    state_text,
)

_RED, _YELLOW, _GREEN, _RESET = "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[0m"
_GAP = "  "
_STAGE_MOST = 40
_INDENT = "    "


def render(
    verdict: Verdict, *, columns: int, colour: bool = False, everything: bool = False, rest_by: str = "`-v` lists them"
) -> str:
    """Returns the verdict as text of at most ``columns``; ``everything`` lists the checks that are fine, too.

    ``rest_by`` says how to see those that are not listed, if there is a way.
    """
    checks = verdict.checks if everything else notable(verdict)
    shown = checks if everything else _without_repeats(checks)
    lines = [_coloured(first_line(verdict), _OUTCOME[verdict.exit_code], colour)]
    lines += _rows(shown, columns, colour)
    rest = [check for check in verdict.checks if check not in checks]
    if rest:
        told = ", ".join(f"{number} {state_name(state)}" for state, number in counted(rest))
        lines += wrap("; ".join(part for part in (told, rest_by) if part).split(), " ", columns, _GAP)
    for sentence in sentences(verdict):
        lines += wrap(sentence.split(), " ", columns, _GAP)
    return "\n".join(lines) + "\n"


_OUTCOME = {0: _GREEN, 1: _RED, 3: _YELLOW}


def _coloured(text: str, code: str, colour: bool) -> str:
    return f"{code}{text}{_RESET}" if colour else text


def _without_repeats(checks: Sequence[Check]) -> list[Check]:
    """The checks, but only the first of those that cannot be compared for the same reason."""
    told: set[str] = set()
    kept = []
    for check in checks:
        if check.state is not State.INCOMPARABLE or check.reason not in told:
            kept.append(check)
        if check.state is State.INCOMPARABLE:
            told.add(check.reason)
    return kept


def _rows(checks: Sequence[Check], columns: int, colour: bool) -> list[str]:
    """A row a check: state, stage, quantity, change; the reasons beside them if they all fit there, else below."""
    if not checks:
        return []
    cells = [
        (state_text(check), shorten(stage_text(check), _STAGE_MOST), check.title, change_text(check))
        for check in checks
    ]
    widths = [max(width(row[place]) for row in cells) for place in range(4)]
    reasons = [reason_text(check) for check in checks]
    beside = sum(widths) + 4 * len(_GAP) + max(map(width, reasons)) <= columns
    lines = []
    for check, row, reason in zip(checks, cells, reasons, strict=True):
        state, *others = (pad(text, size) for text, size in zip(row, widths, strict=True))
        line = _GAP.join([_coloured(state, _colour(check), colour), *others])
        if beside:
            lines.append(f"{line}{_GAP}{reason}".rstrip())
        else:
            lines += [line.rstrip(), *_below(reason, columns)]
    return lines


def _below(reason: str, columns: int) -> list[str]:
    return [_INDENT + line for line in wrap(reason.split(), " ", columns - len(_INDENT))]


def _colour(check: Check) -> str:
    if check.state in FAILING:
        return _RED if check.level == "fail" else _YELLOW
    return _GREEN if check.state in (State.OK, State.IMPROVED) else _YELLOW
