"""The folder of a fleet: one writer at a time, results that are there wholly or not at all, a journal of what is done.

out/reports.jsonl                    the journal: a line for each file that was finished, the last one counts
out/stages/date=2026-11-30/ID.parquet  the stages of a report, written before its line
out/reports.parquet, summary.md, findings.parquet  made of these at the end
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import IO, Any, Literal

from nsys_analyze.errors import UsageError
from nsys_analyze.fleet.task import UNKNOWN_DATE, Job, Outcome, plain
from nsys_analyze.temporary import replacing

STAGES = "stages"
_JOURNAL = "reports.jsonl"
_LOCK = ".lock"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_ID = 24  # characters of a digest that a file is called by


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of the journal.

    ``path`` is absolute. ``state`` "gone" takes a file out that is no longer there. ``key`` tells by which version and
    options; ``part`` is where its stages are, from the folder on, None where it has none; ``facts`` are `task.Facts`.
    """

    path: str
    file: str
    state: Literal["done", "failed", "gone"]
    key: str
    digest: str | None
    fingerprint: str | None
    error: str | None
    seconds: float
    part: str | None
    facts: dict[str, Any] | None


class Folder:
    """An output folder that is locked; ``entries`` is what its journal says, by absolute path."""

    def __init__(self, path: Path, journal: IO[str], entries: dict[str, Entry]) -> None:
        self.path, self._journal, self.entries = path, journal, entries

    @property
    def stages(self) -> Path:
        """The dataset of stages."""
        return self.path / STAGES

    def add(self, job: Job, key: str, outcome: Outcome) -> Entry:
        """Keeps what became of a report: first its stages, then a line that says so."""
        entry = Entry(
            path=job.path,
            file=job.file,
            state=outcome.state,
            key=key,
            digest=outcome.digest,
            fingerprint=outcome.fingerprint,
            error=outcome.error,
            seconds=round(outcome.seconds, 3),
            part=_part(outcome),
            facts=plain(outcome.facts) if outcome.facts else None,
        )
        if entry.part and outcome.table is not None and not self._has(entry):
            put(self.path / entry.part, outcome.table)
        self.note(entry)
        return entry

    def _has(self, entry: Entry) -> bool:
        """Whether the same content was analysed in the same way under another name: its stages are there once."""
        others = (other for other in self.entries.values() if other.path != entry.path)
        return any(other.part == entry.part and other.key == entry.key for other in others)

    def forget(self, entry: Entry) -> None:
        """Takes a file out of the journal; its stages go if no other file is the same."""
        self.note(replace(entry, state="gone", part=None))

    def note(self, entry: Entry) -> None:
        """Appends a line, and removes the stages that nobody refers to any more."""
        before = self.entries.pop(entry.path, None)
        if entry.state != "gone":
            self.entries[entry.path] = entry
        self._journal.write(json.dumps({field.name: getattr(entry, field.name) for field in fields(Entry)}) + "\n")
        self._journal.flush()
        os.fsync(self._journal.fileno())
        if before and before.part and before.part not in self.parts():
            (self.path / before.part).unlink(missing_ok=True)

    def parts(self) -> set[str]:
        """The files of the dataset that the journal knows."""
        return {entry.part for entry in self.entries.values() if entry.part}

    def sweep(self) -> None:
        """Removes what an earlier run left half done: parts without a line, and temporary files."""
        known = {self.path / part for part in self.parts()}
        for file in self.stages.rglob("*") if self.stages.is_dir() else ():
            if file.is_file() and file not in known:
                file.unlink()


def _part(outcome: Outcome) -> str | None:
    if outcome.table is None or outcome.facts is None or outcome.digest is None:
        return None
    return f"{STAGES}/date={outcome.facts.date or UNKNOWN_DATE}/{outcome.digest[:_ID]}.parquet"


@contextmanager
def opened(path: Path) -> Iterator[Folder]:
    """Opens the folder of a fleet, which is made if need be, for this process alone.

    Raises:
        UsageError: Another fleet writes to it, it cannot be written, or it holds something else; or within the block,
            there is no room for what is written to it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        foreign = [each.name for each in path.iterdir()] if not (path / _LOCK).exists() else []
        if foreign:
            raise UsageError(f"{path}: a folder with other files ({foreign[0]}, ...); name a new one with --output")
        lock = (path / _LOCK).open("a+", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot write there: {error.strerror or error}") from error
    with lock:
        _take(lock, path)
        entries = _read(path / _JOURNAL)
        try:
            with (path / _JOURNAL).open("a", encoding="utf-8") as journal:
                folder = Folder(path, journal, entries)
                folder.sweep()
                yield folder
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise UsageError(f"{path}: {error.strerror}; what is finished is kept, the same command goes on") from error


def _take(lock: IO[str], path: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.seek(0)
        who = lock.read().strip() or "another process"
        raise UsageError(
            f"{path}: another fleet is writing to it ({who}); wait for it or name another folder"
        ) from error
    lock.truncate(0)
    lock.write(f"process {os.getpid()} on {socket.gethostname()}\n")
    lock.flush()


def _read(journal: Path) -> dict[str, Entry]:
    """The last line of each file; the end of a line that was cut short by a crash is cut off."""
    if not journal.exists():
        return {}
    content = journal.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        with journal.open("r+b") as file:
            file.truncate(len(whole))
    try:
        lines = [json.loads(line) for line in whole.splitlines()]
        found = [Entry(**{field.name: line[field.name] for field in fields(Entry)}) for line in lines]
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{journal}: not the journal of a fleet ({error}); name another folder") from error
    last = {entry.path: entry for entry in found}
    return {path: entry for path, entry in last.items() if entry.state != "gone"}


def put(path: Path, content: bytes) -> None:
    """Writes a file, wholly or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(content)


def without_outdated(entries: Mapping[str, Entry], key: str, among: set[str], folder: Path) -> None:
    """Refuses to mix results: those of other options or another version must be among the reports to do again.

    Raises:
        UsageError: If some are not.
    """
    others = [entry for path, entry in entries.items() if entry.part and entry.key != key and path not in among]
    if others:
        count = f"{len(others):,} report{'' if len(others) == 1 else 's'}"
        raise UsageError(
            f"{folder}: holds results of {count} ({others[0].file}, ...) by other options or another version of this "
            "tool; name them too to do them again, or another folder"
        )
