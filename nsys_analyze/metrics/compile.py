"""Compile time of stages: evidence united over the stage, thread-seconds beside it."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import AnyInt, Bool, Int64
from nsys_analyze.attribution import Membership
from nsys_analyze.attribution.nesting import innermost_pieces
from nsys_analyze.metrics.results import CompileTime
from nsys_analyze.model.compile_rules import Phase
from nsys_analyze.model.evidence import Evidence, Source
from nsys_analyze.timeline import grouped_union


def compile_times(evidence: Evidence, members: Membership, group: AnyInt, groups: int) -> list[CompileTime]:
    """Compile time of each group of instances.

    Args:
        evidence: All evidence.
        members: The evidence of every range.
        group: The group of every range.
        groups: Number of groups.
    """
    table = _Table(evidence, members, group, groups)
    sources = {source.name.lower(): table.united(evidence.source == source) for source in Source}
    phases = {phase.name.lower(): evidence.phase == phase for phase in Phase}
    threads_of = {name: table.thread_time(chosen) for name, chosen in phases.items()}
    united_of = {name: table.united_innermost(chosen) for name, chosen in phases.items()}
    tools_of = {name: table.thread_time(evidence.tool == number) for number, name in enumerate(evidence.tools)}
    total, threads_total = table.united(np.ones(len(evidence), bool)), table.thread_time(np.ones(len(evidence), bool))
    modules = table.count(evidence.module)
    return [
        CompileTime(
            total=int(total[row]),
            threads_total=int(threads_total[row]),
            modules=int(modules[row]),
            sources={name: int(times[row]) for name, times in sources.items()},
            phases={name: int(times[row]) for name, times in threads_of.items()},
            phases_united={name: int(times[row]) for name, times in united_of.items()},
            tools={name: int(times[row]) for name, times in tools_of.items() if times[row]},
        )
        for row in range(groups)
    ]


class _Table:
    """Evidence by group, whole and cut into the pieces in which each is the innermost of its thread."""

    def __init__(self, evidence: Evidence, members: Membership, group: AnyInt, groups: int) -> None:
        self._evidence, self._groups = evidence, groups
        owner, which = members.pairs(np.arange(len(group)))
        pairs = np.unique(group[owner] * np.int64(max(len(evidence), 1)) + which)
        self._group, self._which = np.divmod(pairs, max(len(evidence), 1))
        self._piece_of, self._piece_start, self._piece_end = innermost_pieces(
            evidence.start, evidence.end, evidence.thread
        )
        self._exclusive = np.zeros(len(evidence), np.int64)
        np.add.at(self._exclusive, self._piece_of, self._piece_end - self._piece_start)

    def count(self, chosen: Bool) -> Int64:
        return np.bincount(self._group[chosen[self._which]], minlength=self._groups)

    def thread_time(self, chosen: Bool) -> Int64:
        """Time in which the chosen evidence is the innermost, added over threads."""
        out = np.zeros(self._groups, np.int64)
        rows = chosen[self._which]
        np.add.at(out, self._group[rows], self._exclusive[self._which[rows]])
        return out

    def united(self, chosen: Bool) -> Int64:
        """Union of the chosen evidence over all threads."""
        rows = chosen[self._which]
        which = self._which[rows]
        return grouped_union(self._group[rows], self._evidence.start[which], self._evidence.end[which], self._groups)

    def united_innermost(self, chosen: Bool) -> Int64:
        """Union over all threads of the time in which the chosen evidence is the innermost of its thread."""
        order = np.argsort(self._piece_of, kind="stable")
        bounds = np.searchsorted(self._piece_of[order], np.arange(len(self._evidence) + 1))
        rows = chosen[self._which]
        group, which = self._group[rows], self._which[rows]
        count = bounds[which + 1] - bounds[which]
        first = np.append(0, np.cumsum(count))[:-1]
        position = np.arange(count.sum()) - np.repeat(first - bounds[which], count)
        piece = order[position]
        return grouped_union(np.repeat(group, count), self._piece_start[piece], self._piece_end[piece], self._groups)
