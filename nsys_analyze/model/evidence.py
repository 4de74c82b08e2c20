"""Evidence of compiling and loading: calls, compilers' ranges, the driver, first launches, and timing of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from nsys_analyze.arrays import AnyInt, Bool, Int32, Int64
from nsys_analyze.model.benchmarking import benchmarking, warm_ups
from nsys_analyze.model.calls import CallPart
from nsys_analyze.model.compile_rules import CompileRule, Phase, matching_rule
from nsys_analyze.model.profiler import profiler_time, without_profiler
from nsys_analyze.model.tables import Launches, Trace
from nsys_analyze.percentiles import Groups
from nsys_analyze.timeline import BusyTime

DRIVER_TOOL = "CUDA driver"
TUNING_TOOL = "autotuning"  # by whoever times kernels with events
_DRIVER_PHASES = {2: Phase.COMPILE, 6: Phase.LOAD, 7: Phase.LOAD}  # CUpti_ActivityOverheadKind


class Source(IntEnum):
    """How compiling is known."""

    API = 0
    RANGES = 1
    OVERHEAD = 2
    FIRST_LAUNCH = 3
    BENCHMARKS = 4


@dataclass(frozen=True, slots=True)
class Evidence:
    """Intervals in which a thread compiled or loaded, ordered by (thread, start, longer first).

    ``source`` and ``phase`` hold Source and Phase, ``tool`` indexes ``tools``, and ``module`` marks what stands for one
    compiled module.
    """

    thread: Int32
    start: Int64
    end: Int64
    source: npt.NDArray[np.int8]
    phase: npt.NDArray[np.int8]
    tool: Int32
    module: Bool
    tools: list[str]

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True)
class _Part:
    """Intervals of one source, in any order."""

    source: Source
    thread: AnyInt
    start: Int64
    end: Int64
    phase: AnyInt
    tool: AnyInt
    module: Bool


def find_evidence(trace: Trace, rules: Sequence[CompileRule]) -> Evidence:
    """All evidence of a report.

    Args:
        trace: The report.
        rules: Which names of ranges tell of compiling.
    """
    tools = [DRIVER_TOOL, TUNING_TOOL, *dict.fromkeys(rule.tool for rule in rules)]
    parts = [
        _of_calls(trace),
        _of_ranges(trace, rules, tools),
        _of_driver(trace),
        _of_first_launches(trace),
        _of_benchmarks(trace),
    ]
    thread, start, end, phase, tool, module = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("thread", "start", "end", "phase", "tool", "module")
    )
    source = np.repeat([part.source for part in parts], [len(part.start) for part in parts])
    order = np.lexsort((source, -end, start, thread))
    order = order[(end > start)[order] & (thread >= 0)[order]]
    return Evidence(
        thread=thread[order].astype(np.int32),
        start=start[order],
        end=end[order],
        source=source[order].astype(np.int8),
        phase=phase[order].astype(np.int8),
        tool=tool[order].astype(np.int32),
        module=module[order],
        tools=tools,
    )


def _of_calls(trace: Trace) -> _Part:
    calls = trace.calls
    rows = np.flatnonzero((calls.parts == CallPart.COMPILE)[calls.name]) if len(calls) else np.zeros(0, np.int64)
    return _of_cuda(Source.API, calls.thread[rows], calls.start[rows], calls.end[rows], Phase.LOAD)


def _of_ranges(trace: Trace, rules: Sequence[CompileRule], tools: list[str]) -> _Part:
    ranges = trace.ranges
    rule_of_name = np.array([matching_rule(name, rules) for name in ranges.folded_names], np.int64)
    rule = rule_of_name[ranges.folded] if len(ranges) else np.zeros(0, np.int64)
    rows = np.flatnonzero((rule >= 0) & ranges.finished)
    rule = rule[rows]
    return _Part(
        Source.RANGES,
        ranges.thread[rows],
        ranges.start[rows],
        ranges.end[rows],
        np.array([found.phase for found in rules], np.int64)[rule],
        np.array([tools.index(found.tool) for found in rules], np.int64)[rule],
        np.array([found.module for found in rules], bool)[rule],
    )


def _of_driver(trace: Trace) -> _Part:
    driver = trace.driver
    rows = np.flatnonzero(np.isin(driver.kind, list(_DRIVER_PHASES)))
    part = _of_cuda(Source.OVERHEAD, driver.thread[rows], driver.start[rows], driver.end[rows], Phase.LOAD)
    part.phase[driver.kind[rows] == 2] = Phase.COMPILE
    return part


def _of_first_launches(trace: Trace) -> _Part:
    """What first launches took beyond the median of the same function's others, else of all launches of the process.

    The profiler's own time inside a first launch is none of it, so that a launch may make several intervals.
    """
    launches = trace.launches
    rows = np.flatnonzero(launches.first_of_function)
    usual = _usual_duration(launches, rows, trace.threads.process[launches.thread])
    start, end = launches.start[rows], launches.end[rows]
    own = end - start - profiler_time(trace.profiler, launches.thread[rows], start, end)
    extra = np.where(np.isnan(usual), 0, own - np.nan_to_num(usual)).astype(np.int64)
    launch, start, end = without_profiler(trace.profiler, launches.thread[rows], start, extra)
    return _of_cuda(Source.FIRST_LAUNCH, launches.thread[rows[launch]], start, end, Phase.LOAD)


def _of_benchmarks(trace: Trace) -> _Part:
    thread, start, end = benchmarking(trace.calls)
    size = len(start)
    return _Part(
        Source.BENCHMARKS,
        thread,
        start,
        end,
        np.full(size, int(Phase.AUTOTUNE)),
        np.ones(size, np.int64),
        np.zeros(size, bool),
    )


def _usual_duration(launches: Launches, first: Int64, process: Int32) -> npt.NDArray[np.float64]:
    """Median duration of the other launches of each first launch's function, else of its process; NaN for none."""
    later = (launches.function >= 0) & ~launches.first_of_function
    duration = (launches.end - launches.start)[later]
    functions, processes = int(launches.function.max(initial=-1)) + 1, int(process.max(initial=-1)) + 1
    usual = Groups.of(launches.function[later], duration, functions).percentile(50)[launches.function[first]]
    if np.isnan(usual).any():
        of_process = Groups.of(process[later], duration, processes).percentile(50)[process[first]]
        usual = np.where(np.isnan(usual), of_process, usual)
    return usual


def _of_cuda(source: Source, thread: AnyInt, start: Int64, end: Int64, phase: Phase) -> _Part:
    zeros = np.zeros(len(start), np.int64)
    return _Part(source, thread, start, end, np.full(len(start), int(phase)), zeros, np.zeros(len(start), bool))


def timed_launches(evidence: Evidence, launches: Launches) -> Bool:
    """Which launches were made while their thread did nothing but time kernels, or to warm up for that."""
    chosen = evidence.source == Source.BENCHMARKS
    timed = warm_ups(evidence.thread[chosen], evidence.start[chosen], evidence.end[chosen], launches)
    for thread in np.unique(evidence.thread[chosen]).tolist():
        mine = chosen & (evidence.thread == thread)
        rows = np.flatnonzero(launches.thread == thread)
        start = launches.start[rows]
        timed[rows] |= BusyTime.of(evidence.start[mine], evidence.end[mine]).within(start, start + 1) > 0
    return timed
