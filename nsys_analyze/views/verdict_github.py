"""A verdict as GitHub workflow commands: annotations at the lines of the budgets."""

from __future__ import annotations

from collections.abc import Iterator

from nsys_analyze.verdict.config import Place
from nsys_analyze.verdict.results import Problem, State, Verdict
from nsys_analyze.views.verdict_text import change_text, first_line, reason_text, stage_text, state_text

_MOST = 10  # annotations that GitHub shows for one step


def render(verdict: Verdict) -> str:
    """Returns the verdict's first line, then the worst annotations, and how many were left out."""
    found = [*map(_of_problem, verdict.problems), *_of_checks(verdict)]
    shown = found if len(found) <= _MOST else found[: _MOST - 1]
    lines = [_data(first_line(verdict)), *shown]
    if len(found) > len(shown):
        lines.append(_command("notice", None, "nsys-analyze", f"{len(found) - len(shown)} more; see the job's log"))
    return "\n".join(lines) + "\n"


def _of_problem(problem: Problem) -> str:
    about = f"{problem.report}: {problem.message}" if problem.report else problem.message
    return _command("error", None, "cannot tell", about)


def _of_checks(verdict: Verdict) -> Iterator[str]:
    for check in verdict.checks:
        if check.fails or check.warns or check.state is State.INCOMPARABLE:
            level = "error" if check.fails else "warning"
            told = f"{change_text(check)}; {reason_text(check)}"
            place = check.place or verdict.allowed.place
            yield _command(level, place, f"{stage_text(check)}: {check.title}", f"{state_text(check)}: {told}")


def _command(level: str, place: Place | None, title: str, message: str) -> str:
    properties = {"title": title}
    if place is not None:
        line = {} if place.line is None else {"line": str(place.line)}
        properties = {"file": place.file, **line, **properties}
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {told}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
