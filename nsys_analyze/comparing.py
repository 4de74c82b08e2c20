"""The public door to comparing reports: sides come as files, folders, saved results or open reports."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nsys_analyze.driver.records import unprofiled_times
from nsys_analyze.errors import ReportError, UsageError
from nsys_analyze.ingest.locate import is_table_folder
from nsys_analyze.metrics.kernel_counts import kernel_counts
from nsys_analyze.metrics.results import Analysis
from nsys_analyze.metrics.results.saved import is_saved, read_saved
from nsys_analyze.metrics.unprofiled import with_unprofiled
from nsys_analyze.report import Report, open_report
from nsys_analyze.verdict.compare import Runs, compare_runs
from nsys_analyze.verdict.comparison import Comparison
from nsys_analyze.verdict.comparison_stages import Renaming, Run, check_renamings, compared_keys, renamed, renaming
from nsys_analyze.verdict.labels import side_labels

Source = str | os.PathLike[str] | Report | Analysis
Open = Callable[[Path], Report]

_EXPORTS = (".sqlite", ".sqlite.xz", ".db", ".nsys-rep", ".qdrep")  # in a folder; the first ones go before the others


def compare(
    *sides: Source | Sequence[Source],
    stages: str | Sequence[str] = (),
    labels: Sequence[str] = (),
    renamings: str | Sequence[str] = (),
    **reading: Any,
) -> Comparison:
    """Holds reports against the first of them.

    Files that `nsys-analyze capture` made bring times without the profiler, from the records beside them.

    Args:
        sides: Each is a report, a folder of reports or a list of reports, which are runs of the same thing; a report
            is a file, results saved as JSON, or what `open_report` or `Report.analysis` returned.
        stages: Patterns of the stages to compare; left out, the loops that matter and that sides share.
        labels: What to call the sides, as many as there are; left out, what tells their file names apart.
        renamings: ``old=new`` for elements of paths that other sides call differently from the first one.
        reading: How files are read; see `open_report`.

    Raises:
        ReportError: A file cannot be read, or a folder holds no report.
        UsageError: No side, a wrong number of labels or the same twice, or stages and renamings that fit nothing.
    """
    return compare_sources(
        sides,
        stages=_listed(stages),
        labels=labels,
        renamings=_listed(renamings),
        opened=lambda path: open_report(path, **reading),
    )


def compare_sources(
    sides: Sequence[Source | Sequence[Source]],
    *,
    stages: Sequence[str],
    labels: Sequence[str],
    renamings: Sequence[str],
    opened: Open,
) -> Comparison:
    """Does what `compare` does, with files opened by ``opened``."""
    if not sides:
        raise UsageError("nothing to compare: name at least one report")
    if labels and len(labels) != len(sides):
        raise UsageError(f"{len(labels)} labels for {len(sides)} sides: give one for each, in their order")
    if len(set(labels)) < len(labels):
        raise UsageError(f"labels {', '.join(labels)}: each side needs its own")
    asked = [renaming(text) for text in renamings]
    listed = [_sources(side) for side in sides]
    names = list(labels) or side_labels([_name(side, sources) for side, sources in zip(sides, listed, strict=True)])
    runs = [
        Runs(name, [run for source in sources for run in _runs(source, asked if place else [], stages, opened)])
        for place, (name, sources) in enumerate(zip(names, listed, strict=True))
    ]
    check_renamings(asked, [run for side in runs[1:] for run in side.runs])
    return compare_runs(runs, stages)


def _listed(strings: str | Sequence[str]) -> Sequence[str]:
    return (strings,) if isinstance(strings, str) else strings


def _sources(side: Source | Sequence[Source]) -> list[Source]:
    """The reports of a side: those in a folder, in the order of their names, or the one that it is."""
    if isinstance(side, (str, os.PathLike)):
        path = Path(side)
        return list(reports_in(path)) if path.is_dir() else [path]
    return [side] if isinstance(side, (Report, Analysis)) else list(side)


def reports_in(folder: Path) -> list[Path]:
    """Returns the reports in a folder, once each where it holds them in several forms; other files do not matter.

    A folder that is a report itself, of Parquet or Arrow files, is the only one. Saved results count where there is no
    report.

    Raises:
        ReportError: There are neither reports nor saved results.
    """
    if is_table_folder(folder):
        return [folder]
    files = sorted(path for path in folder.iterdir() if path.is_file())
    found = reports_among(files)
    saved = [path for path in files if path.suffix == ".json" and is_saved(path)]
    if not found and not saved:
        raise ReportError(
            f"{folder}: a folder without reports (.sqlite, .sqlite.xz, .nsys-rep) or saved results (.json)"
        )
    return found or saved


def reports_among(files: Sequence[Path]) -> list[Path]:
    """Returns the files that are reports by their suffix, once each where a folder holds them in several forms."""
    found: dict[Path, Path] = {}
    for suffix in _EXPORTS:
        for path in files:
            if path.name.endswith(suffix):
                found.setdefault(path.with_name(path.name.removesuffix(suffix) or suffix), path)
    return sorted(found.values())


def _name(side: Source | Sequence[Source], sources: Sequence[Source]) -> Path:
    """What a side's label is made from: a path as typed, or the file of its first report."""
    if isinstance(side, (str, os.PathLike)):
        path = Path(side)
        return path if path.name and path.name != ".." else path.resolve()
    if not sources:
        raise UsageError("a side without reports: name at least one")
    source = sources[0]
    if isinstance(source, Analysis):
        return Path(source.report.file)
    return source.path if isinstance(source, Report) else Path(source)


def _runs(source: Source, renamings: Sequence[Renaming], stages: Sequence[str], opened: Open) -> list[Run]:
    """The runs that a source holds: saved results may be of several reports."""
    if isinstance(source, Analysis):
        return [renamed(_checked(Run(source)), renamings)]
    if not isinstance(source, Report):
        path = Path(source)
        if path.is_file() and (path.suffix == ".json" or is_saved(path)):
            return [renamed(_checked(Run(analysis)), renamings) for analysis in read_saved(path)]
        source = opened(path)
    run = renamed(Run(with_recorded_times(source.analysis(), source.path)), renamings)
    return [dataclasses.replace(run, kernels=kernel_counts(source, compared_keys(run.analysis, stages)))]


def with_recorded_times(analysis: Analysis, path: Path) -> Analysis:
    """The analysis, with times without the profiler where a record of `nsys-analyze capture` lies beside the report."""
    return dataclasses.replace(analysis, stages=with_unprofiled(analysis.stages, unprofiled_times(path)))


def _checked(run: Run) -> Run:
    if run.analysis.by != "path":
        raise UsageError(f"{run.analysis.report.file}: results by {run.analysis.by}; save them by path to compare them")
    return run
