"""Which stages are loops that matter: the outermost ones with most GPU work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from nsys_analyze.metrics.results import Stage

T = TypeVar("T")

Identity = tuple[int, tuple[tuple[str, str], ...]]

_MINOR = 0.1  # share of the largest loop's GPU time below which a loop is not worth a row


def identity(stage: Stage) -> Identity:
    """Returns what tells a stage apart within its report; a child's identity begins with its parent's elements."""
    return stage.process, tuple(zip(stage.domains, stage.path, strict=True))


def parent(stage: Stage) -> Identity:
    """Returns the identity of the stage's parent."""
    process, path = identity(stage)
    return process, path[:-1]


def ancestors(stage: Stage) -> list[Identity]:
    """Returns the identities of the stages that the stage lies in, the outermost first."""
    process, path = identity(stage)
    return [(process, path[:level]) for level in range(1, len(path))]


def main_loops(stages: Sequence[Stage], most: int) -> list[Stage]:
    """Returns the ``most`` loops with most GPU time that lie in no other loop, in the order they came.

    Left out are loops that matter little beside the largest (unless ``most`` is 0, for all of them), and unless nothing
    else is left, compilers' own loops and loops without GPU work.
    """
    found = loops_and_parts(stages)
    loops = _loops(stages)
    outermost = [stage for stage in found if not loops.intersection(ancestors(stage)) and stage.pace_ns is not None]
    least = _MINOR * max((stage.active_ns or 0 for stage in outermost), default=0) if most else 0
    major = [stage for stage in outermost if (stage.active_ns or 0) >= least]
    return largest(major, most, lambda stage: (stage.active_ns or 0, stage.elapsed_ns.total))


def main_stages(stages: Sequence[Stage], most: int) -> list[Stage]:
    """Returns the loops that matter and have GPU work; where there are none, the top level with GPU work."""
    loops = [stage for stage in main_loops(stages, most) if stage.gpu_ops]
    return loops or largest([s for s in stages if len(s.path) == 1 and s.gpu_ops], most, lambda s: s.active_ns or 0)


def loops_and_parts(stages: Sequence[Stage]) -> list[Stage]:
    """Returns all loops and the stages directly inside them.

    Unless nothing else is left, without compilers' own loops and stages without GPU work.
    """
    loops = _loops(stages)
    found = [stage for stage in stages if identity(stage) in loops or parent(stage) in loops]
    found = [stage for stage in found if not stage.is_compilers_own] or found
    return [stage for stage in found if stage.gpu_ops] or found


def largest(stages: Sequence[T], top: int, size: Callable[[T], Any]) -> list[T]:
    """Returns the ``top`` stages of the largest ``size``, in the order they came; all of them for ``top`` 0."""
    if not top or len(stages) <= top:
        return list(stages)
    ranked = sorted(range(len(stages)), key=lambda place: size(stages[place]), reverse=True)
    return [stages[place] for place in sorted(ranked[:top])]


def _loops(stages: Sequence[Stage]) -> set[Identity]:
    return {identity(stage) for stage in stages if stage.pace_ns is not None}
