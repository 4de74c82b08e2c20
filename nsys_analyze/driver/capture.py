"""Captures a case: unprofiled, then profiled, and a record of both beside the report."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, Literal

from nsys_analyze._version import __version__
from nsys_analyze.driver.cases import Case
from nsys_analyze.driver.processes import last_words, run_child
from nsys_analyze.driver.profiling import Profiler, workload_command
from nsys_analyze.driver.records import Record, finished, write_record
from nsys_analyze.driver.run_workload import COMPLAINT
from nsys_analyze.errors import ReportError, UsageError
from nsys_analyze.temporary import temporary_folder

Redaction = Literal["machine", "names", "none"]

EXPORT, REPORT, RESULTS = ".sqlite", ".nsys-rep", ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """Where and how cases are captured.

    Attributes:
        folder: Where reports, records and the logs of failures go.
        python: The interpreter of the workloads.
        profiler: How they are profiled.
        redaction: What is left out of reports: see `nsys_analyze.slicing.Slice`; "none" leaves them as nsys made them.
        keep_report: Whether the .nsys-rep stays, too, which cannot be redacted.
        timeout: Seconds that one process may take; None is any time.
    """

    folder: Path
    python: str
    profiler: Profiler
    redaction: Redaction = "machine"
    keep_report: bool = False
    timeout: float | None = None

    def is_finished(self, case: Case) -> bool:
        """Whether the case was captured before, with the same settings, options of nsys and redaction."""
        asked = {"case": case.settings(), "redaction": self.redaction}
        return finished(self.folder, case.name, asked, self._noted_command(case)) and (
            not self.keep_report or bool(_reports(self.folder, case.name, REPORT))
        )

    def _noted_command(self, case: Case) -> list[str]:
        """The words of nsys, whatever the machine."""
        return dataclasses.replace(self.profiler, nsys="nsys").command(case.name)

    def run(self, case: Case) -> Record:
        """Captures a case and returns its record; nothing of an earlier one is touched before that is complete.

        Raises:
            UsageError: If a process fails, saying why, or results differ from eager mode's.
        """
        log = self.folder / f"{case.name}.log"
        log.unlink(missing_ok=True)
        with temporary_folder(self.folder, f".{case.name}-") as temporary:
            record = self._captured(case, temporary, log)
            self._placed(case, temporary)
        write_record(self.folder, case.name, record)
        log.unlink()
        return record

    def _placed(self, case: Case, temporary: Path) -> None:
        """Puts the reports of a case in the place of those, and of their results, that an earlier capture left."""
        for suffix in (EXPORT, REPORT, RESULTS):
            for path in _reports(self.folder, case.name, suffix):
                path.unlink()
            if suffix == EXPORT or self.keep_report:
                for path in _reports(temporary, case.name, suffix):
                    path.replace(self.folder / path.name)

    def _captured(self, case: Case, temporary: Path, log: Path) -> Record:
        plain = dataclasses.replace(case.request, ops=None, regions=(), window=None, compile_phases=False)
        profiled = dataclasses.replace(case.request, check=False, repeats=1)
        with _caches(case, temporary) as (prime, unprofiled_cache, profiled_cache):
            if prime:
                self._outcome(case, dataclasses.replace(plain, check=False, repeats=1), temporary, log, prime)
            unprofiled = self._outcome(case, plain, temporary, log, unprofiled_cache)
            _check_agreement(unprofiled)
            profiled_outcome = self._outcome(case, profiled, temporary, log, profiled_cache, self.profiler)
        reports = _reports(temporary, case.name, EXPORT)
        if not reports:
            raise UsageError(f"nsys made no report{self.profiler.excuse()} (it said: {last_words(log)}); see {log}")
        self._redact(reports)
        return {
            "name": case.name,
            "case": case.settings(),
            "redaction": self.redaction,
            "unprofiled": _with_median(unprofiled),
            "profiled": _with_median(profiled_outcome),
            "reports": [path.name for path in reports],
            "nsys": {"version": self.profiler.version, "command": self._noted_command(case)},
            "tool": __version__,
            "finished": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }

    def _redact(self, reports: Sequence[Path]) -> None:
        if self.redaction == "none":
            return
        from nsys_analyze.slicing import redact_in_place

        for report in reports:
            try:
                redact_in_place(report, self.redaction)
            except ReportError as error:
                raise UsageError(f"{report.name}: cannot be redacted: {error}; --redact none does without") from error

    def _outcome(
        self,
        case: Case,
        request: Any,
        temporary: Path,
        log: Path,
        env: Mapping[str, str],
        profiler: Profiler | None = None,
    ) -> dict[str, Any]:
        """Runs one process (or all ranks) and returns what rank 0 wrote."""
        outcome = temporary / "outcome.json"
        outcome.unlink(missing_ok=True)
        arguments = [*request.arguments(), "--outcome", str(outcome)]
        per_rank = ".rank%q{RANK}" if case.report_per_rank and case.ranks > 1 else ""
        words = profiler.command(str(temporary / f"{case.name}{per_rank}")) if profiler else []
        command = workload_command(case, arguments, self.python, words)
        code = run_child(command, log, env={**case.env, **env}, timeout=self.timeout)
        if not outcome.is_file():
            raise UsageError(_why(log, code))
        written: dict[str, Any] = json.loads(outcome.read_text(encoding="utf-8"))
        return written


def _why(log: Path, code: int) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    told = [line.partition(COMPLAINT)[2] for line in lines if COMPLAINT in line]
    return told[0] if told else f"its process {_ending(code)} (it said: {last_words(log)}); see {log}"


def _ending(code: int) -> str:
    """How a process ended that should have gone on, of its exit code; a negative one is that of a signal."""
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}" if code else "ended before its steps did"


def _check_agreement(outcome: Mapping[str, Any]) -> None:
    found = outcome["agreement"]
    if found is not None and not found["agrees"]:
        gradient = f", its gradients by {found['gradient']:.2%}" if "gradient" in found else ""
        raise UsageError(
            f"its output differs from eager mode's by {found['output']:.2%}{gradient}"
            f" (allowed: {found['tolerance']:.2%}"
            + (f" and {found['gradient_tolerance']:.2%}" if gradient else "")
            + "); --no-check captures it all the same"
        )


def _with_median(outcome: dict[str, Any]) -> dict[str, Any]:
    return {**outcome, "step_median_ns": median(outcome["step_ns"])}


@contextmanager
def _caches(case: Case, temporary: Path) -> Iterator[tuple[dict[str, str], dict[str, str], dict[str, str]]]:
    """Yields where compilers cache: in a process that fills the cache (if any), unprofiled, profiled."""
    if case.cache == "user":
        yield {}, {}, {}
        return
    folders = [temporary / f"cache{number}" for number in range(2)]
    first, second = (_cache_variables(folder) for folder in folders)
    try:
        yield (first, first, first) if case.cache == "warm" else ({}, first, second)
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def _cache_variables(folder: Path) -> dict[str, str]:
    return {
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        "TRITON_CACHE_DIR": str(folder / "triton"),
        "CUDA_CACHE_PATH": str(folder / "cuda"),
    }


def _reports(folder: Path, stem: str, suffix: str) -> list[Path]:
    """The files of a case that end so, one or one a rank, in the order of the ranks."""
    named = re.compile(rf"{re.escape(stem)}(?:\.rank(\d+))?{re.escape(suffix)}")
    found = {path: match for path in folder.iterdir() if (match := named.fullmatch(path.name))}
    return sorted(found, key=lambda path: int(found[path][1] or 0))


def capture_program(command: Sequence[str], report: Path, profiler: Profiler) -> int:
    """Profiles any program, which writes to standard error, and returns its exit code.

    Args:
        command: The program and its arguments.
        report: The .nsys-rep to make.
        profiler: How to profile it.

    Raises:
        UsageError: If nsys makes no report.
    """
    with temporary_folder(report.parent, f".{report.stem}-") as folder:
        made = folder / report.name
        code = run_child([*profiler.command(str(made.with_suffix(""))), *command], None)
        if not made.is_file():
            raise UsageError(
                f"nsys made no report of {command[0]}{profiler.excuse()} (exit code {code}); see what it said above"
            )
        made.replace(report)
    return code
