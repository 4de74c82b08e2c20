"""What a report tells of its processes' ranks in a distributed job."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nsys_analyze.ingest.export import Export
from nsys_analyze.ingest.values import as_text

_TID_MASK = (1 << 24) - 1
_VARIABLE = re.compile(r"(\w+)=\"?(\d{1,9})\"?")
_LAUNCHERS = (  # a launcher's variables for a process's rank and for the number of ranks
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("RANK", "WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)
RANK_NAME = re.compile(r"[\[(<]?(?:mpi )?rank[ _:=#-]{0,2}(\d{1,9})[\])>]?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StatedRanks:
    """Ranks as the report has them.

    ``of_process`` maps a ``globalPid`` to the rank that MPI gave it; ``launched`` is the rank of the program that nsys
    was started for, where a launcher started one nsys a rank.
    """

    of_process: dict[int, int]
    launched: int | None


def states_rank(row: str) -> bool:
    """Whether an environment variable, ``NAME=VALUE``, is one by which launchers tell a rank or the number of ranks."""
    match = _VARIABLE.fullmatch(row)
    return match is not None and any(match[1] in names for names in _LAUNCHERS)


def read_ranks(export: Export) -> StatedRanks:
    """Reads the ranks that MPI's table, thread names and the launcher's environment variables tell."""
    found: dict[int, set[int]] = {}
    for thread, process, rank in export.rows("MPI_RANKS", "globalTid", "globalPid", "rank"):
        identity = thread if process is None else process
        if isinstance(identity, int) and isinstance(rank, int) and rank >= 0:
            found.setdefault(identity & ~_TID_MASK, set()).add(rank)
    for identity, rank in () if found else _named_threads(export):
        found.setdefault(identity & ~_TID_MASK, set()).add(rank)
    of_process = {identity: ranks.pop() for identity, ranks in found.items() if len(ranks) == 1}
    return StatedRanks(of_process, _launched(export))


def _named_threads(export: Export) -> list[tuple[int, int]]:
    """Threads whose name is a rank, as nsys names those that called MPI: (``globalTid``, rank)."""
    threads = export.rows("ThreadNames", "globalTid", "nameId")
    names = export.strings([name for _, name in threads if isinstance(name, int)])
    matches = [(thread, RANK_NAME.fullmatch(names.get(name, ""))) for thread, name in threads]
    return [(thread, int(match[1])) for thread, match in matches if match and isinstance(thread, int)]


def _launched(export: Export) -> int | None:
    """The rank among several that the environment of the launched program states; nothing else of it is kept."""
    variables: dict[str, int] = {}
    for name, value in export.rows("META_DATA_CAPTURE", "name", "value"):
        match = _VARIABLE.fullmatch(as_text(value) or "") if str(name).endswith("ENVIRONMENT_VARIABLE") else None
        if match:
            variables[match[1]] = int(match[2])
    ranks = [variables[rank] for rank, size in _LAUNCHERS if variables.get(size, 0) > 1 and rank in variables]
    return ranks[0] if ranks else None
