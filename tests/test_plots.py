"""Plots: how they look, that text stays inside them, and that names cannot break them."""

from __future__ import annotations

import dataclasses
import json
import shutil
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.testing.compare import compare_images
from matplotlib.text import Text

import nsys_analyze
from nsys_analyze import open_report, plots
from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.loops import main_loops
from nsys_analyze.views.plots import choosing
from nsys_analyze.views.plots.choosing import one_stage, several_stages
from nsys_analyze.views.plots.direct import apart
from nsys_analyze.views.plots.files import rendered
from nsys_analyze.views.plots.lettering import fitted, fitting, safe, width, wrapped
from nsys_analyze.views.plots.style import GREEN
from tests.plot_samples import BASELINES, PLOTS, SAMPLE, SWEEP, WORDS, without_text, words
from tests.view_samples import HOSTILE, analysis, llama, many_stages, stage

TOLERANCE = 1.0  # root mean square over the pixels, of 255
SIZES = (None, (7.0, 4.0), (3.4, 2.6), (3.4, 4.5), (8.0, 4.5), (12.0, 3.0))
NAMES = (
    "<script>alert(1)</script>",
    "$x^2$ and $\\frac{1}",
    "two\nlines\tand\x00NUL",
    "\u05e9\u05dc\u05d5\u05dd \u202eright to left",
    "\x1b[31mred\x07",
    "\u4e2d\u6587 \U0001f680 e\u0301",
    "x" * 10_000,
    "-->",
    "&amp; ]]>",
    "%s {0} %(a)s",
    "",
)


@pytest.fixture(scope="module")
def report(sample_report):
    return open_report(sample_report(SAMPLE))


@pytest.fixture(scope="module")
def reports(sample_report):
    names = (
        "llama_eager",
        "llama_thunder_torch",
        "llama_thunder_nvfuser",
        "vit_train_eager",
        "inductor_compile_phases",
    )
    return [open_report(sample_report(name)) for name in names]


@pytest.mark.parametrize("kind", PLOTS)
def test_a_plot_looks_as_it_did(kind, report, tmp_path):
    plot = PLOTS[kind](report)
    expected = shutil.copy(BASELINES / f"{kind}.png", tmp_path / "expected.png")
    without_text(plot.draw, plot.data, tmp_path / "right.png")
    without_text(plot.draw, plot.wrong, tmp_path / "wrong.png")
    assert compare_images(str(expected), str(tmp_path / "right.png"), TOLERANCE) is None
    assert "Error" in (compare_images(str(expected), str(tmp_path / "wrong.png"), TOLERANCE) or "")


@pytest.mark.parametrize("kind", PLOTS)
def test_a_plot_says_what_it_did(kind, report):
    """Pictures are compared without their text, so a wrong number on a bar shows here only."""
    plot = PLOTS[kind](report)
    assert words(plot.draw, plot.data) == json.loads(WORDS.read_text(encoding="utf-8"))[kind]


def texts(figure):
    """What is written on a figure; axes also keep labels of ticks that lie beyond their ends, which are not drawn."""
    beyond = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            beyond |= {tick.label1 for tick in ticks if not low <= tick.get_loc() <= high}
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text() and text not in beyond]


def check_text(figure):
    """All text lies inside the figure, and none on another."""
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    found = texts(figure)
    left, bottom, right, top = np.array([text.get_window_extent(renderer).extents for text in found]).T
    outside = (left < -1) | (bottom < -1) | (right > figure.bbox.x1 + 1) | (top > figure.bbox.y1 + 1)
    assert not [found[place].get_text() for place in np.flatnonzero(outside)]
    across = np.minimum.outer(right, right) - np.maximum.outer(left, left)
    down = np.minimum.outer(top, top) - np.maximum.outer(bottom, bottom)
    pairs = np.argwhere(np.triu((across > 4) & (down > 4), 1))
    assert not [(found[one].get_text(), found[other].get_text()) for one, other in pairs]


def drawn(kind, reports, size):
    if kind == "sweep":
        return plots.sweep(SWEEP, size=size)
    several = reports if kind != "timeline" else reports[0]
    return getattr(plots, kind)(several, size=size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", PLOTS)
def test_text_is_never_clipped_nor_on_other_text(kind, size, reports):
    check_text(drawn(kind, reports, size))


@pytest.mark.parametrize("size", SIZES[:3])
@pytest.mark.parametrize("kind", [kind for kind in PLOTS if kind != "sweep"])
def test_text_of_one_report_is_never_clipped(kind, size, reports):
    for report in reports[2:]:
        check_text(drawn(kind, [report], size))


@pytest.mark.parametrize("kind", PLOTS)
def test_text_is_readable_in_a_column(kind, reports):
    figure = drawn(kind, reports, None)
    assert figure.get_figwidth() == 7.0
    assert figure.dpi == 200
    shrunk = 3.4 / 7.0
    assert min(text.get_fontsize() for text in texts(figure)) * shrunk >= 4.3


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:20])
def test_names_are_harmless(name, builder, tmp_path):
    process = builder.process(pid=100, name=name or "python3")
    thread = process.thread()
    for place in range(3):
        at = place * 1_000_000
        thread.push_pop(name, at, at + 900_000)
        thread.call("cudaLaunchKernel_v7000", at + 10_000, at + 20_000).kernel(name or "k", at + 30_000, at + 800_000)
    report = open_report(builder.write(tmp_path / "report.sqlite"))
    figures = [getattr(plots, kind)(report) for kind in PLOTS if kind != "sweep"]
    figures.append(plots.sweep({name: {1: 5.0, 2: 4.0}, "other": {1: 3.0, 2: 2.0}}, parameter=name))
    for figure in figures:
        check_text(figure)
        svg = rendered(figure, "svg")
        assert rendered(figure, "png")
        assert "script" not in {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()}
        assert all(text.get_text().isprintable() for text in texts(figure))


@pytest.mark.parametrize("kind", PLOTS)
def test_what_is_empty_is_a_sentence(kind, builder, tmp_path):
    builder.process(pid=100).thread().push_pop("idle", 0, 0)
    report = open_report(builder.write(tmp_path / "report.sqlite"))
    if kind in ("series", "timeline"):
        builder.rows.clear()
        builder.process(pid=100)
        report = open_report(builder.write(tmp_path / "report.sqlite"))
    figure = plots.sweep({}) if kind == "sweep" else getattr(plots, kind)(report)
    assert any(text.get_text().startswith("Nothing to draw") for text in texts(figure))
    assert not figure.axes


def test_hostile_analyses_are_drawn():
    for kind in ("breakdown", "startup", "series"):
        check_text(getattr(plots, kind)([analysis(stages=[stage([name], [1e6], 3, 500_000) for name in HOSTILE])] * 2))


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_files_are_the_same_every_time(kind, report):
    first, second = (rendered(plots.timeline(report), kind) for _ in range(2))
    assert first == second
    assert b"matplotlib.org" not in first.split(b"<g ")[0]


def test_settings_of_the_user_do_not_show_and_come_back(report):
    usual = rendered(plots.startup(report), "svg")
    with mpl.rc_context({"text.usetex": True, "font.size": 30, "axes.grid": True, "savefig.bbox": "tight"}):
        assert rendered(plots.startup(report), "svg") == usual
        assert mpl.rcParams["font.size"] == 30


def test_a_picture_of_thousands_of_kernels_is_small(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    thread.push_pop("step", 0, 50_000_000)
    for place in range(5_000):
        at = 1_000 + place * 9_000
        thread.call("cudaLaunchKernel_v7000", at, at + 2_000).kernel(f"k{place % 7}", at + 3_000, at + 8_000)
    report = open_report(builder.write(tmp_path / "report.sqlite"))
    figure = plots.timeline(report)
    assert len(rendered(figure, "svg")) < 400_000
    assert len(rendered(figure, "png")) < 150_000


def test_a_stream_looks_as_busy_as_it_was(reports):
    """Thousands of kernels that are thinner than a pixel must not look like a GPU that never rests."""
    vit = reports[3]
    step = next(each for each in vit.analysis().stages if each.name == "step" and each.pace_ns)
    window = step.gpu_window_ns[0]
    axes = plots.timeline(vit).axes[0]
    green = [each for each in axes.collections if [to_hex(fill).upper() for fill in each.get_facecolor()] == [GREEN]]
    boxes = [path.get_extents() for each in green for path in each.get_paths()]
    high, wide = max(box.height for box in boxes), axes.get_xlim()[1]
    assert sum(box.width * box.height for box in boxes) / high / wide == pytest.approx(
        window.own / window.window, rel=0.1
    )


def test_stages_are_chosen_as_said(report, reports):
    one, several = [report.analysis()], [each.analysis() for each in reports]
    assert [each.name for each in several_stages(one, None, None).shown] == [
        *("import", "build", "compile", "warmup", "steady"),
        "steady / step",
    ]
    vit = [several[3]]
    assert len(several_stages(vit, "steady/step", None).shown) == 4
    assert len(several_stages(vit, "steady/step", 1).shown) == 1
    assert [each.name for each in several_stages(several, "steady/step", None).shown] == ["steady / step"] * 5
    assert several_stages(several, None, None).labels[:2] == ["llama_eager", "llama_thunder_torch"]
    assert several_stages(several, None, None).common == "5 reports · steady / step"
    assert one_stage(one, None).common == "llama_thunder_torch · steady / step"
    with pytest.raises(UsageError, match="stedy: matches no stage \\(nearest: steady"):
        one_stage(one, "stedy")


def test_stages_are_chosen_in_one_go(monkeypatch):
    """Looking for loops again for each of a thousand stages took longer than all the rest."""
    calls = []
    monkeypatch.setattr(choosing, "main_loops", lambda *given: calls.append(given) or main_loops(*given))
    assert several_stages([many_stages(1_000)], None, None).shown
    assert len(calls) <= 2


def test_reports_and_analyses_are_taken_alike(report):
    svg = rendered(plots.startup(report), "svg")
    assert rendered(plots.startup(report.analysis()), "svg") == svg
    assert rendered(nsys_analyze.plots.startup([report]), "svg") == svg


def test_a_sweep_takes_analyses():
    results = {"eager": {1: llama("eager"), 4: 2e6}, "cudagraphs": {1: llama("cudagraphs"), 4: 1e6}}
    figure = plots.sweep(results)
    assert any(text.get_text() == "cudagraphs 0.50x" for text in texts(figure))


def test_a_far_first_instance_and_stalls_are_told():
    report = llama("eager")
    looping = next(each for each in report.stages if each.series)
    series = dataclasses.replace(looping.series, elapsed_ns=[90_000_000, *looping.series.elapsed_ns[1:]])
    figure = plots.series(dataclasses.replace(report, stages=[dataclasses.replace(looping, series=series)]))
    assert any("took 90.0 ms, an arrow" in text.get_text() for text in texts(figure))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("far", [10_000_000, 5_000_000_000, 5_000_000_000_000])
def test_a_logarithmic_axis_has_plain_numbers(far, size, builder, tmp_path):
    thread, at = builder.process(pid=100).thread(), 0
    for length in (*[400_000] * 8, far, 400_000):
        thread.push_pop("step", at, at + length)
        thread.call("cudaLaunchKernel_v7000", at + 10_000, at + 20_000).kernel("k", at + 30_000, at + 90_000)
        at += length
    figure = plots.series(open_report(builder.write(tmp_path / "report.sqlite")), size=size)
    assert figure.axes[0].get_yscale() == "log"
    check_text(figure)
    assert not [text.get_text() for text in texts(figure) if "$" in text.get_text()]


def test_lettering():
    assert safe("a\u4e2db\n") == "a\\u4e2db\\n"
    assert fitted("a" * 50, 60, 10).count("…") == 1
    assert width(fitted("W" * 50, 60, 10), 10) <= 60
    assert fitted("long enough", 3, 10) == ""
    assert fitting(["one", "two", "three"], width("one, two, +1", 10), 10) == "one, two, +1"
    assert fitting(["one"], 2, 10) == ""
    assert all(width(line, 10) <= 80 for line in wrapped("some words and averyveryverylongwordindeed", 80, 10))


def test_labels_move_apart():
    assert apart([10, 11, 50], 10, 0, 100) == [10, 20, 50]
    assert apart([98, 99], 10, 0, 100) == [90, 100]
    assert apart([5, 5, 5], 60, 0, 100) == [0, 50, 100]
    assert apart([], 10, 0, 100) == []
