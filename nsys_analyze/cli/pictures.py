"""Pictures of reports: which plot, of what, as which kind of file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nsys_analyze.cli.options import progress
from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.results import Analysis
from nsys_analyze.views.text import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nsys_analyze.report import Report

SUFFIXES = {".png": "png", ".svg": "svg", ".pdf": "pdf"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What was asked for: the kind of plot, of which stages or instance; ``of_tables`` are options for tables only."""

    plot: str | None
    stage: tuple[str, ...]
    depth: int | None
    instance: int | None
    of_tables: Sequence[str] = ()

    @property
    def pattern(self) -> str | None:
        """The one pattern that a picture may have."""
        return self.stage[0] if self.stage else None


def check(picture: Picture, kind: str, reports: Sequence[str]) -> None:
    """Refuses what does not go together, before a report is read.

    Raises:
        UsageError: If the options of pictures do not fit each other, the format, or the number of reports.
    """
    if kind not in SUFFIXES.values():
        if picture.plot or picture.instance is not None:
            option = "--plot" if picture.plot else "--instance"
            raise UsageError(f"{option} is for pictures: write one with -o FILE{' or FILE'.join(SUFFIXES)}")
        return
    plot = picture.plot or next(iter(_PLOTS))
    if plot not in _PLOTS:
        raise UsageError(f"--plot {visible(plot)}: no such plot; there are: {', '.join(_PLOTS)}")
    for option in picture.of_tables:
        hint = "; the picture of it is --plot breakdown" if option == "--breakdown" else ""
        raise UsageError(f"{option} is for tables: it does not go with a picture{hint}")
    if len(picture.stage) > 1:
        raise UsageError("a picture takes one --stage; * in it stands for any characters")
    _check_plot(plot, picture, len(reports))


def _check_plot(plot: str, picture: Picture, reports: int) -> None:
    if picture.instance is not None and plot != "timeline":
        raise UsageError("--instance is for --plot timeline")
    if plot == "timeline" and reports > 1:
        raise UsageError("--plot timeline is of one report")
    if picture.depth is not None and plot in _OF_ONE_STAGE:
        raise UsageError(f"--plot {plot} is of one stage: it does not go with --depth")


def draw(picture: Picture, kind: str, reports: Sequence[Report], analyses: Sequence[Analysis]) -> bytes:
    """Returns the picture as a file of that kind.

    Args:
        picture: What was asked for, which `check` has passed.
        kind: png, svg or pdf.
        reports: The reports.
        analyses: Their analyses, with the stages that may be drawn.
    """
    with progress("drawing"):
        from nsys_analyze.views.plots.files import rendered

        figure = _PLOTS[picture.plot or next(iter(_PLOTS))](picture, reports, analyses)
        return rendered(figure, kind)


def _breakdown(picture: Picture, _: Sequence[Report], analyses: Sequence[Analysis]) -> Figure:
    from nsys_analyze.views import plots

    return plots.breakdown(analyses, stage=picture.pattern, depth=picture.depth)


def _startup(picture: Picture, _: Sequence[Report], analyses: Sequence[Analysis]) -> Figure:
    from nsys_analyze.views import plots

    return plots.startup(analyses, stage=picture.pattern, depth=picture.depth)


def _series(picture: Picture, _: Sequence[Report], analyses: Sequence[Analysis]) -> Figure:
    from nsys_analyze.views import plots

    return plots.series(analyses, stage=picture.pattern)


def _launches(picture: Picture, reports: Sequence[Report], _: Sequence[Analysis]) -> Figure:
    from nsys_analyze.views import plots

    return plots.launches(reports, stage=picture.pattern, depth=picture.depth)


def _timeline(picture: Picture, reports: Sequence[Report], _: Sequence[Analysis]) -> Figure:
    from nsys_analyze.views import plots

    return plots.timeline(reports[0], stage=picture.pattern, instance=picture.instance)


def _sweep(picture: Picture, reports: Sequence[Report], analyses: Sequence[Analysis]) -> Figure:
    from nsys_analyze.metrics.pictures.sweep import by_executor, swept
    from nsys_analyze.views import plots

    parameter, results = by_executor([swept(str(report.path)) for report in reports], analyses)
    return plots.sweep(results, parameter=parameter, stage=picture.pattern)


_Plot = Callable[[Picture, "Sequence[Report]", Sequence[Analysis]], "Figure"]
_PLOTS: dict[str, _Plot] = {
    "breakdown": _breakdown,
    "startup": _startup,
    "series": _series,
    "launches": _launches,
    "timeline": _timeline,
    "sweep": _sweep,
}
_OF_ONE_STAGE = ("series", "timeline", "sweep")
KINDS = tuple(_PLOTS)
