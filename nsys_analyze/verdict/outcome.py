"""What checks come to: passed, failed or cannot tell; the exit code; and the first line that people read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nsys_analyze.metrics.wording import path_title
from nsys_analyze.verdict.results import UNSETTLED, Check, Outcome, Problem, State

PASSED, FAILED, CANNOT_TELL = 0, 1, 3
_STARTUP = "startup_gap"
_NAMED = 2  # stages


def conclude(checks: Sequence[Check], problems: Sequence[Problem], *, strict: bool) -> tuple[Outcome, int, str]:
    """Returns the outcome, its exit code and its headline. A failure outranks what cannot be told."""
    failing = [check for check in checks if check.fails]
    if failing:
        return Outcome.FAILED, FAILED, f"{len(failing)} of {_checks(len(checks))}: {_what(failing)}"
    blocked = [check for check in checks if check.state is State.INCOMPARABLE]
    if problems or blocked:
        return Outcome.CANNOT_TELL, CANNOT_TELL, _why(problems, blocked, len(checks))
    unsettled = [check for check in checks if check.state in UNSETTLED]
    if strict and unsettled:
        headline = f"{len(unsettled)} of {_checks(len(checks))} unsettled: {_what(unsettled)}"
        return Outcome.CANNOT_TELL, CANNOT_TELL, headline
    return Outcome.PASSED, PASSED, _passed(checks)


def _passed(checks: Sequence[Check]) -> str:
    suspicious = [check for check in checks if check.warns and check.state is not State.INCONCLUSIVE]
    noisy = sum(check.state is State.INCONCLUSIVE for check in checks)
    looked = f", {len(suspicious)} to look at: {_what(suspicious)}" if suspicious else ""
    return f"{_checks(len(checks))}{f', {noisy} too noisy to tell' if noisy else ''}{looked}"


def _checks(number: int) -> str:
    return f"{number} check{'' if number == 1 else 's'}"


def _why(problems: Sequence[Problem], blocked: Sequence[Check], number: int) -> str:
    if problems:
        first = problems[0]
        return f"{first.report}: {first.message}" if first.report else first.message
    return f"{len(blocked)} of {_checks(number)} cannot be compared: {blocked[0].reason}"


def _what(checks: Sequence[Check]) -> str:
    """What the checks say together, the commonest first."""
    said = Counter(_phrase(check) for check in checks)
    phrases = [f"{what} of {stage} {did}" for what, stage, did in list(said)[:_NAMED]]
    more = len(said) - len(phrases)
    return "; ".join(phrases) + (f"; {more} more" if more else "")


def _phrase(check: Check) -> tuple[str, str, str]:
    did = {State.MISSING: "is missing", State.OVER_BUDGET: "is over budget", State.REGRESSED: "grew"}
    is_startup = check.metric.startswith(_STARTUP) and check.state is not State.OVER_BUDGET
    return "startup gap" if is_startup else check.title, path_title(check.stage), did.get(check.state, "may have grown")
