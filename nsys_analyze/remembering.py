"""The door to histories: what was saved as a baseline, as a list of runs and as a trend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nsys_analyze.store.loading import count, load
from nsys_analyze.verdict.changes import since_last_change
from nsys_analyze.verdict.comparable import obstacles, without_cut
from nsys_analyze.verdict.config import Config
from nsys_analyze.verdict.gates import gates
from nsys_analyze.verdict.noise import NoiseTable
from nsys_analyze.verdict.samples import ReportSample, sample
from nsys_analyze.verdict.trend import HEADLINE, History, Trend, summarised, trend

_MOST = 50  # runs that count: older ones tell little of today
_BESIDE = ("kernels", "launch_call")  # what it takes to judge another quantity


def past_samples(
    path: Path, label: str, new: Sequence[ReportSample], config: Config, table: NoiseTable
) -> list[ReportSample]:
    """Returns what a history's runs with a label say about new reports: a baseline.

    Runs whose check failed are left out: what failed once would pass the next time. Reports that cannot be compared
    with the new ones, or cannot be judged, are left out, unless all are: then a verdict says why. Each quantity counts
    from its last change on.

    Raises:
        ReportError: If the database cannot be read, or is no history.
        UsageError: If no run has the label, all of them failed, or ruptures is missing.
    """
    runs = [
        [
            replace(sample(report, config.warmup), label=f"{label} #{run.number} {report.label}")
            for report in run.reports
        ]
        for run in load(path, label=label, newest=_MOST, failed=False)
    ]
    usable = [[report for report in without_cut(run, new) if _is_usable(report, new)] for run in runs]
    kept = usable if any(usable) else runs[-1:]
    base = [report for run in kept for report in run]
    keys = {gate.key for gate in gates(config, base, new)}
    return since_last_change(kept, keys, table, config.ignore_below)


def _is_usable(report: ReportSample, new: Sequence[ReportSample]) -> bool:
    return report.broken is None and obstacles([report], new).timings is None


def listed(path: Path, label: str | None, config: Config, most: int | None) -> History:
    """Returns a history's newest runs, ``most`` of them, each in a few numbers.

    Raises:
        ReportError: If the database cannot be read, or is no history.
        UsageError: If there is no run, or none with the label.
    """
    runs = load(path, label=label, newest=most, quantities=HEADLINE, distinct=False)
    return summarised(runs, count(path, label), config.warmup)


def traced(path: Path, stage: str | None, quantity: str, label: str | None, config: Config, table: NoiseTable) -> Trend:
    """Returns how a quantity of a stage went on in a history; see `nsys_analyze.verdict.trend.trend`.

    Raises:
        ReportError: If the database cannot be read, or is no history.
        UsageError: If there is no run, no such stage or quantity, or ruptures is missing.
    """
    runs = load(path, label=label, quantities=[quantity, *_BESIDE])
    return trend(runs, stage, quantity, config.warmup, table, config.ignore_below)
