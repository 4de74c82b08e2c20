"""The columns that everything is computed from.

Times are int64 nanoseconds on the report's clock and may be negative. Index columns hold row numbers of another table,
-1 for "none". Every table is a bundle of NumPy arrays of one length.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nsys_analyze.arrays import AnyInt, Bool, Int32, Int64
from nsys_analyze.model.calls import CallKind

if TYPE_CHECKING:
    from nsys_analyze.model.host_activity import HostActivity


class OpKind(IntEnum):
    """What a GPU operation is. The order breaks ties between operations that start at the same instant."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    GRAPH = 3


@dataclass(frozen=True, slots=True)
class Processes:
    """Processes, in order of their global id. ``rank`` is each one's in a distributed job, None where nothing tells."""

    global_pid: Int64
    pid: Int64
    name: list[str]
    rank: list[int | None]


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads, in order of their global id. ``main[p]`` is the main thread of process p (tid = pid), or -1."""

    global_tid: Int64
    tid: Int64
    process: Int32
    main: Int32


@dataclass(frozen=True, slots=True)
class Ranges:
    """NVTX ranges, ordered by (thread, start, longer first, row of the report).

    ``name``, ``folded`` and ``domain`` index the lists of strings; the default domain's name is "". ``finished`` is
    false for a range that the capture (or its process) ended. ``push_pop`` tells push/pop from start/end ranges.
    """

    start: Int64
    end: Int64
    thread: Int32
    name: Int32
    folded: Int32
    domain: Int32
    finished: Bool
    push_pop: Bool
    row: Int64
    names: list[str]
    folded_names: list[str]
    domain_names: list[str]

    def __len__(self) -> int:
        return len(self.start)

    def only(self, keep: Bool) -> Ranges:
        """The ranges to keep, in the same order."""
        rows = ("start", "end", "thread", "name", "folded", "domain", "finished", "push_pop", "row")
        return replace(self, **{column: getattr(self, column)[keep] for column in rows})


@dataclass(frozen=True, slots=True)
class Calls:
    """CUDA API calls in the report's order, doubled rows dropped. ``name`` indexes ``names``, without ABI suffixes.

    These are the longest columns, so ``thread`` and ``name`` are as narrow as their values allow. ``kinds`` and
    ``parts`` hold the CallKind and the CallPart of each of the ``names``.
    """

    start: Int64
    end: Int64
    thread: AnyInt
    name: AnyInt
    names: list[str]
    kinds: npt.NDArray[np.int8]
    parts: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.start)

    def of_kind(self, *kinds: CallKind) -> Bool:
        """Which calls are of one of these kinds."""
        wanted: Bool = np.isin(self.kinds, kinds)
        return wanted[self.name] if wanted.any() else np.zeros(len(self), bool)


@dataclass(frozen=True, slots=True)
class GpuOps:
    """GPU operations: kernels, then memcpys, memsets and graphs, each in the report's order.

    ``order`` lists the rows by (start, kind, row of the report), and ``rank`` is each row's place in it. ``device`` is
    the machine's GPU where the report tells, else the process's own CUDA ordinal; ``call`` indexes Calls and ``launch``
    indexes Launches; ``name`` indexes ``names``. ``function`` tells what is launched: equal numbers are the same kernel
    (or the same graph) of the same process. ``graph`` is the id of the executable CUDA graph that the operation ran in,
    or is, 0 where nothing tells which, -1 for none.
    """

    start: Int64
    end: Int64
    kind: npt.NDArray[np.int8]
    device: Int32
    context: Int32
    stream: Int32
    process: Int32
    call: Int32
    launch: Int32
    name: Int32
    function: Int32
    graph: Int64
    order: Int32
    rank: Int32
    names: list[str]

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True)
class Launches:
    """Calls with at least one GPU operation, ordered by (thread, start).

    ``ops[first_op[i]:first_op[i + 1]]`` are the rows of launch i's operations, earliest first. ``device`` is the
    device of all of them, or -1 if they are on several. ``busy`` is the union of their intervals, added over devices.
    ``function`` is what a kernel launch launches, as in GpuOps, else -1; ``first_of_function`` marks the first of each.
    """

    call: Int32
    start: Int64
    end: Int64
    thread: Int32
    ops: Int32
    first_op: Int64
    op_count: Int32
    kernel_count: Int32
    graph_count: Int32
    kernel_ns: Int64
    gpu_start: Int64
    gpu_end: Int64
    busy: Int64
    device: Int32
    launches_kernel: Bool
    function: Int32
    blocking: Bool
    first_of_function: Bool

    def __len__(self) -> int:
        return len(self.start)

    @property
    def queue_delay(self) -> Int64:
        """From the end of each call to the start of its first operation, at least 0."""
        delay: Int64 = np.maximum(self.gpu_start - self.end, 0)
        return delay


@dataclass(frozen=True, slots=True)
class ProfilerOverhead:
    """The profiler's own time, one row an activity."""

    start: Int64
    end: Int64
    thread: Int32
    name: Int32
    names: list[str]


@dataclass(frozen=True, slots=True)
class DriverOverhead:
    """Time that CUPTI says the driver took; ``kind`` is CUPTI's: 2 compiler, 6 module loading, 7 lazy loading, ..."""

    start: Int64
    end: Int64
    thread: Int32
    kind: npt.NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Counts:
    """What was found and mended while the tables were built. ``endless`` kernels (and graphs) have no end."""

    nvtx_rows: int
    calls_doubled: int
    untimed_graphs: int
    endless: int
    ops_before_call: int
    reversed_intervals: int
    absurd_times: int
    ranges_too_deep: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """All tables of one report. ``host`` is None where the capture did not record what threads did outside CUDA."""

    processes: Processes
    threads: Threads
    ranges: Ranges
    calls: Calls
    ops: GpuOps
    launches: Launches
    profiler: ProfilerOverhead
    driver: DriverOverhead
    counts: Counts
    devices: list[int]
    start: int
    end: int
    host: HostActivity | None
