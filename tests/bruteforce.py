"""The oracle: attribution and stage numbers by definition, slow and plain.

For every launch it looks at every range of the thread; every instance keeps the list of its operations; every interval
sum is a union made by sorting. Nothing here is derived from the package.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tests.bruteforce_load import Call, Operation, Range, load, pid_of
from tests.bruteforce_numbers import Instance, Stage, StageKey, Stages

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Attribution = Literal["thread", "process"]

OUTCOMES = ("thread", "process", "no_launch_row", "outside_ranges", "ambiguous_thread")


@dataclass
class Analysis:
    """What the oracle says of one export under one attribution."""

    coverage: dict[str, int]
    gpu_time: dict[str, int]
    stages: dict[StageKey, Stage]


def analyse(path: Path, attribution: Attribution) -> Analysis:
    """Analyse the export at `path`."""
    export = load(path)
    coverage: Counter[str] = Counter()
    gpu_time: Counter[str] = Counter()
    instances = {id(r): Instance(r) for r in export.ranges}
    placements = _Placements(export.ranges, attribution)
    for operation in export.operations:
        outcome = placements.place(operation, instances)
        for key in (outcome, "gpu_ops"):
            coverage[key] += 1
            gpu_time[key] += operation.duration
    keys = ("gpu_ops", *OUTCOMES)
    stages = Stages(export, list(instances.values())).all()
    return Analysis({key: coverage[key] for key in keys}, {key: gpu_time[key] for key in keys}, stages)


class _Placements:
    """Nesting of the ranges, and the ranges that an operation belongs to."""

    def __init__(self, ranges: list[Range], attribution: Attribution) -> None:
        self.by_process = attribution == "process"
        self.of_thread: dict[int, list[Range]] = defaultdict(list)
        self.threads_of: dict[int, set[int]] = defaultdict(set)
        for r in ranges:  # they come in nesting order
            self.of_thread[r.thread].append(r)
            self.threads_of[r.process].add(r.thread)
        for siblings in self.of_thread.values():
            _nest(siblings)
        if self.by_process:
            for r in ranges:
                self.hang(r)

    def open_at(self, thread: int, time: int) -> list[Range]:
        return [r for r in self.of_thread.get(thread, []) if r.start <= time < r.end]

    def hang(self, r: Range) -> None:
        """Rule (b): a root of a helper thread hangs under what the main thread had open."""
        main = _main_thread(r.process)
        if r.thread == main or r.parent is not None:
            return
        if found := self.open_at(main, r.start):
            r.parent, r.hung = found[-1], True

    def ranges_for(self, call: Call) -> tuple[str, list[Range]]:
        """Tell how the call's operations are placed, and the ranges open for them, the innermost last."""
        if own := self.open_at(call.thread, call.start):
            return "thread", own
        if not self.by_process:
            return "outside_ranges", []
        main = _main_thread(call.process)
        if found := self.open_at(main, call.start):
            return "process", found
        others = [self.open_at(t, call.start) for t in self.threads_of[call.process] - {main, call.thread}]
        others = [found for found in others if found]
        if len(others) > 1:
            return "ambiguous_thread", []
        return ("process", others[0]) if others else ("outside_ranges", [])

    def place(self, operation: Operation, instances: dict[int, Instance]) -> str:
        """Give the operation to its instances; the answer says how, or why to none."""
        if operation.call is None:
            return "no_launch_row"
        outcome, open_ranges = self.ranges_for(operation.call)
        for r, via in _with_ancestors(open_ranges, outcome == "process"):
            instances[id(r)].operations.append(operation)
            instances[id(r)].via_process += via
        if open_ranges:
            instances[id(open_ranges[-1])].own.append(operation)
        return outcome


def _main_thread(process: int) -> int:
    return process | pid_of(process)


def _nest(siblings: list[Range]) -> None:
    """Find each range's parent among the ranges of its thread, given in nesting order."""
    candidates: list[Range] = []
    for r in siblings:
        candidates = [c for c in candidates if c.end >= r.start]  # the others can contain nothing from here on
        containing = [c for c in candidates if c.start <= r.start and c.end >= r.end]
        r.parent = containing[-1] if containing else None
        candidates.append(r)


def _with_ancestors(open_ranges: list[Range], by_rule_a: bool) -> Iterable[tuple[Range, bool]]:
    """Give every range once, with whether it was reached across threads."""
    reached: dict[int, tuple[Range, bool]] = {}
    for open_range in open_ranges:
        r: Range | None = open_range
        via = by_rule_a
        while r is not None:
            reached[id(r)] = (r, via and reached.get(id(r), (r, True))[1])
            via = via or r.hung
            r = r.parent
    return reached.values()
