"""Traces, read back as Perfetto reads them."""

from __future__ import annotations

import gzip
import re
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nsys_analyze import cli, open_report
from nsys_analyze.cli.trace import parse_window
from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.excerpt import Window, excerpt
from nsys_analyze.metrics.patterns import match_level
from nsys_analyze.timeline import levels
from nsys_analyze.views import trace_packets
from nsys_analyze.views.trace_lanes import assign_lanes, bracketed
from tests import strategies
from tests.bruteforce import _Placements, _with_ancestors
from tests.bruteforce_load import load
from tests.exports import ExportBuilder
from tests.samples import SAMPLES
from tests.trace_decoder import decode

OPERATIONS = ("kernel", "memcpy", "memset", "graph")
RUNNING, IN_FLIGHT = "running operations", "launched, not finished"


@pytest.fixture
def traced(tmp_path, capsys):
    """Writes a trace by the command and reads it back."""

    def write_and_read(report, *options, name="t.pftrace"):
        if isinstance(report, ExportBuilder):
            report = report.write(tmp_path / "report.sqlite")
        assert cli.main(["trace", str(report), "-o", str(tmp_path / name), *options]) == 0
        assert capsys.readouterr() == ("", "")
        return decode(tmp_path / name)

    return write_and_read


def united(intervals):
    """Length of the union of intervals."""
    total, reach = 0, None
    for start, end in sorted(intervals):
        reach = start if reach is None else reach
        total += max(end - max(start, reach), 0)
        reach = max(reach, end)
    return total


def gpu_of(trace, piece):
    return trace.path(piece.track)[0]


def check_whole(trace):
    """What holds for every trace."""
    for piece in trace.slices:
        assert piece.end is not None and piece.start <= piece.end
        assert piece.parent is None or piece.parent.start <= piece.start <= piece.end <= piece.parent.end
    ends = defaultdict(list)
    for piece in trace.slices:
        for flow in piece.flows:
            ends[flow].append(piece)
    for pieces in ends.values():
        assert sorted(piece.category == "cuda_api" for piece in pieces) == [False, True]
        assert {piece.category for piece in pieces} <= {"cuda_api", *OPERATIONS}
    for values in trace.counters.values():
        assert all(value >= 0 for _, value in values)
        assert values[-1][1] == 0
        assert all(one[0] < other[0] and one[1] != other[1] for one, other in pairwise(values))


# --- real reports


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_all_there(traced, sample_report, name):
    trace, report = traced(sample_report(name)), open_report(sample_report(name))
    check_whole(trace)
    tables = report.trace
    operations = trace.of(*OPERATIONS)
    assert len(trace.of("nvtx")) == len(tables.ranges)
    assert len(trace.of("cuda_api")) == len(tables.calls)
    assert Counter(piece.category for piece in operations)["kernel"] == int((tables.ops.kind == 0).sum())
    times = sorted(zip(tables.ops.start.tolist(), tables.ops.end.tolist(), strict=True))
    assert sorted((piece.start, piece.end) for piece in operations) == times
    by_gpu = defaultdict(list)
    for piece in operations:
        by_gpu[gpu_of(trace, piece)].append((piece.start, piece.end))
    analysis = report.analysis()
    assert {gpu: united(intervals) for gpu, intervals in by_gpu.items()} == {
        f"GPU {use.device} · {use.name}": use.busy_ns for use in analysis.devices
    }
    for program in analysis.programs:
        assert program.kernels in (
            None,
            sum(f" {program.process} " in trace.path(piece.track)[1] for piece in trace.of("kernel")),
        )


@pytest.mark.parametrize("name", SAMPLES)
def test_ranges_carry_the_numbers_of_their_instances(traced, sample_report, name):
    trace = traced(sample_report(name))
    analysis = open_report(sample_report(name)).analysis(instances=True)
    stages = {stage.key: stage for stage in analysis.stages}
    found = defaultdict(list)
    for piece in trace.of("nvtx"):
        found[piece.start, piece.end, piece.arguments.get("full_name", piece.name)].append(piece.arguments)
    for instance in analysis.instances:
        candidates = found[instance.start_ns, instance.start_ns + instance.wall_ns, instance.name]
        stage = stages[instance.stage]
        expected = {"elapsed_ns": instance.elapsed_ns, "gpu_ops": instance.gpu_ops, "launches": instance.launches}
        expected |= {"stage_instances": stage.instances, "domain": instance.domain or "default"}
        optional = {
            part: getattr(instance, part)
            for part in ("kernels", "kernel_ns", "startup_gap_ns", "prelude_ns", "launch_ns", "queue_ns", "exposed_ns")
        }
        optional |= {"stage_pace_ns": stage.pace_ns, "stage_cpu_overhead_ns": stage.cpu_overhead_ns}
        expected |= {part: value for part, value in optional.items() if value is not None}
        absent = {part for part, value in optional.items() if value is None}
        assert any(expected.items() <= each.items() and not absent & set(each) for each in candidates), instance


def test_operations_say_what_launched_them_and_who_owns_them(traced, sample_report):
    trace = traced(sample_report("vit_train_eager"))
    kernels = trace.of("kernel")
    assert {piece.arguments["launch"] for piece in kernels} <= {
        "cudaLaunchKernel",
        "cuLaunchKernelEx",
        "cudaLaunchKernelExC",
    }
    assert Counter(piece.arguments["attribution"] for piece in trace.of(*OPERATIONS)) == {
        "thread": 2109,
        "process": 3649,
    }
    assert "steady / step / backward" in {piece.arguments["stage"] for piece in kernels}
    assert all(piece.arguments["queue_delay_ns"] >= 0 for piece in kernels)
    copies = {piece.name for piece in trace.of("memcpy")}
    assert "[CUDA memcpy Host-to-Device]" in copies
    assert all(piece.arguments.get("full_name", piece.name) for piece in kernels)


def test_a_graph_launch_has_a_few_arrows(traced, sample_report):
    trace = traced(sample_report("llama_cudagraphs"))
    launches = [piece for piece in trace.of("cuda_api") if piece.name == "cudaGraphLaunch"]
    assert {len(piece.flows) for piece in launches} == {4}
    nodes = [piece for piece in trace.of("kernel") if piece.arguments.get("cuda_graph") == "node"]
    assert {piece.arguments["launch"] for piece in nodes} == {"cudaGraphLaunch"}
    assert sum("queue_delay_ns" in piece.arguments for piece in nodes) <= len(launches)


# --- generated reports


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(export=strategies.exports(ties=True), stages=st.booleans(), window=st.tuples(*[st.integers(-5, 90)] * 2))
def test_a_part_is_what_the_rules_say(tmp_path, export, stages, window):
    path = export.write(tmp_path / "report.sqlite")
    report = open_report(path)
    low, high = sorted(window)
    patterns = ["step"] if stages and any("step" in stage.path for stage in report.analysis().stages) else []
    options = [word for pattern in patterns for word in ("--stage", pattern)]
    expected = expected_part(path, patterns, low, high + 1)
    options += ["-o", str(tmp_path / "t.pftrace"), f"--window={low}ns:{high + 1}ns"]
    assert cli.main(["trace", str(path), *options]) == (0 if any(expected.values()) else 2)
    if not any(expected.values()):
        return
    trace = decode(tmp_path / "t.pftrace")
    check_whole(trace)
    shift = int(trace.about.get("clock_shift_ns", 0))
    for category, intervals in expected.items():
        pieces = trace.of(*OPERATIONS) if category == "operations" else trace.of(category)
        assert sorted((piece.start - shift, piece.end - shift) for piece in pieces) == sorted(intervals), category


def expected_part(path, patterns, low, high):
    """The ranges, calls and operations of a part, row by row."""
    export = load(path)
    placements = _Placements(export.ranges, "process")
    kept = [r for r in export.ranges if not patterns or any(match_level(p, *names(r)) for p in patterns)]
    calls = {c for c in export.calls for r in kept if r.thread == c.thread and r.start <= c.start < r.end}
    owned = []
    for operation in export.operations:
        outcome, found = placements.ranges_for(operation.call) if operation.call else ("", [])
        if any(r in kept for r, _ in _with_ancestors(found, outcome == "process")):
            owned.append(operation)
            calls.add(operation.call)
    tables = {
        "nvtx": kept,
        "cuda_api": calls if patterns else export.calls,
        "operations": owned if patterns else export.operations,
    }
    return {
        kind: [(row.start, row.end) for row in rows if any(low <= t < high for t in instants(row))]
        for kind, rows in tables.items()
    }


def instants(row):
    return range(row.start, max(row.end, row.start + 1))


def names(r):
    path = []
    while r is not None:
        path.append(r.element)
        r = r.parent
    return [name for _, name in path[::-1]], [domain for domain, _ in path[::-1]]


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(export=strategies.exports(ties=True))
def test_counters_count(tmp_path, export):
    path = export.write(tmp_path / "report.sqlite")
    assert cli.main(["trace", str(path), "-o", str(tmp_path / "t.pftrace")]) == 0
    trace, loaded = decode(tmp_path / "t.pftrace"), load(path)
    for track, values in trace.counters.items():
        gpu, name = trace.path(track)
        mine = [op for op in loaded.operations if gpu == f"GPU {op.device}"]
        since = [min(op.call.start, op.start) if op.call and name == IN_FLIGHT else op.start for op in mine]
        for instant in range(-5, 200):
            count = sum(start <= instant < op.end for start, op in zip(since, mine, strict=True))
            assert count == ([0] + [value for at, value in values if at <= instant])[-1]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 6), st.booleans()), max_size=25))
def test_lanes_hold_only_what_nests(drawn):
    rows = sorted((group, start, -(start + length), apart) for group, start, length, apart in drawn)
    group, start, end = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    end = -end
    apart = np.array([row[3] for row in rows], bool)
    lane = assign_lanes(group.astype(np.int32), start, end, apart)
    crosses = dict.fromkeys(range(3), False)
    for i in range(len(rows)):
        for j in range(i):
            if group[i] == group[j] and start[j] < start[i] < end[j] < end[i]:
                crosses[group[i]] = True
                assert lane[i] != lane[j]
    for number in range(len(rows)):
        assert crosses[group[number]] or lane[number] == 0
        assert not crosses[group[number]] or not apart[number] or lane[number] > 0
    order = np.lexsort((lane, group))
    track = (group * 100 + lane)[order]
    which, begins = bracketed(track.astype(np.int32), start[order], end[order])
    opened = []
    times = [(track[w], (start if b else end)[order][w]) for w, b in zip(which, begins, strict=True)]
    assert times == sorted(times)
    for row, begin in zip(which.tolist(), begins.tolist(), strict=True):
        opened.append(row) if begin else None
        assert begin or opened.pop() == row
    assert not opened


def test_slices_that_touch_share_a_lane():
    start, end = np.array([0, 5, 10]), np.array([10, 15, 20])
    assert assign_lanes(np.zeros(3, np.int32), start, end).tolist() == [0, 1, 0]


def test_levels_of_nothing():
    nothing = np.zeros(0, np.int64)
    assert [each.tolist() for each in levels(nothing, nothing)] == [[], []]
    assert [each.tolist() for each in levels(np.array([1, 3, 5]), np.array([3, 4, 5]))] == [[1, 4], [1, 0]]


def test_a_stage_comes_with_the_calls_that_launched_for_it(builder, traced):
    process = builder.process(100)
    main, backward = process.thread(), process.thread(101)
    main.push_pop("step 1", 0, 100)
    main.push_pop("other", 200, 300)
    for start in (10, 210):
        backward.call("cudaLaunchKernel", start, start + 5).kernel("k", start + 10, start + 20)
        backward.call("cudaStreamSynchronize", start + 30, start + 40)
    main.call("cudaEventRecord", 99, 120)
    main.call("cudaEventQuery", 100, 120)
    trace = traced(builder, "--stage", "step")
    check_whole(trace)
    assert [(piece.name, piece.start) for piece in trace.of("cuda_api")] == [
        ("cudaLaunchKernel", 10),
        ("cudaEventRecord", 99),
    ]
    assert [(piece.start, piece.arguments["attribution"]) for piece in trace.of("kernel")] == [(20, "process")]
    assert [len(piece.flows) for piece in trace.of("cuda_api")] == [1, 0]


# --- tracks


def test_ranges_that_cross_get_tracks_of_their_own(builder, traced):
    thread = builder.process(100).thread()
    thread.push_pop("step", 0, 100)
    thread.push_pop("inside", 10, 20)
    thread.start_end("request a", 50, 150)
    thread.start_end("request b", 60, 160)
    trace = traced(builder)
    tracks = {piece.name: trace.path(piece.track) for piece in trace.slices}
    assert tracks["step"] == tracks["inside"] == ["python3", "main thread"]
    assert tracks["request a"] == ["python3", "main thread", "NVTX (2)"]
    assert tracks["request b"] == ["python3", "main thread", "NVTX (3)"]


def test_operations_of_a_stream_that_overlap_are_all_there(builder, traced):
    call = builder.process(100).thread().call("cudaLaunchKernel", 0, 5)
    for start in range(10, 60, 10):
        call.kernel("k", start, start + 15)
    trace = traced(builder)
    assert len(trace.of("kernel")) == 5
    stream = "python3 100 · context 1 · stream 7"
    assert {trace.path(piece.track)[1] for piece in trace.of("kernel")} == {stream, f"{stream} (2)"}


def test_processes_threads_and_gpus_have_groups(builder, traced):
    builder.gpu(3, "NVIDIA H200")
    builder.gpu(4, "NVIDIA H100")
    for number in range(2):
        process = builder.process(100 + number, f"worker{number}")
        process.device(0, 3 + number)
        main, other = process.thread(), process.thread(7000 + number)
        main.push_pop(f"rank {number}", 0, 100, domain="mpi")
        other.call("cudaLaunchKernel", 10, 20).kernel("k", 30, 40, context=2, stream=13)
    trace = traced(builder)
    paths = [trace.path(track) for track in trace.tracks]
    assert ["worker0 (rank 0)", "main thread"] in paths
    assert ["worker1 (rank 1)", "thread", "CUDA API"] in paths
    assert ["GPU 4 · NVIDIA H100", "worker1 (rank 1) 101 · context 2 · stream 13"] in paths
    assert ["GPU 3 · NVIDIA H200", RUNNING] in paths
    threads = {(t.thread.pid, t.thread.tid) for t in trace.tracks.values() if t.HasField("thread")}
    assert threads == {(100, 100), (100, 7000), (101, 101), (101, 7001)}
    assert {t.process.pid for t in trace.tracks.values() if t.HasField("process")} == {100, 101}


def test_times_before_zero_are_moved(builder, traced):
    thread = builder.process(100).thread()
    thread.push_pop("early", -50, 10)
    thread.call("cudaLaunchKernel", -20, -10).kernel("k", -5, 5)
    trace = traced(builder)
    check_whole(trace)
    assert {piece.name: (piece.start, piece.end) for piece in trace.slices} == {
        "early": (0, 60),
        "cudaLaunchKernel": (30, 40),
        "k": (45, 55),
    }
    assert trace.about["clock_shift_ns"] == "50"


def test_what_a_report_cannot_tell_is_not_there(builder, traced):
    thread = builder.process(100).thread()
    thread.push_pop("open", 0, None)
    thread.push_pop("idle", 5, 10)
    for start in range(20, 60, 10):
        thread.call("cudaLaunchKernel", start, start + 5)
    trace = traced(builder)
    arguments = {piece.name: piece.arguments for piece in trace.of("nvtx")}
    assert arguments["open"]["finished"] == 0
    assert "finished" not in arguments["idle"]
    assert "kernels" not in arguments["idle"] and "gpu_ops" not in arguments["idle"]
    assert not trace.counters


def test_nobody_knows_the_kernels_of_a_graph_traced_whole(builder, traced):
    thread = builder.process(100).thread()
    thread.push_pop("graphs", 0, 100)
    thread.call("cudaGraphLaunch", 10, 20).graph_trace(30, 40)
    thread.push_pop("kernels", 200, 300)
    thread.call("cudaLaunchKernel", 210, 220).kernel("k", 230, 240)
    trace = traced(builder)
    arguments = {piece.name: piece.arguments for piece in trace.slices}
    assert arguments["graphs"]["graphs"] == arguments["graphs"]["gpu_ops"] == 1
    assert "kernels" not in arguments["graphs"] and "kernel_ns" not in arguments["graphs"]
    assert (arguments["kernels"]["kernels"], arguments["kernels"]["kernel_ns"]) == (1, 10)
    assert "graphs" not in arguments["kernels"]
    assert arguments["[CUDA graph 2]"]["cuda_graph"] == "whole"


def test_a_report_without_anything_is_a_trace_without_anything(builder, traced):
    builder.process(100)
    trace = traced(builder)
    assert not trace.slices
    assert trace.about["report"] == "report.sqlite"


def test_the_trace_says_how_it_was_made(traced, sample_report):
    trace = traced(
        sample_report("llama_eager"), "--attribution", "thread", "--stage", "steady/step", "--window", "0:20s"
    )
    about = {"attribution": "thread", "stage": "steady/step", "window": "0:20s", "folding": "default"}
    assert about.items() <= trace.about.items()


HOSTILE = (
    "<script>alert(1)</script>",
    "\x1b[2J\nnew line",
    'quote " \\ back',
    "名" * 300,
    "x" * 10_000,
    "\u202eright",
    "",
)


def test_hostile_names_do_no_harm(builder, traced):
    thread = builder.process(100, "\x1b[31mred").thread()
    for number, name in enumerate(HOSTILE):
        thread.push_pop(name, 100 * number, 100 * number + 50, domain=name)
        thread.call(f"{name}_v1", 100 * number, 100 * number + 5).kernel(name, 100 * number + 10, 100 * number + 20)
    thread.push_pop(b"not \xff utf-8", 5_000, 5_010)
    trace = traced(builder, "--no-fold")
    texts = [text for piece in trace.slices for text in (piece.name, *map(str, piece.arguments.values()))]
    assert all(text.isprintable() and len(text) <= 4_000 for text in texts)
    assert all(len(piece.name) <= 120 for piece in trace.slices)
    assert {"<script>alert(1)</script>", "\\x1b[2J\\nnew line", 'quote " \\ back'} <= {p.name for p in trace.of("nvtx")}
    long = next(piece for piece in trace.of("nvtx") if piece.name.startswith("xxx"))
    assert len(long.arguments["full_name"]) == 4_000
    assert trace.path(long.track)[0] == "\\x1b[31mred"


# --- the command


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12.3s:12.4s", (12_300_000_000, 12_400_000_000)),
        ("1:2", (10**9, 2 * 10**9)),
        ("250ms:", (250_000_000, None)),
        (":0.5", (None, 500_000_000)),
        ("-1ms : 7ns", (-1_000_000, 7)),
    ],
)
def test_windows(text, expected):
    window = parse_window(text)
    assert (window.start, window.end) == expected


@pytest.mark.parametrize("text", ["", ":", "12", "2s:1s", "1s:1s", "a:b", "1h:", "1:2:3", "--1:2"])
def test_what_is_no_window(text):
    with pytest.raises(UsageError):
        parse_window(text)


def test_no_window_and_no_pattern_keep_all(sample_report):
    report = open_report(sample_report("llama_eager"))
    kept = excerpt(report, [], Window())
    assert kept.ranges.all() and kept.calls.all() and kept.ops.all()


@pytest.fixture
def report(builder, tmp_path):
    thread = builder.process(100).thread()
    thread.push_pop("step 1", 0, 100)
    thread.call("cudaLaunchKernel", 10, 20).kernel("k", 30, 40)
    return builder.write(tmp_path / "report.sqlite")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "t.json"], r"t\.json: a trace's suffix is \.pftrace or \.pftrace\.gz"),
        (["-o", "t.pftrace", "--stage", "stop"], "--stage stop: matches no stage .nearest: step"),
        (["-o", "t.pftrace", "--window", "5"], "--window 5: write START:END"),
        (["-o", "t.pftrace", "--window", "3s:2s"], "--window 3s:2s: ends before it starts"),
        (
            ["-o", "t.pftrace", "--window", "1s:"],
            r"--window 1s:: nothing lies in it; the report goes from 0\.0.*s to 0\.0",
        ),
        (["-o", "absent/t.pftrace"], r"absent/t\.pftrace: cannot write: No such file"),
        ([], "Missing option '-o'"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(report, capsys, monkeypatch, arguments, message):
    monkeypatch.chdir(report.parent)
    assert cli.main(["trace", report.name, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert re.search(message, captured.err)
    assert [path.name for path in report.parent.iterdir()] == ["report.sqlite"]


def test_a_report_is_not_written_over(report, capsys):
    alias = report.parent / "alias.pftrace"
    alias.symlink_to(report)
    assert cli.main(["trace", str(report), "-o", str(alias)]) == 2
    assert "is one of the reports" in capsys.readouterr().err


def test_a_failure_halfway_leaves_the_old_file(report, monkeypatch, capsys):
    target = report.parent / "t.pftrace.gz"
    target.write_bytes(b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(trace_packets, "_counter", fail)
    assert cli.main(["trace", str(report), "-o", str(target)]) == 2
    assert "cannot write: No space left on device" in capsys.readouterr().err
    assert target.read_bytes() == b"old"
    assert sorted(path.name for path in report.parent.iterdir()) == ["report.sqlite", "t.pftrace.gz"]


def test_packed_plain_and_standard_output_are_the_same(report, capfdbinary):
    for name in ("t.pftrace", "t.pftrace.gz", "-"):
        target = name if name == "-" else str(report.parent / name)
        assert cli.main(["trace", str(report), "-o", target]) == 0
    plain, packed = (report.parent / "t.pftrace").read_bytes(), (report.parent / "t.pftrace.gz").read_bytes()
    assert gzip.decompress(packed) == plain == capfdbinary.readouterr().out
    assert cli.main(["trace", str(report), "-o", str(report.parent / "u.pftrace.gz")]) == 0
    assert (report.parent / "u.pftrace.gz").read_bytes() == packed


def test_many_events_come_with_advice(report, capsys, monkeypatch):
    monkeypatch.setattr("nsys_analyze.cli.trace._MANY", 2)
    assert cli.main(["trace", str(report), "-o", str(report.parent / "t.pftrace")]) == 0
    assert "--window or --stage makes a trace that opens faster" in capsys.readouterr().err


def test_pieces_of_any_size_are_the_same_trace(report, monkeypatch, traced):
    whole = traced(report)
    monkeypatch.setattr(trace_packets, "_CHUNK", 1)
    in_pieces = traced(report)
    assert [vars(piece) | {"parent": None} for piece in whole.slices] == [
        vars(piece) | {"parent": None} for piece in in_pieces.slices
    ]
    assert whole.counters == in_pieces.counters
