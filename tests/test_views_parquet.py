from __future__ import annotations

import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nsys_analyze import cli, open_report
from nsys_analyze.metrics import flat
from nsys_analyze.metrics.ranks import merge_ranks
from nsys_analyze.metrics.results import Instance, Stage
from nsys_analyze.views import csv_view, parquet_view
from nsys_analyze.views.flat_rows import flat_rows, rank_rows
from nsys_analyze.views.named_columns import measures, short_names
from tests.view_samples import LLAMA, analysis, hostile, instances, llama, two_processes

TABLES = {
    "stages": flat_rows([llama("eager")]),
    "reports": flat_rows([llama(name) for name in LLAMA]),
    "names": flat_rows([hostile()]),
    "instances": flat_rows([analysis(instances=instances())], instances=True),
    "ranks": rank_rows(merge_ranks([two_processes()])),
    "nothing": flat_rows([analysis()]),
}


def read(table):
    return pq.read_table(io.BytesIO(parquet_view.render(table)))


@pytest.mark.parametrize("name", TABLES)
def test_parquet_has_the_columns_and_numbers_of_csv(name):
    table = TABLES[name]
    stored = read(table)
    header, *rows = csv.reader(io.StringIO(csv_view.render(table)))
    assert stored.column_names == header
    assert stored.num_rows == len(rows)
    for row, values in zip(rows, stored.to_pylist(), strict=True):
        for cell, value in zip(row, values.values(), strict=True):
            if value is None or isinstance(value, int | float):
                assert (json.loads(cell) if cell else None) == value


@pytest.mark.parametrize("name", TABLES)
def test_types_are_the_same_whatever_the_report_holds(name):
    schema = read(TABLES[name]).schema
    for field in schema:
        assert field.type in (pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.list_(pa.string())), field
    if name != "ranks":
        known = {
            field.name: field.type for field in read(TABLES["instances" if name == "instances" else "stages"]).schema
        }
        assert {field.name: field.type for field in schema if field.name != "report"} == known


def test_names_stay_as_they_are_and_paths_are_lists():
    paths = read(TABLES["names"]).column("path").to_pylist()
    assert paths[0] == ["\x1b[2J\x1b[31mred\x1b[0m"]
    assert ["=cmd|' /C calc'!A0"] in paths
    assert all("\ud800" not in name for path in paths for name in path)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_are_chosen_and_ordered(suffix, sample_report, tmp_path):
    target = tmp_path / f"out.{suffix}"
    report = str(sample_report("llama_thunder_torch"))
    assert cli.main([report, "-o", str(target), "--columns", "pace_ns, path,pace_ns"]) == 0
    if suffix == "csv":
        assert target.read_text().splitlines()[0] == "pace_ns,path"
    else:
        assert pq.read_table(target).column_names == ["pace_ns", "path"]


SAME = "path,instances,pace_ns,active_mean_ns,kernels_per_instance_median,startup_gap_exposed_median_ns"
SHORT = "path,n,pace,active,kernels-per-instance,exposed"


@pytest.mark.parametrize("form", ["csv", "md", "table"])
def test_every_format_knows_both_names_of_a_column(form, sample_report, capsys):
    report = str(sample_report("llama_thunder_torch"))
    out = []
    for columns in (SAME, SHORT):
        assert cli.main([report, "--stage", "steady", "--format", form, "--columns", columns]) == 0
        out.append(capsys.readouterr().out)
    assert out[0] == out[1]
    assert "no such" not in out[0]


def test_a_page_shows_any_number_of_csv(sample_report, capsys):
    report = str(sample_report("llama_thunder_torch"))
    assert (
        cli.main([report, "--stage", "steady/step", "--format", "md", "--columns", "kernels,host_code_ns,process"]) == 0
    )
    out = capsys.readouterr().out
    assert "| Stages | kernels in all | host code | process |" in out
    assert "| 600 | 12.3 ms | 2190 |" in out.replace("**", "")


@pytest.mark.parametrize("kind", [Stage, Instance])
def test_a_short_name_is_the_same_number_as_its_column(kind, sample_report):
    analysis = open_report(sample_report("vit_train_eager")).analysis(instances=True)
    items = analysis.stages if kind is Stage else analysis.instances
    for short, column in short_names(kind).items():
        (measure,) = measures(kind, [column])
        find = flat.finder(kind, column)
        for item in items:
            if short in ("active", "kernels-per-instance", "compile") and measure.get(item) is None:
                continue  # pages write nothing where a 0 says nothing
            assert measure.get(item) == find(item)


@pytest.mark.parametrize("kind", [Stage, Instance])
def test_every_column_is_found_by_its_name(kind, sample_report):
    analysis = open_report(sample_report("vit_train_eager")).analysis(instances=True)
    items = (analysis.stages if kind is Stage else analysis.instances)[:50]
    found = [[flat.finder(kind, name)(item) for name in flat.header(kind)] for item in items]
    assert found == list(flat.rows(kind, items))
    with pytest.raises(ValueError, match="no column nonsense"):
        flat.finder(kind, "nonsense")


def test_a_page_has_the_columns_asked_for(sample_report, capsys):
    report = str(sample_report("llama_thunder_torch"))
    assert cli.main([report, "--columns", "exposed,gap,launch-call", "--format", "md"]) == 0
    assert "| Loops | exposed | startup gap | launch call |" in capsys.readouterr().out
    assert cli.main([report, "--by", "instance", "--columns", "queue,start", "--format", "md"]) == 0
    assert "| Instances | queue | start |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--columns", "expsed"], "--columns expsed: no such column; nearest: exposed"),
        (["--columns", "pac_ns", "--format", "csv"], "--columns pac_ns: no such column; nearest: pace_ns"),
        (["--columns", ","], "--columns: names no column; there are: n, wall, pace"),
        (["--columns", "n", "--format", "json"], "not json, whose fields are always the same"),
        (["--columns", "n", "--format", "html"], "not html, whose page has them all"),
        *(
            (["--columns", "n", "-o", f"x.{kind}"], "--columns is for tables: it does not go with a picture")
            for kind in ("png", "svg", "pdf")
        ),
        (["--columns", "n,key"], "--columns key: is text, which a table shows of names only; csv and parquet have it"),
        (["--columns", "path"], "--columns: a table has names in any case; give it columns of numbers as well"),
        (["--columns", "n", "--merge-ranks"], "--columns with --merge-ranks is for csv and parquet, not table"),
        (["--format", "html", "--sort", "gap"], "--sort does not go with html"),
        (["--format", "html", "--by", "instance"], "--by instance does not go with html"),
        (["-o", "x.htm"], "x.htm: no format has the suffix '.htm'; use .txt, .json, .csv, .md, .html, .parquet"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(options, message, sample_report, capsys):
    assert cli.main([str(sample_report("llama_thunder_torch")), *options]) == 2
    assert capsys.readouterr().err.splitlines()[0].count(message) == 1


def test_html_from_the_command_line(sample_report, tmp_path):
    target = tmp_path / "report.html"
    report = str(sample_report("llama_thunder_torch"))
    assert cli.main([report, "-o", str(target)]) == 0
    text = target.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert text.count("<figure") == 3
    assert len(text) < 400_000
