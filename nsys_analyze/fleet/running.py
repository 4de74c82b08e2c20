"""A run: which reports are left to do, their results into the folder one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nsys_analyze.fleet import engine
from nsys_analyze.fleet.folder import Entry, Folder, without_outdated
from nsys_analyze.fleet.identity import fingerprint, settings_key
from nsys_analyze.fleet.task import Job

if TYPE_CHECKING:
    from distributed import Client

Connect = Callable[[], AbstractContextManager["Client"]]
Tell = Callable[["Progress", Entry | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is: ``reports`` in all, those ``skipped`` since they were done before, ``done`` now, ``failed``."""

    reports: int
    skipped: int = 0
    done: int = 0
    failed: int = 0

    @property
    def left(self) -> int:
        """Reports that nothing is known of yet."""
        return self.reports - self.skipped - self.done - self.failed


def run(folder: Folder, reports: Sequence[Path], reading: dict[str, Any], connect: Connect, tell: Tell) -> Progress:
    """Analyses what was not yet, and keeps each result as it comes.

    Args:
        folder: Where results go.
        reports: The files.
        reading: Arguments of `open_report`.
        connect: Gives the workers; they are only asked for where something is left to do.
        tell: Is told of each step, with what became of a report.

    Raises:
        NsysAnalyzeError: The folder holds results of another kind, or there are no workers.
        OSError: A result cannot be written.
    """
    key = settings_key(reading)
    jobs = [Job(path=str(path.absolute()), file=str(path), reading=reading) for path in reports]
    without_outdated(folder.entries, key, {job.path for job in jobs}, folder.path)
    left = [job for job in jobs if not _is_done(job, folder.entries.get(job.path), key)]
    for entry in [each for each in folder.entries.values() if each.state == "failed"]:
        if not Path(entry.path).exists():
            folder.forget(entry)
    progress = Progress(reports=len(jobs), skipped=len(jobs) - len(left))
    tell(progress, None)
    if not left:
        return progress
    with connect() as client:
        known = _known(folder, left, key)
        if known:
            left, progress = _recognised(client, folder, left, known, progress, tell)
        for job, outcome in engine.run(client, left):
            entry = folder.add(job, key, outcome)
            done = entry.state == "done"
            progress = replace(progress, done=progress.done + done, failed=progress.failed + (not done))
            tell(progress, entry)
    return progress


def _is_done(job: Job, entry: Entry | None, key: str) -> bool:
    """Whether a file is untouched since it was analysed in this very way."""
    if entry is None or entry.state != "done" or entry.key != key:
        return False
    try:
        return fingerprint(Path(job.path)) == entry.fingerprint
    except OSError:
        return False


def _known(folder: Folder, left: Iterable[Job], key: str) -> dict[str, Entry]:
    """Results by content, where a file that was touched, moved or copied since may be one of them."""
    open_paths = {job.path for job in left}
    entries = [entry for entry in folder.entries.values() if entry.state == "done" and entry.key == key]
    aside = [entry for entry in entries if entry.path in open_paths or not Path(entry.path).exists()]
    return {entry.digest: entry for entry in aside if entry.digest}


def _recognised(
    client: Client, folder: Folder, left: list[Job], known: dict[str, Entry], progress: Progress, tell: Tell
) -> tuple[list[Job], Progress]:
    """Notes files that have the content of one that was analysed, and returns the others."""
    others = []
    for job, digest in engine.identified(client, left):
        entry = known.get(digest)
        if entry is None:
            others.append(job)
            continue
        folder.note(replace(entry, path=job.path, file=job.file, fingerprint=_seen(job)))
        if entry.path != job.path and entry.path in folder.entries and not Path(entry.path).exists():
            folder.forget(entry)
        progress = replace(progress, skipped=progress.skipped + 1)
        tell(progress, None)
    return others, progress


def _seen(job: Job) -> str | None:
    try:
        return fingerprint(Path(job.path))
    except OSError:
        return None
