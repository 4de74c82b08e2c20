"""Reads runs from a history."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nsys_analyze.errors import UsageError
from nsys_analyze.store.database import opened
from nsys_analyze.verdict.records import Circumstances, ReportRecord, StageId, StageRecord
from nsys_analyze.verdict.results import Outcome, State
from nsys_analyze.verdict.runs import Run

if TYPE_CHECKING:
    from sqlite_utils import Database

_NAMED = 5  # labels in a message


def load(
    path: Path,
    *,
    label: str | None = None,
    newest: int | None = None,
    quantities: Sequence[str] | None = None,
    distinct: bool = True,
    failed: bool = True,
) -> list[Run]:
    """Returns runs, the oldest first.

    Args:
        path: The database.
        label: Only runs with this label.
        newest: At most so many, those that were saved last.
        quantities: What to read of each stage; everything, if left out.
        distinct: Leave a report that was saved again, under whatever name, out of later runs: it is no other capture.
        failed: With runs whose check failed.

    Raises:
        ReportError: If the database cannot be read, or is no history.
        UsageError: If there is no run, or none with the label.
    """
    with opened(path) as database:
        rows = list(_runs(database, label, newest, failed=failed))
        if not rows:
            raise UsageError(f"{path}: {_nothing(database, label)}")
        reader = _Reader(database, quantities, distinct=distinct)
        return [reader.run(row) for row in reversed(rows)]


def count(path: Path, label: str | None, *, failed: bool = True) -> int:
    """Returns how many runs there are, or how many with a label; ``failed``: with those whose check failed.

    Raises:
        ReportError: If the database cannot be read, or is no history.
    """
    with opened(path) as database:
        return database.table("runs").count_where(*_chosen(label, failed=failed))


def _runs(database: Database, label: str | None, newest: int | None, *, failed: bool) -> Iterator[dict[str, Any]]:
    return database.table("runs").rows_where(*_chosen(label, failed=failed), order_by="id desc", limit=newest)


def _chosen(label: str | None, *, failed: bool) -> tuple[str | None, list[str]]:
    """The condition on runs, and its parameters. Runs that were not checked have no outcome."""
    conditions = {} if label is None else {"label = ?": label}
    if not failed:
        conditions["outcome IS NOT ?"] = Outcome.FAILED.value
    return " AND ".join(conditions) or None, [*conditions.values()]


def _labels(database: Database) -> list[str]:
    rows = database.query("SELECT label FROM runs WHERE label IS NOT NULL GROUP BY label ORDER BY max(id) DESC")
    return [row["label"] for row in rows]


def _nothing(database: Database, label: str | None) -> str:
    if label is None:
        return "holds no run yet; check REPORT... --save adds one"
    known = _labels(database)
    if label in known:
        return f"every run with the label {label!r} failed its check; none can be a baseline"
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    return f"no run has the label {label!r}; there are: {', '.join(known[:_NAMED]) + more or 'none'}"


class _Reader:
    """Reads the runs of one database, and knows which reports it has seen."""

    def __init__(self, database: Database, quantities: Sequence[str] | None, *, distinct: bool) -> None:
        self._database = database
        self._distinct = distinct
        self._quantities = quantities
        self._environments = {row["id"]: _circumstances(row) for row in database.table("environments").rows}
        self._seen: dict[str, int] = {}

    def run(self, row: dict[str, Any]) -> Run:
        number = row["id"]
        return Run(
            number=number,
            made_at=row["made_at"],
            label=row["label"],
            commit=row["commit_id"],
            outcome=None if row["outcome"] is None else Outcome(row["outcome"]),
            headline=row["headline"],
            reports=[self._report(report) for report in self._rows("reports", "run", number) if self._is_first(report)],
            states=dict(self._states(number)),
        )

    def _is_first(self, report: dict[str, Any]) -> bool:
        return not self._distinct or self._seen.setdefault(report["content"], report["id"]) == report["id"]

    def _report(self, row: dict[str, Any]) -> ReportRecord:
        samples = self._samples(row["id"])
        stages = [(stage, samples.get(stage["id"], [])) for stage in self._rows("stages", "report", row["id"])]
        return ReportRecord(
            label=row["name"],
            circumstances=self._environments[row["environment"]],
            stages={_key(stage): _stage(stage, found) for stage, found in stages},
            broken=row["broken"],
            lost=row["lost_launches"],
        )

    def _rows(self, table: str, column: str, number: int) -> Iterator[dict[str, Any]]:
        return self._database.table(table).rows_where(f"{column} = ?", [number], order_by="rowid")

    def _samples(self, report: int) -> dict[int, list[dict[str, Any]]]:
        """The samples of a report by the stage's row."""
        asked = self._quantities
        chosen = "" if asked is None else f" AND quantity IN ({','.join('?' * len(asked))})"
        sql = "SELECT samples.* FROM samples JOIN stages ON samples.stage = stages.id WHERE report = ?" + chosen
        found: dict[int, list[dict[str, Any]]] = {}
        for row in self._database.query(sql, [report, *(asked or ())]):
            found.setdefault(row["stage"], []).append(row)
        return found

    def _states(self, run: int) -> Iterator[tuple[tuple[StageId, str], State]]:
        for row in self._rows("checks", "run", run):
            if row["against"] == "baseline":
                yield (_key(row), row["quantity"]), State(row["state"])


def _key(row: dict[str, Any]) -> StageId:
    return tuple(json.loads(row["path"])), tuple(json.loads(row["domains"])), row["process"]


def _stage(row: dict[str, Any], samples: Sequence[dict[str, Any]]) -> StageRecord:
    path, domains, _ = _key(row)
    return StageRecord(
        path=path,
        domains=domains,
        loop=bool(row["loop"]),
        holds_loop=bool(row["holds_loop"]),
        active=row["active_ns"],
        finished=row["finished"],
        unfinished=row["unfinished"],
        launches=row["launches"],
        calls=json.loads(row["calls_ns"]),
        whole={one["quantity"]: one["value"] for one in samples if one["value"] is not None},
        each={one["quantity"]: json.loads(one["instances"]) for one in samples if one["instances"] is not None},
    )


def _circumstances(row: dict[str, Any]) -> Circumstances:
    return Circumstances(
        gpus=tuple(json.loads(row["gpus"])),
        cpu=row["cpu"],
        driver=row["driver"],
        nsys=row["nsys"],
        trace=row["trace"],
        sampling=_flag(row["sampling"]),
        context_switches=_flag(row["context_switches"]),
        graph_mode=row["graph_mode"],
        settings=row["settings"],
    )


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)
