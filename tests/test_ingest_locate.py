from __future__ import annotations

import gzip
import lzma
import os
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nsys_analyze.errors import ReportError
from nsys_analyze.ingest import locate
from nsys_analyze.ingest.locate import located
from tests.exports import ExportBuilder

if TYPE_CHECKING:
    pass


pytestmark = pytest.mark.usefixtures("temporary")


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return written(tmp_path / "report.sqlite")


def written(path: Path, *, wal: bool = False) -> Path:
    builder = ExportBuilder()
    thread = builder.process(7).thread()
    for step in range(3):
        thread.push_pop(f"step {step}", 10 * step, 10 * step + 5)
    return builder.write(path, wal=wal)


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir() if path.is_file()}


def refusal(path: Path) -> str:
    """The one line that a file is refused with; what lies in its folder must stay as it was."""
    before = snapshot(path.parent)
    with pytest.raises(ReportError) as refused, located(path):
        pass
    assert snapshot(path.parent) == before
    said = str(refused.value)
    assert "\n" not in said
    assert said.startswith(f"{path}: ")
    return said.removeprefix(f"{path}: ")


def ranges(path: Path) -> int:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59").fetchone()[0])


def test_an_export_is_used_where_it_lies(export: Path) -> None:
    with located(export) as path:
        assert path == export
    with located(str(export)) as path:
        assert path == export


def test_the_content_decides_not_the_suffix(export: Path) -> None:
    renamed = export.rename(export.with_name("report.nsys-rep"))
    with located(renamed) as path:
        assert path == renamed


def test_xz_is_unpacked_and_removed(export: Path, temporary: Path) -> None:
    packed = export.with_name("report.sqlite.xz")
    packed.write_bytes(lzma.compress(export.read_bytes()))
    before = snapshot(export.parent)
    with located(packed) as path:
        assert path.name == "report.sqlite"
        assert path.is_relative_to(temporary)
        assert path.read_bytes() == export.read_bytes()
    assert not path.exists()
    assert snapshot(export.parent) == before


def test_what_was_unpacked_goes_after_an_interrupt(export: Path) -> None:
    packed = export.with_name("report.sqlite.xz")
    packed.write_bytes(lzma.compress(export.read_bytes()))
    with pytest.raises(KeyboardInterrupt), located(packed):
        raise KeyboardInterrupt


def test_xz_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "notes.xz"
    path.write_bytes(lzma.compress(b"notes"))
    said = "what is packed in it is not a SQLite export; unpack it and name what comes out"
    assert refusal(path) == said


def test_cut_xz(export: Path) -> None:
    packed = lzma.compress(export.read_bytes())
    path = export.with_name("cut.sqlite.xz")
    path.write_bytes(packed[: len(packed) // 2])
    assert refusal(path).startswith("cut or damaged xz file (Compressed file ended before")
    path.write_bytes(packed[:100] + bytes(len(packed) - 100))
    assert refusal(path) == "cut or damaged xz file (Corrupt input data); fetch it again"


def test_no_room_to_unpack(export: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    packed = export.with_name("report.sqlite.xz")
    packed.write_bytes(lzma.compress(export.read_bytes()))
    monkeypatch.setattr(locate, "unpack", full)
    said = refusal(packed)
    assert said.startswith("cannot be copied to ")
    assert said.endswith(" (No space left on device); set TMPDIR to a roomier place")


def test_missing(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nowhere.sqlite") == "no such file; check the path"


def test_folder(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    assert refusal(folder) == "a folder without the tables of an export; name a .sqlite or .nsys-rep file in it"


def test_fifo_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe.sqlite"
    os.mkfifo(path)
    with pytest.raises(ReportError, match="not a regular file; save it to a file first"), located(path):
        pass


def test_empty(tmp_path: Path) -> None:
    path = tmp_path / "report.sqlite"
    path.touch()
    assert refusal(path) == "empty file; export the .nsys-rep again"


def test_name_that_no_file_can_have() -> None:
    with pytest.raises(ReportError, match="cannot be read"), located("a\0b"):
        pass


def test_permission(export: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", forbidden)
        with pytest.raises(ReportError) as refused, located(export):
            pass
    assert str(refused.value) == f"{export}: cannot be read (Permission denied); check the path and its permissions"


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        (gzip.compress(b"SQLite format 3", mtime=0), "a gzip file; unpack it first"),
        (b"(\xb5/\xfd" + bytes(range(60)), "a zstd file; unpack it first"),
        (b"BZh91AY&SY", "a bzip2 file; unpack it first"),
        (b"PAR1" + bytes(60), "one table of a Parquet export; name the folder that it lies in"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file; export with `nsys export --type sqlite`"),
        (b"ARROW1\0\0", "an Arrow file; export with `nsys export --type sqlite`"),
        (b"\xff\xff\xff\xff\x08\x0b\0\0", "an Arrow stream; name the folder of an arrowdir export"),
        (b'{"schema_version": 1}', "JSON"),
        (b'\xef\xbb\xbf\n[{"name": 1}]', "JSON"),
        (b"<!DOCTYPE html><title>404</title>", "HTML or XML"),
        ("Zeit,Dauer\nübrig,1\n".encode(), "text"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "a Git LFS pointer; run `git lfs pull`"),
        (bytes(4096), "a file of zeros, perhaps a download cut short"),
        (b"\x7fELF\x02\x01\x01\0", "binary data"),
        (b"SQLite", "text"),
    ],
)
def test_other_content(tmp_path: Path, content: bytes, looks: str) -> None:
    path = tmp_path / "report.sqlite"
    path.write_bytes(content)
    said = refusal(path)
    assert said.startswith(f"not an Nsight Systems export; it looks like {looks}")
    assert said.count(";") == 2


def test_zip(export: Path) -> None:
    path = export.with_name("report.zip")
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(export)
    assert refusal(path) == "not an Nsight Systems export; it looks like a zip file; unpack it first"


def test_rows_in_a_wal_file_are_read_from_a_copy(tmp_path: Path, temporary: Path) -> None:
    export = written(tmp_path / "report.sqlite", wal=True)
    before = snapshot(tmp_path)
    assert {"report.sqlite", "report.sqlite-wal"} == set(before)
    with located(export) as path:
        assert path.is_relative_to(temporary)
        assert path.name == "report.sqlite"
        assert [beside.name for beside in path.parent.iterdir()] == ["report.sqlite"]
        assert ranges(path) == 3
    assert snapshot(tmp_path) == before


def test_wal_file_is_found_beside_what_a_link_points_to(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "link.sqlite").symlink_to(written(tmp_path / "kept" / "report.sqlite", wal=True))
    with located(tmp_path / "link.sqlite") as path:
        assert ranges(path) == 3


def test_empty_wal_file_is_no_reason_to_copy(export: Path) -> None:
    export.with_name("report.sqlite-wal").touch()
    with located(export) as path:
        assert path == export


def test_half_written_transaction_is_undone_in_the_copy(export: Path) -> None:
    with closing(sqlite3.connect(export, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("PRAGMA cache_spill = 1")
        connection.execute("BEGIN")
        connection.execute("UPDATE NVTX_EVENTS SET eventType = 34, text = hex(zeroblob(9000))")
        for suffix in ("", "-journal"):
            shutil.copy(f"{export}{suffix}", export.with_name(f"torn.sqlite{suffix}"))
        connection.execute("ROLLBACK")
    torn = export.with_name("torn.sqlite")
    assert torn.read_bytes() != export.read_bytes()
    before = snapshot(export.parent)
    with located(torn) as path:
        assert ranges(path) == 3
    assert snapshot(export.parent) == before


def test_export_that_grows_while_it_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    export = written(tmp_path / "report.sqlite", wal=True)
    copy = shutil.copyfile

    def copy_while_written(source: Path, target: Path) -> None:
        copy(source, target)
        os.utime(source, ns=(1, 1))

    monkeypatch.setattr(locate.shutil, "copyfile", copy_while_written)
    with pytest.raises(ReportError, match="still being written to; wait until its export is done"), located(export):
        pass


def test_damaged_export_with_wal(tmp_path: Path) -> None:
    export = written(tmp_path / "report.sqlite", wal=True)
    export.write_bytes(export.read_bytes()[:50])
    export.with_name("report.sqlite-wal").write_bytes(b"no frames here")
    said = refusal(export)
    assert said.startswith("damaged (")
    assert said.endswith("); export the report again")
