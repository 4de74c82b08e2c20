"""Hypothesis strategies that draw small exports through the builder.

Times are small integers, so that ranges, calls and operations touch and coincide often.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.exports import IMPORTED_PUSH_POP, IMPORTED_START_END, PUSH_POP, START_END, ExportBuilder

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

    from tests.exports import Call, Process, Thread

HORIZON = 60
NAMES = (
    "step 1",
    "step 2",
    "step -1",
    "batch_3",
    "batch_4",
    "load, op_id = 7",
    "load, seq = 2, op_id = 9",
    "conv_2",
    "a / b",
    "",
)
DOMAINS = ("", "stages", "no row")
KERNELS = ("gemm", "copy_kernel(float*)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)")
GRAPH_LAUNCH = "cudaGraphLaunch_v10000"
CALLS = (
    "cudaLaunchKernel_v7000",
    "cuLaunchKernelEx",
    GRAPH_LAUNCH,
    "cudaMemcpyAsync_v3020",
    "cudaMemcpy_v3020",
    "cuMemcpyHtoD_v2",
    "cudaMemsetAsync_v3020",
    "cudaStreamSynchronize_v3020",
)

times = st.integers(0, HORIZON)
places = st.fixed_dictionaries({"device": st.integers(0, 1), "stream": st.sampled_from((7, 13, 14))})


@dataclass(frozen=True)
class Options:
    """What the drawn exports may hold.

    `nested`: push/pop ranges only, so that every two ranges of a thread nest or are apart. `ties`: cases that only the
    order of the rows decides (two ranges of a process with the same bounds, two calls of a process or two operations of
    one kind that start together).
    """

    nested: bool = False
    ties: bool = False


@dataclass
class _Drawing:
    """One export being drawn, with what is taken already."""

    draw: DrawFn
    options: Options
    builder: ExportBuilder
    taken: set[object] = field(default_factory=set)

    def take(self, *what: object) -> bool:
        """Tell whether this may be used: anything, where ties are wanted, else what is not there yet."""
        free = what not in self.taken
        self.taken.add(what)
        return free or self.options.ties

    def chance(self, one_in: int) -> bool:
        return self.draw(st.integers(0, one_in - 1)) == 1

    def export(self) -> None:
        for number in range(self.draw(st.integers(1, 2))):
            self.process(self.builder.process(pid=100 + number))
        if self.draw(st.booleans()):
            self.builder.capture(duration=self.draw(st.integers(1, 3 * HORIZON)))

    def process(self, process: Process) -> None:
        process.domain("no row", row=False)
        for ordinal, gpu in enumerate(self.draw(st.sampled_from(((), (0, 1), (1, 0), (2, 3))))):
            process.device(ordinal, gpu)  # under CUDA_VISIBLE_DEVICES an ordinal can be any of the machine's GPUs
        for number in range(self.draw(st.integers(1, 3))):
            self.thread(process.thread(process.pid + number))
        for _ in range(self.draw(st.integers(0, 2))):
            start = self.draw(times)
            if self.take("kernel", start):
                process.orphan_kernel("gemm", start, start + self.draw(st.integers(0, 20)), **self.draw(places))

    def thread(self, thread: Thread) -> None:
        self.nest(thread, 0, HORIZON, depth=0)
        after = self.loop(thread, HORIZON) if self.draw(st.booleans()) else HORIZON
        if self.chance(4):  # open at the end
            self.push_pop(thread, after, None)
        if not self.options.nested:
            for _ in range(self.draw(st.integers(0, 3))):
                self.loose_range(thread)
        for _ in range(self.draw(st.integers(0, 5))):
            self.call(thread, self.draw(times))
        if self.chance(3):
            start = self.draw(times)
            thread.profiler_overhead("flush", start, start + self.draw(st.integers(0, 20)))

    # --- ranges

    def nest(self, thread: Thread, low: int, high: int, depth: int) -> None:
        """Draw push/pop ranges that nest, as those of one domain do; neighbours may touch."""
        cuts = sorted(self.draw(st.lists(st.integers(low, high), max_size=4)))
        for start, end in pairwise(cuts):
            if not self.chance(3) and self.push_pop(thread, start, end) and depth < 2:
                self.nest(thread, start, end, depth + 1)

    def loop(self, thread: Thread, start: int) -> int:
        """Draw steps of the same length, one after the other, each with launches; tell when they end."""
        steps, length = self.draw(st.integers(2, 4)), self.draw(st.integers(1, 12))
        end = start + steps * length
        if self.draw(st.booleans()):
            self.push_pop(thread, start, end)
        for number in range(steps):
            begin = start + number * length
            if self.may_start(thread, begin, begin + length):
                thread.push_pop(f"step {number}", begin, begin + length, domain="stages")
            for _ in range(self.draw(st.integers(0, 2))):
                self.call(thread, begin + self.draw(st.integers(0, length)))
        return end

    def push_pop(self, thread: Thread, start: int, end: int | None) -> bool:
        if not self.may_start(thread, start, end):
            return False
        name, registered = self.draw(st.sampled_from(NAMES)), self.draw(st.booleans())
        kind = IMPORTED_PUSH_POP if self.chance(5) else PUSH_POP
        thread.push_pop(name, start, end, domain=self.domain(), registered=registered, event_type=kind)
        return True

    def domain(self) -> str:
        return self.draw(st.sampled_from(DOMAINS))

    def loose_range(self, thread: Thread) -> None:
        start = self.draw(times)
        end = None if self.chance(5) else start + self.draw(st.integers(0, HORIZON // 2))
        if self.may_start(thread, start, end):
            kind = IMPORTED_START_END if self.chance(5) else START_END
            thread.start_end(self.draw(st.sampled_from(NAMES)), start, end, domain=self.domain(), event_type=kind)

    def may_start(self, thread: Thread, start: int, end: int | None) -> bool:
        """Refuse bounds that the process has already; those of an open range are known when the capture is whole."""
        pid = thread.process.pid
        open_ones, all_ones = ("open", pid, start), ("start", pid, start)
        clash = open_ones in self.taken or (end is None and all_ones in self.taken)
        if clash and not self.options.ties:
            return False
        self.taken |= {all_ones} | ({open_ones} if end is None else set())
        return self.take("range", pid, start, end)

    # --- calls and operations

    def call(self, thread: Thread, start: int) -> None:
        name = self.draw(st.sampled_from(CALLS))
        if not self.take("call", thread.process.pid, start):
            return
        call = thread.call(name, start, start + self.draw(st.integers(0, 8)), doubled=self.chance(4))
        if self.chance(6):
            return  # recorded into a graph, or lost
        if name == GRAPH_LAUNCH:
            self.graph(call)
        elif "Launch" in name:
            self.operation("kernel", call)
        elif "emcpy" in name or "emset" in name:
            self.operation("memcpy" if "emcpy" in name else "memset", call)

    def graph(self, call: Call) -> None:
        graph = self.draw(st.integers(1, 2))
        if self.draw(st.booleans()):
            untimed = self.chance(3)
            start, end = (0, 0) if untimed else self.span(call)
            if untimed or self.take("graph", start):
                call.graph_trace(start, end, graph=graph, graph_exec=graph + 10, **self.draw(places))
            return
        for node in range(self.draw(st.integers(1, 4))):
            kind = self.draw(st.sampled_from(("kernel", "kernel", "memcpy", "memset")))
            self.operation(kind, call, graph_node=graph << 32 | node)

    def operation(self, kind: str, call: Call, graph_node: int | None = None) -> None:
        start, end = self.span(call)
        if not self.take(kind, start):
            return
        place = self.draw(places)
        if kind == "kernel":
            call.kernel(self.draw(st.sampled_from(KERNELS)), start, end, graph_node=graph_node, **place)
        elif kind == "memcpy":
            call.memcpy(start, end, graph_node=graph_node, **place)
        else:
            call.memset(start, end, graph_node=graph_node, **place)

    def span(self, call: Call) -> tuple[int, int]:
        """Draw an operation's times: usually after its call, sometimes before it, by clock skew."""
        start = max(1, call.start + self.draw(st.integers(-3, 25)))
        return start, start + self.draw(st.integers(0, 15))


def exports(*, nested: bool = False, ties: bool = False, schema: str = "3.20.3") -> st.SearchStrategy[ExportBuilder]:
    """Draw exports of one or two processes with ranges, calls and GPU operations.

    `nested` draws only ranges that nest or are apart on their thread; `ties` admits what only row order decides.
    """

    @st.composite
    def drawn(draw: DrawFn) -> ExportBuilder:
        drawing = _Drawing(draw, Options(nested, ties), ExportBuilder(schema))
        drawing.export()
        return drawing.builder

    return drawn()


def permutations() -> st.SearchStrategy[int]:
    """Draw seeds for `ExportBuilder.write(shuffle=...)`."""
    return st.integers(0, 2**16)
