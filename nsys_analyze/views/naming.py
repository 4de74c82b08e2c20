"""What rows are called: reports, processes, stages in a tree or alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

from nsys_analyze.metrics.loops import ancestors, identity
from nsys_analyze.metrics.results import Analysis, KernelAnalysis, Process, RankedStage, Stage, StageKernels
from nsys_analyze.metrics.wording import program_name
from nsys_analyze.verdict.fleet import FleetStage
from nsys_analyze.views.document import Name
from nsys_analyze.views.text import path_text, visible


def report_labels(analyses: Sequence[Analysis | KernelAnalysis]) -> list[str]:
    """Returns the reports' file names, numbered where two are the same: ``report.sqlite (2)``."""
    names = [visible(PurePath(analysis.report.file).name) for analysis in analyses]
    return [
        name if names.count(name) == 1 else f"{name} ({names[: place + 1].count(name)})"
        for place, name in enumerate(names)
    ]


def process_labels(analysis: Analysis, stages: Sequence[Stage | StageKernels] = ()) -> dict[int, str]:
    """Returns each process's label: nothing where only one has stages, else its rank, or its name and pid.

    The stages are the analysis's, unless others are given.
    """
    if len({stage.process for stage in stages or analysis.stages}) < 2:
        return {}
    one_name = len({process.name for process in analysis.report.processes}) == 1
    return {process.pid: _process_label(process, one_name) for process in analysis.report.processes}


def _process_label(process: Process, one_name: bool) -> str:
    if process.rank is not None:
        return f"rank {process.rank}"
    if one_name or not process.name:
        return f"pid {process.pid}"
    return visible(f"{program_name(process.name)} {process.pid}")


def process_name(name: str, pid: int) -> str:
    """Returns what a process is called: its program's name without the folders that it is in, else its pid."""
    return program_name(name) or f"process {pid}"


def flat_names(stages: Sequence[Stage] | Sequence[RankedStage] | Sequence[FleetStage]) -> list[Name]:
    """Returns the stages' whole paths; domains are named only where two stages would read the same."""
    texts = _element_texts(stages)
    return [Name(path_text(elements), full=path_text(elements)) for elements in texts]


def tree_names(stages: Sequence[Stage]) -> list[Name]:
    """Returns names for stages in tree order: each indented below its nearest ancestor among them."""
    shown = {identity(stage) for stage in stages}
    names = []
    for stage, elements in zip(stages, _element_texts(stages), strict=True):
        above = [path for _, path in ancestors(stage) if (stage.process, path) in shown]
        start = len(above[-1]) if above else 0
        names.append(Name(path_text(elements[start:]), indent=len(above), full=path_text(elements)))
    return names


def _element_texts(stages: Sequence[Stage] | Sequence[RankedStage] | Sequence[FleetStage]) -> list[list[str]]:
    same = Counter(map(_read_as, stages))
    return [list(stage.path) if same[_read_as(stage)] == 1 else _with_domains(stage) for stage in stages]


def _read_as(stage: Stage | RankedStage | FleetStage) -> tuple[int | None, tuple[str, ...]]:
    """What a stage reads as where domains are not written."""
    return (stage.process if isinstance(stage, Stage) else None), tuple(stage.path)


def _with_domains(stage: Stage | RankedStage | FleetStage) -> list[str]:
    pairs = zip(stage.path, stage.domains, strict=True)
    return [f"{name}@{domain or 'default'}" for name, domain in pairs]
