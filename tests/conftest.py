from __future__ import annotations

import lzma
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLE_REPORTS = Path(__file__).parent.parent / "sample_reports"

settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")


@pytest.fixture(scope="session")
def sample_report(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Give the path of a sample report by its name, unpacked at its first use."""
    folder = tmp_path_factory.mktemp("sample_reports")

    def unpack(name: str) -> Path:
        unpacked = folder / f"{name}.sqlite"
        if not unpacked.exists():
            with lzma.open(SAMPLE_REPORTS / f"{name}.sqlite.xz") as packed, unpacked.open("wb") as file:
                shutil.copyfileobj(packed, file)
        return unpacked

    return unpack
