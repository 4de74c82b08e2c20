"""Writes a run into a history."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nsys_analyze._version import __version__
from nsys_analyze.store.database import changing, opened
from nsys_analyze.verdict.records import Circumstances, ReportRecord, StageId, StageRecord
from nsys_analyze.verdict.results import Check, Verdict

if TYPE_CHECKING:
    from sqlite_utils import Database


def save(
    path: Path,
    reports: Sequence[ReportRecord],
    verdict: Verdict | None,
    *,
    label: str | None,
    commit: str | None,
    now: datetime,
) -> int:
    """Adds a run to a history, which is made if there is none, and returns its number: all of it, or nothing.

    Args:
        path: The database.
        reports: What the run's reports told.
        verdict: What became of them, None if nothing was checked.
        label: What the user calls runs of this kind, such as a branch.
        commit: Which state of the code they ran.
        now: The time, with its zone.

    Raises:
        ReportError: If the database cannot be written, or is no history.
    """
    with opened(path, create=True) as database, changing(database):
        run = _inserted(
            database,
            "runs",
            made_at=now.astimezone(UTC).isoformat(timespec="seconds"),
            tool=__version__,
            label=label,
            commit_id=commit,
            outcome=None if verdict is None else verdict.outcome.value,
            headline=None if verdict is None else verdict.headline,
        )
        for report in reports:
            _save_report(database, run, report)
        if verdict is not None:
            database.table("checks").insert_all(_check(run, place, check) for place, check in enumerate(verdict.checks))
        return run


def _save_report(database: Database, run: int, report: ReportRecord) -> None:
    number = _inserted(
        database,
        "reports",
        run=run,
        environment=_environment(database, report.circumstances),
        name=report.label,
        content=_digest(_plain(replace(report, label=""))),
        broken=report.broken,
        lost_launches=report.lost,
    )
    for key, stage in report.stages.items():
        row = _inserted(database, "stages", report=number, **_stage(key, stage))
        database.table("samples").insert_all(_samples(row, stage))


def _environment(database: Database, circumstances: Circumstances) -> int:
    """The row of an environment, which is added if it is new."""
    fields = asdict(circumstances)
    key = _digest(fields)
    for row in database.table("environments").rows_where("key = ?", [key], select="id"):
        return int(row["id"])
    return _inserted(database, "environments", key=key, **fields | {"gpus": json.dumps(circumstances.gpus)})


def _inserted(database: Database, table: str, **row: Any) -> int:
    """Inserts a row and returns its id."""
    number: Any = database.table(table).insert(row).last_pk
    return int(number)


def _stage(key: StageId, stage: StageRecord) -> dict[str, Any]:
    path, domains, process = key
    return {
        "path": json.dumps(path),
        "domains": json.dumps(domains),
        "process": process,
        "loop": stage.loop,
        "holds_loop": stage.holds_loop,
        "active_ns": stage.active,
        "finished": stage.finished,
        "unfinished": stage.unfinished,
        "launches": stage.launches,
        "calls_ns": _numbers(stage.calls),
    }


def _samples(row: int, stage: StageRecord) -> Iterator[dict[str, Any]]:
    for name in {**stage.each, **stage.whole}:
        each = stage.each.get(name)
        yield {
            "stage": row,
            "quantity": name,
            "value": stage.whole.get(name),
            "instances": None if each is None else _numbers(each),
        }


def _check(run: int, place: int, check: Check) -> dict[str, Any]:
    return {
        "run": run,
        "place": place,
        "against": check.against,
        "state": check.state.value,
        "level": check.level,
        "path": json.dumps(check.stage),
        "domains": json.dumps(check.domains),
        "process": check.process,
        "quantity": check.metric,
        "unit": check.unit,
        "base": check.base,
        "new": check.new,
        "most": check.limit,
        "p": check.evidence.p if check.evidence else None,
        "reason": check.reason,
    }


def _numbers(values: Sequence[float | None]) -> str:
    """Numbers as JSON; most are whole nanoseconds, which take less room so."""
    whole = [int(value) if value is not None and float(value).is_integer() else value for value in values]
    return json.dumps(whole, separators=(",", ":"))


def _plain(report: ReportRecord) -> Any:
    fields = asdict(report)
    fields["stages"] = [[key, stage] for key, stage in fields["stages"].items()]
    return fields


def _digest(plain: Any) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
