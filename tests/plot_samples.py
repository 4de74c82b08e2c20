"""One plot a kind of the sample reports: its data, how it is drawn, and the data with one value 10% off.

``python -m tests.plot_samples`` draws anew what the plots are compared with.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from nsys_analyze import open_report
from nsys_analyze.metrics.pictures import bars, gaps, launch_times, series, sweep, timeline
from nsys_analyze.views.plots import histograms, instances, stacked_bars, sweep_lines, tracks, waterfalls
from nsys_analyze.views.plots.choosing import one_stage, several_stages
from nsys_analyze.views.plots.style import settings

BASELINES = Path(__file__).parent / "data" / "plots"
WORDS = BASELINES / "words.json"
SAMPLE = "llama_thunder_torch"
SWEEP = {
    "eager": {1.0: 1_669_000.0, 4.0: 1_702_000.0, 16.0: 3_105_000.0},
    "inductor": {1.0: 995_000.0, 4.0: 1_110_000.0, 16.0: 2_610_000.0},
    "cudagraphs": {1.0: 232_000.0, 4.0: 512_000.0, 16.0: None},
}


class Plot(NamedTuple):
    """Data of a plot, the same with a wrong value, and what draws either."""

    data: Any
    wrong: Any
    draw: Callable[[Any], Any]


def changed(item: Any, **values: Any) -> Any:
    return dataclasses.replace(item, **values)


def with_changed(items: list[Any], place: int, **values: Any) -> list[Any]:
    return [changed(item, **values) if at == place else item for at, item in enumerate(items)]


def breakdown(report: Any) -> Plot:
    subjects = several_stages([report.analysis()], "steady/step", None)
    data = bars.breakdown(subjects.stages)
    (stage,) = data.stages
    bar = stage.bars[1]
    part = changed(bar.parts[1], time=bar.parts[1].time * 1.1)
    wrong_bar = changed(bar, parts=[bar.parts[0], part, *bar.parts[2:]])
    wrong = changed(data, stages=[changed(stage, bars=[stage.bars[0], wrong_bar])])
    return Plot(data, wrong, lambda some: stacked_bars.draw(some, subjects, None))


def startup(report: Any) -> Plot:
    subjects = several_stages([report.analysis()], "steady/step", None)
    data = gaps.startup(subjects.stages)
    (fall,) = data.stages
    hidden, exposed = fall.gpu
    more = hidden.length * 0.1
    gpu = [changed(hidden, length=hidden.length + more), changed(exposed, start=exposed.start + more)]
    return Plot(
        data, changed(data, stages=[changed(fall, gpu=gpu)]), lambda some: waterfalls.draw(some, subjects, None)
    )


def instance_series(report: Any) -> Plot:
    subjects = one_stage([report.analysis()], "steady/step")
    data = [series.instance_series(stage) for stage in subjects.stages]
    median = list(data[0].elapsed.median)
    median[4] *= 1.1
    wrong = [changed(data[0], elapsed=changed(data[0].elapsed, median=median, low=median, high=median))]
    return Plot(data, wrong, lambda some: instances.draw(some, subjects, None))


def launches(report: Any) -> Plot:
    subjects = several_stages([report.analysis()], None, 1)
    data = launch_times.launch_times([(report, stage) for stage in subjects.stages])
    counts = list(data[-1].counts)
    fullest = counts.index(max(counts))
    counts[fullest + 1] = round(counts[fullest + 1] - 0.1 * counts[fullest])
    return Plot(
        data, [*data[:-1], changed(data[-1], counts=counts)], lambda some: histograms.draw(some, subjects, None)
    )


def timeline_of_an_instance(report: Any) -> Plot:
    subjects = one_stage([report.analysis()], "steady/step")
    data = timeline.timeline(report, subjects.stages[0], 3)
    lane = data.streams[0]
    place = max(range(len(lane.spans)), key=lambda at: lane.spans[at].end - lane.spans[at].start)
    span = lane.spans[place]
    start = span.start - (span.end - span.start) // 10
    wrong = changed(data, streams=[changed(lane, spans=with_changed(lane.spans, place, start=start))])
    return Plot(data, wrong, lambda some: tracks.draw(some, subjects, None))


def executors(_: Any) -> Plot:
    data = sweep.sweep(SWEEP)
    points = with_changed(data.lines[1].points, 1, ratio=data.lines[1].points[1].ratio * 1.1)
    wrong = changed(data, lines=with_changed(data.lines, 1, points=points))
    return Plot(data, wrong, lambda some: sweep_lines.draw(some, "batch size", "steady / step", "", None))


PLOTS = {
    "breakdown": breakdown,
    "startup": startup,
    "series": instance_series,
    "launches": launches,
    "timeline": timeline_of_an_instance,
    "sweep": executors,
}


def without_text(draw: Callable[[Any], Any], data: Any, target: Any) -> None:
    """Draws to a small PNG without any text, whose pixels depend on the version of FreeType."""
    from matplotlib.text import Text

    with settings():
        figure = draw(data)
        for text in figure.findobj(Text):
            text.set_alpha(0)
            if text.get_bbox_patch() is not None:
                text.set_bbox(None)
        figure.savefig(target, dpi=60, metadata={"Software": None})


def words(draw: Callable[[Any], Any], data: Any) -> list[str]:
    """What is written on a plot, in the order of drawing, but for the numbers along its axes."""
    with settings():
        figure = draw(data)
    names = [axes.get_ylabel() or axes.get_xlabel() for axes in figure.axes]
    beside = [label.get_text() for axes in figure.axes[:1] for label in axes.get_yticklabels()]
    written = [text.get_text() for where in (figure, *figure.axes) for text in where.texts]
    return [each for each in (*written, *names, *(name for name in beside if name[:1].isalpha())) if each]


if __name__ == "__main__":
    texts = {}
    sample = open_report(Path(__file__).parent / "reports" / f"{SAMPLE}.sqlite.xz")
    for kind, make in PLOTS.items():
        plot = make(sample)
        without_text(plot.draw, plot.data, BASELINES / f"{kind}.png")
        texts[kind] = words(plot.draw, plot.data)
    WORDS.write_text(json.dumps(texts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
