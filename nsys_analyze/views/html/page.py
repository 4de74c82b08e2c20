"""Composes the page: what goes on it, in which order, and how much of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nsys_analyze._version import __version__
from nsys_analyze.metrics.loops import largest
from nsys_analyze.metrics.results import Analysis, KernelAnalysis, RankedProgram, Stage
from nsys_analyze.views import other_tables
from nsys_analyze.views.document import Table
from nsys_analyze.views.glossary import TERMS
from nsys_analyze.views.html import cards, names
from nsys_analyze.views.html.content import Card, Head, Page, Picture
from nsys_analyze.views.html.tables import flat_table, loops_table
from nsys_analyze.views.html.tree import stage_tree
from nsys_analyze.views.naming import flat_names
from nsys_analyze.views.ranks_table import ranks_tables
from nsys_analyze.views.remarks import heading, remarks
from nsys_analyze.views.stage_tables import chosen_loops
from nsys_analyze.views.tables import Report, labelled, left_out

_ROWS = 1_000  # of the tree, over all reports, unless told otherwise
_CARDS = 60  # likewise
_LOOPS = 5  # of a report
_RANKED = 20  # stages over ranks
_OPEN_CARDS = 1  # of a report


def compose(
    reports: Sequence[Report],
    *,
    total: int,
    ranks: Sequence[RankedProgram] = (),
    kernels: Sequence[KernelAnalysis] = (),
    pictures: Sequence[Picture] = (),
) -> Page:
    """Returns the page about reports.

    Args:
        reports: The reports, in their order, with the stages to list (see `bounded`).
        total: How many stages there are in all.
        ranks: The ranks of their programs; none for no table of them.
        kernels: The kernels of each report's stages; none for no kernels.
        pictures: The plots.
    """
    loops = chosen_loops(reports, 0, _LOOPS, ordered=False)
    details = list(_cards(reports, loops, kernels))
    numbered = {id(stage): card.number for stage, card in details}
    several = len(reports) > 1
    return Page(
        title=f"{len(reports)} reports" if several else names.short(reports[0].label),
        heads=[_head(report) for report in reports],
        loops=loops_table(reports, loops),
        tree=stage_tree(reports, numbered, total),
        cards=[card for _, card in details],
        cards_left_out="".join(left_out(total, len(details), "stage", "--stage PATTERN shows those below a stage")),
        tables=[flat_table(table) for table in _tables(reports, ranks) if table.groups],
        terms=list(TERMS.items()),
        settings=list(dict.fromkeys(fact for report in reports for fact in _settings(report))),
        pictures=pictures,
    )


def bounded(analyses: Sequence[Analysis], top: int | None) -> list[Analysis]:
    """Returns the analyses with their largest stages only.

    Args:
        analyses: The analyses.
        top: How many stages each may have, 0 for any number; None for 1,000 in all.
    """
    most = max(1, _ROWS // max(1, len(analyses))) if top is None else top
    return [
        replace(analysis, stages=largest(analysis.stages, most, lambda stage: stage.elapsed_ns.total))
        for analysis in analyses
    ]


def _head(report: Report) -> Head:
    label, *facts = heading(report)
    found = remarks(report, several=False)
    return Head(
        label=names.short(label),
        facts=facts,
        remarks=found,
        share=report.analysis.coverage.attributed_share,
        warnings=sum(note.level == "warning" for note in found.notes),
    )


def detailed(analyses: Sequence[Analysis], top: int | None) -> list[Analysis]:
    """Returns the analyses with only the stages that a page has details of; ``top`` as for `bounded`."""
    reports = labelled(bounded(analyses, top))
    loops = chosen_loops(reports, 0, _LOOPS, ordered=False)
    chosen = _detailed(reports, loops)
    return [replace(report.analysis, stages=stages) for report, stages in zip(reports, chosen, strict=True)]


def _detailed(reports: Sequence[Report], loops: Sequence[Sequence[Stage]]) -> list[list[Stage]]:
    most = max(1, _CARDS // max(1, len(reports)))
    return [cards.chosen(report.analysis.stages, looping, most) for report, looping in zip(reports, loops, strict=True)]


def _cards(
    reports: Sequence[Report], loops: Sequence[Sequence[Stage]], kernels: Sequence[KernelAnalysis]
) -> Iterator[tuple[Stage, Card]]:
    number = 0
    found = [{stage.key: stage for stage in each.stages} for each in kernels] or [{}] * len(reports)
    for report, looping, chosen, ran in zip(reports, loops, _detailed(reports, loops), found, strict=True):
        opened = {id(stage) for stage in looping[:_OPEN_CARDS]} if len(reports) == 1 else set()
        label = report.label if len(reports) > 1 else ""
        for stage, name in zip(chosen, flat_names(chosen), strict=True):
            process = report.process(stage.process)
            of = " · ".join(part for part in (label, process) if part)
            yield stage, cards.card(number, stage, name.full, of, ran.get(stage.key), shown=id(stage) in opened)
            number += 1


def _tables(reports: Sequence[Report], ranks: Sequence[RankedProgram]) -> list[Table]:
    several = len(reports) > 1
    found = ranks_tables(ranks, loops=_LOOPS, top=_RANKED, listing=False, several_reports=several) if ranks else []
    return [*found, other_tables.devices(reports, single=False), other_tables.programs(reports)]


def _settings(report: Report) -> list[str]:
    settings, info = report.analysis.settings, report.analysis.report
    return [
        f"nsys-analyze {__version__}",
        f"attribution by {settings.attribution}",
        f"names folded: {settings.folding}",
        *([f"domains: {', '.join(settings.domain)}"] if settings.domain is not None else []),
        *([f"compile rules: {settings.compile_rules}"] if settings.compile_rules else []),
        *([f"export schema {info.export_schema}"] if info.export_schema else []),
    ]
