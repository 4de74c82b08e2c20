"""A verdict as JSON, schema version 1; ``verdict.schema.json`` describes it."""

from __future__ import annotations

from nsys_analyze.verdict.results import Verdict
from nsys_analyze.views import json_view


def render(verdict: Verdict) -> str:
    """Returns the verdict as a document, a check on each line."""
    return json_view.dump(verdict)
