"""The public door to verdicts: sides come as reports, folders of reports or saved results."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from nsys_analyze.comparing import reports_in
from nsys_analyze.errors import UsageError
from nsys_analyze.ingest.locate import is_table_folder
from nsys_analyze.metrics.results import Analysis
from nsys_analyze.metrics.results.saved import is_saved, read_saved
from nsys_analyze.report import Report, open_report
from nsys_analyze.verdict.config import Config
from nsys_analyze.verdict.config_file import config_of, find_config, read_config
from nsys_analyze.verdict.judge import judge
from nsys_analyze.verdict.noise import NoiseTable, packaged, with_measured
from nsys_analyze.verdict.records import ReportRecord, record
from nsys_analyze.verdict.results import Verdict
from nsys_analyze.verdict.samples import ReportSample, sample

Source = str | os.PathLike[str] | Report | Analysis
Sources = Source | Sequence[Source]
Named = tuple[str, Analysis]
"""An analysis, and what its report is called."""
Read = Callable[[str], Analysis]
HISTORY = "history:"
"""What a baseline begins with that is a label in a history."""


def check(
    reports: Sources,
    *,
    baseline: Sources | None = None,
    history: str | os.PathLike[str] | None = None,
    config: Config | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    today: date | None = None,
) -> Verdict:
    """Checks reports against a baseline and against budgets.

    Args:
        reports: Captures of the code to check, better three than one: one or several reports, folders of reports, saved
            results, or what `open_report` or `Report.analysis` returned.
        baseline: The same of the code to compare with, or ``history:LABEL``; by default what the configuration names,
            if it does.
        history: The database in which ``history:LABEL`` is found; by default what the configuration names.
        config: What is allowed: the TOML file that says it, or the same keys as a mapping, such as
            ``{"budget": [{"stage": "steady/step", "startup_gap_exposed": "50 us"}]}``; by default the nearest
            pyproject.toml or nsys-analyze.toml, upwards from the working folder, that says something about checks.
        today: The day by which acceptances expire; by default today.

    Raises:
        UsageError: If nothing is to be checked, or the configuration makes no sense or fits no stage.
        ReportError: If a report cannot be read.
    """
    chosen = config if isinstance(config, Config) else configured(config)
    chosen = chosen if history is None else replace(chosen, history=os.fspath(history))
    base = _listed(baseline) or ([chosen.baseline] if chosen.baseline else [])
    new = samples(analyses(_listed(reports), _analyse), chosen)
    return check_samples(new, baseline_samples(base, new, chosen, _analyse), chosen, today or date.today())


def check_samples(new: Sequence[ReportSample], base: Sequence[ReportSample], config: Config, today: date) -> Verdict:
    """Checks samples of reports; see ``check``."""
    if not base and not has_limits(config):
        raise UsageError("nothing to check: give --baseline, or budgets in pyproject.toml or nsys-analyze.toml")
    return judge(base, new, config, noise(config), today)


def has_limits(config: Config) -> bool:
    """Whether there is something to check without a baseline."""
    return any(budget.maximum is not None for budget in config.budgets)


def baseline_samples(
    sources: Sequence[Source], new: Sequence[ReportSample], config: Config, read: Read
) -> list[ReportSample]:
    """Returns the samples of a baseline: of reports, or of what a history holds under a label.

    Raises:
        ReportError: If something cannot be read.
        UsageError: If a history is asked for and there is none, or nothing in it has the label.
    """
    remembered = [source for source in sources if isinstance(source, str) and source.startswith(HISTORY)]
    if not remembered:
        return samples(analyses(sources, read), config)
    if len(sources) > 1 or config.history is None:
        why = "is a baseline of its own" if len(sources) > 1 else 'needs --history FILE, or history = "FILE" beside it'
        raise UsageError(f"{remembered[0]}: {why}")
    from nsys_analyze.remembering import past_samples

    return past_samples(Path(config.history), remembered[0].removeprefix(HISTORY), new, config, noise(config))


def analyses(sources: Sequence[Source], read: Read) -> list[Named]:
    """Returns the analyses behind reports, open or by name, and names of folders of reports and of saved results.

    Raises:
        ReportError: If a folder holds no report, or something cannot be read.
        UsageError: If saved results are not by path.
    """
    return list(_labelled([found for source in sources for found in _behind(source, read)]))


def records(found: Sequence[Named]) -> list[ReportRecord]:
    """The records of analyses."""
    return [record(analysis, label) for label, analysis in found]


def samples(found: Sequence[Named], config: Config) -> list[ReportSample]:
    """The samples of analyses."""
    return [sample(report, config.warmup) for report in records(found)]


def noise(config: Config) -> NoiseTable:
    """The noise that a configuration asks to allow for."""
    return packaged() if config.noise is None else with_measured(Path(config.noise))


def _behind(source: Source, read: Read) -> Iterator[Named]:
    if isinstance(source, Report):
        yield source.path.name, source.analysis()
    elif isinstance(source, Analysis):
        yield source.report.file, _by_path(source, source.report.file)
    elif source == "":
        raise UsageError("a report or baseline with an empty name: is a variable not set?")
    else:
        yield from _in_files(Path(source), read)


def _in_files(path: Path, read: Read) -> Iterator[Named]:
    if path.is_dir() and not is_table_folder(path):
        for file in reports_in(path):
            yield from _in_files(file, read)
    elif path.suffix == ".json" or (path.is_file() and is_saved(path)):
        for analysis in read_saved(path):
            yield analysis.report.file, _by_path(analysis, path)
    else:
        yield path.name, read(str(path))


def _by_path(analysis: Analysis, name: str | os.PathLike[str]) -> Analysis:
    if analysis.by != "path":
        raise UsageError(f"{name}: results by {analysis.by}; save them by path to check them")
    return analysis


def _labelled(found: Sequence[Named]) -> Iterator[Named]:
    """The analyses with names that tell them apart: ``report.sqlite``, ``report.sqlite (2)``."""
    seen: dict[str, int] = {}
    for label, analysis in found:
        number = seen[label] = seen.get(label, 0) + 1
        yield (label if number == 1 else f"{label} ({number})"), analysis


def _analyse(path: str) -> Analysis:
    return open_report(path).analysis()


def configured(config: Mapping[str, Any] | str | os.PathLike[str] | None) -> Config:
    """The configuration of a mapping, of a file, or the nearest one from the working folder upwards."""
    if config is None:
        return find_config(Path.cwd())
    return config_of(config, "config") if isinstance(config, Mapping) else read_config(Path(config))


def _listed(sources: Sources | None) -> list[Source]:
    if sources is None:
        return []
    return [sources] if isinstance(sources, (str, os.PathLike, Report, Analysis)) else [*sources]
