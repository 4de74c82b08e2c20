"""Where moments belong and what each range owns, on ranges drawn at random, against the definitions.

Times lie so close that ranges cross, tie and are empty more often than any program makes them.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsys_analyze.attribution import How, Moments, nest
from nsys_analyze.attribution.assign import assign
from nsys_analyze.attribution.membership import membership
from nsys_analyze.model.tables import Ranges, Threads
from tests.bruteforce import _Placements
from tests.bruteforce_load import Call, Operation, Range
from tests.bruteforce_numbers import Instance

_FIRST, _SECOND = 3 << 24, 4 << 24  # processes; the main thread of the first has id 3, that of the second no event
_TIDS = (_FIRST | 2, _FIRST | 3, _FIRST | 4, _FIRST | 5, _SECOND | 5, _SECOND | 6)
_THREADS = Threads(
    global_tid=np.array(_TIDS),
    tid=np.array([tid & 0xFFFFFF for tid in _TIDS]),
    process=np.array([0, 0, 0, 0, 1, 1], np.int32),
    main=np.array([1, -1], np.int32),
)
_threads = st.sampled_from((0, 0, 1, 1, 1, 2, 3, 4, 5))
_ranges = st.lists(st.tuples(_threads, st.integers(-2, 14), st.integers(0, 9)), max_size=14)
_moments = st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 20)), max_size=10)


def ranges_of(drawn: list[tuple[int, int, int]]) -> tuple[Ranges, list[Range]]:
    """The ranges as the package and as the oracle take them, in one order."""
    rows = sorted((thread, start, -(start + length)) for thread, start, length in drawn)
    thread, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    number, yes = np.zeros(len(rows), np.int32), np.ones(len(rows), bool)
    columns = Ranges(
        start=start,
        end=-end,
        thread=thread.astype(np.int32),
        name=number,
        folded=number,
        domain=number,
        finished=yes,
        push_pop=yes,
        row=np.arange(len(rows)),
        names=["range"],
        folded_names=["range"],
        domain_names=[""],
    )
    plain = [
        Range(row, _TIDS[at] & ~0xFFFFFF, _TIDS[at], begins, -ends, True, ("", "range"))
        for row, (at, begins, ends) in enumerate(rows)
    ]
    return columns, plain


@pytest.mark.parametrize("rule", ["thread", "process"])
@settings(max_examples=300)
@given(drawn=_ranges, asked=_moments)
def test_moments_and_ranges_find_each_other(drawn, asked, rule):
    columns, plain = ranges_of(drawn)
    asked = sorted(asked)
    moments = Moments(*np.array(asked, np.int64).reshape(-1, 2).T)
    nesting = nest(columns, _THREADS, rule)
    found = assign(moments, columns, nesting, _THREADS, rule)
    members = membership(moments, found, columns, nesting, _THREADS)

    placements = _Placements(plain, rule)
    instances = {id(r): Instance(r) for r in plain}
    outcomes = []
    for row, (thread, instant) in enumerate(asked):
        call = Call(row, _TIDS[thread] & ~0xFFFFFF, _TIDS[thread], instant, instant, "launch")
        outcomes.append(placements.place(Operation("kernel", row, instant, instant, 0, (0, ""), "", call), instances))

    assert [How(how).name.lower() for how in found.how.tolist()] == outcomes
    inner = {operation.row: r.row for r in plain for operation in instances[id(r)].own}
    assert found.inner.tolist() == [inner.get(row, -1) for row in range(len(asked))]
    assert found.home.tolist() == [columns.thread[inner[row]] if row in inner else -1 for row in range(len(asked))]
    assert nesting.parent_across_threads.tolist() == [-1 if r.parent is None else r.parent.row for r in plain]
    owned = sorted((r.row, operation.row) for r in plain for operation in instances[id(r)].operations)
    ranges, launches = members.pairs(np.arange(len(plain)))
    assert sorted(zip(ranges.tolist(), launches.tolist(), strict=True)) == owned
    assert arrived_by_process(members) == {r.row: via for r in plain if (via := instances[id(r)].via_process)}


def arrived_by_process(members) -> dict[int, int]:
    """How many moments of each range came by the process rule, where any did."""
    counts = Counter(members.pair_range[members.pair_by_process].tolist())
    for row in np.flatnonzero(~members.listed).tolist():
        counts[row] += int(members.by_process[members.low[row] : members.high[row]].sum())
    return {row: count for row, count in counts.items() if count}
