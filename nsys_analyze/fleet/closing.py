"""What is made of a fleet's results at the end: a row a report, the summary, who stands out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nsys_analyze.fleet.dataset import chosen, rows_of
from nsys_analyze.fleet.folder import Folder, put
from nsys_analyze.fleet.task import Facts
from nsys_analyze.metrics import flat
from nsys_analyze.verdict.fleet import Finding, FleetSummary, summarise
from nsys_analyze.views.flat_rows import FlatRows

if TYPE_CHECKING:
    from nsys_analyze.fleet.folder import Entry

_OF_ENTRY = {"file": str, "path": str, "state": str, "error": str, "digest": str, "seconds": float}
_OF_FINDING = {
    "by": str,
    "name": str,
    "program": str,
    "executor": str,
    "gpu": str,
    "stage": list,
    "domains": list,
    "quantity": str,
    "value": float,
    "median": float,
    "ratio": float,
    "more": bool,
    "p": float,
}


def write_reports(folder: Folder) -> None:
    """Writes ``reports.parquet``: a row a file, those that failed too."""
    from nsys_analyze.views import parquet_view

    of_facts = dict(zip(flat.header(Facts), flat.kinds(Facts), strict=True))
    entries = sorted(folder.entries.values(), key=lambda entry: entry.path)
    rows = [[*(getattr(entry, name) for name in _OF_ENTRY), *_facts(entry, list(of_facts))] for entry in entries]
    table = FlatRows([*_OF_ENTRY, *of_facts], [*_OF_ENTRY.values(), *of_facts.values()], rows)
    put(folder.path / "reports.parquet", parquet_view.render(table))


def _facts(entry: Entry, names: Sequence[str]) -> list[object]:
    facts = entry.facts or {}
    return [facts.get(name) for name in names]


def summed(folder: Folder, patterns: Sequence[str]) -> FleetSummary:
    """Reads the dataset and sums it up.

    Raises:
        UsageError: A pattern matches no stage.
    """
    if not folder.parts():
        return FleetSummary([], [])
    return summarise(list(rows_of(folder.stages, chosen(folder.stages, patterns))))


def write_findings(folder: Folder, findings: Sequence[Finding]) -> None:
    """Writes ``findings.parquet``: a row for each report, host, rank or day and number that stands out."""
    from nsys_analyze.views import parquet_view

    rows: list[list[object]] = [
        [
            *(each.by, each.name, *each.stage.cohort, list(each.stage.path), list(each.stage.domains), each.quantity),
            *(each.value, each.median, each.ratio, each.more, each.p),
        ]
        for each in findings
    ]
    put(
        folder.path / "findings.parquet",
        parquet_view.render(FlatRows(list(_OF_FINDING), list(_OF_FINDING.values()), rows)),
    )
