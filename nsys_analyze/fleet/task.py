"""The task: one report, read and analysed by a worker. It returns a table and facts, and raises for no bad file."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from nsys_analyze.errors import NsysAnalyzeError
from nsys_analyze.fleet.identity import digest, fingerprint

UNKNOWN_DATE = "unknown"  # the usual name of a partition for null breaks pandas, whose dictionaries hold none


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A report to analyse: ``path`` is absolute, ``file`` what the user called it, ``reading`` how it is read."""

    path: str
    file: str
    reading: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a row of ``reports.parquet`` says of a report that was analysed. ``date`` is the day it began, in UTC."""

    host: str | None
    date: str | None
    started_at_ns: int | None
    duration_ns: int | None
    gpu: str | None
    gpus: int
    command: str | None
    executor: str | None
    driver: str | None
    nsys_version: str | None
    ranks: list[str]
    stages: int
    gpu_ops: int
    attributed_share: float | None
    warnings: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a report; ``table`` are its stages as Parquet, None where it has none, or where it failed."""

    state: Literal["done", "failed"]
    digest: str | None
    fingerprint: str | None
    error: str | None = None
    facts: Facts | None = None
    table: bytes | None = None
    seconds: float = 0.0


def identify(job: Job) -> str:
    """Returns the digest of a report's content, empty if it cannot be read."""
    try:
        return digest(Path(job.path))
    except OSError:
        return ""


def analyse(job: Job) -> Outcome:
    """Reads and analyses a report; a file that cannot be analysed is an outcome, too.

    Raises:
        Exception: Anything but what says that the file is bad; it may go away when the task is tried again.
    """
    began, path, seen, content = time.monotonic(), Path(job.path), None, None
    try:
        seen = fingerprint(path)
        content = digest(path)
        facts, table = _analysed(path, job, content)
    except NsysAnalyzeError as error:
        why = str(error).replace(job.path, job.file)
        why = why if why.startswith(job.file) else f"{job.file}: {why}"
        return Outcome(state="failed", digest=content, fingerprint=seen, error=why, seconds=time.monotonic() - began)
    except FileNotFoundError:
        return Outcome(state="failed", digest=None, fingerprint=None, error=f"{job.file}: no such file; check the path")
    return Outcome(
        state="done",
        digest=content,
        fingerprint=seen,
        facts=facts,
        table=table,
        seconds=time.monotonic() - began,
    )


def _analysed(path: Path, job: Job, content: str) -> tuple[Facts, bytes | None]:
    import nsys_analyze
    from nsys_analyze.comparing import with_recorded_times
    from nsys_analyze.driver.records import recorded
    from nsys_analyze.fleet.columns import stage_rows
    from nsys_analyze.views import parquet_view

    analysis = with_recorded_times(nsys_analyze.open_report(path, **job.reading).analysis(), path)
    info, case = analysis.report, recorded(path)
    began = info.started_at_ns
    names = list(dict.fromkeys(gpu.name for gpu in info.gpus))
    ranks = sorted({process.rank for process in info.processes if process.rank is not None})
    facts = Facts(
        host=info.host,
        date=None if began is None else datetime.fromtimestamp(began // 10**9, UTC).date().isoformat(),
        started_at_ns=began,
        duration_ns=info.duration_ns,
        gpu=" + ".join(names) or None,
        gpus=len(info.gpus),
        command=info.command,
        executor=case["case"]["executor"] if case else None,
        driver=info.driver,
        nsys_version=info.nsys_version,
        ranks=[str(rank) for rank in ranks],
        stages=len(analysis.stages),
        gpu_ops=analysis.coverage.gpu_ops,
        attributed_share=analysis.coverage.attributed_share,
        warnings=sorted({notice.code for notice in analysis.warnings if notice.level == "warning"}),
    )
    rows = stage_rows(analysis, facts, file=job.file, digest=content)
    return facts, parquet_view.render(rows) if rows.rows else None


def plain(facts: Facts) -> dict[str, Any]:
    """The facts as JSON has them."""
    return asdict(facts)
