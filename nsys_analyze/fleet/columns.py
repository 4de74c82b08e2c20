"""The schema of a fleet's dataset: facts of the report in front of the columns that a stage has everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsys_analyze._version import __version__
from nsys_analyze.views.flat_rows import FlatRows, flat_rows

if TYPE_CHECKING:
    from nsys_analyze.fleet.task import Facts
    from nsys_analyze.metrics.results import Analysis

_FACTS: dict[str, type] = {
    "report": str,
    "file": str,
    "host": str,
    "rank": int,
    "started_at_ns": int,
    "program": str,
    "command": str,
    "executor": str,
    "gpu": str,
    "driver": str,
    "nsys_version": str,
    "tool_version": str,
    "active_mean_ns": float,
    "domains": list,
}

QUANTITY_COLUMNS = {
    "wall": "wall_median_ns",
    "pace": "pace_ns",
    "cpu_overhead": "cpu_overhead_ns",
    "gpu_active": "active_mean_ns",
    "kernels": "kernels_per_instance_median",
    "startup_gap": "startup_gap_median_ns",
    "startup_gap_exposed": "startup_gap_exposed_median_ns",
    "compile_time": "compile_total_ns",
}
"""Where a quantity of a stage is found, by its name in `nsys_analyze.metrics.quantities`."""


def stage_rows(analysis: Analysis, facts: Facts, *, file: str, digest: str) -> FlatRows:
    """Returns a row a stage. ``rank`` and ``program`` are those of its process."""
    table = flat_rows([analysis])
    process_of = {process.pid: process for process in analysis.report.processes}
    rows = []
    for stage, cells in zip(analysis.stages, table.rows, strict=True):
        process = process_of.get(stage.process)
        first = {
            "report": digest,
            "file": file,
            "host": facts.host,
            "rank": process.rank if process else None,
            "started_at_ns": facts.started_at_ns,
            "program": process.name if process else None,
            "command": facts.command,
            "executor": facts.executor,
            "gpu": facts.gpu,
            "driver": facts.driver,
            "nsys_version": facts.nsys_version,
            "tool_version": __version__,
            "active_mean_ns": stage.active_mean_ns,
            "domains": stage.domains,
        }
        rows.append([*first.values(), *cells])
    return FlatRows([*_FACTS, *table.header], [*_FACTS.values(), *table.kinds], rows)
