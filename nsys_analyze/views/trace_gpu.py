"""The GPUs' part of a trace: a group a GPU with what its streams ran, and how much was running and waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.arrays import NONE, AnyInt, Int32, Int64
from nsys_analyze.attribution import How
from nsys_analyze.metrics.coverage import how_attributed
from nsys_analyze.metrics.excerpt import Excerpt
from nsys_analyze.model.calls import CallKind
from nsys_analyze.model.kernel_names import titles
from nsys_analyze.model.tables import OpKind
from nsys_analyze.timeline import levels
from nsys_analyze.views.trace_host import FLOWS, program, stage_names
from nsys_analyze.views.trace_lanes import assign_lanes
from nsys_analyze.views.trace_layout import Argument, Counter, Flow, Slices, Texts, Tracks
from nsys_analyze.views.trace_names import shown, titled

if TYPE_CHECKING:
    from nsys_analyze.report import Report

RUNNING = "running operations"
IN_FLIGHT = "launched, not finished"


def gpu_slices(report: Report, kept: Excerpt, tracks: Tracks) -> tuple[Slices, list[Counter]]:
    """The operations that are kept, and each GPU's counters of them, on tracks that are added."""
    ops = report.trace.ops
    row = np.flatnonzero(kept.ops)
    places, group = _places([column[row] for column in (ops.device, ops.process, ops.context, ops.stream)])
    order = np.lexsort((-ops.end[row], ops.start[row], group))
    row, group = row[order], group[order]
    lane = assign_lanes(group, ops.start[row], ops.end[row])
    streams = np.zeros((len(places.T), int(lane.max(initial=0)) + 1), np.int32)
    counters: list[Counter] = []
    for device in np.unique(places[0]).tolist():
        parent = tracks.add(shown([_gpu(report, device)])[0])
        counters += _counters(report, row[ops.device[row] == device], parent, tracks)
        for index in np.flatnonzero(places[0] == device).tolist():
            here = slice(*np.searchsorted(group, [index, index + 1]).tolist())
            lanes = int(lane[here].max()) + 1
            streams[index, :lanes] = tracks.lanes(shown([_stream(report, *places[1:, index])])[0], parent, lanes)
    order = np.lexsort((lane, group))
    return _slices(report, row[order], streams[group, lane][order], kept), counters


def _places(columns: list[Int32]) -> tuple[Int64, Int32]:
    """The different combinations of values in order, shape (columns, combinations), and which each row has."""
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, number = np.unique(column, return_inverse=True)
        codes = codes * len(values) + number
    _, example, number = np.unique(codes, return_index=True, return_inverse=True)
    return np.stack(columns).astype(np.int64)[:, example], number.astype(np.int32)


def _gpu(report: Report, device: int) -> str:
    name = dict(report.metadata.gpus).get(device)
    return f"GPU {device}" if name is None else f"GPU {device} · {name}"


def _stream(report: Report, process: int, context: int, stream: int) -> str:
    owner = "unknown process"
    if process >= 0:
        owner = f"{program(report, process)} {report.trace.processes.pid[process]}"
    return f"{owner} · context {context} · stream {stream}"


def _slices(report: Report, row: Int64, track: Int32, kept: Excerpt) -> Slices:
    ops = report.trace.ops
    name, full_name = titled(ops.name[row], titles(ops.names), ops.names)
    return Slices(
        track=track,
        start=ops.start[row],
        end=ops.end[row],
        name=name,
        category=Texts(ops.kind[row], [kind.name.lower() for kind in OpKind]),
        arguments=[full_name, *_arguments(report, row)],
        flows=[_flow(report, row, kept)],
    )


def _arguments(report: Report, row: Int64) -> list[Argument]:
    trace, assignment = report.trace, report.launched.assignment
    ops, calls, launches = trace.ops, trace.calls, trace.launches
    launch, call = ops.launch[row], ops.call[row]
    has_launch = launch >= 0
    first = np.append(launches.ops, NONE)[np.append(launches.first_op[:-1], -1)[launch]] == row
    inner = np.append(assignment.inner, np.int32(-1))[launch]
    stage = np.append(report.instances.path, np.int32(-1))[inner]
    how = how_attributed(trace, assignment)[row]
    graph = _graph(report, ops.kind[row], call)
    return [
        Argument(name="launch", values=Texts(np.append(calls.name, 0)[call], shown(calls.names)), there=has_launch),
        Argument(name="queue_delay_ns", values=np.append(launches.queue_delay, 0)[launch], there=first),
        Argument(name="attribution", values=Texts(how, [kind.name.lower() for kind in How])),
        Argument(name="stage", values=Texts(stage, stage_names(report)), there=inner >= 0),
        Argument(name="cuda_graph", values=Texts(graph, ["node", "whole"]), there=graph >= 0),
    ]


def _graph(report: Report, kind: AnyInt, call: AnyInt) -> AnyInt:
    """0 for a node of a CUDA graph, 1 for a graph traced whole, -1 for what no graph launched."""
    of_graph = np.append(report.trace.calls.of_kind(CallKind.GRAPH_LAUNCH), False)[call]
    return np.where(kind == OpKind.GRAPH, 1, np.where(of_graph, 0, -1))


def _flow(report: Report, row: Int64, kept: Excerpt) -> Flow:
    """Arrows to operations, from their launches: to the first of each."""
    launches = report.trace.launches
    place = np.zeros(len(report.trace.ops), np.int32)  # how many operations of the same launch come before
    place[launches.ops] = np.arange(len(launches.ops)) - np.repeat(launches.first_op[:-1], launches.op_count)
    place = place[row]
    with_call = np.append(kept.calls, False)[report.trace.ops.call[row]]
    return Flow(number=np.where(with_call & (place < FLOWS), row, -1).astype(np.int32))


def _counters(report: Report, row: Int64, parent: int, tracks: Tracks) -> list[Counter]:
    """What runs at a time on a GPU, and what was launched (its call began) and has not finished."""
    ops, calls = report.trace.ops, report.trace.calls
    start, end, call = ops.start[row], ops.end[row], ops.call[row]
    launched = np.where(call >= 0, np.minimum(np.append(calls.start, 0)[call], start), start)
    counters = []
    for name, since in ((RUNNING, start), (IN_FLIGHT, launched)):
        instant, value = levels(since, end)
        counters.append(Counter(track=tracks.add(name, parent, counter=True), instant=instant, value=value))
    return counters
