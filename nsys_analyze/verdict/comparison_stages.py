"""Which stages of several sides belong together, and which of them are compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.kernel_counts import KernelCount
from nsys_analyze.metrics.loops import main_stages
from nsys_analyze.metrics.patterns import DEFAULT_DOMAIN, matches, near_names
from nsys_analyze.metrics.results import Analysis, Stage
from nsys_analyze.metrics.wording import path_title

_MOST = 5  # stages that are compared unless they are asked for
_MOST_ASKED = 20
_NO_STAGES = "the reports hold no NVTX range"

Element = tuple[str, str]  # name and domain
Path = tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """What tells a stage apart across reports: its path with domains, and which of the processes that have it."""

    path: Path
    process: int


@dataclass(frozen=True, slots=True)
class Run:
    """One report of a side: what is said of it, and the kernels of its stages by their keys where they are known.

    ``unnamed`` are the paths of its stages before they were renamed, if they were.
    """

    analysis: Analysis
    kernels: Mapping[str, list[KernelCount] | None] = field(default_factory=dict)
    unnamed: Set[Path] = frozenset()


@dataclass(frozen=True, slots=True)
class Indexed:
    """A run with its stages by place."""

    run: Run
    stages: Mapping[Place, Stage]


@dataclass(frozen=True, slots=True)
class Renaming:
    """Elements of paths that go by other names: ``old`` in the other sides is ``new`` in the first one.

    ``text`` is what asked for it.
    """

    old: tuple[Element, ...]
    new: tuple[Element, ...]
    text: str

    def __call__(self, path: Sequence[Element]) -> list[Element]:
        """Returns the path with the first occurrence of ``old`` replaced."""
        start, size = self._found(path), len(self.old)
        if start is None:
            return list(path)
        return [*path[:start], *self._replacement(path[start : start + size]), *path[start + size :]]

    def fits(self, path: Sequence[Element]) -> bool:
        """Whether ``old`` occurs in the path."""
        return self._found(path) is not None

    def _found(self, path: Sequence[Element]) -> int | None:
        size = len(self.old)
        places = range(len(path) - size + 1)
        return next((at for at in places if all(map(_is_named, path[at : at + size], self.old))), None)

    def _replacement(self, part: Sequence[Element]) -> Iterator[Element]:
        """New elements, in the domains of the old ones where none is asked for."""
        for place, (name, domain) in enumerate(self.new):
            kept = part[min(place, len(part) - 1)][1]
            yield name, kept if not domain else "" if domain == DEFAULT_DOMAIN else domain


def renaming(text: str) -> Renaming:
    """Returns the renaming that ``old=new`` asks for; both are paths such as ``steady/step`` or ``step@domain``.

    Raises:
        UsageError: If it is not of that form.
    """
    old, equals, new = text.partition("=")
    if not equals or "=" in new or not old.strip() or not new.strip():
        raise UsageError(f"--map {text}: write it as old=new, such as train/iteration=steady/step")
    if "*" in new:
        raise UsageError(f"--map {text}: takes names, not patterns; leave out the *")
    return Renaming(_elements(old), _elements(new), text)


def renamed(run: Run, renamings: Sequence[Renaming]) -> Run:
    """Returns the run with its stages' paths renamed.

    Raises:
        UsageError: If two stages of a process come to have one path.
    """
    if not renamings:
        return run
    stages = [_renamed_stage(stage, renamings) for stage in run.analysis.stages]
    seen: dict[tuple[int, Path], Stage] = {}
    for old, stage in zip(run.analysis.stages, stages, strict=True):
        other = seen.setdefault((stage.process, _path(stage)), old)
        if other is not old and _path(other) != _path(old):
            asked = ", ".join(rename.text for rename in renamings)
            raise UsageError(
                f"--map {asked}: {run.analysis.report.file} has both {path_title(other.path)} and "
                f"{path_title(old.path)}, which would become one"
            )
    return Run(
        dataclasses.replace(run.analysis, stages=stages), run.kernels, frozenset(map(_path, run.analysis.stages))
    )


def check_renamings(renamings: Sequence[Renaming], runs: Sequence[Run]) -> None:
    """Refuses renamings that change nothing in any of the reports, each after those before it.

    Raises:
        UsageError: If one matches no stage.
    """
    paths = {path for run in runs for path in run.unnamed}
    for rename in renamings:
        after = {tuple(rename(path)) for path in paths}
        if not any(rename.fits(path) for path in paths):
            names = [[name for name, _ in path] for path in paths]
            near = ", ".join(near_names("/".join(name for name, _ in rename.old), names)) or "there are none"
            raise UsageError(f"--map {rename.text}: matches no stage of the other sides (nearest: {near})")
        paths = after


def indexed(sides: Sequence[Sequence[Run]]) -> list[list[Indexed]]:
    """Returns the runs of all sides with their stages by place.

    Processes that share a path are told apart by their ranks, else by their order. Where no run has a path in more than
    one process, it does not matter which one that is.
    """
    found = [[_by_path(run.analysis) for run in side] for side in sides]
    several = {path for side in found for run in side for path, stages in run.items() if len(stages) > 1}
    return [
        [Indexed(run, dict(_places(run.analysis, paths, several))) for run, paths in zip(side, by_path, strict=True)]
        for side, by_path in zip(sides, found, strict=True)
    ]


def _by_path(analysis: Analysis) -> dict[Path, dict[int, Stage]]:
    """Stages by path and process."""
    found: dict[Path, dict[int, Stage]] = {}
    for stage in analysis.stages:
        found.setdefault(_path(stage), {}).setdefault(stage.process, stage)
    return found


def _path(stage: Stage) -> Path:
    return tuple(zip(stage.path, stage.domains, strict=True))


def _places(
    analysis: Analysis, paths: Mapping[Path, Mapping[int, Stage]], several: Container[Path]
) -> Iterator[tuple[Place, Stage]]:
    ranks = {process.pid: process.rank for process in analysis.report.processes}
    for path, stages in paths.items():
        for number, (pid, stage) in enumerate(stages.items()):
            rank = ranks.get(pid) if path in several else None
            yield Place(path, number if rank is None else rank), stage


def chosen_places(sides: Sequence[Sequence[Indexed]], patterns: Sequence[str]) -> tuple[list[Place], int]:
    """Returns the stages to compare, and how many more there would be.

    Without patterns these are the main stages (loops with GPU work, as a rule) that at least two sides have, in any of
    their runs; if they share none, all of them.

    Raises:
        UsageError: If a pattern matches nothing, or there is nothing to compare.
    """
    if patterns:
        places = _matching(sides, patterns)
        return places[:_MOST_ASKED], max(len(places) - _MOST_ASKED, 0)
    everywhere = list(dict.fromkeys(place for side in sides for run in side for place in _main_places(run)))
    if not everywhere:
        some = any(run.stages for side in sides for run in side)
        raise UsageError(
            f"nothing to compare: {'no stage has GPU work; name one with --stage' if some else _NO_STAGES}"
        )
    shared = [place for place in everywhere if sum(_has(side, place) for side in sides) > 1]
    places = shared or everywhere
    return places[:_MOST], max(len(places) - _MOST, 0)


def compared_keys(analysis: Analysis, patterns: Sequence[str]) -> list[str]:
    """Returns the keys of the stages of a report that may come to be compared."""
    if patterns:
        return [stage.key for stage in analysis.stages if _matches(stage, patterns)]
    return [stage.key for stage in main_stages(analysis.stages, _MOST)]


def _elements(text: str) -> tuple[Element, ...]:
    parts = [part.strip() for part in text.split("/") if part.strip()] or [text.strip()]
    return tuple(_element(part) for part in parts)


def _element(text: str) -> Element:
    name, at, domain = text.rpartition("@")
    return (name, domain) if at and name and domain else (text, "")


def _is_named(element: Element, wanted: Element) -> bool:
    name, domain = wanted
    return element[0] == name and (not domain or (element[1] or DEFAULT_DOMAIN) == domain)


def _renamed_stage(stage: Stage, renamings: Sequence[Renaming]) -> Stage:
    path = list(_path(stage))
    for rename in renamings:
        path = rename(path)
    names, domains = [name for name, _ in path], [domain for _, domain in path]
    return dataclasses.replace(stage, path=names, domains=domains, name=names[-1], domain=domains[-1])


def _main_places(run: Indexed) -> list[Place]:
    keys = {stage.key for stage in main_stages(run.run.analysis.stages, _MOST)}
    return [place for place, stage in run.stages.items() if stage.key in keys]


def _matching(sides: Sequence[Sequence[Indexed]], patterns: Sequence[str]) -> list[Place]:
    stages = {place: stage for side in sides for run in side for place, stage in run.stages.items()}
    for pattern in patterns:
        if not any(_matches(stage, [pattern]) for stage in stages.values()):
            near = ", ".join(near_names(pattern, [stage.path for stage in stages.values()])) or "there are none"
            raise UsageError(f"--stage {pattern}: matches no stage (nearest: {near})")
    return [place for place, stage in stages.items() if _matches(stage, patterns)]


def _matches(stage: Stage, wanted: Sequence[str]) -> bool:
    return any(matches(pattern, stage.path, stage.domains) for pattern in wanted)


def _has(side: Sequence[Indexed], place: Place) -> bool:
    return any(place in run.stages for run in side)
