"""The oracle for host code: what each nanosecond of it was, one by one."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import bruteforce
from tests.bruteforce_load import Range, _Loader, load
from tests.bruteforce_partition import _Oracle

WAITING = ("read", "poll", "pthread_cond_wait", "clock_nanosleep")  # among the names that tests use


@dataclass
class Code:
    """What one range's host code was, in ns and samples."""

    running: int = 0
    unknown: int = 0
    blocked: Counter[str] = field(default_factory=Counter)
    samples: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)


def host_codes(path: Path, attribution: bruteforce.Attribution, compiles: Callable[[str], bool]) -> dict:
    """Host code of every range, by (thread, start, end)."""
    oracle = _Host(path, attribution, compiles)
    return {(r.thread, r.start, r.end): oracle.code(r) for r in oracle.export.ranges}


class _Host:
    def __init__(self, path: Path, attribution: bruteforce.Attribution, compiles: Callable[[str], bool]) -> None:
        self.export = load(path)
        self.parts = _Oracle(path, self.export, attribution, compiles)
        with closing(sqlite3.connect(path)) as connection:
            strings: dict[int, Any] = dict(connection.execute("SELECT id, value FROM StringIds"))
            loader = _Loader(connection)
            self.calls = [
                (row["globalTid"], row["start"], row["end"], number, strings[row["nameId"]])
                for number, row in enumerate(loader.rows("OSRT_API"))
            ]
            self.switches = [
                (row["start"], number, row["globalTid"], row["isSchedIn"])
                for number, row in enumerate(loader.rows("SCHED_EVENTS"))
            ]
            leaves = {row["id"]: row for row in loader.rows("SAMPLING_CALLCHAINS") if row["stackDepth"] == 0}
            self.samples = []
            for row in loader.rows("COMPOSITE_EVENTS"):
                leaf = leaves.get(row["id"])
                module = strings[leaf["module"]] if leaf else None
                symbol = strings[leaf["symbol"]] if leaf and not leaf["unresolved"] else None
                self.samples.append((row["globalTid"], row["start"], (symbol, module)))

    def code(self, r: Range) -> Code:
        instance = self.parts.instances[id(r)]
        helpers = self.parts.helpers[id(r)] | {o.call.thread for o in instance.operations if o.call}
        out = Code()
        for instant in range(r.start, r.end):
            if any(self.parts.doing(thread, instant) for thread in {r.thread, *helpers}):
                continue
            self.count(out, r.thread, instant)
            here = [what for thread, at, what in self.samples if (thread, at) == (r.thread, instant)]
            out.samples.update(here)
        return out

    def count(self, out: Code, thread: int, instant: int) -> None:
        calls = [c for c in self.calls if c[0] == thread and c[1] <= instant < c[2]]
        calls.sort(key=lambda call: (call[1], -call[2], call[3]))
        waiting = [name for *_, name in calls if name in WAITING]
        switches = sorted(s for s in self.switches if s[2] == thread and s[0] <= instant)
        running = bool(switches[-1][3]) if switches else None
        if waiting:
            out.blocked[waiting[-1]] += 1
        elif running is False:
            out.blocked[calls[-1][4] if calls else "scheduled out"] += 1
        elif running:
            out.running += 1
        else:
            out.unknown += 1
