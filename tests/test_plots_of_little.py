"""Plots of reports that lack something: they give the true reason, and never call idle what is unknown."""

from __future__ import annotations

import pytest
from matplotlib.text import Text

from nsys_analyze import open_report, plots
from nsys_analyze.metrics.pictures.timeline import timeline
from nsys_analyze.views.plots.choosing import several_stages
from nsys_analyze.views.plots.reasons import Need
from tests.samples import SAMPLES
from tests.view_samples import MS, US

KINDS = ("breakdown", "startup", "series", "launches", "timeline", "sweep")
LAUNCH = "cudaLaunchKernel_v7000"


def steps(builder, *, ranges=True, calls=True, kernels=(0, 1, 2), finished=True, count=3, **domain):
    """Fill an export with steps of three launches each; those whose number is not in ``kernels`` lost their kernel."""
    thread = builder.process(pid=100).thread()
    for step in range(count):
        start = step * MS
        if ranges:
            thread.push_pop(f"step {step}", start, start + 900 * US if finished else None, **domain)
        for number in range(3) if calls else ():
            at = start + (10 + 100 * number) * US
            call = thread.call(LAUNCH, at, at + 10 * US)
            if number in kernels:
                call.kernel("gemm", at + 20 * US, at + 70 * US)
    return thread


def no_nvtx(builder):
    steps(builder, ranges=False)


def no_cuda(builder):
    steps(builder, calls=False)


def no_kernels(builder):
    steps(builder, kernels=())


def only_copies(builder):
    at = MS + 500 * US
    steps(builder, kernels=()).call("cudaMemcpyAsync_v3020", at, at + 5 * US).memcpy(at + 10 * US, at + 20 * US)


def no_calls(builder):
    steps(builder, calls=False).process.orphan_kernel("k", 50 * US, 90 * US)


def elsewhere(builder):
    steps(builder, calls=False).call(LAUNCH, 9 * MS, 9 * MS + 10).kernel("k", 9 * MS + 20, 9 * MS + 40)


def nothing_finished(builder):
    steps(builder, finished=False, count=1)


def all_in_another_domain(builder):
    steps(builder).mark("m", 5, domain="empty")


NO_CUDA = "no CUDA calls and no GPU operations: only wall times are known; capture with --trace cuda,nvtx"
NO_OPS = "9 CUDA calls but no GPU operation; the profiler may be older than the driver"
UNKNOWN = "launch calls, but no kernel of theirs: what the ranges put on the GPU is unknown"
UNTRACED = "1 GPU operation and no CUDA API call, so that none can be traced back to a range"
OUTSIDE = "none of the report's GPU operations (1) belongs to a stage"
NO_NVTX = "no NVTX ranges, so there are no stages; annotate the program, capture with --trace cuda,nvtx"
NO_DOMAIN = "no range is in the NVTX domain empty: no stages"
OF_GPU = ("startup", "launches")  # what is drawn of GPU work only

CASES = [
    (no_nvtx, {}, KINDS, NO_NVTX),
    (all_in_another_domain, {"domains": ["empty"]}, KINDS, NO_DOMAIN),
    (no_cuda, {}, OF_GPU, NO_CUDA),
    (no_kernels, {}, OF_GPU, NO_OPS),
    (only_copies, {}, OF_GPU, UNKNOWN),
    (no_calls, {}, OF_GPU, UNTRACED),
    (elsewhere, {}, OF_GPU, OUTSIDE),
    (nothing_finished, {}, ("sweep",), "no instance ended within the capture"),
]


def drawn(kind, report):
    return plots.sweep({"eager": {1: report}}) if kind == "sweep" else getattr(plots, kind)(report)


def words(figure):
    """All that is written on a figure, as one line."""
    return " ".join(text.get_text() for text in figure.findobj(Text) if text.get_text())


@pytest.fixture
def opened(builder, tmp_path):
    def write_and_open(fill, **options):
        fill(builder)
        return open_report(builder.write(tmp_path / "some.sqlite"), **options)

    return write_and_open


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("fill", "options", "empty", "reason"), CASES, ids=lambda value: getattr(value, "__name__", "")
)
def test_what_cannot_be_drawn_says_truly_why(opened, fill, options, empty, reason, kind):
    figure = drawn(kind, opened(fill, **options))
    said = words(figure)
    assert "0 reports" not in said
    assert bool(figure.axes) == (kind not in empty)
    if kind in empty:
        assert f"Nothing to draw: {reason}." in said.replace("no executor has a time to compare (", "").replace(
            ").", "."
        )
        assert "some" in said or kind == "sweep"
    elif kind in ("series", "timeline") and fill is not nothing_finished:
        assert reason in said


def test_a_report_without_a_row_is_named(opened, sample_report):
    some, sample = opened(no_nvtx), open_report(sample_report("llama_eager"))
    for kind in ("breakdown", "startup", "series", "launches"):
        assert f"Not shown: some: {NO_NVTX}." in words(getattr(plots, kind)([sample, some]))


def test_a_series_without_gpu_work_is_one_frame(opened):
    figure = plots.series(opened(no_cuda))
    assert len(figure.axes) == 1
    assert f"No startup gap: {NO_CUDA}." in words(figure)
    assert figure.axes[0].get_xlabel() == "instance, in order of start"


def test_what_never_ended_is_said(opened):
    report = opened(nothing_finished)
    for kind in ("breakdown", "startup", "series", "launches"):
        assert "1 instance never ended." in words(getattr(plots, kind)(report))
    assert "it never ended, and is cut at the end of the capture" in words(plots.timeline(report))


def test_one_instance_has_one_tick(opened):
    report = opened(lambda builder: steps(builder, count=1))
    figure = plots.series(report)
    figure.draw_without_rendering()
    for axes in figure.axes:
        low, high = axes.get_xlim()
        assert [at for at in axes.get_xticks() if low <= at <= high] == [0.0]


def idle(found):
    (spans,) = found.idle.values()
    return [(span.kind, span.start // US, span.end // US) for span in spans]


@pytest.mark.parametrize(
    ("kernels", "expected"),
    [
        ((0, 1, 2), [("startup", 0, 30), ("between", 80, 130), ("between", 180, 230), ("tail", 280, 900)]),
        ((0, 2), [("startup", 0, 30), ("between", 80, 110), ("tail", 280, 900), ("unknown", 110, 230)]),
        ((1, 2), [("startup", 0, 10), ("between", 180, 230), ("tail", 280, 900), ("unknown", 10, 130)]),
        (
            (0, 1),
            [("between", 80, 130), ("tail", 180, 210), ("unknown", 0, 30), ("unknown", 210, 900)],
        ),
    ],
)
def test_idle_times_in_which_lost_work_may_have_run_are_unknown(opened, kernels, expected):
    report = opened(lambda builder: steps(builder, kernels=kernels))
    (stage,) = report.analysis().stages
    found = timeline(report, stage, 2)
    assert idle(found) == expected
    assert found.lost == 3 - len(kernels)
    said = words(plots.timeline(report, instance=2))
    assert ("unknown: work may be missing" in said) == (len(kernels) < 3)
    assert ("1 launch call of it has no GPU operation" in said) == (len(kernels) < 3)


def test_work_that_another_stage_lost_hides_idle_times_too(opened):
    def fill(builder):
        thread = steps(builder, count=1)
        thread.push_pop("other", 2 * MS, 4 * MS)
        thread.call(LAUNCH, 2 * MS, 2 * MS + 10)
        thread.push_pop("last", 5 * MS, 6 * MS)
        thread.call(LAUNCH, 5 * MS + 100 * US, 5 * MS + 110 * US).kernel("k", 5 * MS + 200 * US, 5 * MS + 500 * US)

    report = opened(fill)
    stage = next(each for each in report.analysis().stages if each.name == "last")
    found = timeline(report, stage)
    assert idle(found) == [("tail", 500, 1000), ("unknown", 0, 200)]
    assert found.lost == 0


@pytest.mark.parametrize(("fill", "begin"), [(no_kernels, 10), (no_cuda, 0), (only_copies, 10)])
def test_where_no_gpu_work_is_known_a_track_says_so(opened, fill, begin):
    report = opened(fill)
    (stage,) = report.analysis().stages
    found = timeline(report, stage, 2)
    assert [(span.kind, span.start // US, span.end // US) for span in found.unseen] == [("unknown", begin, 900)]
    assert found.streams == []
    assert "unknown" in {label.get_text() for label in plots.timeline(report, instance=2).axes[0].texts}


@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_is_unknown_where_nothing_is_lost(name, sample_report):
    report = open_report(sample_report(name))
    lost = report.analysis().coverage.launches_without_gpu_op
    kinds = {
        span.kind
        for stage in report.analysis().stages[:20]
        for spans in timeline(report, stage).idle.values()
        for span in spans
    }
    assert lost or "unknown" not in kinds


@pytest.mark.parametrize("need", Need)
def test_the_main_loop_of_each_rank_has_its_place(need, sample_report):
    analysis = open_report(sample_report("llama_train_fsdp")).analysis()
    for pattern, depth in ((None, None), (None, 2), ("steady", None)):
        shown = several_stages([analysis], pattern, depth, need)
        found = [(each.stage.process, each.stage.path) for each in shown.shown]
        assert len(found) <= 8
        for process in {stage.process for stage in analysis.stages}:
            assert (process, ["steady", "step"]) in found


def test_stages_with_nothing_to_show_take_no_place(opened):
    def fill(builder):
        thread = steps(builder)
        for number in range(12):
            thread.push_pop(f"idle_{number}", (number + 1) * 10 * MS, (number + 1) * 10 * MS + 9 * MS)
        thread.push_pop("short", 200 * MS, 200 * MS + 100)
        thread.call(LAUNCH, 200 * MS + 1, 200 * MS + 2).kernel("k", 200 * MS + 10, 200 * MS + 20)

    report = opened(fill)
    for need in (Need.GPU_WORK, Need.LAUNCHES):
        subjects = several_stages([report.analysis()], None, 1, need)
        assert sorted(each.name for each in subjects.shown) == ["short", "step"]
        assert subjects.empty == 12
        assert "12 stages are not shown, having nothing to show." in subjects.notes
    subjects = several_stages([report.analysis()], None, 1)
    assert (len(subjects.shown), subjects.left_out) == (8, 6)
    assert "step" in {each.name for each in subjects.shown}


def test_means_are_said_of_the_rows_that_are_means(sample_report):
    report = open_report(sample_report("llama_eager"))
    said = words(plots.breakdown(report))
    assert "Means over" not in said
    assert "steady / step, mean of 10" in said
    assert "steady, mean" not in said
    assert "Means over 10 instances." in words(plots.breakdown(report, stage="steady/step"))
    assert "mean of" not in words(plots.breakdown(report, stage="build"))


@pytest.mark.parametrize("kind", ["breakdown", "startup", "launches"])
def test_a_name_of_any_length_leaves_the_numbers_their_place(builder, tmp_path, kind):
    thread = builder.process(pid=100, name="p" * 10_000).thread()
    name = "x" * 10_000
    for start in (0, MS):
        thread.push_pop(name, start, start + 900 * US)
        for number in range(2):
            at = start + (10 + 100 * number) * US
            thread.call(LAUNCH, at, at + 10 * US).kernel(name, at + 20 * US, at + 800 * US - number * 90 * US)
    said = words(getattr(plots, kind)(open_report(builder.write(tmp_path / "report.sqlite"))))
    expected = {"breakdown": "exposed 30.0 us (", "startup": ": 30.0 us", "launches": "3 calls: median 10.0 us"}
    assert expected[kind] in said
