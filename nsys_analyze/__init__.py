"""Startup gaps, launch overhead and GPU time of each NVTX stage in an NVIDIA Nsight Systems report.

>>> import nsys_analyze
>>> report = nsys_analyze.open_report("report.sqlite")  # doctest: +SKIP
>>> report.stages()[["path", "startup_gap_exposed_median_ns"]]  # doctest: +SKIP

Importing the package loads nothing else; names are fetched when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nsys_analyze._version import __version__

if TYPE_CHECKING:
    from nsys_analyze.checking import check
    from nsys_analyze.comparing import compare
    from nsys_analyze.driver.annotate import annotate, stage
    from nsys_analyze.errors import NsysAnalyzeError, ReportError, UsageError
    from nsys_analyze.report import Report, open_report
    from nsys_analyze.showing import show
    from nsys_analyze.verdict.comparison import Comparison
    from nsys_analyze.verdict.results import Verdict
    from nsys_analyze.views import plots

__all__ = [
    "Comparison",
    "NsysAnalyzeError",
    "Report",
    "ReportError",
    "UsageError",
    "Verdict",
    "__version__",
    "annotate",
    "check",
    "compare",
    "open_report",
    "plots",
    "show",
    "stage",
]

_HOMES = {
    "Comparison": "nsys_analyze.verdict.comparison",
    "Verdict": "nsys_analyze.verdict.results",
    "check": "nsys_analyze.checking",
    "compare": "nsys_analyze.comparing",
    "NsysAnalyzeError": "nsys_analyze.errors",
    "ReportError": "nsys_analyze.errors",
    "UsageError": "nsys_analyze.errors",
    "annotate": "nsys_analyze.driver.annotate",
    "stage": "nsys_analyze.driver.annotate",
    "Report": "nsys_analyze.report",
    "open_report": "nsys_analyze.report",
    "plots": "nsys_analyze.views.plots",
    "show": "nsys_analyze.showing",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = import_module(_HOMES[name])
    found = globals()[name] = home if name == "plots" else getattr(home, name)
    return found
