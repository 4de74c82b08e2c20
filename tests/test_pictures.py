"""What plots are given to draw: numbers by hand, and against a plain computation."""

from __future__ import annotations

import dataclasses
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsys_analyze import open_report
from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.breakdown import Kind
from nsys_analyze.metrics.pictures.bars import breakdown, comparable
from nsys_analyze.metrics.pictures.gaps import Step, Waterfall, startup
from nsys_analyze.metrics.pictures.launch_times import launch_times
from nsys_analyze.metrics.pictures.series import StallMark, instance_series
from nsys_analyze.metrics.pictures.spans import Span, Window, merged
from nsys_analyze.metrics.pictures.sweep import SweepPoint, Swept, by_executor, loop_time, sweep, swept
from nsys_analyze.metrics.pictures.timeline import Gap, Lane, timeline
from nsys_analyze.metrics.results import GpuWindow, HostTime, Series, Stall
from tests.samples import SAMPLES
from tests.view_samples import MS, US, loop, stage

NO_HOST = dict.fromkeys(HostTime.__slots__, 0)


@pytest.fixture
def two_steps(builder, tmp_path):
    """The loop that docs/numbers.md works by hand."""
    thread = builder.process(pid=100).thread()
    thread.push_pop("steady", 0, 260 * US)
    for number, start in enumerate((10, 120), start=1):
        thread.push_pop(f"step {number}", start * US, (start + 100) * US)
    for at, ran, end in ((40, 52, 92), (60, 95, 125), (140, 153, 193), (160, 195, 225)):
        call = thread.call("cudaLaunchKernel_v7000", at * US, (at + 10) * US)
        call.kernel("a" if at in (40, 140) else "b", ran * US, end * US)
    return open_report(builder.write(tmp_path / "report.sqlite"))


def named(report, name):
    return next(each for each in report.analysis().stages if each.name == name)


def test_bars_are_means_in_a_fixed_order():
    window = GpuWindow(
        device=3, instances=2, window=200, own=120, other=0, idle_startup=10, idle_between=60, idle_tail=10
    )
    host = HostTime(**NO_HOST | {"code": 150, "launch": 40, "sync": 10})
    given_stage = stage(["step"], [100, 100], host_ns=host, gpu_window_ns=[window])
    (bars,) = breakdown([given_stage]).stages
    assert [(bar.kind, bar.device, bar.instances, bar.whole) for bar in bars.bars] == [
        (Kind.HOST, None, 2, 100.0),
        (Kind.GPU, 3, 2, 100.0),
    ]
    assert [[(part.name, part.time, part.share) for part in bar.parts] for bar in bars.bars] == [
        [("launch", 20.0, 0.2), ("sync", 5.0, 0.05), ("code", 75.0, 0.75)],
        [("idle_startup", 5.0, 0.05), ("own", 60.0, 0.6), ("idle_between", 30.0, 0.3), ("idle_tail", 5.0, 0.05)],
    ]


def test_devices_beyond_the_fourth_are_counted():
    window = GpuWindow(device=0, instances=1, window=1, own=1, other=0, idle_startup=0, idle_between=0, idle_tail=0)
    windows = [dataclasses.replace(window, device=device) for device in range(6)]
    (bars,) = breakdown([stage(["step"], [1], gpu_window_ns=windows)]).stages
    assert [bar.device for bar in bars.bars] == [0, 1, 2, 3]
    assert bars.devices_left_out == 2


@pytest.mark.parametrize("name", SAMPLES)
def test_bars_fill_the_time_of_every_stage(name, sample_report):
    for bars in breakdown(open_report(sample_report(name)).analysis().stages).stages:
        for bar in bars.bars:
            assert sum(part.time for part in bar.parts) == pytest.approx(bar.whole)


def test_what_can_share_an_axis():
    assert comparable([])
    assert comparable([0, 5, 100])
    assert not comparable([4.9, 100])


def test_a_waterfall_by_hand(two_steps):
    (fall,) = startup([named(two_steps, "step")]).stages
    assert fall == Waterfall(
        instances=2,
        total=37_500.0,
        host=[
            Step(name="prelude", start=0.0, length=25_000.0),
            Step(name="launch", start=25_000.0, length=10_000.0),
            Step(name="queue", start=35_000.0, length=2_500.0),
        ],
        gpu=[Step(name="hidden", start=0.0, length=2_500.0), Step(name="exposed", start=2_500.0, length=35_000.0)],
    )


def test_a_stage_without_gpu_work_has_no_waterfall():
    assert startup([stage(["import"], [5])]).stages == [None]


def series_of(elapsed, stalls=(), gap=None):
    count = len(elapsed)
    times = {"wall_ns": list(elapsed), "elapsed_ns": list(elapsed), "calls_ns": [1] * count, "kernels": [1] * count}
    gap = [10] * count if gap is None else gap
    series = Series(start_ns=[1000 * at for at in range(count)], gap_ns=gap, prelude_ns=gap, exposed_ns=gap, **times)
    return instance_series(loop(["step"], 5.0, count, series=series, stalls=list(stalls)))


def test_a_series_leaves_the_first_instance_apart():
    stall = Stall(index=1, start_ns=3000, elapsed_ns=90, excess_ns=60.0, filled_ns={"compile": 50.0, "code": 10.0})
    found = series_of([500, 30, 28, 90, 32], [stall], gap=[7, None, 5, 6, None])
    assert (found.first, found.others_median, found.instances) == (500, 31.0, 5)
    assert (found.elapsed.index, found.elapsed.median) == ([1, 2, 3, 4], [30, 28, 90, 32])
    assert (found.gap.index, found.gap.median) == ([0, 2, 3], [7, 5, 6])
    assert found.stalls == [StallMark(index=3, elapsed=90, excess=60.0, cause="compile")]
    assert found.first_is_far
    assert not found.needs_log


@pytest.mark.parametrize(("first", "far"), [(60, False), (61, True)])
def test_a_first_instance_is_far_above_twice_the_longest_other(first, far):
    assert series_of([first, 10, 30, 20]).first_is_far == far


def test_many_instances_are_pooled_with_their_extremes():
    found = series_of([1, *range(1, 9_001)]).elapsed
    assert len(found.index) == 1_000
    assert (found.low[0], found.median[0], found.high[0]) == (1, 5, 9)
    assert found.high[-1] == 9_000
    assert series_of([5]).others_median is None
    assert not series_of([5]).first_is_far
    assert series_of([5, *[10] * 30, 900]).needs_log
    assert instance_series(stage(["step"], [5])) is None


@pytest.mark.parametrize("name", SAMPLES)
def test_launch_histograms_count_every_call(name, sample_report):
    report = open_report(sample_report(name))
    stages = [each for each in report.analysis().stages if each.launch_call_ns][:12]
    for each, found in zip(stages, launch_times([(report, each) for each in stages]), strict=True):
        calls = each.launch_call_ns
        assert (found.calls, found.first_calls) == (calls.count, calls.first_count)
        assert (found.median, found.p95) == (calls.median, calls.p95)


def test_a_launch_histogram_by_hand(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 10 * MS)
    for number, took in enumerate((900_000, 1_000, 1_100, 9_999, 10_000, 0)):
        at = (number + 1) * MS
        thread.call("cudaLaunchKernel_v7000", at, at + took).kernel("k", at + took + 5, at + took + 9)
    report = open_report(builder.write(tmp_path / "report.sqlite"))
    (found,) = launch_times([(report, named(report, "step"))])
    assert found.edges[0] == 1.0
    assert found.edges[-1] == pytest.approx(1e6)
    assert {at: count for at, count in enumerate(found.counts) if count} == {0: 1, 30: 2, 39: 1, 40: 1}
    assert {at: count for at, count in enumerate(found.first_counts) if count} == {59: 1}
    assert (found.median, found.first_median) == (1_100.0, 900_000.0)


def test_a_timeline_by_hand(two_steps):
    found = timeline(two_steps, named(two_steps, "step"), 1)
    assert (found.index, found.instances, found.name) == (1, 2, "step 2")
    assert (found.wall, found.elapsed) == (100 * US, 105 * US)
    assert found.gap == Gap(total=33_000, prelude=20_000, launch=10_000, queue=3_000, exposed=28_000)
    assert found.ranges == [lane([("range", 0, 100, "step 2")], thread=100)]
    launch = "cudaLaunchKernel"
    assert found.calls == [lane([("launch", 20, 30, launch), ("launch", 40, 50, launch)], thread=100)]
    work = [("other", 0, 5, "b"), ("own", 33, 73, "a"), ("own", 75, 105, "b")]
    assert found.streams == [lane(work, device=0, stream=7)]
    assert found.idle == {0: lane([("startup", 5, 33, "startup"), ("between", 73, 75, "between")]).spans}
    assert found.lanes_left_out == 0


def lane(spans, thread=None, device=None, stream=None):
    found = [Span(start=start * US, end=end * US, kind=kind, count=1, name=name) for kind, start, end, name in spans]
    return Lane(thread=thread, device=device, stream=stream, spans=found)


def test_a_timeline_is_of_the_median_instance(two_steps, sample_report):
    assert timeline(two_steps, named(two_steps, "step")).index == 0
    report = open_report(sample_report("llama_eager"))
    step = next(each for each in report.analysis().stages if each.pace_ns)
    found = timeline(report, step)
    assert found.elapsed == step.series.elapsed_ns[found.index] == step.median_instance.elapsed_ns
    training = open_report(sample_report("vit_train_eager"))
    step = next(each for each in training.analysis().stages if each.pace_ns)
    assert timeline(training, step).index == step.median_instance.index
    with pytest.raises(UsageError, match="instance 2: there are 0 to 1"):
        timeline(two_steps, named(two_steps, "step"), 2)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_timeline_holds_all_that_the_numbers_count(name, sample_report):
    """With a pixel a nanosecond nothing is merged: spans are the operations, idle times those of the GPU partition."""
    report = open_report(sample_report(name))
    instances = {(each.stage, each.index): each for each in report.analysis(instances=True).instances}
    for each in [each for each in report.analysis().stages if each.gpu_ops and len(each.path) <= 2]:
        found = timeline(report, each, columns=10**12)
        instance = instances[each.key, found.index]
        own = [span for lane in found.streams for span in lane.spans if span.kind == "own"]
        assert sum(span.count for span in own) == instance.gpu_ops
        assert found.gap.total == instance.startup_gap_ns
        assert found.elapsed == instance.elapsed_ns
        if each.instances == 1:
            for window in each.gpu_window_ns:
                sums = {"startup": 0, "between": 0, "tail": 0}
                for span in found.idle[window.device]:
                    sums[span.kind] += span.end - span.start
                assert list(sums.values()) == [window.idle_startup, window.idle_between, window.idle_tail]


@given(
    st.lists(st.tuples(st.integers(-50, 1050), st.integers(0, 40)), max_size=60), st.sampled_from([10, 37, 100, 2000])
)
def test_merging_hides_less_than_a_pixel(intervals, columns):
    window = Window(0, 1000, columns)
    start = np.array([at for at, _ in intervals], np.int64)
    end = start + np.array([length for _, length in intervals], np.int64)
    spans = merged(window, start, end, np.zeros(len(start), np.int64), ["x"], "own")
    ordered = sorted(zip(start, end, strict=True), key=lambda interval: interval[0])
    shown = [(max(low, 0), min(high, 1000)) for low, high in ordered if high > 0 and low < 1000]
    assert sum(span.count for span in spans) == len(shown)
    covered = {ns for low, high in shown for ns in range(low, high)}
    drawn = {ns for span in spans for ns in range(span.start, span.end)}
    assert covered <= drawn
    members = iter(shown)
    for span in spans:
        lasted = len({ns for low, high in islice(members, span.count) for ns in range(low, high)})
        assert span.filled == pytest.approx(lasted / max(span.end - span.start, window.pixel))
        if span.count == 1:
            assert (span.start, span.end) in shown
        else:
            bare = [ns not in covered for ns in range(span.start, span.end)]
            assert longest_run(bare) < window.pixel
    assert len([span for span in spans if span.count > 1]) <= columns + 1


def longest_run(flags):
    longest = run = 0
    for flag in flags:
        run = run + 1 if flag else 0
        longest = max(longest, run)
    return longest


def test_a_sweep_compares_at_each_value():
    found = sweep({"eager": {1: 10.0, 4: 20.0}, "fast": {4: 5.0, 1: 4.0, 8: 3.0}, "slow": {1: None, 4: 30.0}})
    assert found.baseline == "eager"
    assert [point.ratio for point in found.lines[0].points] == [1.0, 1.0]
    assert found.lines[1].points == [
        SweepPoint(value=1, time=4.0, ratio=0.4),
        SweepPoint(value=4, time=5.0, ratio=0.25),
    ]
    assert found.lines[1].left_out == [8]
    assert [(point.value, point.ratio) for point in found.lines[2].points] == [(4, 1.5)]
    assert found.lines[2].left_out == [1, 8]
    with pytest.raises(UsageError, match="'slower': no such executor; there are: eager"):
        sweep({"eager": {1: 1.0}}, "slower")


@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("eager_batch=4.sqlite", ("eager", "batch", 4.0)),
        ("out/llama_eager-seq_len=128.sqlite.xz", ("llama_eager", "seq_len", 128.0)),
        ("a.b=1_c=0.5.nsys-rep", ("a.b=1", "c", 0.5)),
    ],
)
def test_a_file_name_says_what_was_swept(file, found):
    assert swept(file) == Swept(executor=found[0], parameter=found[1], value=found[2])


@pytest.mark.parametrize("file", ["eager.sqlite", "batch=4.sqlite", "eager_batch=four.sqlite", "eager_=4.sqlite"])
def test_a_file_name_that_says_nothing_is_refused(file):
    with pytest.raises(UsageError, match="wants names such as"):
        swept(file)


def test_a_sweep_is_over_one_parameter():
    names = [swept("a_batch=1.sqlite"), swept("b_batch=1.sqlite")]
    assert by_executor(names, ["x", "y"]) == ("batch", {"a": {1.0: "x"}, "b": {1.0: "y"}})
    with pytest.raises(UsageError, match="one parameter; the files' names have batch, seq"):
        by_executor([*names, swept("a_seq=1.sqlite")], [1, 2, 3])


def test_the_time_of_a_loop_is_its_pace():
    assert loop_time(loop(["step"], 7.0)) == 7.0
    assert loop_time(stage(["step"], [5, 6, 9])) == 6.0


@pytest.mark.parametrize(
    ("lengths", "shared"), [([], True), ([0, 0], True), ([1, 20], True), ([1, 21], False), ([0, 7, 100], True)]
)
def test_bars_share_an_axis_if_the_longest_is_20_times_the_shortest_at_most(lengths, shared):
    assert comparable(lengths) == shared
