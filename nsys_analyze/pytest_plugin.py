"""The pytest plugin: budgets and regressions of reports as tests. It loads nothing else before a test asks for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from datetime import date

    from nsys_analyze.metrics.results import Analysis
    from nsys_analyze.report import Report
    from nsys_analyze.verdict.config import Config
    from nsys_analyze.verdict.results import Verdict

_COLUMNS = 110  # of a table below a failing test
_FIELDS = {"max_increase": "increase", "budget": "budgets", "accept": "accepts"}  # of Config, where keys differ


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of the plugin."""
    group = parser.getgroup("nsys-analyze", "Nsight Systems reports")
    group.addoption(
        "--nsys-baseline",
        action="append",
        metavar="SOURCE",
        help="what assert_no_regression compares with: a report, a folder of reports, a JSON result or history:LABEL",
    )
    group.addoption("--nsys-history", metavar="FILE", help="the database of --nsys-baseline history:LABEL")


@pytest.fixture
def nsys_report(request: pytest.FixtureRequest, tmp_path: Path) -> NsysReports:
    """Opens reports, ``nsys_report("report.sqlite")``, and captures programs, ``nsys_report.capture([...])``."""
    config = request.config
    return NsysReports(
        folder=tmp_path,
        project=config.rootpath,
        baseline=_only(config.getoption("--nsys-baseline")),
        history=config.getoption("--nsys-history"),
    )


def _only(baselines: list[str] | None) -> str | None:
    if baselines and len(baselines) > 1:
        raise pytest.UsageError(f"--nsys-baseline {' and '.join(baselines)}: give one, such as a folder of reports")
    return baselines[0] if baselines else None


def pytest_configure(config: pytest.Config) -> None:
    """Refuses options that make no sense, before any test."""
    _only(config.getoption("--nsys-baseline"))


class NsysReports:
    """Makes reports of files and of programs for one test; the fixture ``nsys_report``."""

    def __init__(self, *, folder: Path, project: Path, baseline: str | None, history: str | None) -> None:
        self._folder = folder
        self._project = project
        self._baseline = baseline
        self._history = history
        self._captures = 0

    def __call__(self, *paths: str | os.PathLike[str], **reading: Any) -> CheckedReports:
        """Opens a report, or several captures of the same code.

        Args:
            paths: What Nsight Systems writes or exports.
            reading: How to read them; see `nsys_analyze.open_report`.

        Raises:
            ReportError: If one cannot be read.
            UsageError: If there is none.
        """
        from nsys_analyze import open_report
        from nsys_analyze.errors import UsageError

        if not paths:
            raise UsageError("nsys_report() takes the path of a report, or several")
        opened = [open_report(path, **reading) for path in paths]
        return CheckedReports(opened, project=self._project, baseline=self._baseline, history=self._history)

    def capture(
        self, command: Sequence[str], *, cuda: bool = True, window: bool = False, options: Sequence[str] = ()
    ) -> CheckedReports:
        """Profiles a program and opens its report, which stays in the test's ``tmp_path``. Skips the test without nsys.

        Args:
            command: The program and its arguments.
            cuda: Whether there is CUDA to trace.
            window: Whether to capture only from cudaProfilerStart to cudaProfilerStop.
            options: More options of ``nsys profile``.

        Raises:
            UsageError: If nsys makes no report, or the program fails.
        """
        from nsys_analyze.driver.capture import capture_program
        from nsys_analyze.driver.profiling import Profiler, find_nsys
        from nsys_analyze.errors import UsageError
        from nsys_analyze.ingest.nsys import export_report

        try:
            nsys, version = find_nsys()
        except UsageError as error:
            pytest.skip(str(error))
        self._captures += 1
        made = self._folder / f"capture_{self._captures}.nsys-rep"
        profiler = Profiler(nsys=nsys, version=version, cuda=cuda, window=window, export=False, options=tuple(options))
        code = capture_program(command, made, profiler)
        if code:
            raise UsageError(f"{command[0]}: ended with exit code {code}; its report is {made}")
        return self(export_report(made, made.parent))


class CheckedReports:
    """Captures of the same code, and what a test asserts of them."""

    def __init__(self, reports: Sequence[Report], *, project: Path, baseline: str | None, history: str | None) -> None:
        self.reports = reports
        self._project = project
        self._baseline = baseline
        self._history = history

    @property
    def report(self) -> Report:
        """The report, the first one of several."""
        return self.reports[0]

    @property
    def analyses(self) -> list[Analysis]:
        """What `nsys_analyze.report.Report.analysis` says of each."""
        return [report.analysis() for report in self.reports]

    def assert_budget(self, stage: str, **limits: Any) -> None:
        """Fails the test, showing the verdict, where a stage is over a limit.

        Args:
            stage: A pattern as ``--stage`` takes it; all stages that match must keep the limits.
            limits: By quantity, as ``[[check.budget]]`` has them: ``startup_gap_exposed="50 us"``, ``kernels=60``.

        Raises:
            UsageError: If a limit makes no sense, there is no such quantity, or no stage matches.
        """
        __tracebackhide__ = True
        from nsys_analyze.verdict.config_file import config_of

        config = config_of({"budget": [{"stage": stage, **limits}]}, "assert_budget")
        warmup = self._configured().warmup
        _assert_passed(self._checked(replace(config, warmup=warmup), base=None))

    def assert_no_regression(self, baseline: str | os.PathLike[str] | None = None, **settings: Any) -> None:
        """Fails the test, showing the verdict, where the reports are slower than a baseline. Skips it without one.

        Margins are those of the project's pyproject.toml or nsys-analyze.toml, unless ``settings`` say otherwise; its
        budgets are not looked at.

        Args:
            baseline: What to compare with; the option --nsys-baseline, if left out.
            settings: Keys of ``[check]``: ``max_increase="20%"``, ``stages=["steady/*"]``, ``metrics=["pace"]``.

        Raises:
            UsageError: If a setting makes no sense, or a pattern fits no stage.
            ReportError: If the baseline cannot be read.
        """
        __tracebackhide__ = True
        source = self._baseline if baseline is None else os.fspath(baseline)
        if source is None:
            pytest.skip("nothing to compare with: give --nsys-baseline SOURCE")
        from nsys_analyze.verdict.config_file import config_of

        project = self._configured()
        asked = config_of(settings, "assert_no_regression")
        own = {name: getattr(asked, name) for name in (_FIELDS.get(key, key) for key in settings)}
        config = replace(project, **{"budgets": (), "accepts": (), **own})
        _assert_passed(self._checked(replace(config, history=self._history or config.history), base=source))

    def _configured(self) -> Config:
        from nsys_analyze.verdict.config_file import find_config

        return find_config(self._project)

    def _checked(self, config: Config, base: str | None) -> Verdict:
        from nsys_analyze import open_report
        from nsys_analyze.checking import baseline_samples, check_samples, samples

        new = samples([(report.path.name, report.analysis()) for report in self.reports], config)
        sources = [] if base is None else [base]
        old = baseline_samples(sources, new, config, lambda path: open_report(path).analysis())
        return check_samples(new, old, config, _today())


def _today() -> date:
    from datetime import date

    return date.today()


def _assert_passed(verdict: Verdict) -> None:
    __tracebackhide__ = True
    if not verdict.passed:
        from nsys_analyze.views import verdict_table

        raise AssertionError(verdict_table.render(verdict, columns=_COLUMNS, rest_by=""))
