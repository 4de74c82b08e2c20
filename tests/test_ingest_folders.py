"""Exports that are folders of Parquet or Arrow files say what the SQLite export says."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsys_analyze import check, compare, open_report
from nsys_analyze.cli import main
from nsys_analyze.doctor import examine
from nsys_analyze.ingest import tablefiles
from nsys_analyze.ingest.columns import Among, Column, TableRequest, coded, text
from nsys_analyze.ingest.export import open_export
from tests.exports import ExportBuilder
from tests.folder_exports import SUFFIXES, as_folder, write_table
from tests.refusals import refusal
from tests.samples import SAMPLES
from tests.strategies import exports

if TYPE_CHECKING:
    from collections.abc import Callable

    from nsys_analyze.metrics.results import Analysis

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"


def builder() -> ExportBuilder:
    built = ExportBuilder()
    thread = built.process(7).thread()
    for step in range(3):
        thread.push_pop(f"step {step}", 100 * step, 100 * step + 50, domain="stages")
        thread.call("cudaLaunchKernel_v7000", 100 * step, 100 * step + 9).kernel(
            "gemm", 100 * step + 20, 100 * step + 40
        )
    return built


def nameless(analysis: Analysis) -> Analysis:
    """An analysis without what tells one file from another."""
    return dataclasses.replace(analysis, report=dataclasses.replace(analysis.report, file="", sha256=None))


@pytest.fixture(params=SUFFIXES)
def suffix(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path, suffix: str) -> Path:
    return as_folder(builder().write(tmp_path / "report.sqlite"), tmp_path / "report_dir", suffix)


@pytest.mark.parametrize("sample", SAMPLES)
def test_samples_have_the_same_numbers(
    sample: str, suffix: str, sample_report: Callable[[str], Path], tmp_path: Path
) -> None:
    report = sample_report(sample)
    folder = as_folder(report, tmp_path / "report_dir", suffix)
    for rule in ("thread", "process"):
        from_sqlite, from_folder = (open_report(path, attribution=rule).analysis() for path in (report, folder))
        assert nameless(from_folder) == nameless(from_sqlite)


@settings(max_examples=30)
@given(export=exports(ties=True), suffix=st.sampled_from(SUFFIXES), rows=st.sampled_from([1, 7, 1000]))
def test_any_export_has_the_same_numbers(export: ExportBuilder, suffix: str, rows: int) -> None:
    with tempfile.TemporaryDirectory() as made:
        report = export.write(Path(made, "report.sqlite"))
        folder = as_folder(report, Path(made, "report_dir"), suffix, rows=rows)
        assert nameless(open_report(folder).analysis()) == nameless(open_report(report).analysis())


def test_arrays_are_those_of_sqlite_whatever_the_batches(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tablefiles, "BATCH_ROWS", 2)
    built = builder()
    built.process(8).thread().push_pop(b"caf\xe9", 0, None)
    report = built.write(tmp_path / "report.sqlite")
    requests = [
        TableRequest("NVTX_EVENTS", [Column("end", missing=-7), coded("globalTid"), text("text"), Column("absent")]),
        TableRequest("NVTX_EVENTS", [Column("start")], (Among("end", None),)),
        TableRequest("NVTX_EVENTS", [Column("absent")], (Among("eventType", (59,)), Among("globalTid", (7,)))),
        TableRequest("NO_SUCH_TABLE", [Column("start"), text("text")]),
        TableRequest(KERNEL, [Column("absent", np.int16)], (Among("start", (20, 120)),)),
    ]
    with open_export(report) as one, open_export(as_folder(report, tmp_path / "dir", suffix, rows=3)) as other:
        for expected, found in zip(one.read(requests), other.read(requests), strict=True):
            assert found.count == expected.count
            assert found.texts == expected.texts
            for name, array in expected.arrays.items():
                assert (found[name].dtype, found[name].tolist()) == (array.dtype, array.tolist())
            for name, values in expected.values.items():
                assert found.values[name].tolist() == values.tolist()
        ids = range(-2, 20)
        assert other.strings(ids) == one.strings(ids) != {}
        assert other.strings([]) == {}
        assert other.rows("PROCESSES", "pid", "more", "name") == one.rows("PROCESSES", "pid", "more", "name")
        assert other.rows("NO_SUCH_TABLE", "pid") == []
        assert set(other.filled()) == set(one.filled())


def test_ids_beyond_63_bits_wrap_as_in_sqlite(folder: Path, suffix: str) -> None:
    tids = pyarrow.array([200 << 56 | 1, 7], pyarrow.uint64())
    write_table(folder / f"ThreadNames{suffix}", pyarrow.table({"globalTid": tids}))
    with open_export(folder) as export:
        rows = export.columns("ThreadNames", [coded("globalTid")])
        assert export.rows("ThreadNames", "globalTid") == [((200 << 56 | 1) - 2**64,), (7,)]
    assert rows.values["globalTid"].tolist() == [(200 << 56 | 1) - 2**64, 7]


def test_a_table_that_was_not_exported_is_as_if_it_had_no_rows(folder: Path, suffix: str) -> None:
    (folder / f"{KERNEL}{suffix}").unlink()
    stages = open_report(folder).analysis().stages
    assert [(stage.instances, stage.kernels) for stage in stages] == [(3, None)]


def test_a_table_may_carry_a_version(folder: Path, suffix: str) -> None:
    expected = nameless(open_report(folder).analysis())
    (folder / f"NVTX_EVENTS{suffix}").rename(folder / f"NVTX_EVENTS_V2{suffix}")
    assert nameless(open_report(folder).analysis()) == expected


def test_other_files_do_not_matter(folder: Path) -> None:
    expected = nameless(open_report(folder).analysis())
    (folder / "README.txt").write_text("exported on Monday")
    (folder / "more.parquet").mkdir()
    assert nameless(open_report(f"{folder}/").analysis()) == expected


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9])
def test_a_file_that_is_cut_short_is_named(folder: Path, suffix: str, kept: float) -> None:
    file = folder / f"{KERNEL}{suffix}"
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * kept)])
    said = refusal(folder)
    assert said.startswith(f"{KERNEL}{suffix} is damaged (")
    assert said.endswith("; export the report again")


def test_a_stream_that_ends_between_two_batches_is_cut_short_too(tmp_path: Path) -> None:
    folder = as_folder(builder().write(tmp_path / "report.sqlite"), tmp_path / "report_dir", ".arrow", rows=1)
    file = folder / f"{KERNEL}.arrow"
    file.write_bytes(file.read_bytes()[:-8])
    assert refusal(folder) == (f"{KERNEL}.arrow is damaged (the end of its stream is missing); export the report again")


def test_damage_inside_a_file_is_noticed(folder: Path, suffix: str) -> None:
    file = folder / f"StringIds{suffix}"
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"gemm", b"gem", 1))
    assert f"StringIds{suffix} is damaged" in refusal(folder)


def test_values_of_another_type_are_refused(folder: Path, suffix: str) -> None:
    numbers = pyarrow.array([1, 2], pyarrow.int64())
    table = {"start": pyarrow.array([1.5, 2.5]), "end": numbers, "globalTid": numbers, "eventType": numbers}
    write_table(folder / f"NVTX_EVENTS{suffix}", pyarrow.table({**table, "text": pyarrow.array(["a", "b"])}))
    write_table(folder / f"NVTX_EVENTS{suffix}", pyarrow.table({**table, "eventType": pyarrow.array([59, 59])}))
    assert refusal(folder) == "NVTX_EVENTS.start holds double values; export the report again"


def test_folders_that_are_no_export(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "empty").mkdir()
    assert refusal(tmp_path / "empty") == (
        "a folder without the tables of an export; name a .sqlite or .nsys-rep file in it"
    )
    other = tmp_path / "other"
    other.mkdir()
    write_table(other / f"sales{suffix}", pyarrow.table({"year": [2024]}))
    assert refusal(other) == "not an Nsight Systems export (no StringIds table); its tables are sales"
    write_table(other / f"StringIds{suffix}", pyarrow.table({"id": [1], "value": ["a"]}))
    (other / f"sales{suffix}").unlink()
    assert refusal(other) == "a failed export, it holds strings only; export the .nsys-rep again"


def test_a_single_table_is_told_from_an_export(folder: Path, suffix: str) -> None:
    file = folder / f"{KERNEL}{suffix}"
    assert "folder" in refusal(file)


def test_nothing_is_written(folder: Path) -> None:
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    open_report(folder).analysis(digest=True)
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before


def test_the_digest_is_of_the_content(folder: Path, suffix: str, tmp_path: Path) -> None:
    copy = as_folder(tmp_path / "report.sqlite", tmp_path / "copy", suffix)
    digests = [open_report(path).analysis(digest=True).report.sha256 for path in (folder, copy)]
    assert digests[0] == digests[1]
    (copy / f"ThreadNames{suffix}").unlink(missing_ok=True)
    (copy / f"PROCESSES{suffix}").unlink()
    assert open_report(copy).analysis(digest=True).report.sha256 != digests[0]


def test_verbs_take_folders(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder)]) == 0
    assert "step" in capsys.readouterr().out
    assert [side.label for side in compare(folder, folder).sides] != []
    assert check(folder, baseline=folder).exit_code in (0, 3)
    assert examine(folder).readable
    assert main(["slice", str(folder), str(folder.with_name("out.sqlite"))]) == 2
    assert "a slice is cut from the SQLite export" in capsys.readouterr().err


def test_the_doctor_reads_what_an_analysis_does_not(tmp_path: Path) -> None:
    folder = as_folder(builder().write(tmp_path / "report.sqlite"), tmp_path / "report_dir", ".parquet")
    file = folder / "MORE.parquet"
    write_table(file, pyarrow.table({"value": list(range(10_000))}))

    def said() -> str:
        (answer,) = [answer for answer in examine(folder).answers if answer.question == "file"]
        return answer.finding.why

    assert said() == "nothing is damaged or missing"
    whole = file.read_bytes()
    file.write_bytes(whole[:4] + bytes(100) + whole[104:])
    assert said().startswith("damaged: MORE.parquet: ")
