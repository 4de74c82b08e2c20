"""The oracle for partitions: what each nanosecond of an instance was, one by one."""

from __future__ import annotations

import sqlite3
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests import bruteforce, bruteforce_numbers
from tests.bruteforce_load import Call, Export, Range, _Loader, load, process_of

PARTS = {
    "launch": ("cudaLaunchKernel", "cuLaunchKernelEx", "cudaGraphLaunch", "cudaMemcpyAsync", "cudaMemsetAsync"),
    "memory": ("cudaMalloc", "cudaFree"),
    "sync": ("cudaMemcpy", "cuMemcpyHtoD", "cudaStreamSynchronize"),
    "graph": ("cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphInstantiate"),
}
ORDER = ("profiler", "compile", "launch", "memory", "sync", "graph", "cuda_other")
LOADING = ("cuModuleLoadData",)


@dataclass
class Evidence:
    """Something that tells of compiling: it belongs where an operation launched at its start would."""

    process: int
    thread: int
    start: int
    end: int


@dataclass
class Partition:
    """Host parts by name, and GPU parts by device and name."""

    host: Counter[str]
    gpu: dict[int, Counter[str]]


def partitions(path: Path, attribution: bruteforce.Attribution, compiles: Callable[[str], bool]) -> dict:
    """The partition of every range, by (thread, start, end, row); ``compiles`` tells names of compilers' ranges."""
    export = load(path)
    oracle = _Oracle(path, export, attribution, compiles)
    return {(r.thread, r.start, r.end, r.row): oracle.partition(r) for r in export.ranges}


class _Oracle:
    def __init__(
        self, path: Path, export: Export, attribution: bruteforce.Attribution, compiles: Callable[[str], bool]
    ) -> None:
        self.export, self.profiler = export, export.profiler
        self.placements = bruteforce._Placements(export.ranges, attribution)
        self.instances = {id(r): bruteforce_numbers.Instance(r) for r in export.ranges}
        for operation in export.operations:
            self.placements.place(operation, self.instances)
        with closing(sqlite3.connect(path)) as connection:
            loader = _Loader(connection)
            found = [*self.of_ranges(compiles), *_of_driver(loader), *self.of_calls(), *self.of_first_launches()]
        self.evidence = [evidence for evidence in found if evidence.end > evidence.start]
        self.captures = list(_captures(export.calls))
        self.helpers: dict[int, set[int]] = defaultdict(set)
        for evidence in self.evidence:
            moment = Call(0, evidence.process, evidence.thread, evidence.start, evidence.end, "")
            outcome, ranges = self.placements.ranges_for(moment)
            for r, _ in bruteforce._with_ancestors(ranges, outcome == "process"):
                self.helpers[id(r)].add(evidence.thread)

    def of_calls(self) -> list[Evidence]:
        loads = [c for c in self.export.calls if c.name.startswith(LOADING)]
        return [Evidence(c.process, c.thread, c.start, c.end) for c in loads]

    def of_ranges(self, compiles: Callable[[str], bool]) -> list[Evidence]:
        found = [r for r in self.export.ranges if r.finished and compiles(r.element[1])]
        return [Evidence(r.process, r.thread, r.start, r.end) for r in found]

    def of_first_launches(self) -> Iterator[Evidence]:
        calls = self.export.calls
        firsts = bruteforce_numbers._first_launches(calls)
        launches = [c for c in calls if bruteforce_numbers._launches_kernel(c)]
        later = [c for c in launches if id(c) not in firsts]
        for first in launches:
            if id(first) in firsts:
                same = [c for c in later if _function(c) == _function(first)]
                usual = same or [c for c in later if c.process == first.process]
                if usual:
                    own = [at for at in range(first.start, first.end) if not self.profiling(first.thread, at)]
                    extra = int(len(own) - statistics.median(c.end - c.start for c in usual))
                    for start, end in bruteforce_numbers.union((at, at + 1) for at in own[: max(extra, 0)]):
                        yield Evidence(first.process, first.thread, start, end)

    def partition(self, r: Range) -> Partition:
        instance = self.instances[id(r)]
        helpers = self.helpers[id(r)] | {o.call.thread for o in instance.operations if o.call} - {r.thread}
        helpers -= {r.thread}
        host: Counter[str] = Counter()
        for instant in range(r.start, r.end):
            own = self.doing(r.thread, instant)
            helped = any(self.doing(thread, instant) for thread in helpers)
            host[own or ("helpers" if helped else "code")] += 1
        devices = {o.device for o in instance.operations}
        return Partition(host, {device: self.gpu(instance, device) for device in devices})

    def doing(self, thread: int, instant: int) -> str | None:
        """The first of ORDER that a thread is in."""
        if self.profiling(thread, instant):
            return "profiler"
        if any(e.thread == thread and e.start <= instant < e.end for e in self.evidence):
            return "compile"
        parts = {self.part(c) for c in self.export.calls if c.thread == thread and c.start <= instant < c.end}
        return next((part for part in ORDER if part in parts), None)

    def profiling(self, thread: int, instant: int) -> bool:
        return any(t == thread and s <= instant < e for t, s, e in self.profiler)

    def part(self, call: Call) -> str:
        if any(thread == call.thread and start <= call.start < end for thread, start, end in self.captures):
            return "graph"
        name = call.name.split("_v")[0]
        return next((part for part, names in PARTS.items() if name in names), "cuda_other")

    def gpu(self, instance: bruteforce_numbers.Instance, device: int) -> Counter[str]:
        own = [o for o in instance.operations if o.device == device]
        everyone = [o for o in self.export.operations if o.device == device]
        first, last = min(o.start for o in own), max(o.end for o in own)
        out: Counter[str] = Counter()
        for instant in range(instance.range.start, instance.completion):
            if any(o.start <= instant < o.end for o in own):
                out["own"] += 1
            elif any(o.start <= instant < o.end for o in everyone):
                out["other"] += 1
            else:
                out["idle_startup" if instant < first else "idle_tail" if instant >= last else "idle_between"] += 1
        return out


def _of_driver(loader: _Loader) -> list[Evidence]:
    rows = [row for row in loader.rows("CUPTI_ACTIVITY_KIND_OVERHEAD") if row["overheadType"] in (2, 6, 7)]
    return [Evidence(process_of(r["globalTid"]), r["globalTid"], r["start"], r["end"]) for r in rows]


def _function(call: Call) -> object:
    kernels = [o for o in call.operations if o.kind in ("kernel", "graph")]
    return min(kernels, key=lambda o: o.order).function


def _captures(calls: list[Call]) -> Iterator[tuple[int, int, int]]:
    for begin in calls:
        if begin.name.startswith("cudaStreamBeginCapture"):
            ends = [c.start for c in calls if c.thread == begin.thread and c.name.startswith("cudaStreamEndCapture")]
            yield begin.thread, begin.start, min((end for end in ends if end >= begin.start), default=10**18)
