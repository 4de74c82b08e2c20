"""Which rank of a distributed job each process is, where the report tells."""

from __future__ import annotations

from collections import Counter

import numpy as np

from nsys_analyze.arrays import distinct
from nsys_analyze.ingest.ranks import RANK_NAME, StatedRanks
from nsys_analyze.model.tables import GpuOps, Processes, Ranges, Threads


def known_ranks(
    stated: StatedRanks, processes: Processes, threads: Threads, ranges: Ranges, ops: GpuOps
) -> list[int | None]:
    """The rank of each process, or None: what MPI says, else an NVTX range named ``rank 3``, else the environment.

    The environment is that of the program that nsys was started for, so that it tells the rank only where no other
    process left ranges or GPU operations. A rank that two processes claim is none.
    """
    named = _named(threads, ranges)
    found = [
        stated.of_process.get(identity, named.get(number))
        for number, identity in enumerate(processes.global_pid.tolist())
    ]
    at_work = sorted({*distinct(threads.process[ranges.thread]), *distinct(ops.process)} - {-1})
    if stated.launched is not None and len(at_work) == 1 and found[at_work[0]] is None:
        found[at_work[0]] = stated.launched
    claims = Counter(found)
    return [rank if claims[rank] == 1 else None for rank in found]


def _named(threads: Threads, ranges: Ranges) -> dict[int, int]:
    """Ranks by process, of processes whose ranges name one rank and no other."""
    matches = {number: RANK_NAME.fullmatch(name) for number, name in enumerate(ranges.names)}
    rank_of = {number: int(match[1]) for number, match in matches.items() if match}
    rows = np.flatnonzero(np.isin(ranges.name, list(rank_of))) if rank_of else np.zeros(0, np.int64)
    found: dict[int, set[int]] = {}
    for process, name in set(
        zip(threads.process[ranges.thread[rows]].tolist(), ranges.name[rows].tolist(), strict=True)
    ):
        found.setdefault(process, set()).add(rank_of[name])
    return {process: ranks.pop() for process, ranks in found.items() if len(ranks) == 1}
