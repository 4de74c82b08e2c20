"""The public door to slices: a part of a report, or a redacted one, as a report of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from nsys_analyze.ingest.export import open_export
from nsys_analyze.metrics.excerpt import Window
from nsys_analyze.model.folding import compile_patterns
from nsys_analyze.model.tables import Trace
from nsys_analyze.store.names import Names
from nsys_analyze.store.parts import Part, part_of
from nsys_analyze.store.redaction import Redaction, Removed
from nsys_analyze.store.slices import write_slice

if TYPE_CHECKING:
    from nsys_analyze.report import Report

Redact = Literal["machine", "names"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """What to write: the part in some stages and a window of time (all of it, without either), and how to redact.

    ``redact``: "machine" leaves out what tells of machine, user and program; "names" also replaces the names of
    ranges, domains and kernels; None leaves out nothing.
    """

    stages: Sequence[str] = ()
    window: Window | None = None
    redact: Redact | None = None

    @property
    def is_part(self) -> bool:
        """Whether it is not the whole report."""
        return bool(self.stages) or self.window is not None


def write_slice_of(
    report: Report, export: Path, target: Path, wanted: Slice, named: str, fold_patterns: Sequence[str] = ()
) -> list[Removed] | None:
    """Writes a slice of a report as an export of its own.

    Args:
        report: The report, read from that export; its settings decide which stages there are.
        export: The SQLite export, as `located` gives it.
        target: The file to make; there is none yet.
        wanted: What to write.
        named: What the user calls the report, for messages.
        fold_patterns: The expressions that the report's names were folded by, beside the usual.

    Returns:
        What was removed by redacting, or None if there is nothing in the part, and no file.

    Raises:
        ReportError: The export cannot be copied.
    """
    part: Part | None = None
    if wanted.is_part:
        part = part_of(report, wanted.stages, wanted.window or Window())
        if part is None:
            return None
    redaction = _redaction(report, fold_patterns, wanted.redact == "names") if wanted.redact else None
    with open_export(export, named) as opened:
        write_slice(opened, target, part, redaction, _origin(wanted), named)
    return redaction.removed if redaction else []


def redact_in_place(export: Path, redact: Redact) -> None:
    """Puts a redacted copy of a SQLite export in its place.

    Raises:
        ReportError: The export cannot be read or copied; it stays as it is.
    """
    from nsys_analyze.report import open_report

    made = export.with_name(f".redacted-{export.name}")
    try:
        write_slice_of(open_report(export), export, made, Slice(redact=redact), export.name)
        made.replace(export)
    finally:
        made.unlink(missing_ok=True)


def _redaction(report: Report, fold_patterns: Sequence[str], hide: bool) -> Redaction:
    fold = not report.settings.folding.startswith("none")
    names = Names(report.rules, compile_patterns(fold_patterns), fold, hide)
    return Redaction(names, _at_work(report.trace))


def _at_work(trace: Trace) -> list[int]:
    """The processes with ranges, calls or operations, by their globalPid; others only loaded the profiler."""
    owner = trace.threads.process
    found = np.unique(np.concatenate([owner[trace.ranges.thread], owner[trace.calls.thread], trace.ops.process]))
    at_work: list[int] = trace.processes.global_pid[found[found >= 0]].tolist()
    return at_work


def _origin(wanted: Slice) -> str | None:
    """What a report says of itself where it is a part of another; it names no stage."""
    if not wanted.is_part:
        return None
    return " ".join(["stages"] * bool(wanted.stages) + ["window"] * (wanted.window is not None))
