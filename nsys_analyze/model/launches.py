"""Launches: calls with at least one GPU operation, and what each of them put on the GPU."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nsys_analyze.arrays import NONE, Bool, Int32, Int64, expand_slices, order_by_both, prefix_sum
from nsys_analyze.ingest.columns import Array
from nsys_analyze.model.calls import CallKind
from nsys_analyze.model.tables import Calls, GpuOps, Launches, OpKind
from nsys_analyze.timeline import grouped_union


def build_launches(calls: Calls, ops: GpuOps) -> tuple[Launches, GpuOps]:
    """The launches, and the operations with ``launch`` filled in."""
    launching = np.zeros(len(calls), bool)
    launching[ops.call[ops.call >= 0]] = True
    call = np.flatnonzero(launching).astype(np.int32)
    call = call[order_by_both(calls.thread[call], calls.start[call])]
    launch_of_call = np.full(len(calls) + 1, NONE, np.int32)  # the last entry answers for call -1
    launch_of_call[call] = np.arange(len(call), dtype=np.int32)
    ops = replace(ops, launch=launch_of_call[ops.call])
    by_launch, first_op = _by_launch(ops, len(call))
    return _with_sums(calls, ops, call, by_launch, first_op), ops


def _by_launch(ops: GpuOps, launches: int) -> tuple[Int32, Int64]:
    """Operations that have a launch, ordered by (launch, rank), and where each launch's begin."""
    placed = np.flatnonzero(ops.launch >= 0)
    if len(placed) == launches:  # one operation each
        out = np.empty(launches, np.int32)
        out[ops.launch[placed]] = placed
        return out, np.arange(launches + 1)
    count = np.bincount(ops.launch[placed], minlength=launches)
    first = prefix_sum(count)
    out = np.empty(first[-1], np.int32)
    alone = np.flatnonzero(np.append(count == 1, False)[ops.launch])
    out[first[ops.launch[alone]]] = alone
    if len(alone) < len(out):
        shared = np.flatnonzero(np.append(count > 1, False)[ops.launch])
        out[np.repeat(count > 1, count)] = shared[np.lexsort((ops.rank[shared], ops.launch[shared]))]
    return out, first


def _with_sums(calls: Calls, ops: GpuOps, call: Int32, by_launch: Int32, first_op: Int64) -> Launches:
    at = first_op[:-1]
    kind, device = ops.kind[by_launch], ops.device[by_launch]
    start, end = ops.start[by_launch], ops.end[by_launch]
    is_kernel = kind == OpKind.KERNEL
    does_work = is_kernel | (kind == OpKind.GRAPH)
    launches_kernel = _over_launches(np.logical_or, does_work, at)
    least_device = _over_launches(np.minimum, device, at)
    function = _functions(launches_kernel, ops.function[by_launch], does_work, first_op)
    return Launches(
        call=call,
        start=calls.start[call],
        end=calls.end[call],
        thread=calls.thread[call].astype(np.int32),
        ops=by_launch,
        first_op=first_op,
        op_count=np.diff(first_op).astype(np.int32),
        kernel_count=_over_launches(np.add, is_kernel.astype(np.int32), at),
        graph_count=_over_launches(np.add, (kind == OpKind.GRAPH).astype(np.int32), at),
        kernel_ns=_over_launches(np.add, (end - start) * is_kernel, at),
        gpu_start=start if len(at) == len(start) else start[at],
        gpu_end=_over_launches(np.maximum, end, at),
        busy=_busy(device, start, end, first_op),
        device=np.where(_over_launches(np.maximum, device, at) == least_device, least_device, NONE),
        launches_kernel=launches_kernel,
        blocking=calls.of_kind(CallKind.BLOCKING_COPY)[call],
        function=function,
        first_of_function=_first_of_function(calls.start[call], function),
    )


def _over_launches(ufunc: np.ufunc, values: Array, at: Int64) -> Array:
    """``ufunc.reduce`` over the operations of each launch."""
    if len(at) in (0, len(values)):
        return values
    out: Array = ufunc.reduceat(values, at)
    return out


def _busy(device: Int32, start: Int64, end: Int64, first_op: Int64) -> Int64:
    """Union of each launch's operations per device, added over devices."""
    at = first_op[:-1]
    busy: Int64 = _over_launches(np.add, end - start, at)
    if len(at) == len(start):
        return busy
    several = np.flatnonzero(np.diff(first_op) > 1)
    if len(several):
        owner, position = expand_slices(first_op[several], first_op[several + 1])
        devices, number = np.unique(device[position], return_inverse=True)
        groups = len(several) * len(devices)
        united = grouped_union(owner * len(devices) + number, start[position], end[position], groups)
        busy[several] = united.reshape(len(several), len(devices)).sum(axis=1)
    return busy


def _functions(launches_kernel: Bool, function: Int32, does_work: Bool, first_op: Int64) -> Int32:
    """What each kernel launch launches, by its first kernel or graph; -1 for other launches."""
    out = np.full(len(launches_kernel), NONE, np.int32)
    rows = np.flatnonzero(launches_kernel)
    op = first_op[rows]
    if not does_work[op].all():
        works = np.flatnonzero(does_work)
        op = works[np.searchsorted(works, op)]
    out[rows] = function[op]
    return out


def _first_of_function(start: Int64, function: Int32) -> Bool:
    """Which kernel launches are the earliest of what they launch."""
    first: Bool = np.zeros(len(start), bool)
    earliest = np.full(
        int(function.max(initial=-1)) + 2, np.iinfo(np.int64).max
    )  # the last for what launches no kernel
    np.minimum.at(earliest, function, start)
    candidates = np.flatnonzero((start == earliest[function]) & (function >= 0))
    _, chosen = np.unique(function[candidates], return_index=True)  # one of those that start together
    first[candidates[chosen]] = True
    return first
