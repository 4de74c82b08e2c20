"""The record of a finished case: a JSON file beside its report."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nsys_analyze.driver.annotate import STAGES
from nsys_analyze.temporary import replacing

Record = dict[str, Any]

SCHEMA_VERSION = 1
SUFFIX = ".case.json"

_SUFFIXES = re.compile(r"(\.(sqlite|nsys-rep|xz))+$")
_RANK = re.compile(r"\.rank\d+$")
_STEP = f"steady@{STAGES}/step@{STAGES}"
_COMPILE = "compile"


def record_path(folder: Path, name: str) -> Path:
    """Where the record of a case lies."""
    return folder / f"{name}{SUFFIX}"


def results_path(report: Path) -> Path:
    """Where the results of a report lie: CASE.json, CASE.rank0.json."""
    return report.with_name(f"{_SUFFIXES.sub('', report.name)}.json")


def read_records(folder: Path) -> list[Record]:
    """The records of a folder, in the order in which their cases were finished, else of their names."""
    records = [record for path in folder.glob(f"*{SUFFIX}") if (record := _read(path)) is not None]
    return sorted(records, key=_order)


def _order(record: Record) -> tuple[str, list[tuple[int, str]]]:
    """When it was finished, and its name with numbers as numbers: batch=4 comes before batch=16."""
    pieces = re.findall(r"\d+|\D+", record["name"])
    return record.get("finished", ""), [(int(piece), "") if piece.isdecimal() else (0, piece) for piece in pieces]


def finished(folder: Path, name: str, asked: Mapping[str, Any], profiler: Sequence[str]) -> bool:
    """Whether the record of a case has these very fields and words of nsys, and its reports are there."""
    record = _read(record_path(folder, name))
    if record is None or any(record.get(field) != value for field, value in json.loads(json.dumps(asked)).items()):
        return False
    return record["nsys"]["command"] == list(profiler) and all(
        (folder / report).is_file() for report in record["reports"]
    )


def unprofiled_times(report: Path) -> dict[str, int]:
    """What stages of a report took without the profiler, by pattern, ns, if a record beside it says so."""
    record = recorded(report)
    if record is None:
        return {}
    unprofiled = record["unprofiled"]
    times = {_STEP: round(unprofiled["step_median_ns"])}
    if _COMPILE in unprofiled["stages_ns"]:
        times[f"{_COMPILE}@{STAGES}"] = unprofiled["stages_ns"][_COMPILE]
    return times


def recorded(report: Path) -> Record | None:
    """The record of the case that a report is of, None where none lies beside it."""
    return next((record for path in record_paths(report) if (record := _read(path)) is not None), None)


def record_paths(report: Path) -> list[Path]:
    """Where the record of a report may lie: that of CASE.sqlite is CASE.case.json, and so is CASE.rank0.sqlite's."""
    stem = _SUFFIXES.sub("", report.name)
    return [record_path(report.parent, name) for name in dict.fromkeys((stem, _RANK.sub("", stem)))]


def write_record(folder: Path, name: str, record: Record) -> None:
    """Writes a record, wholly or not at all."""
    content = json.dumps({"schema_version": SCHEMA_VERSION, **record}, indent=1)
    with replacing(record_path(folder, name)) as file:
        file.write(f"{content}\n".encode())


def _read(path: Path) -> Record | None:
    """The record in a file, or None where there is none that this version understands."""
    with contextlib.suppress(OSError, ValueError):
        record = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(record, dict) and record.get("schema_version") == SCHEMA_VERSION:
            return record
    return None
