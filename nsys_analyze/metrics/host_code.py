"""What the host code of stages consists of: sums over their instances."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from nsys_analyze.arrays import AnyInt, Int64, expand_slices, prefix_sum
from nsys_analyze.instances.host_code import CodeSamples, Waits
from nsys_analyze.metrics.results import BlockedOn, HostCode, SampledFunction

if TYPE_CHECKING:
    from nsys_analyze.instances import host_code as of_instances

_MOST = 10  # functions of a stage that are named
_AT_ONCE = 2_000_000  # samples of instances that are counted in one go


def host_codes(found: of_instances.HostCode, code: Int64, group: AnyInt, groups: int) -> list[HostCode]:
    """Host code of each group of instances.

    Args:
        found: Host code of every instance.
        code: Its time in the host partition, over each group.
        group: The group of every instance.
        groups: Number of groups.
    """
    running, blocked = (_sums(times, group, groups) for times in (found.running, found.blocked))
    blocked_on = _blocked_on(found.waits, group, groups)
    sampled = _sampled(found.samples, group, groups) if found.samples is not None else None
    out = []
    for row in range(groups):
        ran, waited = (None if sums is None else int(sums[row]) for sums in (running, blocked))
        functions = sampled[row] if sampled is not None else []
        samples = sum(each.samples for each in functions)
        out.append(
            HostCode(
                running_ns=ran,
                blocked_ns=waited,
                unknown_ns=int(code[row]) - (ran or 0) - (waited or 0),
                blocked_on=blocked_on[row][:_MOST],
                blocked_on_others_ns=sum(each.time_ns for each in blocked_on[row][_MOST:]),
                samples=samples if sampled is not None else None,
                functions=functions[:_MOST],
                samples_of_others=sum(each.samples for each in functions[_MOST:]),
            )
        )
    return out


def _sums(values: Int64 | None, group: AnyInt, groups: int) -> Int64 | None:
    if values is None:
        return None
    out = np.zeros(groups, np.int64)
    np.add.at(out, group, values)
    return out


def _blocked_on(waits: Waits, group: AnyInt, groups: int) -> list[list[BlockedOn]]:
    """What each group was blocked on, longest first."""
    keys, place = np.unique(_key(group[waits.instance], waits.function, len(waits.functions)), return_inverse=True)
    time = np.zeros(len(keys), np.int64)
    np.add.at(time, place, waits.time)
    out: list[list[BlockedOn]] = [[] for _ in range(groups)]
    for row, function, total in _largest_first(keys, time, len(waits.functions)):
        out[row].append(BlockedOn(function=waits.functions[function], time_ns=total))
    return out


def _sampled(samples: CodeSamples, group: AnyInt, groups: int) -> list[list[SampledFunction]]:
    """What each group was sampled in, most samples first."""
    size = len(samples.functions)
    counted = [np.zeros((2, 0), np.int64)]
    for rows in _batches(samples.high - samples.low):
        owner, place = expand_slices(samples.low[rows], samples.high[rows])
        keys, count = np.unique(_key(group[rows][owner], samples.function[place], size), return_counts=True)
        counted.append(np.stack([keys, count]))
    listed, count = np.concatenate(counted, axis=1)
    keys, place = np.unique(listed, return_inverse=True)
    total = np.zeros(len(keys), np.int64)
    np.add.at(total, place, count)
    of_group = np.zeros(groups, np.int64)
    np.add.at(of_group, keys // size, total)
    out: list[list[SampledFunction]] = [[] for _ in range(groups)]
    for row, number, found in _largest_first(keys, total, size):
        function = samples.functions[number]
        share = found / int(of_group[row])
        out[row].append(SampledFunction(symbol=function.symbol, module=function.module, samples=found, share=share))
    return out


def _key(group: AnyInt, function: AnyInt, functions: int) -> Int64:
    return group.astype(np.int64) * functions + function


def _largest_first(keys: Int64, values: Int64, functions: int) -> Iterator[tuple[int, int, int]]:
    """(group, function, value), the largest value first; what ties is in order of its key."""
    for place in np.lexsort((keys, -values)).tolist():
        yield int(keys[place]) // functions, int(keys[place]) % functions, int(values[place])


def _batches(lengths: Int64) -> Iterator[slice]:
    """Rows in batches of about ``_AT_ONCE`` samples."""
    running = prefix_sum(lengths)
    cuts = np.searchsorted(running, np.arange(0, running[-1], _AT_ONCE))
    bounds = np.unique(np.append(cuts, len(lengths))).tolist()
    yield from (slice(low, high) for low, high in pairwise(bounds))
