"""Histories as CSV: a row a run."""

from __future__ import annotations

from dataclasses import fields

from nsys_analyze.metrics.quantities import Kind
from nsys_analyze.verdict.judged import JUDGED
from nsys_analyze.verdict.trend import HEADLINE, History, Point, Trend
from nsys_analyze.views.csv_view import cell, write


def listing(history: History) -> str:
    """Returns the runs, the newest first, with the numbers of their main loops."""
    plain = ("run", "made_at", "label", "commit", "outcome", "headline", "reports", "stage")
    rows = [
        [*(cell(getattr(run, name)) for name in plain), *(run.values[name] for name in HEADLINE)]
        for run in history.runs
    ]
    return write([[*plain, *(_titled(name) for name in HEADLINE)], *rows])


def composed(trend: Trend) -> str:
    """Returns the runs of a trend, the oldest first; times are ns."""
    names = [field.name for field in fields(Point)]
    lead = [cell(trend.stage), trend.metric, trend.unit]
    rows = [[*lead, *(cell(getattr(point, name)) for name in names)] for point in trend.points]
    return write([["stage", "metric", "unit", *names], *rows])


def _titled(name: str) -> str:
    return name if JUDGED[name].kind is Kind.COUNT else f"{name}_ns"
