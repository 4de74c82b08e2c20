"""Reports that nsys has to export, with a script in nsys's place."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nsys_analyze.errors import ReportError
from nsys_analyze.ingest.export import open_export
from nsys_analyze.ingest.locate import located
from tests.exports import ExportBuilder

if TYPE_CHECKING:
    pass

HEADER = b"NVIDIA Tegra Profiler Report 2025@3@2@474-253236389321v0.\n\x0bLocal (CLI)\x12"
NSYS = """#!{python}
import shutil, sys, pathlib
arguments = sys.argv[1:]
if arguments == ["--version"]:
    print("NVIDIA Nsight Systems version {version}-233681190v0")
    sys.exit(0)
pathlib.Path("seen.txt").write_text("\\n".join(arguments))
print("Processing 93 events: [==9%   ]\\rProcessing 93 events: [==100%]")
{body}
"""
SUCCEEDS = "shutil.copy({export!r}, arguments[arguments.index('--output') + 1])"
NEWER = """
print("Exportation error: Report was created in Nsight Systems version (2025.3.2.474-253236389321v0), newer than your "
      "current version (2023.4.4.54-234433681190v0).\\n"
      "Please update your Nsight Systems to the latest version to view this report.", file=sys.stderr)
sys.exit(1)
"""
DAMAGED = 'print("Exportation error: Section Table Reference magic number mismatch.", file=sys.stderr); sys.exit(1)'
SILENT = "sys.exit(-11)"
WRITES_NOTHING = 'print("Done.")'


pytestmark = pytest.mark.usefixtures("temporary")


@pytest.fixture
def report(tmp_path: Path) -> Path:
    (tmp_path / "reports").mkdir()
    path = tmp_path / "reports" / "my report.nsys-rep"
    path.write_bytes(HEADER + bytes(range(256)))
    return path


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    builder = ExportBuilder()
    builder.process(7).thread().push_pop("step", 0, 5)
    return builder.write(tmp_path / "exported.sqlite")


def install(path: Path, body: str, version: str = "2025.3.2.474") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(NSYS.format(python=sys.executable, version=version, body=body))
    path.chmod(0o755)
    return path


def refusal(report: Path) -> str:
    before = {path: path.read_bytes() for path in report.parent.iterdir()}
    with pytest.raises(ReportError) as refused, located(report):
        pass
    assert {path: path.read_bytes() for path in report.parent.iterdir()} == before
    said = str(refused.value)
    assert "\n" not in said
    assert said.startswith(f"{report}: ")
    return said.removeprefix(f"{report}: ")


def test_report_is_exported_to_a_temporary_folder(
    report: Path, exported: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nsys = install(exported.with_name("nsys"), SUCCEEDS.format(export=str(exported)))
    monkeypatch.setenv("NSYS", str(nsys))
    with located(report) as path:
        assert path.is_relative_to(temporary)
        arguments = (path.parent / "seen.txt").read_text().splitlines()
        with open_export(path) as export:
            assert export.has("NVTX_EVENTS", "start")
    assert arguments == [
        *("export", "--type", "sqlite", "--force-overwrite", "true", "--output"),
        *(str(path), str(report)),
    ]
    assert list(report.parent.iterdir()) == [report]


def test_nsys_is_found_on_path(report: Path, exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nsys = install(exported.parent / "bin" / "nsys", SUCCEEDS.format(export=str(exported)))
    monkeypatch.delenv("NSYS", raising=False)
    monkeypatch.setenv("PATH", str(nsys.parent), prepend=os.pathsep)
    with located(report) as path:
        assert path.read_bytes() == exported.read_bytes()


def test_report_is_known_by_its_content(report: Path, exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSYS", str(install(exported.with_name("nsys"), SUCCEEDS.format(export=str(exported)))))
    with located(report.rename(report.with_name("renamed.sqlite"))) as path:
        assert path.read_bytes() == exported.read_bytes()


def test_unknown_content_with_a_reports_suffix_is_left_to_nsys(
    report: Path, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NSYS", str(install(exported.with_name("nsys"), SUCCEEDS.format(export=str(exported)))))
    report.write_bytes(bytes(range(256)))
    with located(report) as path:
        assert path.read_bytes() == exported.read_bytes()
    assert "binary data" in refusal(report.rename(report.with_suffix(".bin")))


def test_no_nsys(report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NSYS", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refusal(report) == (
        "needs nsys, which is not on PATH; install Nsight Systems, set NSYS, or run "
        "`nsys export --type sqlite 'my report.nsys-rep'` where it is installed"
    )


def test_nsys_variable_that_names_nothing(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSYS", "/nowhere/nsys")
    assert refusal(report) == (
        "NSYS names /nowhere/nsys, which is no program; set it to nsys itself, or run "
        "`nsys export --type sqlite 'my report.nsys-rep'` where it is installed"
    )


def test_nsys_that_cannot_run(report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nsys = tmp_path / "nsys"
    nsys.write_bytes(b"\x7fELF of another machine")
    nsys.chmod(0o755)
    monkeypatch.setenv("NSYS", str(nsys))
    assert refusal(report) == f"{nsys} does not run (Exec format error); set NSYS to a working one"


def test_report_newer_than_nsys(report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nsys = install(tmp_path / "nsys", NEWER, version="2023.4.4.54")
    monkeypatch.setenv("NSYS", str(nsys))
    assert refusal(report) == (
        f"written by nsys 2025.3.2.474, newer than {nsys} (2023.4.4.54); set NSYS to a newer one (it said: Exportation "
        "error: Report was created in Nsight Systems version (2025.3.2.474-253236389321v0), newer than your current "
        "version (2023.4.4.54-234433681190v0).)"
    )


@pytest.mark.parametrize("version", ["2023.4.4.54", "2025.3.2.474", "2025.12.1.1"])
def test_newer_is_told_from_the_versions_whatever_nsys_says(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setenv("NSYS", str(install(tmp_path / "nsys", SILENT, version)))
    said = refusal(report)
    assert said.startswith("written by nsys 2025.3.2.474, newer than") == (version == "2023.4.4.54")
    assert said.endswith("(it said: nothing)")


def test_nsys_fails(report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSYS", str(install(tmp_path / "nsys", DAMAGED)))
    assert refusal(report) == (
        "`nsys export` failed with exit 1; capture it again or set NSYS to another "
        "(it said: Exportation error: Section Table Reference magic number mismatch.)"
    )


def test_nsys_exits_0_without_an_export(report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSYS", str(install(tmp_path / "nsys", WRITES_NOTHING)))
    said = "`nsys export` failed with exit 0; capture it again or set NSYS to another (it said: Done.)"
    assert refusal(report) == said


def test_failed_export_holds_strings_only(
    report: Path, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = tmp_path / "stub.sqlite"
    with closing(sqlite3.connect(stub)) as connection:
        connection.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
        connection.execute("CREATE TABLE ProcessStreams (globalPid INTEGER NOT NULL)")
    monkeypatch.setenv("NSYS", str(install(tmp_path / "nsys", SUCCEEDS.format(export=str(stub)))))
    with located(report) as path, pytest.raises(ReportError) as refused:
        open_export(path, "my report.nsys-rep")
    assert (
        str(refused.value) == "my report.nsys-rep: a failed export, it holds strings only; export the .nsys-rep again"
    )


def test_folder_of_the_report_may_be_read_only(report: Path, exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSYS", str(install(exported.with_name("nsys"), SUCCEEDS.format(export=str(exported)))))
    report.parent.chmod(0o555)
    try:
        with located(report) as path:
            assert path.exists()
    finally:
        report.parent.chmod(0o755)


@pytest.mark.skipif(shutil.which("nsys") is None, reason="no nsys on PATH")
def test_real_nsys_refuses_a_report_that_is_none(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NSYS", raising=False)
    assert "(it said: Exportation error: " in refusal(report)
