"""What host code consists of, nanosecond by nanosecond, and that its parts sum to it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nsys_analyze import Report, open_report
from nsys_analyze.metrics.results import BlockedOn, HostCode, SampledFunction
from nsys_analyze.model.os_calls import waits
from tests import strategies
from tests.bruteforce_host import WAITING, host_codes
from tests.exports import ExportBuilder
from tests.samples import RULES, SAMPLES
from tests.test_partitions import COMPILERS, HELPER_THREAD, MAIN_THREAD, RULE_FILE, busy_hosts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nsys_analyze.metrics.results import Analysis

OTHERS = ("mmap", "pthread_cond_signal")
threads = st.sampled_from((MAIN_THREAD, HELPER_THREAD))
spans = st.tuples(threads, strategies.times, st.integers(0, 25))
os_calls = st.tuples(st.sampled_from((*WAITING, *OTHERS)), spans)
switches = st.tuples(threads, strategies.times, st.booleans())
samples = st.tuples(threads, strategies.times, st.sampled_from(("f", "g", "0x10", "0x20", None)))


@st.composite
def recorded_hosts(draw: st.DrawFn) -> ExportBuilder:
    """Exports that recorded some of: calls of the OS runtime, which may overlap, switches in any order, samples."""
    export = draw(busy_hosts())
    for name, (thread, start, length) in draw(st.lists(os_calls, max_size=6)):
        times = {"start": start, "end": start + length}
        export.row("OSRT_API", **times, eventClass=27, globalTid=thread, nameId=export.string(name))
    for thread, start, running in draw(st.lists(switches, max_size=8)):
        export.row("SCHED_EVENTS", start=start, isSchedIn=int(running), globalTid=thread)
    for number, (thread, start, leaf) in enumerate(draw(st.lists(samples, max_size=6)), start=1):
        export.row("COMPOSITE_EVENTS", id=number, start=start, globalTid=thread)
        for depth, frame in enumerate((leaf, "main") if leaf else ()):
            names = {"symbol": export.string(frame), "module": export.string(f"/lib/{depth}.so")}
            address = frame.startswith("0x") or None
            export.row("SAMPLING_CALLCHAINS", id=number, **names, stackDepth=depth, unresolved=address)
    return export


def found_in(report: Report, row: int) -> tuple[Any, ...]:
    """Running and blocked time, blocked time by function, and samples of one instance."""
    host = report.host_code
    if host is None:
        return None, None, Counter(), None
    mine = host.waits.instance == row
    blocked: Counter[str] = Counter()
    for function, time in zip(host.waits.function[mine].tolist(), host.waits.time[mine].tolist(), strict=True):
        blocked[host.waits.functions[function]] += time
    sampled = None
    if host.samples is not None:
        inside = host.samples.function[host.samples.low[row] : host.samples.high[row]].tolist()
        named = [host.samples.functions[function] for function in inside]
        sampled = Counter((function.symbol, function.module) for function in named)
    times = (None if column is None else int(column[row]) for column in (host.running, host.blocked))
    return *times, blocked, sampled


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=80, suppress_health_check=list(HealthCheck))
@given(export=recorded_hosts())
def test_every_nanosecond_is_what_the_oracle_says(tmp_path: Path, export: ExportBuilder, rule: Any) -> None:
    path = export.write(tmp_path / "report.sqlite")
    rules = tmp_path / "rules.toml"
    rules.write_text(RULE_FILE)
    report = open_report(path, attribution=rule, compile_rules=rules)
    expected = host_codes(path, rule, lambda name: re.fullmatch(COMPILERS, name) is not None)
    ranges, global_tid = report.trace.ranges, report.trace.threads.global_tid
    for row in range(len(ranges)):
        code = expected[int(global_tid[ranges.thread[row]]), int(ranges.start[row]), int(ranges.end[row])]
        running, blocked, waited, sampled = found_in(report, row)
        assert (running or 0) == code.running
        assert (blocked or 0) == code.blocked.total()
        assert waited == code.blocked
        assert (sampled or Counter()) == code.samples
        unknown = int(report.instances.host.code[row]) - (running or 0) - (blocked or 0)
        assert unknown == code.unknown


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(export=recorded_hosts(), seed=strategies.permutations())
def test_stages_sum_up_whatever_the_order_of_rows(tmp_path: Path, export: ExportBuilder, seed: int) -> None:
    export.rows["SCHED_EVENTS"] = list({(r["start"], r["globalTid"]): r for r in export.rows["SCHED_EVENTS"]}.values())
    calls = {(r["start"], r["end"], r["globalTid"]): r for r in export.rows["OSRT_API"]}
    export.rows["OSRT_API"] = list(calls.values())
    stages = [
        [(stage.key, stage.host_ns, stage.host_code) for stage in open_report(path).analysis().stages]
        for path in (
            export.write(tmp_path / "one.sqlite"),
            export.write(tmp_path / "other.sqlite", shuffle=seed),
        )
    ]
    assert [only_times(code) for *_, code in stages[0]] == [only_times(code) for *_, code in stages[1]]
    for _, host, code in stages[0]:
        if code is not None:
            check_sums(code, host.code)


def only_times(code: HostCode | None) -> Any:
    """What does not depend on how equal numbers are ordered."""
    if code is None:
        return None
    named = sorted((each.time_ns, each.function) for each in code.blocked_on)
    sampled = sorted((each.samples, each.symbol or "", each.module or "") for each in code.functions)
    return code.running_ns, code.blocked_ns, code.unknown_ns, code.samples, named, sampled


def check_sums(code: HostCode, whole: int) -> None:
    assert (code.running_ns or 0) + (code.blocked_ns or 0) + code.unknown_ns == whole
    assert min(code.running_ns or 0, code.blocked_ns or 0, code.unknown_ns) >= 0
    assert sum(each.time_ns for each in code.blocked_on) + code.blocked_on_others_ns == (code.blocked_ns or 0)
    assert sum(each.samples for each in code.functions) + code.samples_of_others == (code.samples or 0)
    times = [each.time_ns for each in code.blocked_on]
    counts = [each.samples for each in code.functions]
    assert times == sorted(times, reverse=True)
    assert counts == sorted(counts, reverse=True)
    assert all(each.share == each.samples / (code.samples or 1) for each in code.functions)


@pytest.fixture
def recorded(builder: ExportBuilder) -> ExportBuilder:
    """Two steps of 100 ns, 200 ns apart, each with a launch of 10 ns in the middle."""
    thread = builder.process(100).thread()
    for number in range(2):
        start = 200 * number
        thread.push_pop(f"step {number}", start, start + 100)
        thread.call("cudaLaunchKernel_v7000", start + 45, start + 55).kernel("gemm", start + 60, start + 80)
    return builder


@pytest.fixture
def code_of(analyse: Callable[..., Analysis]) -> Callable[[ExportBuilder], HostCode]:
    def analysed(builder: ExportBuilder) -> HostCode:
        (stage,) = analyse(builder).stages
        assert stage.host_ns is not None
        assert stage.host_code is not None
        check_sums(stage.host_code, stage.host_ns.code)
        return stage.host_code

    return analysed


def main_thread(builder: ExportBuilder) -> Any:
    from tests.exports import Process

    (process,) = builder.rows["PROCESSES"]
    return Process(builder, process["pid"], process["globalPid"]).thread()


def test_a_capture_without_the_tables_says_nothing(recorded: ExportBuilder, analyse: Any) -> None:
    assert [stage.host_code for stage in analyse(recorded).stages] == [None]


def test_tables_that_nobody_filled_say_nothing(recorded: ExportBuilder, analyse: Any) -> None:
    recorded.lazy = False
    assert [stage.host_code for stage in analyse(recorded).stages] == [None]


def test_calls_alone_tell_what_blocked_and_leave_the_rest_unknown(recorded: ExportBuilder, code_of: Any) -> None:
    thread = main_thread(recorded)
    thread.os_call("pthread_cond_wait", 10, 30)
    thread.os_call("pthread_cond_signal", 30, 40)  # does not wait, and nobody knows whether it was on a CPU
    thread.os_call("read", 90, 210)  # over the end of one step and the start of the next
    code = code_of(recorded)
    assert (code.running_ns, code.blocked_ns, code.unknown_ns, code.samples) == (None, 40, 140, None)
    assert code.blocked_on == [
        BlockedOn(function="pthread_cond_wait", time_ns=20),
        BlockedOn(function="read", time_ns=20),
    ]


def test_switches_alone_tell_when_it_ran(recorded: ExportBuilder, code_of: Any) -> None:
    thread = main_thread(recorded)
    thread.switch(20, running=False)  # never scheduled in before: unknown until here
    thread.switch(50, running=True)  # in the middle of the launch
    thread.switch(250, running=False)
    thread.switch(290, running=True)
    code = code_of(recorded)
    assert (code.running_ns, code.blocked_ns, code.unknown_ns) == (45 + 45 + 10, 25 + 35, 20)
    assert code.blocked_on == [BlockedOn(function="scheduled out", time_ns=60)]


def test_scheduled_out_without_coming_back_is_blocked_to_the_end(recorded: ExportBuilder, code_of: Any) -> None:
    thread = main_thread(recorded)
    thread.switch(0, running=True)
    thread.switch(210, running=False)
    code = code_of(recorded)
    assert (code.running_ns, code.blocked_ns, code.unknown_ns) == (100, 80, 0)


def test_scheduled_out_in_a_call_that_does_not_wait_is_told_by_its_name(recorded: ExportBuilder, code_of: Any) -> None:
    thread = main_thread(recorded)
    thread.switch(0, running=True)
    thread.os_call("mmap", 10, 40)
    thread.switch(20, running=False)
    thread.switch(30, running=True)
    code = code_of(recorded)
    assert code.blocked_on == [BlockedOn(function="mmap", time_ns=10)]
    assert (code.running_ns, code.unknown_ns) == (170, 0)


def test_calls_inside_cuda_calls_do_not_count_twice(recorded: ExportBuilder, code_of: Any) -> None:
    thread = main_thread(recorded)
    thread.os_call("poll", 40, 60)  # around the launch
    thread.os_call("read", 246, 254)  # inside it
    code = code_of(recorded)
    assert code.blocked_on == [BlockedOn(function="poll", time_ns=10)]
    assert (code.blocked_ns, code.unknown_ns) == (10, 170)


def test_the_innermost_of_nested_and_overlapping_calls_counts(recorded: ExportBuilder, code_of: Any) -> None:
    thread = main_thread(recorded)
    thread.os_call("fread", 0, 40)
    thread.os_call("read", 10, 20, level=1)
    thread.os_call("mmap", 20, 25, level=1)  # no wait of its own: still inside fread
    thread.os_call("poll", 200, 230)
    thread.os_call("recv", 200, 205)  # starts with it
    thread.os_call("select", 220, 240)  # overlaps, as calls of a signal handler do
    assert {each.function: each.time_ns for each in code_of(recorded).blocked_on} == {
        "fread": 30,
        "read": 10,
        "poll": 15,
        "recv": 5,
        "select": 20,
    }


def test_other_threads_do_not_matter(recorded: ExportBuilder, code_of: Any) -> None:
    (process,) = recorded.rows["PROCESSES"]
    thread = main_thread(recorded)
    other = type(thread)(thread.process, process["globalPid"] | 777)
    other.os_call("read", 0, 300)
    other.switch(0, running=False)
    other.sample(10, "elsewhere")
    thread.switch(0, running=True)
    code = code_of(recorded)
    assert (code.running_ns, code.blocked_ns, code.samples) == (180, 0, None)


def test_samples_are_counted_by_innermost_function(recorded: ExportBuilder, code_of: Any) -> None:
    thread = main_thread(recorded)
    for at in (10, 20, 220):
        thread.sample(at, "memcpy", "main")
    thread.sample(50, "in_the_launch")  # not host code
    thread.sample(100, "after the end")
    thread.sample(30, "0x7f00", "main", module="/opt/libfoo.so", resolved=False)
    thread.sample(31, "0x7f10", "main", module="/opt/libfoo.so", resolved=False)
    thread.sample(32)  # without a call chain
    code = code_of(recorded)
    assert (code.samples, code.running_ns, code.blocked_ns, code.unknown_ns) == (6, None, None, 180)
    assert code.functions == [
        SampledFunction(symbol="memcpy", module="/usr/lib/libc.so.6", samples=3, share=3 / 6),
        SampledFunction(symbol=None, module="/opt/libfoo.so", samples=2, share=2 / 6),
        SampledFunction(symbol=None, module=None, samples=1, share=1 / 6),
    ]


def test_what_is_not_named_is_summed(recorded: ExportBuilder, code_of: Any) -> None:
    thread = main_thread(recorded)
    functions = [
        "read",
        "write",
        "poll",
        "select",
        "sem_wait",
        "futex",
        "pause",
        "recv",
        "send",
        "wait",
        "flock",
        "fsync",
    ]
    for number, function in enumerate(functions):
        thread.os_call(function, 3 * number, 3 * number + 2)
        thread.sample(3 * number, f"f{number}")
    code = code_of(recorded)
    assert (len(code.blocked_on), code.blocked_on_others_ns) == (10, 4)
    assert (len(code.functions), code.samples_of_others) == (10, 2)


def test_times_beyond_the_capture_are_cut(recorded: ExportBuilder, code_of: Any) -> None:
    thread = main_thread(recorded)
    thread.os_call("read", -(2**62), 20)
    thread.os_call("poll", 280, 2**62)
    thread.switch(-(2**62), running=True)
    code = code_of(recorded)
    assert (code.running_ns, code.blocked_ns) == (140, 40)


@pytest.mark.parametrize("schema", ["3.25.0", "3.6.0", "2.9.1", "unstamped"])
def test_every_layout_is_read(schema: str, code_of: Any) -> None:
    builder = ExportBuilder(schema)
    thread = builder.process(100).thread()
    thread.push_pop("step", 0, 100)
    thread.os_call("read", 10, 20)
    thread.switch(0, running=True)
    thread.sample(50, "f")
    code = code_of(builder)
    assert (code.running_ns, code.blocked_ns, code.samples) == (90, 10, 1)


@pytest.mark.parametrize("name", SAMPLES)
def test_reports_without_evidence_say_so(sample_report: Any, name: str) -> None:
    report = open_report(sample_report(name))
    assert report.trace.host is None
    assert {stage.host_code for stage in report.analysis().stages} == {None}


@pytest.mark.parametrize(
    "function",
    ["pthread_cond_timedwait", "sem_wait", "poll", "__poll_chk", "epoll_wait", "pread64", "clock_nanosleep", "fread"],
)
def test_functions_that_wait(function: str) -> None:
    assert waits(function)


@pytest.mark.parametrize(
    "function", ["ioctl", "mmap64", "pthread_create", "pthread_cond_signal", "pthread_mutex_unlock"]
)
def test_functions_that_do_not_wait(function: str) -> None:
    assert not waits(function)
