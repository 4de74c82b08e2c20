"""Launches: calls with at least one GPU operation, and what each of them put on the GPU."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nsys_analyze.arrays import NONE, Bool, Int64, expand_slices, prefix_sum, stable_order
from nsys_analyze.model.calls import CallKind
from nsys_analyze.model.tables import Calls, GpuOps, Launches, OpKind, Threads
from nsys_analyze.timeline import grouped_union


def build_launches(calls: Calls, ops: GpuOps, threads: Threads) -> tuple[Launches, GpuOps]:
    """The launches, and the operations with ``launch`` filled in."""
    launching = np.zeros(len(calls), bool)
    launching[ops.call[ops.call >= 0]] = True
    call = np.flatnonzero(launching).astype(np.int32)
    call = call[stable_order(calls.thread[call], calls.start[call])]
    launch_of_call = np.full(len(calls) + 1, NONE, np.int32)  # the last entry answers for call -1
    launch_of_call[call] = np.arange(len(call), dtype=np.int32)
    ops = replace(ops, launch=launch_of_call[ops.call])
    by_launch = np.argsort(ops.launch, kind="stable")
    by_launch = by_launch[np.searchsorted(ops.launch[by_launch], 0) :]
    first_op = prefix_sum(np.bincount(ops.launch[by_launch], minlength=len(call)))
    return _with_sums(calls, ops, threads, call, by_launch, first_op), ops


def _with_sums(
    calls: Calls, ops: GpuOps, threads: Threads, call: np.ndarray, by_launch: Int64, first_op: Int64
) -> Launches:
    at, op_count = first_op[:-1], np.diff(first_op)
    kind = ops.kind[by_launch]
    is_kernel = kind == OpKind.KERNEL
    duration = ops.end[by_launch] - ops.start[by_launch]
    running_kernels, running_ns = prefix_sum(is_kernel), prefix_sum(duration * is_kernel)
    does_work = prefix_sum(is_kernel | (kind == OpKind.GRAPH))
    launches_kernel = does_work[first_op[1:]] > does_work[at]
    device = ops.device[by_launch]
    same_device = _constant(device, first_op)
    gpu_end = np.maximum.reduceat(ops.end[by_launch], at) if len(at) else at
    thread, start = calls.thread[call], calls.start[call]
    return Launches(
        call=call,
        start=start,
        end=calls.end[call],
        thread=thread,
        ops=by_launch,
        first_op=first_op,
        op_count=op_count.astype(np.int32),
        kernel_count=np.diff(running_kernels[first_op]).astype(np.int32),
        kernel_ns=np.diff(running_ns[first_op]),
        gpu_start=ops.start[by_launch[at]],
        gpu_end=gpu_end,
        busy=_busy(ops, by_launch, first_op, duration),
        device=np.where(same_device, device[at], NONE).astype(np.int32),
        launches_kernel=launches_kernel,
        blocking=calls.of_kind(CallKind.BLOCKING_COPY)[call],
        first_of_function=_first_of_function(ops, by_launch, first_op, start, launches_kernel),
    )


def _constant(values: np.ndarray, first: Int64) -> Bool:
    """Which slices [first[i], first[i + 1]) hold one value only."""
    changes = prefix_sum(np.append(False, values[1:] != values[:-1])[: len(values)])
    one: Bool = changes[first[1:]] == changes[np.minimum(first[:-1] + 1, first[1:])]
    return one


def _busy(ops: GpuOps, by_launch: Int64, first_op: Int64, duration: Int64) -> Int64:
    """Union of each launch's operations per device, added over devices."""
    running = prefix_sum(duration)
    busy = running[first_op[1:]] - running[first_op[:-1]]
    several = np.flatnonzero(np.diff(first_op) > 1)
    if len(several):
        owner, position = expand_slices(first_op[several], first_op[several + 1])
        op = by_launch[position]
        devices, device = np.unique(ops.device[op], return_inverse=True)
        groups = len(several) * len(devices)
        united = grouped_union(owner * len(devices) + device, ops.start[op], ops.end[op], groups)
        busy[several] = united.reshape(len(several), len(devices)).sum(axis=1)
    return busy


def _first_of_function(ops: GpuOps, by_launch: Int64, first_op: Int64, start: Int64, launches_kernel: Bool) -> Bool:
    """Which kernel launches are the earliest of what they launch: the function of their first kernel or graph."""
    first: Bool = np.zeros(len(start), bool)
    kind = ops.kind[by_launch]
    works = np.flatnonzero((kind == OpKind.KERNEL) | (kind == OpKind.GRAPH))
    rows = np.flatnonzero(launches_kernel)
    function = ops.function[by_launch[works[np.searchsorted(works, first_op[rows])]]]
    order = stable_order(start[rows])
    _, earliest = np.unique(function[order], return_index=True)
    first[rows[order[earliest]]] = True
    return first
