"""Host and GPU partitions, nanosecond by nanosecond, and that their parts sum to the whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nsys_analyze import Report, open_report
from tests import strategies
from tests.bruteforce_partition import partitions
from tests.samples import RULES, SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.exports import ExportBuilder

COMPILERS = r"batch|conv_\d"
RULE_FILE = f'[[rule]]\ntool = "toy"\nphase = "compile"\npattern = \'{COMPILERS}\'\n'
MAIN_THREAD = 281_476_654_432_356  # of the strategies' first process
HELPER_THREAD = MAIN_THREAD + 1
HOST_PARTS = ("profiler", "compile", "launch", "memory", "sync", "graph", "cuda_other", "helpers", "code")
GPU_PARTS = ("own", "other", "idle_startup", "idle_between", "idle_tail")

spans = st.tuples(st.sampled_from((MAIN_THREAD, HELPER_THREAD)), strategies.times, st.integers(0, 15))
CALLS = ("cuModuleLoadData", "cudaMalloc_v3020", "cudaGraphInstantiate_v12000", "cudaEventRecord_v3020")


@st.composite
def busy_hosts(draw: st.DrawFn) -> ExportBuilder:
    """Exports with the profiler's own work, module loading, driver overhead and other calls."""
    export = draw(strategies.exports(schema="3.24.14"))
    for thread, start, length in draw(st.lists(spans, max_size=3)):
        export.row(
            "PROFILER_OVERHEAD", start=start, end=start + length, globalTid=thread, nameId=export.string("flush")
        )
    for thread, start, length in draw(st.lists(spans, max_size=2)):
        kind = draw(st.sampled_from((2, 6, 7, 8)))
        export.row("CUPTI_ACTIVITY_KIND_OVERHEAD", start=start, end=start + length, globalTid=thread, overheadType=kind)
    for number, (thread, start, length) in enumerate(draw(st.lists(spans, max_size=4))):
        add_call(export, number, draw(st.sampled_from(CALLS)), (thread, start, start + length))
    for number, (thread, start, length) in enumerate(draw(st.lists(spans, max_size=1))):
        add_call(export, 10 + number, "cudaStreamBeginCapture_v10000", (thread, start, start + 1))
        if draw(st.booleans()):
            end = start + 1 + length
            add_call(export, 20 + number, "cudaStreamEndCapture_v10000", (thread, end, end + 1))
    return export


def add_call(export: ExportBuilder, number: int, name: str, span: tuple[int, int, int]) -> None:
    thread, start, end = span
    export.row(
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        start=start,
        end=end,
        eventClass=0,
        globalTid=thread,
        correlationId=1_000_000 + number,
        nameId=export.string(name),
        returnValue=0,
    )


def host_of(report: Report, row: int) -> dict[str, int]:
    return {part: int(getattr(report.instances.host, part)[row]) for part in HOST_PARTS}


def gpu_of(report: Report, row: int) -> dict[int, dict[str, int]]:
    windows = report.instances.windows
    return {
        int(windows.device[at]): {part: int(getattr(windows, part)[at]) for part in GPU_PARTS}
        for at in np.flatnonzero(windows.instance == row)
    }


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(export=busy_hosts())
def test_every_nanosecond_is_what_the_oracle_says(tmp_path: Path, export: ExportBuilder, rule: Any) -> None:
    path = export.write(tmp_path / "report.sqlite")
    rules = tmp_path / "rules.toml"
    rules.write_text(RULE_FILE)
    report = open_report(path, attribution=rule, compile_rules=rules)
    expected = partitions(path, rule, lambda name: re.fullmatch(COMPILERS, name) is not None)
    ranges = report.trace.ranges
    threads = report.trace.threads.global_tid[ranges.thread]
    by_bounds = {key[:3]: value for key, value in expected.items()}
    assert len(by_bounds) == len(ranges)
    for row in range(len(ranges)):
        partition = by_bounds[int(threads[row]), int(ranges.start[row]), int(ranges.end[row])]
        assert host_of(report, row) == {part: partition.host[part] for part in HOST_PARTS}
        assert gpu_of(report, row) == {
            d: {part: parts[part] for part in GPU_PARTS} for d, parts in partition.gpu.items()
        }


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", SAMPLES)
def test_parts_sum_to_the_whole_on_real_reports(sample_report: Any, name: str, rule: Any) -> None:
    report = open_report(sample_report(name), attribution=rule)
    ranges, windows, gap = report.trace.ranges, report.instances.windows, report.instances.gap
    host = np.stack([getattr(report.instances.host, part) for part in HOST_PARTS])
    assert (host >= 0).all()
    assert (host.sum(axis=0) == ranges.end - ranges.start).all()
    gpu = np.stack([getattr(windows, part) for part in GPU_PARTS])
    assert len(windows.instance)
    assert (gpu >= 0).all()
    assert (gpu.sum(axis=0) == windows.window).all()
    assert (windows.window == (report.instances.completion - ranges.start)[windows.instance]).all()
    assert (windows.idle_startup == gap.exposed[windows.instance]).all()  # one device each: the one that waited
