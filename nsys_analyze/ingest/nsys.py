"""Runs nsys to export a report, which only NVIDIA's own tool can read."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from nsys_analyze.errors import ReportError

REPORT_MAGIC = b"NVIDIA Tegra Profiler Report"
REPORT_SUFFIXES = (".nsys-rep", ".qdrep")

_VERSION_BYTES = 64
_PROGRESS = re.compile(r"Processing \d+ events|\[[=\s\d]+%")


def export_report(report: Path, folder: Path) -> Path:
    """Exports a report to SQLite with nsys.

    Args:
        report: The report.
        folder: Where the export goes; nothing is written beside the report.

    Returns:
        The export, in `folder`.

    Raises:
        ReportError: There is no nsys, it is older than the report, or it fails.
    """
    nsys = _find_nsys(report)
    export = folder / f"{report.stem}.sqlite"
    command = [nsys, "export", "--type", "sqlite", "--force-overwrite", "true", "--output", str(export)]
    done = _run([*command, str(report.absolute())], folder, report)
    if done.returncode or not export.is_file() or not export.stat().st_size:
        raise ReportError(f"{report}: {_why(done, nsys, report)}")
    return export


def installed_nsys() -> tuple[str, str | None] | None:
    """The nsys that would be used here (NSYS, else on PATH) and its version; None where there is none."""
    found = shutil.which(os.environ.get("NSYS") or "nsys")
    return None if found is None else (found, _version_of(found))


def _find_nsys(report: Path) -> str:
    named = os.environ.get("NSYS")
    found = shutil.which(named or "nsys")
    if found:
        return str(Path(found).absolute())
    manual = f"run `nsys export --type sqlite {shlex.quote(report.name)}` where it is installed"
    if named:
        raise ReportError(f"{report}: NSYS names {named}, which is no program; set it to nsys itself, or {manual}")
    raise ReportError(f"{report}: needs nsys, which is not on PATH; install Nsight Systems, set NSYS, or {manual}")


def _run(command: list[str], folder: Path, report: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise ReportError(
            f"{report}: {command[0]} does not run ({error.strerror}); set NSYS to a working one"
        ) from error


def _why(done: subprocess.CompletedProcess[str], nsys: str, report: Path) -> str:
    said = _last_line(done.stderr) or _last_line(done.stdout) or "nothing"
    mine, written = _version_of(nsys), _written_by(report)
    if mine and written and _number(written) > _number(mine):
        return f"written by nsys {written}, newer than {nsys} ({mine}); set NSYS to a newer one (it said: {said})"
    return (
        f"`nsys export` failed with exit {done.returncode}; capture it again or set NSYS to another (it said: {said})"
    )


def _last_line(output: str) -> str:
    """The last line with an error in it, else the last line, progress left out."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and not _PROGRESS.search(line)]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [""])[-1]


def _version_of(nsys: str) -> str | None:
    """Version of an nsys such as "2023.4.4.54"."""
    try:
        said = subprocess.run(
            [nsys, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    found = re.search(r"\d+(\.\d+)+", said.stdout)
    return found[0] if found else None


def _written_by(report: Path) -> str | None:
    """Version of the nsys that wrote a report, from its first line: "NVIDIA Tegra Profiler Report 2023@4@4@54-..."."""
    with report.open("rb") as file:
        head = file.read(_VERSION_BYTES)
    found = re.match(re.escape(REPORT_MAGIC) + rb" (\d+(?:@\d+)+)", head)
    return found[1].decode().replace("@", ".") if found else None


def _number(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
