"""Which instances make a row: by path, or by name whatever the path."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from nsys_analyze.arrays import AnyInt, Int32, Int64, order_by, prefix_sum
from nsys_analyze.attribution import Membership
from nsys_analyze.instances import Instances, Paths
from nsys_analyze.model.tables import Ranges, Trace

_RANKS_LEAST = 2  # of one program in a report: a single one needs no number

_BATCH = 500_000  # launches taken together; a group with more of its own is taken alone


@dataclass(frozen=True, slots=True)
class Grouping:
    """Instances by row.

    ``group`` is the row of each instance; ``path`` is a path that stands for the row; ``order`` is how rows are shown.
    With ``whole_path``, a row's name is its whole path; else only the path's last element.
    """

    group: Int32
    path: Int64
    order: list[int]
    whole_path: bool

    def __len__(self) -> int:
        return len(self.path)


def by_path(instances: Instances, paths: Paths, ranges: Ranges) -> Grouping:
    """One row a stage, as a tree: parents before children, siblings by their first start."""
    first_start = np.full(len(paths), np.iinfo(np.int64).max)
    np.minimum.at(first_start, instances.path, ranges.start)
    children: dict[int, list[int]] = {}
    last_first = np.lexsort((*_name_ranks(ranges, paths), first_start, paths.process))[::-1]
    for row in last_first.tolist():
        children.setdefault(int(paths.parent[row]), []).append(row)
    order: list[int] = []
    waiting = children.get(-1, [])
    while waiting:
        row = waiting.pop()
        order.append(row)
        waiting.extend(children.get(row, []))
    return Grouping(instances.path, np.arange(len(paths)), order, whole_path=True)


def by_name(instances: Instances, paths: Paths, ranges: Ranges) -> Grouping:
    """One row a (process, domain, folded name), in order of first start. Nested ranges of one name count each."""
    key = np.stack([paths.process, paths.domain, paths.folded])
    _, example, number = np.unique(key, axis=1, return_index=True, return_inverse=True)
    group = number.reshape(-1).astype(np.int32)[instances.path]
    first_start = np.full(len(example), np.iinfo(np.int64).max)
    np.minimum.at(first_start, group, ranges.start)
    order = np.lexsort((*(rank[example] for rank in _name_ranks(ranges, paths)), first_start, paths.process[example]))
    return Grouping(group, example, order.tolist(), whole_path=False)


def _name_ranks(ranges: Ranges, paths: Paths) -> tuple[Int64, Int64]:
    """What orders rows that start together: the places of their domains and names in alphabetical order."""
    domains, names = (
        np.argsort(np.argsort(np.array(strings, dtype=object), kind="stable"))
        for strings in (ranges.domain_names, ranges.folded_names)
    )
    return domains[paths.domain], names[paths.folded]


class Labels:
    """Names of rows: paths as lists of strings, and keys that stay the same from run to run."""

    def __init__(self, trace: Trace, paths: Paths) -> None:
        self._ranges, self._paths = trace.ranges, paths
        self._programs = program_names(trace)

    def path(self, row: int, whole: bool) -> tuple[list[str], list[str]]:
        """Folded names and domains from the outermost element on, or of the last element only."""
        elements = self._paths.elements(row) if whole else [row]
        return (
            [self._ranges.folded_names[self._paths.folded[element]] for element in elements],
            [self._ranges.domain_names[self._paths.domain[element]] for element in elements],
        )

    def key(self, row: int, whole: bool) -> str:
        """``program: outer@domain / inner@domain``; the default domain goes unwritten.

        A backslash stands before ``/``, ``@`` and itself where a name holds them, so that no two rows share a key.
        """
        names, domains = ([_escaped(text) for text in texts] for texts in self.path(row, whole))
        elements = (f"{name}@{domain}" if domain else name for name, domain in zip(names, domains, strict=True))
        return f"{self._programs[self._paths.process[row]]}: {' / '.join(elements)}"


@lru_cache(maxsize=4096)
def _escaped(text: str) -> str:
    return re.sub(r"([\\/@])", r"\\\1", text)


def program_names(trace: Trace) -> list[str]:
    """A name for each process without its pid: the program's, numbered where several run the same one.

    The number is the process's rank where the report tells it of several, else its place by the first GPU that it used,
    then by pid.
    """
    names = [name or "process" for name in trace.processes.name]
    first_gpu = np.full(len(names) + 1, np.iinfo(np.int32).max, np.int32)  # and that of operations of nobody, the last
    np.minimum.at(first_gpu, trace.ops.process, trace.ops.device)
    in_order = np.argsort(first_gpu[:-1], kind="stable").tolist()
    running, numbers = Counter(names), dict[int, int]()
    for name in running:
        numbers |= _numbers([row for row in in_order if names[row] == name], trace.processes.rank)
    return [f"{name}#{numbers[row]}" if running[name] > 1 else name for row, name in enumerate(names)]


def _numbers(rows: list[int], rank: list[int | None]) -> dict[int, int]:
    """Numbers of the processes of one program. Where ranks are known, processes without one come after them."""
    ranks = {row: known for row in rows if (known := rank[row]) is not None}
    if len(ranks) < _RANKS_LEAST:
        return {row: number for number, row in enumerate(rows)}
    others = [row for row in rows if row not in ranks]
    return ranks | {row: number for number, row in enumerate(others, start=max(ranks.values()) + 1)}


def batches(members: Membership, group: AnyInt, groups: int) -> Iterator[tuple[Int64, Int64, int]]:
    """Yields ranges of some consecutive groups at a time: (ranges, their group within the batch, number of groups).

    Ranges of group -1 are left out.
    """
    sizes = members.high - members.low + np.bincount(members.pair_range, minlength=len(members.low))
    by_group = order_by(group)
    first_row = np.searchsorted(group[by_group], np.arange(groups + 1))
    total = prefix_sum(sizes[by_group])[first_row]
    low = 0
    while low < groups:
        high = max(int(np.searchsorted(total, total[low] + _BATCH, side="right")) - 1, low + 1)
        rows = by_group[first_row[low] : first_row[high]]
        yield rows, group[rows] - np.int64(low), high - low
        low = high
