"""Slices: parts of reports with the same numbers, as exports of their own."""

from __future__ import annotations

import dataclasses
import lzma
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nsys_analyze import cli, open_report
from nsys_analyze.metrics.patterns import match_level
from nsys_analyze.store.parts import Spans, _missing
from tests import strategies
from tests.samples import RULES, SAMPLES

COLD = {"cold_start_ns", "cold_first_ns"}  # of all instances of a name, wherever they are
STAGES = ("build", "compile", "steady", "step", "step/forward")


def contents(path):
    """The statements that made the tables, and the rows."""
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        made = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        names = [name.decode() for name, _ in made]
        return made, {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}


def numbers(stage, without=frozenset()):
    return {field.name: getattr(stage, field.name) for field in dataclasses.fields(stage) if field.name not in without}


def assert_same_numbers(whole, part, pattern, rule):
    """Every stage that the pattern selects has all its numbers in the part."""
    before, after = (open_report(path, attribution=rule).analysis() for path in (whole, part))
    there = {stage.key: stage for stage in after.stages}
    chosen = [stage for stage in before.stages if match_level(pattern, stage.path, stage.domains)]
    for stage in chosen:
        assert numbers(there[stage.key], COLD) == numbers(stage, COLD)
    return len(chosen)


@pytest.fixture
def cut(tmp_path, capsys):
    """Cuts a slice by the command, and gives its path."""

    def command(report, *options, name="slice.sqlite", code=0):
        assert cli.main(["slice", str(report), str(tmp_path / name), *options]) == code
        out, err = capsys.readouterr()
        assert out == ""
        return tmp_path / name if code == 0 else err

    return command


@pytest.mark.parametrize("name", SAMPLES)
def test_the_numbers_of_a_stage_survive(name, sample_report, cut):
    whole = sample_report(name)
    stages = open_report(whole).analysis().stages
    compared = 0
    for pattern in STAGES:
        if any(match_level(pattern, stage.path, stage.domains) for stage in stages):
            part = cut(whole, "--stage", pattern)
            assert part.stat().st_size <= whole.stat().st_size
            compared += sum(assert_same_numbers(whole, part, pattern, rule) for rule in RULES)
    assert compared


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(builder=strategies.exports(), data=st.data())
def test_the_numbers_of_a_stage_survive_whatever_the_report(builder, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("slice")
    whole, part = builder.write(folder / "whole.sqlite"), folder / "part.sqlite"
    stages = [stage for stage in open_report(whole).analysis().stages if "/" not in stage.name and stage.name.strip()]
    if not stages:
        return
    pattern = data.draw(st.sampled_from(sorted({stage.name for stage in stages})))
    assert cli.main(["slice", str(whole), str(part), "--stage", pattern]) == 0
    for rule in RULES:
        assert_same_numbers(whole, part, pattern, rule)


def assert_survives(whole, cut, stage):
    """One stage is called so, and its numbers are the same in a slice of it, by both rules."""
    assert [assert_same_numbers(whole, cut(whole, "--stage", stage), stage, rule) for rule in RULES] == [1, 1]


def test_what_is_unknown_of_the_gpu_stays_unknown(builder, tmp_path, cut):
    """A lost launch says that there is an unknown kernel; it lies outside of the part."""
    thread = builder.process(100).thread()
    thread.call("cuMemcpyHtoD", 2, 2).memcpy(3, 4)
    thread.call("cuLaunchKernelEx", 8, 8)
    thread.push_pop("step", 17, 25)
    whole = builder.write(tmp_path / "whole.sqlite")
    (step,) = open_report(whole).analysis().stages
    assert step.kernels is None
    assert_survives(whole, cut, "step")


def test_what_is_known_to_be_none_stays_none(builder, tmp_path, cut):
    """The report knows which call launched a kernel, but not by what is the first of each table."""
    process = builder.process(100)
    thread = process.thread()
    thread.push_pop("import", 0, 1)
    thread.call("cudaMalloc_v3020", 1, 2)
    process.orphan_kernel("gemm", 3, 5)
    thread.call("cudaLaunchKernel_v7000", 6, 7).kernel("gemm", 8, 10)
    thread.push_pop("step", 17, 25)
    whole = builder.write(tmp_path / "whole.sqlite")
    assert [stage.kernels for stage in open_report(whole).analysis().stages] == [0, 0]
    assert_survives(whole, cut, "step")


def test_an_open_range_ends_where_the_report_ends(builder, tmp_path, cut):
    """It lasts until the last event, here the beginning of another open range; so it is not inside of the stage."""
    process = builder.process(100)
    thread = process.thread()
    thread.push_pop("import", 0, 1)
    thread.push_pop("step", 32, 48)
    thread.start_end("request", 43, None)
    process.thread(tid=102).push_pop("other", 60, None)
    whole = builder.write(tmp_path / "whole.sqlite")
    assert_survives(whole, cut, "step")


def test_a_range_of_another_thread_keeps_the_path_above_it_though_that_has_ended(builder, tmp_path, cut):
    process = builder.process(100)
    process.thread().push_pop("import", 0, 1)
    process.thread().push_pop("load", 2, 22)
    helper = process.thread(tid=102)
    helper.push_pop("request", 7, 36)
    helper.push_pop("batch", 25, 31)
    helper.push_pop("last", 40, 50)
    whole = builder.write(tmp_path / "whole.sqlite")
    assert ["load", "request", "batch"] in [stage.path for stage in open_report(whole).analysis().stages]
    assert_survives(whole, cut, "batch")


def test_the_numbers_inside_a_window_survive(sample_report, cut):
    whole = sample_report("vit_train_eager")
    ranges = open_report(whole).ranges()
    steps = ranges[ranges["name"].str.startswith("step")].sort_values("start_ns")
    first, last = steps.iloc[3], steps.iloc[6]
    part = cut(whole, "--window", f"{first['start_ns']}ns:{last['completion_ns'] + 1}ns")
    after = open_report(part).ranges().set_index(["name", "start_ns"])
    same = ["completion_ns", "gpu_ops", "kernels", "startup_gap_ns", "exposed_ns", "busy_ns", "launches"]
    for _, row in steps.iloc[3:7].iterrows():
        assert after.loc[(row["name"], row["start_ns"])][same].tolist() == row[same].tolist()
    assert part.stat().st_size < whole.stat().st_size


def test_without_a_part_it_is_a_copy(sample_report, cut):
    whole = sample_report("llama_eager")
    assert contents(cut(whole)) == contents(whole)


def test_a_slice_keeps_the_schema_and_only_the_strings_in_use(sample_report, cut):
    whole = sample_report("vit_train_eager")
    (made, rows), (made_before, before) = contents(cut(whole, "--stage", "steady/step")), contents(whole)
    assert made == made_before
    for table in rows:
        if table != "META_DATA_EXPORT":
            assert set(rows[table]) <= set(before[table]), table
    assert 0 < len(rows["StringIds"]) < len(before["StringIds"])
    named = {row[0] for row in rows["StringIds"]}
    kernel = [column.split()[0] for column in dict(made)[b"CUPTI_ACTIVITY_KIND_KERNEL"].decode().split("\n")[1:-1]]
    place = [kernel.index(column) for column in ("demangledName", "shortName", "mangledName")]
    assert {row[at] for row in rows["CUPTI_ACTIVITY_KIND_KERNEL"] for at in place} - {None} <= named


def test_a_slice_says_that_it_is_one(sample_report, cut):
    whole = sample_report("llama_eager")
    assert "part" not in [notice.code for notice in open_report(whole).analysis().warnings]
    assert "part" in [notice.code for notice in open_report(cut(whole, "--stage", "steady")).analysis().warnings]
    assert "part" not in [notice.code for notice in open_report(cut(whole, "--redact")).analysis().warnings]


def test_indexes_and_odd_names_are_kept(builder, tmp_path, cut):
    builder.process(100).thread().push_pop("step", 0, 10)
    whole = builder.write(tmp_path / "it's a report.sqlite")
    with closing(sqlite3.connect(whole)) as connection:
        connection.execute("CREATE INDEX by_start ON NVTX_EVENTS (start)")
        connection.execute('CREATE TABLE "my ""own" (a, b TEXT)')
        connection.execute('INSERT INTO "my ""own" VALUES (1, ?)', (b"\xff",))
        connection.execute("CREATE VIEW seen AS SELECT 1")
        connection.execute("CREATE TABLE mykeys (start PRIMARY KEY) WITHOUT ROWID")
        connection.execute("INSERT INTO mykeys VALUES (999)")
        connection.commit()
    with closing(sqlite3.connect(cut(whole, "--stage", "step"))) as connection:
        sql = "SELECT type, name FROM sqlite_master WHERE type IN ('index', 'view') OR name LIKE 'my%'"
        assert set(connection.execute(sql)) == {("index", "by_start"), ("table", 'my "own'), ("table", "mykeys")}
        assert connection.execute('SELECT * FROM "my ""own"').fetchall() == [(1, b"\xff")]


def test_packed_reports_in_and_out(sample_report, tmp_path, cut):
    whole = sample_report("llama_eager")
    packed = tmp_path / "packed.sqlite.xz"
    packed.write_bytes(lzma.compress(whole.read_bytes(), preset=0))
    part = cut(packed, "--stage", "steady", name="part.sqlite.xz")
    assert assert_same_numbers(whole, part, "steady", "process")


def test_one_step(sample_report, cut):
    whole = sample_report("vit_train_eager")
    part = cut(whole, "--stage", "steady/step 3", "--no-fold")
    steps = open_report(part, fold=False).analysis().stages
    assert [stage.name for stage in steps if stage.name.startswith("step")] == ["step 3"]


def test_what_is_refused(sample_report, tmp_path, cut):
    whole = sample_report("llama_eager")
    assert "matches no stage (nearest: steady" in cut(whole, "--stage", "stedy", code=2)
    assert "nothing lies in it; the report goes from" in cut(whole, "--window", "5000s:", code=2)
    assert "nothing of these stages lies in it" in cut(whole, "--window", "5000s:", "--stage", "steady", code=2)
    assert "ends before it starts" in cut(whole, "--window", "2s:1s", code=2)
    assert "a slice's suffix is .sqlite or .sqlite.xz" in cut(whole, name="slice.db", code=2)
    assert "'nothing' is not one of" in cut(whole, "--redact=nothing", code=2)
    assert "missing.sqlite: no such file" in cut(tmp_path / "missing.sqlite", code=2)
    assert not list(tmp_path.iterdir())
    own = tmp_path / "own.sqlite"
    own.write_bytes(whole.read_bytes())
    assert "is the report; slice would overwrite it" in cut(own, name="own.sqlite", code=2)
    assert own.read_bytes() == whole.read_bytes()


def test_a_failure_leaves_nothing_behind(sample_report, tmp_path, temporary, monkeypatch, capsys):
    target = tmp_path / "part.sqlite"
    target.write_text("what was there")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shutil.copyfileobj", interrupted)
    whole = sample_report("llama_eager")
    assert cli.main(["slice", str(whole), str(target), "--stage", "steady"]) == 130
    assert target.read_text() == "what was there"
    assert [path.name for path in tmp_path.iterdir()] == ["part.sqlite"]
    capsys.readouterr()


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.booleans()), min_size=1))
def test_a_few_keep_the_median_of_all(values):
    duration, kept, dear = (np.array(column) for column in zip(*sorted(values), strict=True))
    chosen = kept.astype(bool)
    chosen[_missing(chosen, dear.astype(bool))] = True
    assert np.median(duration[chosen]) == np.median(duration)
    assert chosen.sum() <= 2 * kept.sum() + 2


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5))), st.integers(0, 25), st.integers(0, 3))
def test_spans_touch_what_shares_an_instant(stretches, start, length):
    begin = np.array([low for low, _ in stretches], np.int64)
    end = np.array([low + size for low, size in stretches], np.int64)
    found = Spans.of(begin, end).touch(np.array([start]), np.array([start + length]))
    assert bool(found[0]) == any(low <= start + length and start <= low + size for low, size in stretches)
