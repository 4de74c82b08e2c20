"""Which row each GPU operation of an instance is in: its kernel's, its label's or its operation's.

The label of an operation, seen from an instance, is the innermost range it belongs to that lies inside the instance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nsys_analyze.arrays import NONE, Bool, Int64, expand_slices
from nsys_analyze.instances.operations import OwnedOps
from nsys_analyze.metrics import labels
from nsys_analyze.model.kernel_names import titles

if TYPE_CHECKING:
    from nsys_analyze.report import Report

NO_RANGE = "no range inside"


class Labelled(NamedTuple):
    """What a row is called."""

    title: str
    name: str | None
    domain: str | None


@dataclass(frozen=True, slots=True)
class Codes:
    """Numbers below ``size`` for the rows that operations are in, and what rows of some numbers are called."""

    size: int
    of: Callable[[OwnedOps], Int64]
    labels: Callable[[Int64], Sequence[Labelled]]


def by_kernel(report: Report) -> Codes:
    """A row a kernel, by its full name, and a row a kind of copy, memsets, and graphs."""
    names, name = report.trace.ops.names, report.trace.ops.name

    def called(codes: Int64) -> list[Labelled]:
        chosen = [names[code] for code in codes.tolist()]
        return [Labelled(title, name, None) for title, name in zip(titles(chosen), chosen, strict=True)]

    return Codes(max(len(names), 1), lambda owned: name[owned.op].astype(np.int64), called)


def by_label(report: Report) -> Codes:
    """A row a folded name and domain of labels."""
    ranges = report.trace.ranges
    names = max(len(ranges.folded_names), 1)
    keys, code = np.unique(ranges.domain.astype(np.int64) * names + ranges.folded, return_inverse=True)
    pairs = [divmod(key, names) for key in keys.tolist()]
    rows = [
        Labelled(labels.title(ranges.folded_names[name]), ranges.folded_names[name], ranges.domain_names[domain])
        for domain, name in pairs
    ]
    return _codes(report, code, rows)


def by_operation(report: Report) -> Codes:
    """A row an operation that labels call."""
    ranges = report.trace.ranges
    called = [labels.operation(name) for name in ranges.folded_names]
    rows = list(dict.fromkeys(called))
    number = {name: place for place, name in enumerate(rows)}
    code_of_name = np.array([number[name] for name in called], np.int64)
    code = code_of_name[ranges.folded] if len(ranges) else np.zeros(0, np.int64)
    return _codes(report, code, [Labelled(name, name, None) for name in rows])


def _codes(report: Report, code_of_range: Int64, rows: Sequence[Labelled]) -> Codes:
    """Codes by the label of each operation; the last stands for operations without one."""
    every = [*rows, Labelled(NO_RANGE, None, None)]
    code = np.append(code_of_range, len(rows))

    def of(owned: OwnedOps) -> Int64:
        return code[label_of_pairs(report, owned)][owned.pair]

    return Codes(len(every), of, lambda codes: [every[number] for number in codes.tolist()])


def label_of_pairs(report: Report, owned: OwnedOps) -> Int64:
    """For each pair of an instance and a launch, the launch's innermost range inside the instance, or -1."""
    inner, launched = np.full(len(owned.launch), np.int64(NONE)), owned.launch >= 0
    inner[launched] = report.launched.assignment.inner[owned.launch[launched]]
    label = np.where(inner == owned.range, NONE, inner)
    others = np.flatnonzero(inner != owned.range)
    outside = others[~_lies_in(report, inner[others], owned.range[others])]
    if len(outside):  # ranges that cross: the innermost of all is not in this one
        label[outside] = _innermost_inside(report, owned.range[outside], owned.launch[outside])
    return label


def _lies_in(report: Report, inner: Int64, outer: Int64) -> Bool:
    """Whether the one range is a descendant of the other, for each pair."""
    parent, depth = report.instances.parent, report.paths.depth[report.instances.path]
    current, level = inner.copy(), depth[outer]
    active = np.flatnonzero(depth[current] > level)
    while len(active):
        current[active] = parent[current[active]]
        active = active[depth[current[active]] > level[active]]
    inside: Bool = (current == outer) & (inner != outer)
    return inside


def _innermost_inside(report: Report, outer: Int64, launch: Int64) -> Int64:
    """The latest range, of those open on the launch's home thread, that is a descendant of each outer range, or -1."""
    launched, ranges = report.launched, report.trace.ranges
    wanted: Bool = np.zeros(len(report.trace.launches), bool)
    wanted[launch] = True
    owner, owned = launched.members.only(wanted).pairs(np.arange(len(ranges)))
    at_home = ranges.thread[owner] == launched.assignment.home[owned]
    owner, owned = owner[at_home], owned[at_home]
    order = np.argsort(owned, kind="stable")
    owner, owned = owner[order], owned[order]
    pair, position = expand_slices(np.searchsorted(owned, launch), np.searchsorted(owned, launch, side="right"))
    inside = _lies_in(report, owner[position], outer[pair])
    out = np.full(len(outer), np.int64(NONE))
    np.maximum.at(out, pair[inside], owner[position[inside]])
    return out
