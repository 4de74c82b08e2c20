"""Quantities against absolute limits, and what is accepted beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from nsys_analyze.verdict import wording
from nsys_analyze.verdict.blank import blank
from nsys_analyze.verdict.compared import Values
from nsys_analyze.verdict.config import Accept
from nsys_analyze.verdict.gates import Gate, acceptance
from nsys_analyze.verdict.results import Check, State
from nsys_analyze.verdict.samples import ReportSample

_ACCEPTABLE = (State.REGRESSED, State.OVER_BUDGET, State.SUSPECT, State.INCONCLUSIVE)


def checks_against_budgets(
    gates: Sequence[Gate], base: Sequence[ReportSample], new: Sequence[ReportSample]
) -> list[Check]:
    """Returns a check for every gate with a maximum. The typical report counts: budgets should leave room for noise."""
    return [_one(gate, Values.of(gate, base), Values.of(gate, new)) for gate in gates if gate.budget is not None]


def _one(gate: Gate, base: Values, new: Values) -> Check:
    check = replace(blank(gate, "budget", base, new), limit=gate.budget.maximum if gate.budget else None)
    if new.without_stage:
        lacking = f"{new.without_stage} of {new.reports} reports" if new.reports > 1 else "the report"
        return replace(check, state=State.MISSING, reason=f"{lacking} lacks the stage")
    if len(new.values) < new.reports:
        return _untold(check, gate, new)
    if (why := wording.never_steady(gate.quantity, new)) is not None:
        return replace(check, state=State.INCONCLUSIVE, reason=why)
    if check.new is not None and check.limit is not None and check.new > check.limit:
        reason = "over its budget" if new.reports == 1 else f"over its budget; the median of {new.reports} reports"
        return replace(check, state=State.OVER_BUDGET, reason=reason)
    if new.lost and gate.quantity.is_count:
        return replace(check, state=State.INCOMPARABLE, reason="launches of the report have lost their GPU work")
    return replace(check, reason="within its budget")


def _untold(check: Check, gate: Gate, new: Values) -> Check:
    if all(stage.values.get("kernels") == 0 for stage in new.stages_without):
        reason = f"the stage has no GPU work, so it has no {gate.quantity.title}"
        return replace(check, state=State.MISSING, reason=reason)
    return replace(check, state=State.INCOMPARABLE, reason="a report cannot tell it")


def with_acceptances(checks: Sequence[Check], accepts: Sequence[Accept], today: date) -> list[Check]:
    """Returns the checks, those accepted that failed or may have, as far as the acceptance goes and lasts."""
    return [
        _accepted(check, acceptance(accepts, check.key, check.metric), today) if check.state in _ACCEPTABLE else check
        for check in checks
    ]


def _accepted(check: Check, accept: Accept | None, today: date) -> Check:
    if accept is None:
        return check
    if accept.expires is not None and accept.expires < today:
        return replace(check, reason=f"{check.reason}; its acceptance ({accept.reason}) expired on {accept.expires}")
    if check.new is None or check.new > accept.up_to:
        return replace(check, reason=f"{check.reason}; beyond what is accepted ({accept.reason})")
    until = f" until {accept.expires}" if accept.expires else ""
    return replace(check, state=State.ACCEPTED, reason=f"accepted{until}: {accept.reason}", place=accept.place)
