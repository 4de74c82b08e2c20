"""Rows of the output: instances grouped, their sums taken, their percentiles found."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nsys_analyze.arrays import AnyInt, Bool, Int64
from nsys_analyze.instances.host import HostParts
from nsys_analyze.instances.windows import GpuWindows
from nsys_analyze.metrics.cold import cold_starts
from nsys_analyze.metrics.communication import communication_times
from nsys_analyze.metrics.compile import compile_times
from nsys_analyze.metrics.coverage import knows_gpu
from nsys_analyze.metrics.grouping import Grouping, Labels
from nsys_analyze.metrics.host_code import host_codes
from nsys_analyze.metrics.launch_calls import launch_statistics
from nsys_analyze.metrics.named import median_and_worst
from nsys_analyze.metrics.pace import Pace, pace
from nsys_analyze.metrics.results import (
    Distribution,
    GpuWindow,
    HostTime,
    KernelsPerInstance,
    Markers,
    SelfCounts,
    Series,
    Stage,
    Stall,
    StartupGap,
)
from nsys_analyze.metrics.stalls import late_stalls
from nsys_analyze.model.tables import Ranges
from nsys_analyze.percentiles import Float64, Groups

if TYPE_CHECKING:
    from nsys_analyze.report import Report

_MARKER_COST = (300, 800)  # ns a range, with a profiler attached
SERIES_LIMIT = 10_000  # instances a stage may have for its series to be given


class StageTable:
    """Numbers of every group of instances, from which a row is read off."""

    def __init__(self, report: Report, grouping: Grouping) -> None:
        trace, instances, paths = report.trace, report.instances, report.paths
        self._trace, self._instances, self._paths, self._grouping = trace, instances, paths, grouping
        self._labels = Labels(trace, paths)
        ranges, group, groups = trace.ranges, grouping.group, len(grouping)
        self._wall = ranges.end - ranges.start
        self._elapsed = instances.completion - ranges.start
        self._of_wall = _Spread(group, self._wall, groups, ranges.finished)
        self._of_elapsed = _Spread(group, self._elapsed, groups, ranges.finished)
        has_gpu, timed = instances.has_gpu, instances.has_gpu & ranges.finished
        self._of_gap = _Spread(group, instances.gap.total, groups, timed, has_gpu)
        self._of_exposed = _Spread(group, instances.gap.exposed, groups, timed, has_gpu)
        self._of_kernels = _Spread(group, instances.kernels, groups)
        self.pace: Pace = pace(instances, ranges, group, groups)
        self._launches = launch_statistics(trace.launches, report.launched.members, group, groups)
        self._compile = compile_times(report.evidence, report.compiled.members, group, groups)
        self._communication = communication_times(trace, report.launched.members, group, groups)
        self._knows_compile = len(trace.calls) > 0 or len(report.evidence) > 0
        self._windows = _windows_by_group(instances.windows, group)
        self._cold, self._cold_first = self._cold_by_group()
        self._rows = _Slices(group, ranges, groups)
        self._sums = {name: self._sum(getattr(instances, name)) for name in _SUMMED}
        self._host_sums = {name: self._sum(getattr(instances.host, name)) for name in HostParts.__slots__}
        self._inside, self._short = self._sum(instances.ranges_inside), self._sum(instances.short_ranges)
        self._host_code = (
            host_codes(report.host_code, self._host_sums["code"], group, groups) if report.host_code else None
        )
        self._gap_sums = {name: self._sum(getattr(instances.gap, name)) for name in _GAP_PARTS}

    def key(self, row: int) -> str:
        """The stable key of a row."""
        return self._labels.key(int(self._grouping.path[row]), self._grouping.whole_path)

    def path(self, row: int) -> tuple[list[str], list[str]]:
        """Names and domains of a row's path."""
        return self._labels.path(int(self._grouping.path[row]), self._grouping.whole_path)

    def rows(self) -> list[Stage]:
        """All rows, in the order in which they are shown."""
        stages = [self._stage(row) for row in self._grouping.order]
        return stages if knows_gpu(self._trace) else [_without_gpu(stage) for stage in stages]

    def instances_of(self, row: int) -> Int64:
        """Rows of the group's instances, by start."""
        return self._rows.of(row)

    def _sum(self, values: AnyInt) -> Int64:
        out = np.zeros(len(self._grouping), np.int64)
        np.add.at(out, self._grouping.group, values.astype(np.int64))
        return out

    def _cold_by_group(self) -> tuple[Float64, Int64]:
        """The cold start on the row that holds the first instance of its name, and that instance's elapsed time."""
        first, extra = cold_starts(self._instances, self._paths, self._trace.ranges, self._elapsed)
        cold, elapsed = np.full(len(self._grouping), np.nan), np.zeros(len(self._grouping), np.int64)
        row = self._grouping.group[first]
        cold[row], elapsed[row] = extra, self._elapsed[first]
        return cold, elapsed

    def _stage(self, row: int) -> Stage:
        path_row, instances = int(self._grouping.path[row]), self._of_wall.count_all(row)
        path, domains = self.path(row)
        sums: dict[str, Any] = {name: int(values[row]) for name, values in self._sums.items()}
        elapsed = self._of_elapsed.distribution(row)
        pace_ns = _number(self.pace.pace[row])
        explained = (sums["active_ns"] + int(self._host_sums["profiler"][row])) / instances
        overhead = max((elapsed.mean if pace_ns is None else pace_ns) - explained, 0.0)
        has_gpu = sums["gpu_ops"] > 0
        if sums["graphs"]:
            sums["kernels"] = sums["kernel_ns"] = None
        kernels = sums["kernels"]
        median, worst = median_and_worst(self._rows.of(row), self._trace.ranges, self._elapsed) or (None, None)
        return Stage(
            key=self.key(row),
            path=path,
            domains=domains,
            name=path[-1],
            domain=domains[-1],
            process=int(self._trace.processes.pid[self._paths.process[path_row]]),
            depth=int(self._paths.depth[path_row]) if self._grouping.whole_path else 0,
            instances=instances,
            instances_with_gpu=self._of_gap.count_all(row),
            unfinished=instances - self._of_wall.count(row),
            wall_ns=self._of_wall.distribution(row),
            elapsed_ns=elapsed,
            pace_ns=pace_ns,
            **{name: sums[name] for name in _SUMMED if not name.startswith("self_")},
            kernels_per_instance=self._kernels_per_instance(row) if kernels is not None else None,
            self=SelfCounts(**{name.removeprefix("self_"): sums[name] for name in _SUMMED if name.startswith("self_")}),
            startup_gap_ns=self._gap(row) if has_gpu else None,
            cpu_overhead_ns=overhead,
            overhead_per_kernel_ns=overhead * instances / kernels if kernels else None,
            launch_call_ns=self._launches.calls[row],
            queue_delay_ns=self._launches.delays[row],
            compile_ns=self._compile[row] if self._knows_compile else None,
            host_ns=HostTime(**{name: int(values[row]) for name, values in self._host_sums.items()}),
            host_code=self._host_code[row] if self._host_code else None,
            gpu_window_ns=self._windows.get(row, []),
            median_instance=median,
            worst_instance=worst,
            stalls=self._stalls(row),
            markers=self._markers(row),
            communication=self._communication[row],
            cold_start_ns=_number(self._cold[row]),
            cold_first_ns=int(self._cold_first[row]) if not math.isnan(self._cold[row]) else None,
            series=self._series(row) if instances <= SERIES_LIMIT else None,
        )

    def _kernels_per_instance(self, row: int) -> KernelsPerInstance:
        kernels = self._of_kernels.distribution(row)
        return KernelsPerInstance(min=kernels.min or 0, median=kernels.median or 0.0, max=kernels.max or 0)

    def _gap(self, row: int) -> StartupGap:
        gap, exposed = self._of_gap.distribution(row), self._of_exposed.distribution(row)
        rows = self._rows.of(row)
        first = rows[self._instances.has_gpu[rows]][0]
        return StartupGap(
            **{name: int(values[row]) for name, values in self._gap_sums.items()},
            mean=gap.mean,
            median=gap.median,
            p95=gap.p95,
            max=gap.max,
            first=int(self._instances.gap.total[first]),
            exposed_median=exposed.median,
            exposed_p95=exposed.p95,
        )

    def _markers(self, row: int) -> Markers:
        inside = int(self._inside[row])
        return Markers(
            ranges=inside,
            short=int(self._short[row]),
            cost_low_ns=inside * _MARKER_COST[0],
            cost_high_ns=inside * _MARKER_COST[1],
        )

    def _stalls(self, row: int) -> list[Stall]:
        ranges, rows = self._trace.ranges, self._rows.of(row)
        finished = rows[ranges.finished[rows]]
        return late_stalls(finished, self._wall, self._elapsed, ranges.start, self._instances.host)

    def _series(self, row: int) -> Series:
        rows = self._rows.of(row)
        instances, gap, host = self._instances, self._instances.gap, self._instances.host
        return Series(
            start_ns=self._trace.ranges.start[rows].tolist(),
            wall_ns=self._wall[rows].tolist(),
            elapsed_ns=self._elapsed[rows].tolist(),
            gap_ns=self._where_gpu(gap.total, rows),
            prelude_ns=self._where_gpu(gap.prelude, rows),
            exposed_ns=self._where_gpu(gap.exposed, rows),
            calls_ns=(host.launch[rows] + host.graph[rows] + host.cuda_other[rows]).tolist(),
            kernels=instances.kernels[rows].tolist(),
            profiler_ns=host.profiler[rows].tolist(),
        )

    def _where_gpu(self, values: Int64, rows: Int64) -> list[int | None]:
        has_gpu = self._instances.has_gpu[rows].tolist()
        return [value if some else None for value, some in zip(values[rows].tolist(), has_gpu, strict=True)]


_SUMMED = (
    "gpu_ops",
    "kernels",
    "graphs",
    "benchmark_kernels",
    "kernel_launches",
    "launches",
    "via_process",
    "kernel_ns",
    "busy_ns",
    "active_ns",
    "self_gpu_ops",
    "self_kernels",
    "self_kernel_ns",
)
_GAP_PARTS = ("total", "prelude", "launch", "queue", "exposed", "hidden", "profiler")


def _without_gpu(stage: Stage) -> Stage:
    """The stage as a report tells it that cannot say what ran on a GPU."""
    unknown: dict[str, Any] = dict.fromkeys(name for name in _SUMMED if not name.startswith("self_"))
    series = stage.series and replace(stage.series, gap_ns=[], prelude_ns=[], exposed_ns=[], kernels=[])
    return replace(
        stage,
        **unknown,
        instances_with_gpu=None,
        kernels_per_instance=None,
        self=None,
        startup_gap_ns=None,
        cpu_overhead_ns=None,
        overhead_per_kernel_ns=None,
        launch_call_ns=None,
        queue_delay_ns=None,
        gpu_window_ns=[],
        series=series,
    )


def _windows_by_group(windows: GpuWindows, group: AnyInt) -> dict[int, list[GpuWindow]]:
    """The GPU partition of every group, a row a device that it used."""
    key = np.stack([group[windows.instance], windows.device])
    unique, number = np.unique(key, axis=1, return_inverse=True)
    number = number.reshape(-1)
    parts = ("window", "own", "other", "idle_startup", "idle_between", "idle_tail")
    sums = {part: np.zeros(unique.shape[1], np.int64) for part in parts}
    for part, out in sums.items():
        np.add.at(out, number, getattr(windows, part))
    count = np.bincount(number, minlength=unique.shape[1])
    found: dict[int, list[GpuWindow]] = {}
    for row, (owner, device) in enumerate(unique.T.tolist()):
        totals = {part: int(values[row]) for part, values in sums.items()}
        found.setdefault(owner, []).append(GpuWindow(device=device, instances=int(count[row]), **totals))
    return found


class _Spread:
    """Totals over all instances of a group, percentiles and extremes over those that count for them."""

    def __init__(self, group: AnyInt, values: Int64, groups: int, timed: Bool | None = None, some: Bool | None = None):
        of_total = slice(None) if some is None else some
        of_percentiles = slice(None) if timed is None else timed
        self._count = np.bincount(group[of_total], minlength=groups)
        self._total = np.zeros(groups, np.int64)
        np.add.at(self._total, group[of_total], values[of_total])
        grouped = Groups.of(group[of_percentiles], values[of_percentiles], groups)
        self._timed = grouped.count
        self._median, self._p95 = grouped.percentiles((50, 95))
        self._min, self._max = grouped.extremes()

    def count_all(self, row: int) -> int:
        return int(self._count[row])

    def count(self, row: int) -> int:
        return int(self._timed[row])

    def distribution(self, row: int) -> Distribution:
        total, some = int(self._total[row]), bool(self._timed[row])
        return Distribution(
            total=total,
            mean=total / max(int(self._count[row]), 1),
            median=_number(self._median[row]),
            p95=_number(self._p95[row]),
            min=int(self._min[row]) if some else None,
            max=int(self._max[row]) if some else None,
        )


class _Slices:
    """Rows of each group's instances, by start."""

    def __init__(self, group: AnyInt, ranges: Ranges, groups: int) -> None:
        self._rows = np.lexsort((ranges.row, -ranges.end, ranges.start, group))
        self._first = np.append(0, np.cumsum(np.bincount(group, minlength=groups)))

    def of(self, row: int) -> Int64:
        return self._rows[self._first[row] : self._first[row + 1]]


def _number(value: np.floating) -> float | None:
    """A float, or None for NaN."""
    return None if math.isnan(value) else float(value)
