"""A report as a trace for https://ui.perfetto.dev, in Perfetto's own format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nsys_analyze._version import __version__
from nsys_analyze.metrics.excerpt import Excerpt
from nsys_analyze.metrics.results import Analysis
from nsys_analyze.views.trace_gpu import gpu_slices
from nsys_analyze.views.trace_host import host_slices
from nsys_analyze.views.trace_layout import Layout, Tracks
from nsys_analyze.views.trace_names import shown
from nsys_analyze.views.trace_packets import packets

if TYPE_CHECKING:
    from nsys_analyze.report import Report


@dataclass(frozen=True, slots=True)
class Rendered:
    """A trace: how many slices and counter values it has, and its bytes piece by piece."""

    events: int
    pieces: Iterator[bytes]


def render(report: Report, analysis: Analysis, kept: Excerpt, about: dict[str, str]) -> Rendered:
    """Draws what is kept of a report.

    Args:
        report: The report.
        analysis: Its stages, all of them, by path.
        kept: Which of its rows are drawn.
        about: What else the trace says of itself.
    """
    tracks = Tracks()
    host = host_slices(report, analysis, kept, tracks)
    gpu, counters = gpu_slices(report, kept, tracks)
    layout = Layout(
        about=_about(analysis, about),
        tracks=tracks.all,
        slices=[slices for slices in (*host, gpu) if len(slices)],
        counters=[counter for counter in counters if len(counter.instant)],
    )
    return Rendered(layout.events, packets(layout))


def _about(analysis: Analysis, asked: dict[str, str]) -> dict[str, str]:
    info, settings = analysis.report, analysis.settings
    texts = {
        "tool": f"nsys-analyze {__version__}",
        "report": info.file,
        "nsys_version": info.nsys_version,
        "export_schema": info.export_schema,
        "attribution": settings.attribution,
        "folding": settings.folding,
        "domain": None if settings.domain is None else ", ".join(settings.domain),
        "compile_rules": settings.compile_rules,
    }
    return {name: shown([text])[0] for name, text in {**texts, **asked}.items() if text is not None}
