"""Launches whose GPU operations the capture does not hold, process by process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.arrays import Int64
from nsys_analyze.metrics.coverage import lost_launches
from nsys_analyze.metrics.results import Notice
from nsys_analyze.metrics.versions import dotted, is_older_than_driver, newest_cuda, version
from nsys_analyze.metrics.wording import listed, worded
from nsys_analyze.model.calls import CallKind
from nsys_analyze.model.tables import Trace

if TYPE_CHECKING:
    from nsys_analyze.ingest.metadata import Metadata
    from nsys_analyze.report import Report

_LONGEST_QUEUE = 1024  # launches that CUDA lets wait for the GPU
_MOST = 10  # processes that get a line each


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """What one process lost.

    ``rows`` are its launch calls without an operation, ``launches`` counts all that should have one, and ``tail`` says
    that the capture merely ended first: they are its last launches, fewer than half of all, and no more than the queue
    of a GPU holds.
    """

    process: int
    rows: Int64
    launches: int
    tail: bool


def notices(report: Report) -> Iterator[Notice]:
    """Launches without operations, a line a process; and those that the end of the capture merely cut off."""
    trace = report.trace
    found = lost_by_process(trace) if len(trace.ops) else []
    told = [lost for lost in found if not lost.tail]
    yield from ([_of_many(told, report)] if len(told) > _MOST else [_of_one(lost, report) for lost in told])
    cut = sum(len(lost.rows) for lost in found if lost.tail)
    if cut:
        message = worded("launch call[|s] at the very end [has|have] no GPU operation: the capture ended first", cut)
        yield Notice(code="launches-at-the-end", message=message, count=cut, level="note")


def lost_by_process(trace: Trace) -> list[Lost]:
    """What each process lost that lost something; graphs that were traced whole but have no times are not lost."""
    if not len(trace.calls):
        return []
    lost = lost_launches(trace)
    if trace.counts.untimed_graphs:
        lost &= ~trace.calls.of_kind(CallKind.GRAPH_LAUNCH)
    process = trace.threads.process[trace.calls.thread]
    with_ops = trace.launches.call[trace.launches.launches_kernel]
    return [
        _of_process(trace, number, np.flatnonzero(lost & (process == number)), with_ops[process[with_ops] == number])
        for number in np.unique(process[lost]).tolist()
    ]


def _of_process(trace: Trace, process: int, rows: Int64, with_ops: Int64) -> Lost:
    launches = len(rows) + len(with_ops)
    last = int(trace.calls.start[with_ops].max(initial=np.iinfo(np.int64).min))
    after = len(with_ops) > 0 and int(trace.calls.start[rows].min()) > last
    few = len(rows) <= _LONGEST_QUEUE and 2 * len(rows) < launches
    return Lost(process=process, rows=rows, launches=launches, tail=after and few)


def _of_one(lost: Lost, report: Report) -> Notice:
    count = len(lost.rows)
    message = worded("launch call[|s]{of} [has|have] no GPU operation", count, of=_whose(report.trace, lost))
    message = f"{message}{_of_all(lost)}: {_why(lost, report.metadata)}"
    return Notice(code="launches-without-ops", message=message, count=count)


def _whose(trace: Trace, lost: Lost) -> str:
    return f" of process {trace.processes.pid[lost.process]}" if len(trace.processes.pid) > 1 else ""


def _of_all(lost: Lost) -> str:
    return ", and no other launch of it either" if len(lost.rows) == lost.launches else f", of {lost.launches:,}"


def _why(lost: Lost, metadata: Metadata) -> str:
    nsys, driver = version(metadata.nsys_version), metadata.cuda_driver
    newest = newest_cuda(nsys)
    if is_older_than_driver(nsys, driver) and newest and driver:
        return (
            f"nsys {metadata.nsys_version} knows CUDA up to {dotted(newest)}, and the driver is of CUDA "
            f"{dotted(driver)}; take a newer nsys"
        )
    if 2 * len(lost.rows) >= lost.launches:
        return "nsys may be older than the driver"
    return "the capture left them out, so that counts and times of kernels are too small"


def _of_many(told: list[Lost], report: Report) -> Notice:
    count = sum(len(lost.rows) for lost in told)
    pids = [str(report.trace.processes.pid[lost.process]) for lost in told]
    return Notice(
        code="launches-without-ops",
        message=f"launch calls of {len(told)} processes ({listed(pids)}) have no GPU operation: "
        f"{_why(max(told, key=lambda lost: len(lost.rows)), report.metadata)}",
        count=count,
    )
