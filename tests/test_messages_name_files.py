"""Error messages name a file as the user did, whatever it had to be unpacked or copied to."""

from __future__ import annotations

import contextlib
import lzma
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from nsys_analyze import ReportError, open_report

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def foreign(tmp_path: Path) -> bytes:
    path = tmp_path / "made.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE moz_places (id)")
    return path.read_bytes()


@pytest.mark.parametrize("packed", [False, True])
def test_a_relative_path_stays_relative(tmp_path, foreign, packed):
    name = f"some/report.sqlite{'.xz' if packed else ''}"
    (tmp_path / "some").mkdir()
    (tmp_path / name).write_bytes(lzma.compress(foreign) if packed else foreign)
    with contextlib.chdir(tmp_path), pytest.raises(ReportError) as refused:
        open_report(name)
    assert str(refused.value).startswith(f"{name}: not an Nsight Systems export")


def test_of_a_cut_file(tmp_path, builder):
    (tmp_path / "some").mkdir()
    path = builder.write(tmp_path / "some" / "report.sqlite")
    path.write_bytes(path.read_bytes()[:-4096])
    with contextlib.chdir(tmp_path), pytest.raises(ReportError) as refused:
        open_report("some/report.sqlite")
    assert str(refused.value).startswith("some/report.sqlite: cut short, ")
