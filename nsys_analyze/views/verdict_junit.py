"""A verdict as JUnit XML: a test suite a stage, a test case a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsys_analyze.verdict.results import FAILING, Check, Problem, State, Verdict
from nsys_analyze.views.text import visible
from nsys_analyze.views.verdict_text import change_text, first_line, reason_text, stage_text, state_text

if TYPE_CHECKING:
    from junitparser import TestCase

_NAME = "nsys-analyze check"


def render(verdict: Verdict) -> bytes:
    """Returns the verdict as XML. What cannot be told is an error, what only warns counts as skipped."""
    from junitparser import JUnitXml, TestSuite

    cases: dict[str, list[TestCase]] = {}
    for problem in verdict.problems:
        cases.setdefault("reports", []).append(_of_problem(problem))
    for check in verdict.checks:
        cases.setdefault(stage_text(check), []).append(_of_check(check))
    xml = JUnitXml(first_line(verdict))
    for name, members in cases.items():
        suite = TestSuite(name)
        suite.add_testcases(members)
        xml.add_testsuite(suite)
    xml.update_statistics()
    return bytes(xml.tostring()) + b"\n"


def _of_problem(problem: Problem) -> TestCase:
    from junitparser import Error, TestCase

    case = TestCase(visible(problem.report or problem.code), _NAME)
    case.result = [Error(visible(problem.message), problem.code)]
    return case


def _of_check(check: Check) -> TestCase:
    from junitparser import Error, Failure, Skipped, TestCase

    against = " (budget)" if check.against == "budget" else ""
    case = TestCase(f"{check.title}{against}", f"{_NAME}.{stage_text(check)}")
    told = f"{state_text(check)}: {change_text(check)}; {reason_text(check)}"
    if check.fails:
        case.result = [Failure(told, check.state.value)]
    elif check.state is State.INCOMPARABLE:
        case.result = [Error(told, check.state.value)]
    elif check.warns or check.state in FAILING:
        case.result = [Skipped(told, check.state.value)]
    else:
        case.system_out = told
    return case
