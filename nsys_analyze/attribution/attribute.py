"""Attribution in one step: where moments belong, and what each range owns of them."""

from __future__ import annotations

from dataclasses import dataclass

from nsys_analyze.attribution.assign import Assignment, Moments, assign
from nsys_analyze.attribution.membership import Membership, membership
from nsys_analyze.attribution.nesting import Nesting
from nsys_analyze.model.tables import Trace


@dataclass(frozen=True, slots=True)
class Attribution:
    """Moments of one sort (launches, or evidence of compiling): the home of each, and the moments of every range."""

    moments: Moments
    assignment: Assignment
    members: Membership


def attribute(moments: Moments, trace: Trace, nesting: Nesting, rule: str) -> Attribution:
    """Attributes moments to the ranges of a report.

    Args:
        moments: What is attributed.
        trace: The report.
        nesting: The forest of its ranges.
        rule: "thread" or "process".
    """
    assignment = assign(moments, trace.ranges, nesting, trace.threads, rule)
    members = membership(moments, assignment, trace.ranges, nesting, trace.threads)
    return Attribution(moments, assignment, members)
