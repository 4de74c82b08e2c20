"""The option ``--save``: a run is kept in a history."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nsys_analyze.errors import UsageError

if TYPE_CHECKING:
    from nsys_analyze.verdict.config import Config
    from nsys_analyze.verdict.records import ReportRecord
    from nsys_analyze.verdict.results import Verdict


def check(target: str) -> None:
    """Refuses what cannot be a history, before reports are read.

    Raises:
        UsageError: If there is no such folder.
        ReportError: If there is a file that is no history.
    """
    from nsys_analyze.store.database import opened

    path = Path(target)
    if not path.absolute().parent.is_dir():
        raise UsageError(f"--save {target}: there is no folder {path.parent}; make it first")
    if path.exists():
        with opened(path, create=True):
            pass


def begins(target: str, label: str | None, baseline: Sequence[str], config: Config) -> bool:
    """Whether the baseline is what this run is the first of: then there is nothing to compare it with, and it says so.

    Raises:
        ReportError: If the history cannot be read.
    """
    from nsys_analyze.checking import HISTORY

    path = Path(target)
    if label is None or list(baseline) != [HISTORY + label]:
        return False
    if config.history is None or Path(config.history).absolute() != path.absolute():
        return False
    from nsys_analyze.store.loading import count

    first = not path.exists() or not path.stat().st_size or not count(path, label, failed=False)
    if first:
        click.echo(f"{target}: this run is the first of {label}; nothing to compare it with", err=True)
    return first


def save(
    target: str, reports: Sequence[ReportRecord], verdict: Verdict | None, *, label: str | None, commit: str | None
) -> None:
    """Adds a run to the history, and says which number it has.

    Raises:
        ReportError: If it cannot be written.
    """
    from datetime import UTC, datetime

    from nsys_analyze.store import saving

    number = saving.save(Path(target), reports, verdict, label=label, commit=commit, now=datetime.now(UTC))
    saved = f"{len(reports)} report{'' if len(reports) == 1 else 's'}"
    click.echo(f"{target}: run {number}, {saved}{'; nothing was checked' if verdict is None else ''}", err=True)
