"""The page of promises names tests that are there, and says how many inputs each has."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests import test_fuzz

ROOT = Path(__file__).parent.parent
_ROW = re.compile(r"^\| [^|]+ \| (`tests/[^|]+`) \| (\d+) \|$", re.MULTILINE)
ROWS = [
    (re.findall(r"`([^`]+)`", tests), int(inputs))
    for tests, inputs in _ROW.findall((ROOT / "docs/safety.md").read_text())
]


@pytest.fixture(scope="module")
def collected() -> Counter[str]:
    """How often each test runs, by its name without parameters."""
    files = {name.partition("::")[0] for names, _ in ROWS for name in names}
    listed = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "--collect-only",
            "-o",
            "addopts=-q",
            "-p",
            "no:cacheprovider",
            *sorted(files),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    times = Counter(line.partition("[")[0] for line in listed.splitlines() if "::" in line)
    for name in ("test_generated_reports_with_changed_tables", "test_generated_reports_with_changed_bytes"):
        drawn = getattr(test_fuzz, name)._hypothesis_internal_use_settings
        times[f"tests/test_fuzz.py::{name}"] = drawn.max_examples
    return times


def test_the_promises_are_held_by_tests_that_are_there(collected: Counter[str]) -> None:
    assert len(ROWS) > 20
    assert [name for names, _ in ROWS for name in names if name not in collected] == []
    wrong = [(names, inputs) for names, inputs in ROWS if inputs != sum(collected[name] for name in names)]
    assert wrong == []


def test_every_row_of_the_page_is_checked() -> None:
    rows = [line for line in (ROOT / "docs/safety.md").read_text().splitlines() if line.startswith("| ")]
    assert len(rows) - 2 == len(ROWS)


def test_the_policy_leads_to_the_page() -> None:
    assert "(docs/safety.md)" in (ROOT / "SECURITY.md").read_text()
