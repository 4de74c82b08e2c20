"""The files that a summary of captured cases consists of: comparisons, and pictures of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nsys_analyze.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nsys_analyze.driver.records import Record
    from nsys_analyze.metrics.results import Analysis
    from nsys_analyze.report import Report
    from nsys_analyze.verdict.comparison import Comparison

Make = Callable[[], str | bytes]

_STEP = "steady/step"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A captured case: its record, where its report lies, and what that says; None where it cannot be read here."""

    record: Record
    path: Path
    report: Report | None
    analysis: Analysis | None

    @property
    def label(self) -> str:
        """What tells it apart from the others of its group: its executor and its environment."""
        case = self.record["case"]
        return " ".join([case["executor"], *(f"{name}={value}" for name, value in case["env"].items())])

    @property
    def settings(self) -> dict[str, Any]:
        """What it has in common with the others of its group: all but executor and environment."""
        return {name: value for name, value in self.record["case"].items() if name not in ("executor", "env")}

    @property
    def group_name(self) -> str:
        """What that group is called: the case's name without its executor and environment."""
        from nsys_analyze.driver.cases import environment_name

        case = self.record["case"]
        name: str = self.record["name"].removesuffix(environment_name(case["env"]))
        return name.replace(f"-{case['executor']}", "", 1)


def files(folder: Path, cases: Sequence[Finished]) -> Iterator[tuple[str, Make]]:
    """Yields the name of each file of a folder, and what makes it: raises UsageError or ImportError if it cannot."""
    groups, pictures = _groups(cases), _pictures(cases)
    yield from pictures.items()
    for name, group in groups.items():
        yield f"comparison{'' if len(groups) == 1 else f'-{name}'}.json", partial(_json, group)
    yield "comparison.md", lambda: _markdown(groups, [name for name in pictures if (folder / name).is_file()])


def _pictures(cases: Sequence[Finished]) -> dict[str, Make]:
    """What makes each picture, by its file."""
    swept = _swept(cases)
    return {
        "breakdown.png": partial(_png, "breakdown", cases),
        "startup.png": partial(_png, "startup", cases),
        **({"sweep.png": partial(_sweep_png, *swept)} if swept else {}),
    }


def _groups(cases: Sequence[Finished]) -> dict[str, list[Finished]]:
    """Cases that differ in executor and environment alone, by what they are called together."""
    found: dict[str, list[Finished]] = {}
    names: dict[str, str] = {}
    for case in cases:
        key = json.dumps(case.settings, sort_keys=True)
        if key not in names:
            name = case.group_name
            names[key] = name if name not in found else f"{name}-{len(found)}"
        found.setdefault(names[key], []).append(case)
    return found


def _comparison(group: Sequence[Finished]) -> Comparison:
    """The steps of the cases whose reports can be read, held against the first of them."""
    from nsys_analyze.comparing import compare_sources

    reports = {case.path: case.report for case in _readable(group)}
    labels = [case.label for case in group if case.path in reports]
    return compare_sources(
        list(reports),
        stages=[_STEP],
        labels=labels,
        renamings=[],
        opened=lambda path: reports[path],
    )


def _readable(cases: Sequence[Finished]) -> list[Any]:
    readable = [case for case in cases if case.report is not None]
    if not readable:
        raise UsageError("none of the reports can be read here")
    return readable


def _json(group: Sequence[Finished]) -> str:
    from nsys_analyze.views import json_view

    return json_view.dump(_comparison(group))


def _markdown(groups: dict[str, list[Finished]], pictures: Sequence[str]) -> str:
    from nsys_analyze.views import compare_page, markdown_view

    pages = [
        f"## {markdown_view.plain(name)}\n\n{markdown_view.draw(compare_page.compose(_comparison(group)))}"
        for name, group in groups.items()
    ]
    return "\n".join([*pages, *(f"![{Path(picture).stem}]({picture})\n" for picture in pictures)])


def _png(plot: str, cases: Sequence[Finished]) -> bytes:
    from nsys_analyze.views import plots

    draw: Callable[..., Figure] = getattr(plots, plot)
    return _rendered(draw([case.analysis for case in _readable(cases)], stage=_STEP))


def _swept(cases: Sequence[Finished]) -> tuple[str, dict[str, dict[float, float | None]]] | None:
    """The one size in which the cases differ, and unprofiled times by executor and its values, if there is one."""
    sizes = [case.record["case"]["sizes"] for case in cases]
    varying = [name for name in sizes[0] if len({each.get(name) for each in sizes}) > 1]
    others = {json.dumps({**case.settings, "sizes": None}, sort_keys=True) for case in cases}
    if len(varying) != 1 or len(others) > 1 or any(each.keys() != sizes[0].keys() for each in sizes):
        return None
    times: dict[str, dict[float, float | None]] = {}
    for case, size in zip(cases, sizes, strict=True):
        times.setdefault(case.label, {})[size[varying[0]]] = case.record["unprofiled"]["step_median_ns"]
    return varying[0], times


def _sweep_png(parameter: str, times: dict[str, dict[float, float | None]]) -> bytes:
    from nsys_analyze.views import plots

    return _rendered(plots.sweep(times, parameter=parameter))


def _rendered(figure: Figure) -> bytes:
    from nsys_analyze.views.plots.files import rendered

    return rendered(figure, "png")
