"""Processes as a whole: what can be said of a capture even without a single range."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import Bool, Int64
from nsys_analyze.metrics.coverage import knows_durations
from nsys_analyze.metrics.results import Process, Program
from nsys_analyze.model.evidence import Evidence
from nsys_analyze.model.tables import OpKind, Trace
from nsys_analyze.timeline import BusyTime

_CUDA_INIT = "cuInit"
_PROFILER_INIT = "cuda profiling init"


def is_profiler_init(trace: Trace) -> Bool:
    """Which of the profiler's activities are its start-up at the first use of CUDA, however it is spelt."""
    matches = [name.lower().startswith(_PROFILER_INIT) for name in trace.profiler.names]
    out: Bool = np.array(matches, bool)[trace.profiler.name]
    return out


def programs(trace: Trace, evidence: Evidence) -> list[Program]:
    """One row a process with ranges, calls or operations; children that only loaded the profiler are left out.

    Args:
        trace: The report.
        evidence: All that tells of compiling in it.
    """
    rows = (_program(trace, evidence, number) for number in range(len(trace.processes.pid)))
    return [row for row in rows if row is not None]


def processes(trace: Trace, programs: list[Program]) -> list[Process]:
    """The processes that have a program row, and the GPUs they used."""
    active = {program.process for program in programs}
    return [
        Process(
            pid=pid,
            name=trace.processes.name[number],
            rank=trace.processes.rank[number],
            gpus=np.unique(trace.ops.device[trace.ops.process == number]).tolist(),
        )
        for number, pid in enumerate(trace.processes.pid.tolist())
        if pid in active
    ]


def _program(trace: Trace, evidence: Evidence, number: int) -> Program | None:
    ranges, calls, ops, profiler = trace.ranges, trace.calls, trace.ops, trace.profiler
    owner = np.append(trace.threads.process, -1)
    my_ranges, my_calls, my_overhead = (owner[table.thread] == number for table in (ranges, calls, profiler))
    my_ops = ops.process == number
    tables = ((ranges, my_ranges), (calls, my_calls), (ops, my_ops), (profiler, my_overhead))
    first = [_first(table.start, mine) for table, mine in tables]
    last = [int(table.end[mine].max()) for table, mine in tables if mine.any()]
    if not any(mine.any() for _, mine in tables[:3]):
        return None
    kernels = my_ops & (ops.kind == OpKind.KERNEL)
    whole = bool((my_ops & (ops.kind == OpKind.GRAPH)).any())  # whose kernels nobody knows
    timed = knows_durations(trace)
    return Program(
        process=int(trace.processes.pid[number]),
        name=trace.processes.name[number],
        first_event_ns=min(start for start in first if start is not None),
        cuda_init_ns=_cuda_init(trace, my_calls, my_overhead),
        first_call_ns=first[1],
        first_gpu_op_ns=first[2],
        first_kernel_ns=_first(ops.start, kernels),
        last_event_ns=max(last),
        calls=int(my_calls.sum()),
        launches=int((trace.threads.process[trace.launches.thread] == number).sum()),
        gpu_ops=int(my_ops.sum()),
        kernels=None if whole else int(kernels.sum()),
        kernel_ns=None if whole or not timed else int((ops.end - ops.start)[kernels].sum()),
        busy_ns=sum(_busy(trace, my_ops & (ops.device == device)) for device in trace.devices) if timed else None,
        profiler_ns=BusyTime.of(profiler.start[my_overhead], profiler.end[my_overhead]).total,
        compile_ns=_compiling(evidence, owner[evidence.thread] == number, known=bool(my_calls.any())),
    )


def _compiling(evidence: Evidence, mine: Bool, *, known: bool) -> int | None:
    """How long a process compiled; without CUDA calls, only ranges could tell."""
    if not known and not mine.any():
        return None
    return BusyTime.of(evidence.start[mine], evidence.end[mine]).total


def _busy(trace: Trace, mine: Bool) -> int:
    return BusyTime.of(trace.ops.start[mine], trace.ops.end[mine]).total


def _first(start: Int64, mine: Bool) -> int | None:
    return int(start[mine].min()) if mine.any() else None


def _cuda_init(trace: Trace, my_calls: Bool, my_overhead: Bool) -> int | None:
    """When CUDA was first used: the first cuInit, or the profiler's start-up, which comes with it."""
    names = np.array([name == _CUDA_INIT for name in trace.calls.names], bool)
    starts = [
        _first(trace.calls.start, my_calls & names[trace.calls.name]) if len(names) else None,
        _first(trace.profiler.start, my_overhead & is_profiler_init(trace)),
    ]
    return min((start for start in starts if start is not None), default=None)
