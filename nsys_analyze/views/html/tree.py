"""The tree of stages: reports, processes where there are several, stages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nsys_analyze.metrics.breakdown import Kind
from nsys_analyze.metrics.results import Stage
from nsys_analyze.views.columns import STAGE
from nsys_analyze.views.html import bars, names, numbers
from nsys_analyze.views.html.content import Tree, TreeRow
from nsys_analyze.views.naming import tree_names
from nsys_analyze.views.tables import Report, left_out
from nsys_analyze.views.wording import whole_name

_MEASURES = (
    *("n", "wall", "pace", "elapsed", "overhead", "active", "kernels", "us-per-kernel", "gap", "exposed"),
    *("compile", "cold-start"),
)
_OPEN = 2  # levels of stages that are shown at first


@dataclass(frozen=True, slots=True)
class _Node:
    """A row to be: its name, how deep it lies, and its stage unless it is a report or a process."""

    name: str
    level: int
    depth: int
    stage: Stage | None = None


def stage_tree(reports: Sequence[Report], cards: dict[int, int], total: int) -> Tree:
    """Returns the tree of the reports' stages, which come in the order of a tree.

    Args:
        reports: The reports.
        cards: The number of the card of each stage that has one, by the stage's id.
        total: How many stages there are, listed or not.
    """
    nodes = [node for report in reports for node in _nodes(report, several=len(reports) > 1)]
    stages = [node.stage for node in nodes if node.stage is not None]
    headers, lines = numbers.measured([STAGE[name] for name in _MEASURES], stages)
    cells = iter(lines)
    rows = [
        replace(row, heading=True)
        if node.stage is None
        else replace(row, cells=next(cells), bars=bars.stage_bars(node.stage), card=cards.get(id(node.stage)))
        for node, row in zip(nodes, _rows(nodes), strict=True)
    ]
    more = left_out(total, len(stages), "stage", "the largest are listed; --top 0 lists all, --stage PATTERN some")
    return Tree(headers=headers, rows=rows, looks=_looks(rows), footer=more)


def _nodes(report: Report, *, several: bool) -> Iterator[_Node]:
    above = 0
    if several:
        above = 1
        yield _Node(report.label, 1, 0)
    process = None
    stages = report.analysis.stages
    for stage, name in zip(stages, tree_names(stages), strict=True):
        named = report.process(stage.process)
        if named and stage.process != process:
            yield _Node(named, above + 1, 0)
        process = stage.process
        yield _Node(name.text, above + bool(named) + 1 + name.indent, name.indent + 1, stage)


def _rows(nodes: Sequence[_Node]) -> Iterator[TreeRow]:
    """The rows without their numbers; what lies below a shut row is hidden."""
    below = None  # the level of the shut row that we are under
    for node, after in zip(nodes, [*nodes[1:], None], strict=False):
        if below is not None and node.level <= below:
            below = None
        parent = after is not None and after.level > node.level
        shut = parent and node.depth >= _OPEN
        yield TreeRow(
            name=names.short(node.name),
            full=names.full(node.name),
            level=node.level,
            parent=parent,
            shut=shut,
            hidden=below is not None,
        )
        if shut and below is None:
            below = node.level


def _looks(rows: Sequence[TreeRow]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The key to the bars: what is split up, with the look and the name of each part that is there."""
    used = {segment.look for row in rows for bar in row.bars for segment in bar.segments}
    found = [
        (whole_name(kind), [each for each in bars.looks(kind) if each[0] in used]) for kind in (Kind.HOST, Kind.GPU)
    ]
    return [(title, parts) for title, parts in found if parts]
