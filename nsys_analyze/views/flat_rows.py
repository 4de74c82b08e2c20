"""Results as one flat table, for formats that other programs read: a row a stage, an instance, a kernel, ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsys_analyze.metrics import flat, flat_ranks
from nsys_analyze.metrics.results import Analysis, Instance, KernelAnalysis, KernelRow, RankedProgram, Stage
from nsys_analyze.views.naming import report_labels

_LEFT_OUT = "domains"  # the names in front of them say enough
_OF_STAGE: dict[str, type] = {"stage": list, "process": int, "instances": int}  # in front of a kernel


@dataclass(frozen=True, slots=True)
class FlatRows:
    """Rows under a header; ``kinds`` are the columns' types: bool, int, float, str or list (of str)."""

    header: list[str]
    kinds: list[type]
    rows: list[list[object]]

    def only(self, columns: Sequence[str]) -> FlatRows:
        """Returns these columns in this order; all of them for none."""
        if not columns:
            return self
        places = [self.header.index(name) for name in columns]
        return FlatRows(
            list(columns), [self.kinds[at] for at in places], [[row[at] for at in places] for row in self.rows]
        )


def flat_rows(analyses: Sequence[Analysis], *, instances: bool = False, derived: bool = False) -> FlatRows:
    """Returns a row for each stage, or for each instance; several reports get a first column ``report``.

    ``derived`` adds the columns that are made of others, at the end.
    """
    kind: type[Stage | Instance] = Instance if instances else Stage
    columns = dict(zip(flat.header(kind), flat.kinds(kind), strict=True))
    kept = [at for at, name in enumerate(columns) if name != _LEFT_OUT]
    more = flat.derived(kind) if derived else []
    groups = []
    for each in analyses:
        items: Sequence[Stage | Instance] = each.instances if instances else each.stages
        further = [[getattr(item, name) for name in more] for item in items]
        rows = zip(flat.rows(kind, items), further, strict=True)
        groups.append([[*(values[at] for at in kept), *last] for values, last in rows])
    columns.pop(_LEFT_OUT, None)
    columns |= dict.fromkeys(more, float)
    return _of_reports(columns, groups, report_labels(analyses))


def kernel_rows(kernels: Sequence[KernelAnalysis]) -> FlatRows:
    """Returns a row for each kernel, label or operation of each stage; several reports likewise."""
    columns = _OF_STAGE | dict(zip(flat.header(KernelRow), flat.kinds(KernelRow), strict=True))
    groups: list[list[list[object]]] = [
        [
            [stage.elements, stage.process, stage.instances, *values]
            for stage in each.stages
            for values in flat.rows(KernelRow, stage.rows)
        ]
        for each in kernels
    ]
    return _of_reports(columns, groups, report_labels(kernels))


def rank_rows(programs: Sequence[RankedProgram]) -> FlatRows:
    """Returns a row for each stage of the ranks of each program."""
    return FlatRows(flat_ranks.header(), flat_ranks.kinds(), list(flat_ranks.rows(programs)))


def _of_reports(columns: dict[str, type], groups: Sequence[list[list[object]]], labels: Sequence[str]) -> FlatRows:
    """The rows of each report; with a column ``report`` where there are several."""
    if len(groups) == 1:
        return FlatRows(list(columns), list(columns.values()), groups[0])
    rows = [[label, *values] for found, label in zip(groups, labels, strict=True) for values in found]
    return FlatRows(["report", *columns], [str, *columns.values()], rows)
