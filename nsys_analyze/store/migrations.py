"""The tables of a history, and how those of earlier versions become them.

A migration that was released is never changed: another one follows it.
"""

from __future__ import annotations

from typing import Any

from sqlite_utils import Database, Migrations

migrations = Migrations("nsys-analyze")
_RESULTS = ("outcome", "headline")


@migrations(name="1: runs and their samples")
def _samples(database: Database) -> None:
    _create(
        database,
        "environments",
        {
            "id": int,
            "key": str,
            "gpus": str,
            "cpu": str,
            "driver": str,
            "nsys": str,
            "trace": str,
            "sampling": int,
            "context_switches": int,
            "graph_mode": str,
            "settings": str,
        },
        pk="id",
        not_null={"key", "gpus", "settings"},
    )
    database.table("environments").create_index(["key"], unique=True)
    _create(
        database,
        "runs",
        {"id": int, "made_at": str, "tool": str, "label": str, "commit_id": str},
        pk="id",
        not_null={"made_at", "tool"},
    )
    database.table("runs").create_index(["label"])
    _create(
        database,
        "reports",
        {
            "id": int,
            "run": int,
            "environment": int,
            "name": str,
            "content": str,
            "broken": str,
            "lost_launches": int,
        },
        pk="id",
        not_null={"run", "environment", "name", "content", "lost_launches"},
        foreign_keys=[("run", "runs", "id"), ("environment", "environments", "id")],
    )
    database.table("reports").create_index(["run"])
    _create(
        database,
        "stages",
        {
            "id": int,
            "report": int,
            "path": str,
            "domains": str,
            "process": int,
            "loop": int,
            "holds_loop": int,
            "active_ns": int,
            "finished": int,
            "unfinished": int,
            "launches": float,
            "calls_ns": str,
        },
        pk="id",
        not_null={"report", "path", "domains", "process", "loop", "holds_loop", "active_ns", "finished", "unfinished"},
        foreign_keys=[("report", "reports", "id")],
    )
    database.table("stages").create_index(["report"])
    _create(
        database,
        "samples",
        {"stage": int, "quantity": str, "value": float, "instances": str},
        pk=("stage", "quantity"),
        foreign_keys=[("stage", "stages", "id")],
    )


@migrations(name="2: verdicts")
def _verdicts(database: Database) -> None:
    for name in _RESULTS:
        database.table("runs").add_column(name, str)
    _create(
        database,
        "checks",
        {
            "run": int,
            "place": int,
            "against": str,
            "state": str,
            "level": str,
            "path": str,
            "domains": str,
            "process": int,
            "quantity": str,
            "unit": str,
            "base": float,
            "new": float,
            "most": float,
            "p": float,
            "reason": str,
        },
        pk=("run", "place"),
        not_null={"against", "state", "level", "path", "domains", "process", "quantity", "unit", "reason"},
        foreign_keys=[("run", "runs", "id")],
    )


def _create(database: Database, name: str, columns: dict[str, Any], **how: Any) -> None:
    database.table(name).create(columns, **how)
