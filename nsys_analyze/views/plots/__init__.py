"""Plots of reports as matplotlib figures, for notebooks and files.

>>> import nsys_analyze
>>> report = nsys_analyze.open_report("report.sqlite")  # doctest: +SKIP
>>> nsys_analyze.plots.breakdown(report).savefig("breakdown.png")  # doctest: +SKIP

Every function returns a `matplotlib.figure.Figure` that belongs to nobody: pyplot knows nothing of it, so nothing needs
closing. ``size`` is (width, height) in inches; left out, a figure is 7 wide and as high as it needs to be, and its text
stays readable when it is shrunk to a column of 3.4. Matplotlib is loaded at the first plot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nsys_analyze.metrics.results import Analysis
from nsys_analyze.views.plots.sheet import Size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nsys_analyze.report import Report

__all__ = ["breakdown", "launches", "series", "startup", "sweep", "timeline"]


def breakdown(
    reports: Report | Analysis | Sequence[Report] | Sequence[Analysis],
    *,
    stage: str | None = None,
    depth: int | None = None,
    size: Size | None = None,
) -> Figure:
    """Draws where the time of each stage went: the host's parts beside each GPU's, as means over its instances.

    Args:
        reports: One or several reports, or their analyses.
        stage: A pattern as ``--stage`` takes it; left out, the loops and the top level of one report, or the main loop
            of each of several.
        depth: How many levels from a match (or, without a pattern, from the top) have a row: by default all for one
            report, and only the match itself for several.
        size: Width and height in inches.

    Raises:
        UsageError: If no stage matches.
    """
    from nsys_analyze.metrics.pictures import bars
    from nsys_analyze.views.plots import stacked_bars as view
    from nsys_analyze.views.plots.choosing import listed, several_stages
    from nsys_analyze.views.plots.style import settings

    subjects = several_stages(listed(reports), stage, depth)
    with settings():
        return view.draw(bars.breakdown(subjects.stages), subjects, size)


def startup(
    reports: Report | Analysis | Sequence[Report] | Sequence[Analysis],
    *,
    stage: str | None = None,
    depth: int | None = None,
    size: Size | None = None,
) -> Figure:
    """Draws the mean startup gap of each stage: prelude, launch and queue; what was hidden and what exposed.

    The arguments are those of `breakdown`; left out, ``stage`` stands for the loops and what they consist of.
    """
    from nsys_analyze.metrics.pictures import gaps
    from nsys_analyze.views.plots import waterfalls as view
    from nsys_analyze.views.plots.choosing import listed, loops
    from nsys_analyze.views.plots.reasons import Need
    from nsys_analyze.views.plots.style import settings

    subjects = loops(listed(reports), stage, depth, Need.GPU_WORK)
    with settings():
        return view.draw(gaps.startup(subjects.stages), subjects, size)


def series(
    reports: Report | Analysis | Sequence[Report] | Sequence[Analysis],
    *,
    stage: str | None = None,
    size: Size | None = None,
) -> Figure:
    """Draws every instance of one stage: elapsed time with the first instance and stalls marked, the startup gap below.

    Args:
        reports: One or several reports (a line each, at most seven), or their analyses.
        stage: A pattern as ``--stage`` takes it; of several matches, the one with most GPU time. Left out, the main
            loop.
        size: Width and height in inches.

    Raises:
        UsageError: If no stage matches.
    """
    from nsys_analyze.metrics.pictures.series import instance_series
    from nsys_analyze.views.plots import instances as view
    from nsys_analyze.views.plots.choosing import listed, one_stage
    from nsys_analyze.views.plots.reasons import Need
    from nsys_analyze.views.plots.style import settings

    subjects = one_stage(listed(reports), stage, Need.SERIES)
    with settings():
        return view.draw([instance_series(each) for each in subjects.stages], subjects, size)


def launches(
    reports: Report | Sequence[Report],
    *,
    stage: str | None = None,
    depth: int | None = None,
    size: Size | None = None,
) -> Figure:
    """Draws how long kernel launch calls took, on a logarithmic axis; each function's first launch apart.

    The arguments are those of `breakdown`, but that it takes reports only: an analysis does not hold every call.
    """
    from nsys_analyze.metrics.pictures.launch_times import launch_times
    from nsys_analyze.views.plots import histograms as view
    from nsys_analyze.views.plots.choosing import listed, several_stages
    from nsys_analyze.views.plots.reasons import Need
    from nsys_analyze.views.plots.style import settings

    opened = [*reports] if isinstance(reports, Sequence) else [reports]
    subjects = several_stages(listed(opened), stage, depth, Need.LAUNCHES)
    data = launch_times([(opened[subject.place], subject.stage) for subject in subjects.shown])
    with settings():
        return view.draw(data, subjects, size)


def timeline(
    report: Report, *, stage: str | None = None, instance: int | None = None, size: Size | None = None
) -> Figure:
    """Draws one instance of a stage: its ranges, the CUDA calls of its threads, the streams of its GPUs.

    Args:
        report: The report.
        stage: As for `series`.
        instance: Which one, counted from 0 in order of start; left out, the median one by elapsed time.
        size: Width and height in inches.

    Raises:
        UsageError: If no stage matches, or there is no such instance.
    """
    from nsys_analyze.metrics.pictures.timeline import timeline as lanes
    from nsys_analyze.views.plots import tracks as view
    from nsys_analyze.views.plots.choosing import listed, one_stage
    from nsys_analyze.views.plots.style import settings

    subjects = one_stage(listed(report), stage)
    data = lanes(report, subjects.stages[0], instance) if subjects.shown else None
    with settings():
        return view.draw(data, subjects, size)


def sweep(
    results: Mapping[str, Mapping[float, Report | Analysis | float | None]],
    *,
    parameter: str = "batch size",
    baseline: str | None = None,
    stage: str | None = None,
    size: Size | None = None,
) -> Figure:
    """Draws how executors compare with one of them while a parameter grows.

    Args:
        results: For each executor, what was measured at each value of the parameter: a report or an analysis (which
            give the stage's pace, else its median elapsed time), a time in ns, or None for none.
        parameter: The name of the parameter.
        baseline: The executor that the others are multiples of; the first, if left out.
        stage: As for `series`.
        size: Width and height in inches.

    Raises:
        UsageError: If there is no such baseline, or no stage matches.
    """
    from nsys_analyze.metrics.pictures.sweep import sweep as ratios
    from nsys_analyze.views.plots import sweep_lines as view
    from nsys_analyze.views.plots.choosing import loop_times
    from nsys_analyze.views.plots.style import settings

    times, what, why = loop_times(results, stage)
    with settings():
        return view.draw(ratios(times, baseline), parameter, what, why, size)
