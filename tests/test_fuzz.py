"""A bounded run of the fuzzer; `python -m tests.fuzz` tries as many inputs as there is time for."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.fuzz.__main__ import made_input, sound_reports
from tests.fuzz.mutations import mutate_bytes, mutate_tables
from tests.fuzz.oracle import VERBS, Command
from tests.strategies import exports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.exports import ExportBuilder

QUICK = ("json", "table", "csv", "kernels", "trace", "check", "compare", "slice", "redact", "doctor")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return sound_reports(tmp_path_factory.mktemp("fuzz") / "sound", [])


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory, sound: list[Path]) -> Iterator[Command]:
    with Command(tmp_path_factory.mktemp("work"), sound[2]) as command:
        yield command


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("in") / "report.sqlite"


@settings(max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck))
@given(exports(), st.randoms(use_true_random=False), st.sampled_from(QUICK), st.booleans())
def test_generated_reports_with_changed_tables(
    command: Command, report: Path, builder: ExportBuilder, random: Random, verb: str, arrow: bool
) -> None:
    builder.write(report)
    note("; ".join(mutate_tables(report, random)))
    assert command.complaint(VERBS[verb], report, arrow=arrow) is None


@settings(max_examples=20, derandomize=True, suppress_health_check=list(HealthCheck))
@given(exports(), st.randoms(use_true_random=False), st.sampled_from(QUICK))
def test_generated_reports_with_changed_bytes(
    command: Command, report: Path, builder: ExportBuilder, random: Random, verb: str
) -> None:
    builder.write(report)
    note("; ".join(mutate_bytes(report, random)))
    assert command.complaint(VERBS[verb], report) is None


@pytest.mark.parametrize("number", range(len(VERBS)))
def test_real_reports_with_changes(command: Command, report: Path, sound: list[Path], number: int) -> None:
    """Every verb once; the longer run tries each on many inputs."""
    how = made_input(number, sound, report)
    assert command.complaint(VERBS[list(VERBS)[number]], report, arrow=number % 2 == 0) is None, how
