"""What formats of a verdict share: its words, and what a check is called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nsys_analyze.verdict.results import Check, Outcome, State, Verdict
from nsys_analyze.views.text import path_text, shorten, visible
from nsys_analyze.views.units import counts, duration

_OUTCOMES = {Outcome.PASSED: "PASSED", Outcome.FAILED: "FAILED", Outcome.CANNOT_TELL: "CANNOT TELL"}
_LINE_MOST = 500  # characters of a sentence that holds names
_PATH_MOST = 120
_UNLISTED = (State.INCONCLUSIVE, State.NEW, State.OK)


def first_line(verdict: Verdict) -> str:
    """The verdict in one line."""
    return f"{_OUTCOMES[verdict.outcome]}  {shorten(visible(verdict.headline), _LINE_MOST)}"


def state_text(check: Check) -> str:
    """The state as people read it; a failure that only warns says so."""
    return state_name(check.state) + (" (warning)" if check.warns and check.level == "warn" else "")


def state_name(state: State) -> str:
    """The name of a state as people read it."""
    return state.value.replace("_", " ")


def stage_text(check: Check) -> str:
    """The stage, cut in the middle where it is long, and which process's where it is not the first."""
    path = shorten(path_text(check.stage), _PATH_MOST)
    return f"{path} [{check.process}]" if check.process else path


def value_text(check: Check, value: float | None) -> str:
    """A value in its unit."""
    if value is None:
        return "-"
    return str(counts([value])[0]) if check.unit == "count" else duration(value)


def change_text(check: Check) -> str:
    """What it was and what it is; against a budget, what it is and what it may be."""
    if check.against == "budget":
        return f"{value_text(check, check.new)} of {value_text(check, check.limit)}"
    return f"{value_text(check, check.base)} -> {value_text(check, check.new)}"


def reason_text(check: Check) -> str:
    """The reason, and where the limit stands."""
    place = f" ({check.place})" if check.place else ""
    return visible(check.reason + place)


def notable(verdict: Verdict) -> list[Check]:
    """The checks that somebody should see."""
    return [check for check in verdict.checks if check.fails or check.state not in _UNLISTED]


def counted(checks: Iterable[Check]) -> list[tuple[State, int]]:
    """How many checks there are of each state, the worst first."""
    states = [check.state for check in checks]
    return [(state, states.count(state)) for state in State if state in states]


def sentences(verdict: Verdict) -> Sequence[str]:
    """What is to be said about the whole: problems, then warnings, then hints."""
    told = [_about(problem.report, problem.message) for problem in verdict.problems]
    problems = [f"problem: {about}" for about in told if about != visible(verdict.headline)]
    warnings = [f"warning: {_about(problem.report, problem.message)}" for problem in verdict.warnings]
    return [*problems, *warnings, *(shorten(visible(hint), _LINE_MOST) for hint in verdict.hints)]


def _about(report: str | None, message: str) -> str:
    return visible(f"{report}: {message}" if report else message)
