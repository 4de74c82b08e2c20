"""Samples and verdicts for tests, made by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from nsys_analyze.verdict.config import Config
from nsys_analyze.verdict.judge import judge
from nsys_analyze.verdict.noise import packaged
from nsys_analyze.verdict.records import Circumstances
from nsys_analyze.verdict.results import Verdict
from nsys_analyze.verdict.samples import ReportSample, StageSample

CIRCUMSTANCES = Circumstances(
    gpus=("NVIDIA H200",),
    cpu="x86_64",
    driver="580",
    nsys="2025.3",
    trace="cuda,nvtx",
    sampling=False,
    context_switches=False,
    graph_mode="node",
    settings="attribution process, folding default",
)
STEP = {"kernels": 60.0, "pace": 2e6, "startup_gap": 200e3, "startup_gap_prelude": 180e3, "gpu_active": 300e3}


def stage(path: tuple[str, ...] = ("steady", "step"), *, calls: float = 500e3, **given: Any) -> StageSample:
    fields: dict[str, Any] = {
        "path": path,
        "domains": ("",) * len(path),
        "loop": True,
        "holds_loop": False,
        "active": 9_000_000,
        "steady": 30,
        "unfinished": 0,
        "calls": calls,
        "launches": 60.0,
        "values": STEP,
    }
    return StageSample(**fields | given)


def step(calls: float = 500e3, **values: float) -> StageSample:
    return stage(calls=calls, values={**STEP, **values})


def report(*stages: StageSample, label: str = "r.sqlite", **given: Any) -> ReportSample:
    chosen = stages or (stage(),)
    circumstances = replace(CIRCUMSTANCES, **given.pop("circumstances", {}))
    return ReportSample(
        label=label,
        circumstances=circumstances,
        stages={(one.path, one.domains, 0): one for one in chosen},
        **given,
    )


def verdict(
    base: list[ReportSample], new: list[ReportSample], today: date = date(2026, 1, 1), **config: Any
) -> Verdict:
    return judge(base, new, Config(**config), packaged(), today)
