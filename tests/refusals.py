"""What a report that cannot be read is refused with."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsys_analyze import open_report
from nsys_analyze.errors import ReportError


def refusal(path: Path) -> str:
    """The one line that a report is refused with."""
    with pytest.raises(ReportError) as refused:
        open_report(path).analysis()
    said = str(refused.value)
    assert "\n" not in said
    assert said.startswith(f"{path}: ")
    return said.removeprefix(f"{path}: ")
