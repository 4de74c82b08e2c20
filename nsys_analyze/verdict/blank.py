"""A check before it is judged: what it is about, and what both sides show."""

from __future__ import annotations

from nsys_analyze.verdict.compared import Values, typical
from nsys_analyze.verdict.gates import Gate
from nsys_analyze.verdict.results import Check, State
from nsys_analyze.verdict.statistics import interval


def blank(gate: Gate, against: str, base: Values, new: Values) -> Check:
    """Returns the check of a gate against "baseline" or "budget", so far ok."""
    path, domains, process = gate.key
    quantity = gate.quantity
    budget = gate.margin if against == "baseline" else gate.budget
    series = [stage.series[quantity.name] for stage in new.stages if quantity.name in stage.series]
    ends = None if quantity.is_count else interval(series)
    return Check(
        state=State.OK,
        against=against,
        level=budget.level if budget else "fail",
        stage=list(path),
        domains=list(domains),
        process=process,
        metric=quantity.name,
        title=quantity.title,
        unit="count" if quantity.is_count else "ns",
        base=typical(base.values),
        new=typical(new.values),
        limit=None,
        reason="",
        evidence=None,
        interval=None if ends is None else list(ends),
        base_samples=list(base.values),
        new_samples=list(new.values),
        place=budget.place if budget else None,
    )
