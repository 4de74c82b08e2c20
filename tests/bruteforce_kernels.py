"""The oracle of kernels, labels and communication: an operation at a time, a nanosecond at a time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.bruteforce import Attribution, _Placements, _with_ancestors
from tests.bruteforce_load import Call, Element, Operation, Range, load, pid_of
from tests.bruteforce_numbers import StageKey, _first_launches, median, path_of, union

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Row = tuple[int, int, float | None, float | None, float | None]  # count, total, median, launch call, queue delay
Label = Element | None


@dataclass
class StageOps:
    """What one stage's instances put on the GPU: (instance, operation, label) for each."""

    owned: list[tuple[Range, Operation, Label]] = field(default_factory=list)
    first_launches: set[int] = field(default_factory=set)

    def rows(self, by: str) -> dict[object, Row]:
        groups: dict[object, list[tuple[Range, Operation]]] = defaultdict(list)
        for instance, operation, label in self.owned:
            groups[operation.name if by == "name" else label].append((instance, operation))
        return {key: self._row(found) for key, found in groups.items()}

    def _row(self, found: list[tuple[Range, Operation]]) -> Row:
        durations = [operation.duration for _, operation in found]
        launches = {(id(instance), id(operation.call)): operation.call for instance, operation in found}
        calls = [call for call in launches.values() if call is not None and not _waits(call)]
        usual = [call.end - call.start for call in calls if id(call) not in self.first_launches]
        delays = [
            max(0, operation.start - operation.call.end)
            for _, operation in found
            if operation.call and not _waits(operation.call) and operation is _first(operation.call)
        ]
        return len(found), sum(durations), median(durations), median(usual), median(delays)

    def communication(self) -> tuple[int, int, int, int] | None:
        """Kernels, their time, busy time and the part of it under compute."""
        kernels = [(instance, each) for instance, each, _ in self.owned if each.kind == "kernel"]
        moving = [(instance, each) for instance, each in kernels if each.name.startswith("nccl")]
        if not moving:
            return None
        busy = set(_instants(moving))
        under = busy & set(_instants([pair for pair in kernels if pair not in moving]))
        return len(moving), sum(each.duration for _, each in moving), len(busy), len(under)


def stage_ops(path: Path, attribution: Attribution) -> dict[StageKey, StageOps]:
    """What each stage of the export at `path` put on the GPU."""
    export = load(path)
    placements = _Placements(export.ranges, attribution)
    first = _first_launches(export.calls)
    stages: dict[StageKey, StageOps] = defaultdict(lambda: StageOps(first_launches=first))
    for operation in export.operations:
        if operation.call is None:
            continue
        outcome, open_ranges = placements.ranges_for(operation.call)
        for r, _ in _with_ancestors(open_ranges, outcome == "process"):
            inside = [each for each in open_ranges if r in _ancestors(each)]
            label = inside[-1].element if inside else None
            stages[pid_of(r.process), path_of(r)].owned.append((r, operation, label))
    return stages


def _ancestors(r: Range) -> Iterator[Range]:
    while r.parent is not None:
        r = r.parent
        yield r


def _instants(pairs: list[tuple[Range, Operation]]) -> Iterator[tuple[int, int]]:
    for device in {operation.device for _, operation in pairs}:
        clipped = [(max(o.start, r.start), max(o.end, o.start)) for r, o in pairs if o.device == device]
        for start, end in union([(start, max(start, end)) for start, end in clipped]):
            yield from ((device, instant) for instant in range(start, end))


def _waits(call: Call) -> bool:
    return call.name.startswith(("cudaMemcpy", "cuMemcpy")) and "Async" not in call.name


def _first(call: Call) -> Operation:
    return min(call.operations, key=lambda operation: operation.order)
