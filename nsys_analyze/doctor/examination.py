"""Examines a report: reads it as an analysis does, and asks every question."""

from __future__ import annotations

import os
from pathlib import Path

from nsys_analyze.doctor.answers import Answer, Diagnosis, no
from nsys_analyze.doctor.patient import Patient
from nsys_analyze.doctor.questions import QUESTIONS
from nsys_analyze.errors import ReportError
from nsys_analyze.ingest.export import open_export
from nsys_analyze.ingest.inspection import damage, described, inspect
from nsys_analyze.ingest.locate import located
from nsys_analyze.report import open_report

_CHECK_SECONDS = 5.0


def examine(path: str | os.PathLike[str]) -> Diagnosis:
    """Says what can and cannot be answered from a report.

    Raises:
        ReportError: There is no file, or one that is neither a report nor any SQLite file.
    """
    try:
        patient = _patient(path)
    except ReportError as error:
        return _unreadable(path, error)
    answers = [
        Answer(question=asked.name, title=asked.title, needed=asked.needed, finding=asked.ask(patient))
        for asked in QUESTIONS
    ]
    return Diagnosis(subject=os.fspath(path), facts=_facts(patient), answers=answers, traced=patient.traced)


def _patient(path: str | os.PathLike[str]) -> Patient:
    with located(path) as sqlite:
        found = damage(sqlite, _CHECK_SECONDS)
        with open_export(sqlite, path) as export:
            inspection = inspect(export)
        try:
            report = open_report(sqlite)
        except ReportError as error:
            raise ReportError(str(error).replace(str(sqlite), os.fspath(path))) from error
        unsettled = sqlite != Path(path) and sqlite.name == Path(path).name
        return Patient(report, report.analysis(), inspection, found, unsettled)


def _facts(patient: Patient) -> list[str]:
    info = patient.analysis.report
    facts = [
        f"nsys {info.nsys_version}" if info.nsys_version else "",
        f"schema {info.export_schema}" if info.export_schema else "",
        f"driver {info.driver}" if info.driver else "",
        f"--trace={info.capture['trace']}" if info.capture["trace"] else "",
    ]
    return [fact for fact in facts if fact]


def _unreadable(path: str | os.PathLike[str], error: ReportError) -> Diagnosis:
    """What is left to say of a file that is a SQLite database at least."""
    found = described(Path(path)) if Path(path).is_file() else None
    if found is None:
        raise error
    why = str(error).removeprefix(f"{os.fspath(path)}: ")
    answer = Answer(question="file", title="the file is whole", needed=True, finding=no(why))
    return Diagnosis(subject=os.fspath(path), facts=found, answers=[answer], readable=False)
