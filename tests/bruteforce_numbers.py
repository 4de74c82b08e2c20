"""The oracle's numbers: what a list of instances says of its stage, each by its definition."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from tests.bruteforce_load import Call, Element, Export, Operation, Range, pid_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Interval = tuple[int, int]
StageKey = tuple[int, tuple[Element, ...]]  # (pid, path)


@dataclass
class Gap:
    """Startup gap of a stage: totals over the instances that have one, medians over the finished ones among them."""

    total: int
    prelude: int
    launch: int
    queue: int
    exposed: int
    hidden: int
    median: float | None
    exposed_median: float | None
    first: int


@dataclass
class CallStatistics:
    """Durations of the kernel launches of a stage, each function's first launch in the process apart."""

    count: int
    median: float | None
    p95: float | None
    max: int | None
    first_count: int
    first_total: int


@dataclass
class Stage:
    """The numbers of one stage; times in ns, totals over its instances."""

    instances: int
    instances_with_gpu: int
    wall: int
    wall_median: float | None
    elapsed: int
    elapsed_median: float | None
    pace: float | None
    gpu_ops: int
    kernels: int
    launches: int
    kernel_launches: int
    via_process: int
    kernel_ns: int
    busy: int
    active: int
    self_gpu_ops: int
    self_kernels: int
    self_kernel_ns: int
    startup_gap: Gap | None
    cpu_overhead: float
    overhead_per_kernel: float | None
    launch_call: CallStatistics
    queue_delay_median: float | None
    cold_start: float | None


@dataclass(eq=False)
class Instance:
    """One range with the operations that belong to it."""

    range: Range
    operations: list[Operation] = field(default_factory=list)
    own: list[Operation] = field(default_factory=list)  # as the innermost range
    via_process: int = 0

    @cached_property
    def completion(self) -> int:
        return max([self.range.end, *(operation.end for operation in self.operations)])

    def inside(self, operation: Operation) -> Interval:
        """The operation's interval, as far as it lies after the range's start."""
        start = max(operation.start, self.range.start)
        return start, max(operation.end, start)

    @property
    def elapsed(self) -> int:
        return self.completion - self.range.start

    @property
    def launches(self) -> list[Call]:
        return list({id(o.call): o.call for o in self.operations if o.call is not None}.values())

    @property
    def earliest(self) -> Operation | None:
        return min(self.operations, key=lambda operation: operation.order, default=None)


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Merge intervals into disjoint ones, in order."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def length(intervals: Iterable[Interval]) -> int:
    return sum(end - start for start, end in union(intervals))


def clamp(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))


def quantile(values: Sequence[int], fraction: Fraction) -> float | None:
    """Interpolate linearly between the two nearest values."""
    if not values:
        return None
    ordered = sorted(values)
    below, rest = divmod(fraction * (len(ordered) - 1), 1)
    above = min(int(below) + 1, len(ordered) - 1)
    return float(ordered[int(below)] + rest * (ordered[above] - ordered[int(below)]))


def median(values: Sequence[int]) -> float | None:
    return float(statistics.median(values)) if values else None


def path_of(r: Range) -> tuple[Element, ...]:
    return (r.element,) if r.parent is None else (*path_of(r.parent), r.element)


class Stages:
    def __init__(self, export: Export, instances: list[Instance]) -> None:
        self.instances = sorted(instances, key=lambda i: i.range.order)
        self.stages: dict[StageKey, list[Instance]] = defaultdict(list)
        for instance in self.instances:
            self.stages[pid_of(instance.range.process), path_of(instance.range)].append(instance)
        self.gpu_busy: dict[int, list[Interval]] = defaultdict(list)
        for operation in export.operations:
            self.gpu_busy[operation.device].append((operation.start, operation.end))
        self.gpu_busy = {device: union(intervals) for device, intervals in self.gpu_busy.items()}
        self.first_launches = _first_launches(export.calls)
        self.profiler = export.profiler
        self.cold_starts = _cold_starts(self.instances)

    def all(self) -> dict[StageKey, Stage]:
        return {key: self.stage(instances) for key, instances in self.stages.items()}

    def stage(self, instances: list[Instance]) -> Stage:
        operations = [o for i in instances for o in i.operations]
        own = [o for i in instances for o in i.own]
        launches = [c for i in instances for c in i.launches]
        finished = [i for i in instances if i.range.finished]
        kernels = _kernels(operations)
        pace, elapsed = _pace(instances), sum(i.elapsed for i in instances)
        active = sum(length(i.inside(o) for o in i.operations) for i in instances)
        profiled = sum(self.profiled(i.range) for i in instances)
        per_instance = Fraction(elapsed, len(instances)) if pace is None else pace
        overhead = per_instance - Fraction(active + profiled, len(instances))
        return Stage(
            instances=len(instances),
            instances_with_gpu=sum(bool(i.operations) for i in instances),
            wall=sum(i.range.end - i.range.start for i in instances),
            wall_median=median([i.range.end - i.range.start for i in finished]),
            elapsed=elapsed,
            elapsed_median=median([i.elapsed for i in finished]),
            pace=None if pace is None else float(pace),
            gpu_ops=len(operations),
            kernels=len(kernels),
            launches=len(launches),
            kernel_launches=sum(_launches_kernel(c) for c in launches),
            via_process=sum(i.via_process for i in instances),
            kernel_ns=sum(o.duration for o in kernels),
            busy=sum(_busy(i) for i in instances),
            active=active,
            self_gpu_ops=len(own),
            self_kernels=len(_kernels(own)),
            self_kernel_ns=sum(o.duration for o in _kernels(own)),
            startup_gap=self.gap(instances),
            cpu_overhead=float(max(overhead, 0)),
            overhead_per_kernel=float(max(overhead, 0) * len(instances) / len(kernels)) if kernels else None,
            launch_call=self.call_statistics(launches),
            queue_delay_median=median([d for c in launches if (d := _queue_delay(c)) is not None]),
            cold_start=self.cold_starts.get(id(instances[0].range)),
        )

    def profiled(self, r: Range) -> int:
        """The profiler's own time on the range's thread."""
        own = [(max(s, r.start), min(e, r.end)) for thread, s, e in self.profiler if thread == r.thread]
        return length((start, end) for start, end in own if start < end)

    def gap(self, instances: list[Instance]) -> Gap | None:
        rows = [(i.range.finished, *self.gap_parts(i, earliest)) for i in instances if (earliest := i.earliest)]
        if not rows:
            return None
        finished = [row for row in rows if row[0]]
        prelude, launch, queue, exposed, hidden = (sum(row[n] for row in rows) for n in range(1, 6))
        return Gap(
            total=prelude + launch + queue,
            prelude=prelude,
            launch=launch,
            queue=queue,
            exposed=exposed,
            hidden=hidden,
            median=median([sum(row[1:4]) for row in finished]),
            exposed_median=median([row[4] for row in finished]),
            first=sum(rows[0][1:4]),
        )

    def gap_parts(self, instance: Instance, earliest: Operation) -> tuple[int, int, int, int, int]:
        start = instance.range.start
        gap_end = max(earliest.start, start)
        call = min(instance.launches, key=lambda c: (c.start, c.end))
        call_start = clamp(call.start, start, gap_end)
        call_end = clamp(call.end, call_start, gap_end)
        hidden = sum(
            max(0, min(e, gap_end) - max(s, start))
            for s, e in self.gpu_busy[earliest.device]
            if s < gap_end and e > start
        )
        gap = gap_end - start
        return call_start - start, call_end - call_start, gap_end - call_end, gap - hidden, hidden

    def call_statistics(self, launches: list[Call]) -> CallStatistics:
        kernel_launches = [c for c in launches if _launches_kernel(c)]
        later = [c.end - c.start for c in kernel_launches if id(c) not in self.first_launches]
        first = [c.end - c.start for c in kernel_launches if id(c) in self.first_launches]
        return CallStatistics(
            count=len(later),
            median=median(later),
            p95=quantile(later, Fraction(95, 100)),
            max=max(later, default=None),
            first_count=len(first),
            first_total=sum(first),
        )


def _kernels(operations: list[Operation]) -> list[Operation]:
    return [o for o in operations if o.kind == "kernel"]


def _launches_kernel(call: Call) -> bool:
    return any(o.kind in ("kernel", "graph") for o in call.operations)


def _busy(instance: Instance) -> int:
    devices = {o.device for o in instance.operations}
    return sum(length(instance.inside(o) for o in instance.operations if o.device == device) for device in devices)


def _queue_delay(call: Call) -> int | None:
    """Time from the call's end to its first operation; a blocking copy has none."""
    if call.name.startswith(("cudaMemcpy", "cuMemcpy")) and "Async" not in call.name:
        return None
    starts = [o.start for o in call.operations]
    return max(0, min(starts) - call.end) if starts else None


def _first_launches(calls: list[Call]) -> set[int]:
    """Identify the kernel launches that were the first of their function in their process."""
    first: dict[object, Call] = {}
    for call in sorted(filter(_launches_kernel, calls), key=lambda c: (c.start, c.end, c.row)):
        kernels = [o for o in call.operations if o.kind in ("kernel", "graph")]
        first.setdefault(min(kernels, key=lambda o: o.order).function, call)
    return {id(call) for call in first.values()}


def _pace(instances: list[Instance]) -> Fraction | None:
    """Mean time from one instance to the next, over the parents (a thread, for its top level) that hold two or more.

    Instances that never ended do not count; where instances of one parent overlap there is no pace.
    """
    siblings: dict[object, list[Instance]] = defaultdict(list)
    for instance in (i for i in instances if i.range.finished):
        r = instance.range
        siblings[("thread", r.thread) if r.parent is None else ("range", id(r.parent))].append(instance)
    groups = [group for group in siblings.values() if len(group) >= 2]
    overlap = any(a.range.end > b.range.start for group in groups for a, b in pairwise(group))
    if not groups or overlap:
        return None
    spans = [max(i.completion for i in group) - min(i.range.start for i in group) for group in groups]
    return Fraction(sum(spans), sum(len(group) for group in groups))


def _cold_starts(instances: list[Instance]) -> dict[int, float]:
    """Say what the first instance of a (process, domain, folded name), on any path, took over the others' median."""
    groups: dict[object, list[Instance]] = defaultdict(list)
    for instance in instances:
        groups[instance.range.process, instance.range.element].append(instance)
    cold = {}
    for first, *others in groups.values():
        usual = median([i.elapsed for i in others if i.range.finished])
        if usual is not None and first.range.finished:
            cold[id(first.range)] = first.elapsed - usual
    return cold
