"""NVTX rows to ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nsys_analyze.arrays import Int32, Int64
from nsys_analyze.errors import UsageError
from nsys_analyze.ingest.events import NO_TIME, Events, is_domain, is_range, is_start_end
from nsys_analyze.model.folding import fold_name
from nsys_analyze.model.tables import Ranges, Threads
from nsys_analyze.model.threads import recode

DEFAULT_DOMAIN = "default"  # what people write; the domain itself has no name


@dataclass(frozen=True, slots=True)
class RangeOptions:
    """Which ranges count, and how names fold: ``domains`` to keep (None: all), ``patterns`` to remove from names."""

    domains: tuple[str, ...] | None = None
    fold: bool = True
    patterns: Sequence[re.Pattern[str]] = ()


class Strings:
    """Numbers for strings, in order of first use."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def codes(self, strings: Iterable[str]) -> Int32:
        """The number of each string."""
        numbers = self._numbers
        return np.array([numbers.setdefault(string, len(numbers)) for string in strings], np.int32)

    @property
    def all(self) -> list[str]:
        """The strings, by number."""
        return list(self._numbers)


def build_ranges(events: Events, threads: Threads, capture_end: int, options: RangeOptions) -> tuple[Ranges, int]:
    """The ranges, in their total order, and how many of them ended before they began.

    A range without an end gets ``capture_end`` and is not finished; nor is one that nsys itself ended, which it does at
    the very end of the capture. A range that ends before it begins is made empty.

    Raises:
        UsageError: If a domain that was asked for is not in the report.
    """
    nvtx = events.nvtx
    thread = recode(nvtx, "globalTid", threads.global_tid)
    domain, domain_names = _domains(events, threads, thread)
    row = np.flatnonzero(is_range(nvtx["eventType"]) & (thread >= 0) & _kept(domain, domain_names, options.domains))
    start, end, thread = nvtx["start"][row], nvtx["end"][row], thread[row]
    finished = end != NO_TIME
    end = np.where(finished, end, capture_end)
    if events.duration is not None:
        finished &= end != events.duration
    reversed_ranges = int((end < start).sum())
    end = np.maximum(start, end)
    order = np.lexsort((row, -end, start, thread))
    name, names = _names(events, row[order])
    folded = Strings()
    folded_of_name = folded.codes(fold_name(text, options.patterns, options.fold) for text in names)
    ranges = Ranges(
        start=start[order],
        end=end[order],
        thread=thread[order],
        name=name,
        folded=folded_of_name[name] if len(name) else name,
        domain=domain[row][order],
        finished=finished[order],
        push_pop=~is_start_end(nvtx["eventType"][row][order]),
        row=row[order],
        names=names,
        folded_names=folded.all,
        domain_names=domain_names,
    )
    return ranges, reversed_ranges


def _names(events: Events, row: Int64) -> tuple[Int32, list[str]]:
    """Code of each row's name, and the names: the text of the event, else the registered string, else ''."""
    nvtx = events.nvtx
    registered = [events.string(identity) for identity in nvtx.values["textId"].tolist()]
    strings = Strings()
    texts = nvtx.texts["text"]
    codes = strings.codes([*texts, *registered, ""])
    text, text_id = nvtx["text"][row].astype(np.int64), nvtx["textId"][row].astype(np.int64)
    source = np.where(text >= 0, text, np.where(text_id >= 0, text_id + len(texts), len(codes) - 1))
    return codes[source], strings.all


def _domains(events: Events, threads: Threads, thread: Int32) -> tuple[Int32, list[str]]:
    """Code of each NVTX row's domain, and the domains' names; a domain that nothing names reads ``domain N``."""
    nvtx = events.nvtx
    process = np.append(threads.process, -1)[thread].astype(np.int64)
    identity = nvtx["domainId"]
    named: dict[tuple[int, int], str] = {}
    for row in np.flatnonzero(is_domain(nvtx["eventType"])).tolist():
        named[int(process[row]), int(identity[row])] = _row_text(events, row)
    strings = Strings()
    pairs, code = np.unique(np.stack([process, identity]), axis=1, return_inverse=True)
    names = (_domain_name(named, owner, number) for owner, number in pairs.T.tolist())
    return strings.codes(names)[code.reshape(-1)], strings.all


def _domain_name(named: dict[tuple[int, int], str], process: int, identity: int) -> str:
    if identity == 0:
        return ""
    return named.get((process, identity)) or f"domain {identity}"


def _row_text(events: Events, row: int) -> str:
    nvtx = events.nvtx
    if nvtx["text"][row] >= 0:
        return nvtx.texts["text"][int(nvtx["text"][row])]
    if nvtx["textId"][row] >= 0:
        return events.string(int(nvtx.values["textId"][nvtx["textId"][row]]))
    return ""


def _kept(domain: Int32, names: list[str], wanted: tuple[str, ...] | None) -> np.ndarray:
    if wanted is None:
        return np.ones(len(domain), bool)
    asked = {"" if name == DEFAULT_DOMAIN and name not in names else name for name in wanted}
    unknown = asked - set(names)
    if unknown:
        known = ", ".join(sorted(name or DEFAULT_DOMAIN for name in names)) or "none"
        raise UsageError(
            f"--domain {sorted(unknown)[0] or DEFAULT_DOMAIN}: no such NVTX domain in the report; it has: {known}"
        )
    return np.isin(domain, [code for code, name in enumerate(names) if name in asked])
