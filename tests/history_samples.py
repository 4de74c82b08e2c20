"""Records and histories for tests, made by hand. ``python -m tests.history_samples FILE LABEL RUNS`` saves some."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from nsys_analyze.store.saving import save
from nsys_analyze.verdict.records import Circumstances, ReportRecord, StageRecord

CIRCUMSTANCES = {
    "gpus": ("NVIDIA H200",),
    "cpu": "x86_64",
    "driver": "580",
    "nsys": "2025.3",
    "trace": "cuda,nvtx",
    "sampling": False,
    "context_switches": None,
    "graph_mode": "node",
    "settings": "attribution process, folding default",
}
STEP = (("steady", "step"), ("", ""), 0)
START = datetime(2026, 6, 1, tzinfo=UTC)


def record(gap: float = 200e3, kernels: int = 60, pace: float = 2e6, **given: Any) -> ReportRecord:
    """A report of 30 steps and a first one, all steps alike."""
    circumstances = Circumstances(**CIRCUMSTANCES | given.pop("circumstances", {}))
    stage = StageRecord(
        path=STEP[0],
        domains=STEP[1],
        loop=True,
        holds_loop=False,
        active=9_000_000,
        finished=31,
        unfinished=0,
        launches=float(kernels),
        calls=[500_000] * 31,
        whole={"gpu_active": 300e3, "launch_call": 5e3},
        each={
            "pace": [pace] * 30,
            "startup_gap": [5 * gap, *([gap] * 30)],
            "startup_gap_prelude": [None, *([gap - 0.5] * 30)],
            "kernels": [kernels] * 31,
        },
    )
    fields: dict[str, Any] = {"label": "r.sqlite", "circumstances": circumstances, "stages": {STEP: stage}}
    return ReportRecord(**fields | given)


def fill(path: Path, runs: Sequence[Sequence[ReportRecord]], label: str | None = "main", **given: Any) -> None:
    """Saves a run a day."""
    for place, reports in enumerate(runs):
        commit = f"c{place + 1}"
        save(path, reports, given.get("verdict"), label=label, commit=commit, now=START + timedelta(days=place))


if __name__ == "__main__":
    fill(Path(sys.argv[1]), [[record(gap=200e3 + place)] for place in range(int(sys.argv[3]))], sys.argv[2])
