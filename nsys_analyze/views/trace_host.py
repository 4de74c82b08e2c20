"""The host's part of a trace: a group a process, a track a thread with its NVTX ranges and, below, its CUDA calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.arrays import NONE, AnyInt, Bool, Int32, Int64
from nsys_analyze.metrics.coverage import knows_gpu
from nsys_analyze.metrics.excerpt import Excerpt
from nsys_analyze.metrics.grouping import Labels
from nsys_analyze.metrics.results import Analysis, Stage
from nsys_analyze.model.ranges import DEFAULT_DOMAIN
from nsys_analyze.model.tables import Calls, Ranges
from nsys_analyze.views.naming import process_name
from nsys_analyze.views.text import path_text
from nsys_analyze.views.trace_lanes import assign_lanes
from nsys_analyze.views.trace_layout import Argument, Flow, Slices, Texts, Tracks
from nsys_analyze.views.trace_names import shown, titled

if TYPE_CHECKING:
    from nsys_analyze.report import Report

FLOWS = 4  # arrows from one launch, to its first operations

_COUNTS = ("gpu_ops", "launches", "kernel_launches", "busy_ns", "active_ns")
_OF_KERNELS = ("kernels", "kernel_ns")
_GAP = {"startup_gap_ns": "total"} | {
    f"{part}_ns": part for part in ("prelude", "launch", "queue", "exposed", "hidden")
}


def program(report: Report, process: int) -> str:
    """What a process is called, with its rank where that is known."""
    processes = report.trace.processes
    name = process_name(processes.name[process], int(processes.pid[process]))
    rank = processes.rank[process]
    return name if rank is None else f"{name} (rank {rank})"


def host_slices(report: Report, analysis: Analysis, kept: Excerpt, tracks: Tracks) -> list[Slices]:
    """The ranges and calls that are kept, on tracks that are added."""
    trace = report.trace
    ranges = _on_threads(trace.ranges, kept.ranges, ~trace.ranges.push_pop)
    calls = _on_threads(trace.calls, kept.calls)
    numbers = _thread_tracks(report, ranges, calls, tracks)
    return [_ranges(report, analysis, ranges, numbers[0]), _calls(report, calls, kept, numbers[1])]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of ranges or calls, ordered by (thread, lane, start, longer first)."""

    row: Int64
    thread: Int32
    lane: Int32

    def lanes(self, thread: int) -> int:
        """How many lanes a thread's slices take."""
        here = slice(*np.searchsorted(self.thread, [thread, thread + 1]).tolist())
        return int(self.lane[here].max(initial=-1)) + 1

    def numbered(self, tracks: dict[int, list[int]]) -> Int32:
        """The track of each row: by thread, and then by lane."""
        widest = max(map(len, tracks.values()), default=0)
        table = np.zeros((max(tracks, default=0) + 1, widest), np.int32)
        for thread, numbers in tracks.items():
            table[thread, : len(numbers)] = numbers
        return table[self.thread, self.lane]


def _on_threads(table: Ranges | Calls, keep: Bool, apart: Bool | None = None) -> _Rows:
    """The rows to keep, with the lane of each; those ``apart`` leave the first lane where something crosses."""
    row = np.flatnonzero(keep)
    start, end, thread = table.start[row], table.end[row], table.thread[row]
    order = np.lexsort((-end, start, thread))
    row, start, end, thread = row[order], start[order], end[order], thread[order]
    lane = assign_lanes(thread, start, end, None if apart is None else apart[row])
    order = np.lexsort((lane, thread))
    return _Rows(row[order], thread[order], lane[order])


def _thread_tracks(
    report: Report, ranges: _Rows, calls: _Rows, tracks: Tracks
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """The tracks of ranges and of calls of every thread that has some, by lane."""
    trace = report.trace
    at_work = np.union1d(ranges.thread, calls.thread)
    of_ranges: dict[int, list[int]] = {}
    of_calls: dict[int, list[int]] = {}
    for process in np.unique(trace.threads.process[at_work]).tolist():
        pid = int(trace.processes.pid[process])
        group = tracks.add(shown([program(report, process)])[0], process=pid)
        mine = at_work[trace.threads.process[at_work] == process]
        main = int(trace.threads.main[process])
        for thread in sorted(mine.tolist(), key=lambda number: (number != main, number)):
            name = "main thread" if thread == main else "thread"
            track = tracks.add(name, group, thread=(pid, int(trace.threads.tid[thread])))
            more = ranges.lanes(thread) - 1
            of_ranges[thread] = [track, *(tracks.add(f"NVTX ({lane + 2})", track) for lane in range(more))]
            of_calls[thread] = tracks.lanes("CUDA API", track, calls.lanes(thread))
    return of_ranges, of_calls


def _ranges(report: Report, analysis: Analysis, rows: _Rows, tracks: dict[int, list[int]]) -> Slices:
    ranges, row = report.trace.ranges, rows.row
    name, full_name = titled(ranges.name[row], ranges.names, ranges.names)
    domains = [domain or DEFAULT_DOMAIN for domain in shown(ranges.domain_names)]
    return Slices(
        track=rows.numbered(tracks),
        start=ranges.start[row],
        end=ranges.end[row],
        name=name,
        category=Texts(np.zeros(len(row), np.int8), ["nvtx"]),
        arguments=[
            full_name,
            Argument(name="domain", values=Texts(ranges.domain[row], domains)),
            Argument(name="finished", values=np.zeros(len(row), np.int8), there=~ranges.finished[row]),
            *_instance_numbers(report, row),
            *_stage_numbers(report, analysis, report.instances.path[row]),
        ],
    )


def _instance_numbers(report: Report, row: Int64) -> list[Argument]:
    instances, start = report.instances, report.trace.ranges.start
    arguments = [Argument(name="elapsed_ns", values=(instances.completion - start)[row])]
    if not knows_gpu(report.trace):
        return arguments
    has_gpu, known = instances.has_gpu[row], instances.graphs[row] == 0
    arguments += [
        Argument(name=name, values=getattr(instances.gap, part)[row], there=has_gpu) for name, part in _GAP.items()
    ]
    arguments += [Argument(name=name, values=getattr(instances, name)[row]) for name in _COUNTS]
    arguments += [Argument(name=name, values=getattr(instances, name)[row], there=known) for name in _OF_KERNELS]
    return [*arguments, Argument(name="graphs", values=instances.graphs[row], there=~known)]


def stage_names(report: Report) -> list[str]:
    """How each path of the report reads."""
    labels = Labels(report.trace, report.paths)
    return shown([path_text(labels.path(row, whole=True)[0]) for row in range(len(report.paths))])


def _stage_numbers(report: Report, analysis: Analysis, path: AnyInt) -> list[Argument]:
    """The stage of each range, and what makes the range's own numbers comparable."""
    labels, stages = Labels(report.trace, report.paths), {stage.key: stage for stage in analysis.stages}
    by_path = [stages[labels.key(row, whole=True)] for row in range(len(report.paths))]
    return [
        Argument(name="stage", values=Texts(path, stage_names(report))),
        *(_stage_number(name, [get(stage) for stage in by_path], path) for name, get in _STAGE.items()),
    ]


def _stage_number(name: str, numbers: list[float | None], path: AnyInt) -> Argument:
    known = np.array([number is not None for number in numbers], bool)[path]
    return Argument(name=f"stage_{name}", values=np.array([number or 0 for number in numbers])[path], there=known)


def _median_gap(stage: Stage) -> float | None:
    return stage.startup_gap_ns.median if stage.startup_gap_ns else None


_STAGE: dict[str, Callable[[Stage], float | None]] = {
    "instances": lambda stage: stage.instances,
    "elapsed_median_ns": lambda stage: stage.elapsed_ns.median,
    "startup_gap_median_ns": _median_gap,
    "pace_ns": lambda stage: stage.pace_ns,
    "cpu_overhead_ns": lambda stage: stage.cpu_overhead_ns,
    "overhead_per_kernel_ns": lambda stage: stage.overhead_per_kernel_ns,
}


def _calls(report: Report, rows: _Rows, kept: Excerpt, tracks: dict[int, list[int]]) -> Slices:
    calls, launches, row = report.trace.calls, report.trace.launches, rows.row
    name, full_name = titled(calls.name[row], calls.names, calls.names)
    launch_of_call = np.full(len(calls), NONE)
    launch_of_call[launches.call] = np.arange(len(launches), dtype=np.int32)
    launch = launch_of_call[row]
    launched = launch >= 0
    counts = {"gpu_ops": launches.op_count, "kernels": launches.kernel_count}
    return Slices(
        track=rows.numbered(tracks),
        start=calls.start[row],
        end=calls.end[row],
        name=name,
        category=Texts(np.zeros(len(row), np.int8), ["cuda_api"]),
        arguments=[
            full_name,
            *(
                Argument(name=name, values=np.append(count, 0)[launch], there=launched)
                for name, count in counts.items()
            ),
        ],
        flows=[_flow(report, launch, kept, place) for place in range(FLOWS)],
    )


def _flow(report: Report, launch: Int32, kept: Excerpt, place: int) -> Flow:
    """Arrows from launches (-1: none) to their operation in that place, the earliest first."""
    launches = report.trace.launches
    there = (launch >= 0) & (np.append(launches.op_count, 0)[launch] > place)
    op = np.append(launches.ops, NONE)[np.where(there, launches.first_op[launch] + place, -1)]
    return Flow(number=np.where(np.append(kept.ops, False)[op], op, NONE))
