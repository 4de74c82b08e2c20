from __future__ import annotations

import lzma
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from nsys_analyze import cli, open_report
from tests.exports import ExportBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nsys_analyze.metrics.results import Analysis

pytest_plugins = ["pytester"]

REPORTS = Path(__file__).parent / "reports"
SAMPLE_REPORTS = Path(__file__).parent.parent / "sample_reports"

settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--reports", metavar="FOLDER", help="also check the invariants on the reports of a folder")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "any_report" in metafunc.fixturenames:
        folder = metafunc.config.getoption("--reports")
        found = sorted(Path(folder).rglob("*.sqlite*")) if folder else []
        metafunc.parametrize("any_report", found, ids=[path.name for path in found])


@pytest.fixture(autouse=True)
def _pages_of_one_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep pages as wide as those that are piped, whatever the terminal or the runner says."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(scope="session")
def sample_report(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Give the path of a report of either folder by its name, unpacked at its first use."""
    folder = tmp_path_factory.mktemp("sample_reports")

    def unpack(name: str) -> Path:
        unpacked = folder / f"{name}.sqlite"
        if not unpacked.exists():
            unpacked.parent.mkdir(exist_ok=True)
            (path,) = (path for parent in (REPORTS, SAMPLE_REPORTS) if (path := parent / f"{name}.sqlite.xz").exists())
            with lzma.open(path) as packed, unpacked.open("wb") as file:
                shutil.copyfileobj(packed, file)
        return unpacked

    return unpack


@pytest.fixture(params=["sqlite3", "arrow"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test with each reader, whatever the number of rows."""
    monkeypatch.setattr("nsys_analyze.ingest.reading.ARROW_ROWS", 1 if request.param == "arrow" else 10**9)
    return str(request.param)


@pytest.fixture
def eager(sample_report: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a report in the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    shutil.copyfile(sample_report("llama_eager"), "eager.sqlite")
    return "eager.sqlite"


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command line; returns exit code, standard output and standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = cli.main([*map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def builder() -> ExportBuilder:
    """An export to be filled."""
    return ExportBuilder()


@pytest.fixture
def analyse(tmp_path: Path) -> Callable[..., Analysis]:
    """Write an export and analyse it, with the options of `open_report`."""

    def write_and_analyse(builder: ExportBuilder, **options: Any) -> Analysis:
        return open_report(builder.write(tmp_path / "report.sqlite"), **options).analysis()

    return write_and_analyse


@pytest.fixture
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files of the test's own, which must be empty again at its end."""
    folder = tmp_path_factory.mktemp("tmpdir")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []
