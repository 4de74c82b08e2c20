"""From launches and their ranges to the Instances table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nsys_analyze.arrays import AnyInt, Int32, Int64, prefix_sum, reduce_slices
from nsys_analyze.attribution import Assignment, Attribution, Membership, Nesting
from nsys_analyze.instances.gpu import busy_and_active, device_work
from nsys_analyze.instances.host import host_parts
from nsys_analyze.instances.markers import ranges_inside
from nsys_analyze.instances.paths import Paths, find_paths
from nsys_analyze.instances.startup import startup_gaps
from nsys_analyze.instances.table import Instances
from nsys_analyze.instances.windows import gpu_windows
from nsys_analyze.model.evidence import Evidence, timed_launches
from nsys_analyze.model.tables import Trace
from nsys_analyze.timeline import BusyTime

_LATEST = np.iinfo(np.int64).max
_EARLIEST = np.iinfo(np.int64).min


def build_instances(
    trace: Trace, nesting: Nesting, launched: Attribution, evidence: Evidence, compiled: Attribution
) -> tuple[Instances, Paths]:
    """Computes every instance's numbers, and the paths that instances name.

    Args:
        trace: The report.
        nesting: The forest of its ranges.
        launched: Where the launches belong.
        evidence: Evidence of compiling.
        compiled: Where the evidence belongs.
    """
    parent = nesting.parent_across_threads
    path, paths = find_paths(trace.ranges, trace.threads, parent)
    inside, short = ranges_inside(trace.ranges, parent, paths.depth[path])
    members = launched.members
    launches = trace.launches
    gpu_ops = _sum(members, launches.op_count)
    has_gpu = gpu_ops > 0
    rows = np.flatnonzero(has_gpu)
    by_start = np.lexsort((launches.end, launches.start))
    earliest = _reduce(np.minimum, members, np.argsort(by_start), _LATEST)[rows]
    first_rank = _reduce(np.minimum, members, trace.ops.rank[launches.ops[launches.first_op[:-1]]], _LATEST)[rows]
    last_end = _reduce(np.maximum, members, launches.gpu_end, _EARLIEST)
    work = device_work(trace, members)
    busy, active = busy_and_active(trace, members, work)
    device_busy = {device: _busy_time(trace, device) for device in trace.devices}
    completion = np.maximum(trace.ranges.end, last_end)
    instances = Instances(
        path=path,
        parent=parent,
        completion=completion,
        launches=_sum(members, np.ones(len(launches), np.int64)),
        kernel_launches=_sum(members, launches.launches_kernel),
        gpu_ops=gpu_ops,
        kernels=_sum(members, launches.kernel_count),
        graphs=_sum(members, launches.graph_count),
        benchmark_kernels=_sum(members, launches.kernel_count * timed_launches(evidence, launches)),
        via_process=_sum_by_process(members, launches.op_count),
        kernel_ns=_sum(members, launches.kernel_ns),
        busy_ns=busy,
        active_ns=active,
        self_gpu_ops=_self_sum(trace, launched.assignment, launches.op_count),
        self_kernels=_self_sum(trace, launched.assignment, launches.kernel_count),
        self_kernel_ns=_self_sum(trace, launched.assignment, launches.kernel_ns),
        ranges_inside=inside,
        short_ranges=short,
        host=host_parts(trace, evidence, nesting, [launched, compiled]),
        gap=startup_gaps(trace, rows, trace.ops.order[first_rank], by_start[earliest], device_busy),
        windows=gpu_windows(work, device_busy, trace.ranges.start, completion),
        has_gpu=has_gpu,
    )
    return instances, paths


def _busy_time(trace: Trace, device: int) -> BusyTime:
    there = slice(None) if len(trace.devices) == 1 else trace.ops.device == device
    return BusyTime.of(trace.ops.start[there], trace.ops.end[there])


def _sum(members: Membership, values: npt.NDArray[np.generic]) -> Int64:
    """Sum of a column of the launches over each range's launches."""
    running = prefix_sum(values[members.places])
    out = running[members.high] - running[members.low]
    return _add_listed(members, out, values[members.pair_moment])


def _sum_by_process(members: Membership, values: Int32) -> Int64:
    running = prefix_sum(values[members.places] * members.by_process)
    out = running[members.high] - running[members.low]
    return _add_listed(members, out, values[members.pair_moment] * members.pair_by_process)


def _add_listed(members: Membership, out: Int64, pair_values: npt.NDArray[np.generic]) -> Int64:
    out[members.listed] = 0
    np.add.at(out, members.pair_range, pair_values.astype(np.int64))
    return out


def _reduce(ufunc: np.ufunc, members: Membership, values: AnyInt, empty: int) -> Int64:
    out = reduce_slices(ufunc, values[members.places], members.low, members.high, empty)
    out[members.listed] = empty
    ufunc.at(out, members.pair_range, values[members.pair_moment])
    return out


def _self_sum(trace: Trace, assignment: Assignment, values: npt.NDArray[np.signedinteger]) -> Int64:
    out = np.zeros(len(trace.ranges), np.int64)
    placed = assignment.inner >= 0
    np.add.at(out, assignment.inner[placed], values[placed].astype(np.int64))
    return out
