"""The tables of ranks and of GPUs, in every format."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re

import jsonschema
import pytest

from nsys_analyze import cli
from nsys_analyze.metrics.ranks import merge_ranks
from nsys_analyze.metrics.results import DeviceUse
from nsys_analyze.views import csv_view, json_view, markdown_view, table_view, text
from nsys_analyze.views.flat_rows import rank_rows
from nsys_analyze.views.page import Layout
from tests.exports import ExportBuilder
from tests.test_ranks import worker
from tests.test_views_json import VALIDATOR
from tests.view_samples import MS, PID, US, analysis, hostile, stage, two_processes


def extra_stage():
    report = two_processes()
    save = stage(["save"], [5 * MS], process=PID + 1, key="rank 1/save")
    return dataclasses.replace(report, stages=[*report.stages, save])


def page(report=None, layout=None, columns=120, **options):
    report = report or two_processes()
    return table_view.render([report], layout or Layout(), columns=columns, ranks=merge_ranks([report]), **options)


RANKS = """\
Ranks                     median       min  rank       max  rank
train / step
  2 ranks, 20 instances each
  pace                   28.5 ms   28.0 ms     0   29.0 ms     1
  CPU overhead           13.5 ms   13.0 ms     0   14.0 ms     1
  GPU active             15.0 ms   15.0 ms     0   15.0 ms     0
  kernels                24        24          0   24          0
  overhead per kernel   562 us    542 us       0  583 us       1
  startup gap           120 us    120 us       0  120 us       0
  startup gap, exposed   90.0 us   90.0 us     0   90.0 us     0
train
"""


STARTS = """\
Starts apart           n  first   median       max  last rank  times last
train / step          20   0 ms  9.50 ms  19.00 ms          1          19
By the clock of the report.
"""


def test_ranks_look_like_this():
    assert STARTS in page()
    assert RANKS in page()
    assert "Ranks of python3: 0 is process 1617, GPU 0; 1 is process 1618, GPU 1.\n" in page()
    assert "Loops" not in page()


@pytest.mark.parametrize("columns", [80, 100, 160])
@pytest.mark.parametrize("layout", [Layout(), Layout(listing=True), Layout(loops=0, top=0)])
def test_every_line_fits(columns, layout):
    twice = hostile()
    stages = [dataclasses.replace(each, process=PID + rank) for rank in range(2) for each in twice.stages]
    both = dataclasses.replace(two_processes(), stages=stages)
    for report in (two_processes(), extra_stage(), both):
        for line in page(report, layout, columns).splitlines():
            assert text.width(line) <= columns
            assert line.isprintable()


def test_stages_that_not_all_ranks_have_are_listed_with_how_many_do():
    assert re.search(r"^save +1 of 2 +1 +5\.00 ms +1$", page(extra_stage()), re.MULTILINE)
    assert "Not on all ranks" not in page()


def slow_rank():
    report = two_processes()
    stages = [
        dataclasses.replace(each, pace_ns=90e6) if each.process == PID + 1 and each.pace_ns else each
        for each in report.stages
    ]
    return dataclasses.replace(report, stages=stages)


def test_the_outlier_stands_out():
    marked = re.findall(r"\x1b\[33m *(.*?) *\x1b\[0m", page(slow_rank(), colour=True))
    assert marked == ["90.0 ms"]
    assert re.findall(r"\x1b\[33m", page(colour=True)) == []
    markdown = markdown_view.render([slow_rank()], Layout(), merge_ranks([slow_rank()]))
    assert "| `train / step: pace` | 59.0 ms | 28.0 ms | 0 | **90.0 ms** | 1 |" in markdown


def test_json_lists_the_ranks_of_all_reports_together():
    report = extra_stage()
    for analyses in ([report], [report, report]):
        document = json.loads(json_view.render(analyses, ranks=merge_ranks(analyses)))
        VALIDATOR.validate(document)
        assert len(document["ranks"][0]["ranks"]) == 2 * len(analyses)
        document["ranks"][0]["stages"][0].pop("start_skew_missing")
        with pytest.raises(jsonschema.ValidationError):
            VALIDATOR.validate(document)
    assert "ranks" not in json.loads(json_view.render([report]))


def test_csv_has_a_row_a_stage():
    rows = list(csv.DictReader(io.StringIO(csv_view.render(rank_rows(merge_ranks([slow_rank()]))))))
    assert [(row["program"], row["path"], row["ranks"], row["ranks_in_all"]) for row in rows] == [
        ("python3", "train", "2", "2"),
        ("python3", "train / step", "2", "2"),
    ]
    step = rows[1]
    assert (step["pace_min_ns"], step["pace_max_ns"], step["pace_max_rank"]) == ("28000000.0", "90000000.0", "1")
    assert (step["kernels_median"], step["start_skew_latest_rank"]) == ("24.0", "1")
    assert rows[0]["pace_min_ns"] == ""


# --- GPUs


def used(device, **given):
    fields = {
        "device": device,
        "name": "NVIDIA H200",
        "processes": [PID],
        "first_op_ns": 10 * MS,
        "last_op_ns": 110 * MS,
        "gpu_ops": 12,
        "kernels": 10,
        "kernel_ns": 70 * MS,
        "busy_ns": 75 * MS,
        "idle_ns": 25 * MS,
        "largest_gap_ns": 300 * US,
        "largest_gap_start_ns": 50 * MS,
    }
    return DeviceUse(**fields | given)


def test_gpus_show_where_there_are_several_or_with_the_breakdown():
    several = analysis(stages=[stage(["a"], [US])], devices=[used(0), used(3, name=None, largest_gap_start_ns=None)])
    output = table_view.render([several], Layout(), columns=120)
    assert re.search(
        r"^GPU 0, NVIDIA H200 .* 75\.0 ms +75\.0% +25\.0 ms +300 us +0\.050000 s +12 +10$", output, re.MULTILINE
    )
    assert re.search(r"^GPU 3 .* -  +", output, re.MULTILINE)
    single = dataclasses.replace(several, devices=several.devices[:1])
    assert "GPUs" not in table_view.render([single], Layout(), columns=120)
    assert "GPU 0, NVIDIA H200" in table_view.render([single], Layout(breakdown=True), columns=120)
    assert "GPUs" not in table_view.render([several], Layout(listing=True), columns=120)


# --- on the command line


@pytest.fixture
def job(tmp_path):
    paths = []
    for number in range(2):
        builder = ExportBuilder()
        worker(builder, 101 + number, [1_000, 1_200])
        paths.append(str(builder.write(tmp_path / f"rank{number}.sqlite")))
    return paths


def test_a_report_a_rank_is_merged(job, capsys):
    assert cli.main([*job, "--merge-ranks"]) == 0
    output = capsys.readouterr().out
    assert re.search(r"^Starts apart +n .*\nstep +2 ", output, re.MULTILINE)
    assert "By iterations: each report's clock is shifted so that instances of step start together" in output
    assert "0 is rank0.sqlite, process 101, GPU 0; 1 is rank1.sqlite, process 102, GPU 0" in output
    assert "numbered by report, GPU and process id" in " ".join(output.split())


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_top_counts_stages_of_ranks(job, capsys, kind):
    assert cli.main([*job, "--merge-ranks", "--top", "1", "--stage", "step", "--format", kind]) == 0
    output = capsys.readouterr().out
    found = len(json.loads(output)["ranks"][0]["stages"]) if kind == "json" else len(output.splitlines()) - 1
    assert found == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--by", "instance"], "does not go with --by instance"),
        (["--breakdown"], "--breakdown is of each process's stages"),
        (["--sort", "gap"], "--sort is of each process's stages"),
    ],
)
def test_what_does_not_go_together(job, capsys, arguments, message):
    assert cli.main([*job, "--merge-ranks", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_align_is_of_ranks(job, capsys):
    assert cli.main([*job, "--align", "wall"]) == 2
    assert "--align is of ranks: it goes with --merge-ranks" in capsys.readouterr().err
    assert cli.main([*job, "--merge-ranks", "--align", "wall"]) == 2
    assert "--align wall: rank0.sqlite does not tell when its capture began" in capsys.readouterr().err


def test_csv_says_by_which_clock(job, capsys):
    assert cli.main([*job, "--merge-ranks", "--format", "csv"]) == 0
    (step,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (step["start_skew_clock"], step["start_skew_max_ns"]) == ("iteration", "0")


def test_a_single_process_is_no_job(job, capsys):
    assert cli.main([job[0], "--merge-ranks"]) == 2
    assert "no two processes of one name share a stage" in capsys.readouterr().err


# --- processes without a name


def test_processes_without_a_name_are_called_by_their_id(analyse):
    builder = ExportBuilder()
    worker(builder, 101, [1_000], name="")
    worker(builder, 102, [1_000])
    builder.process(pid=103, name="").thread().call("cuInit", 5, 6)
    output = table_view.render([analyse(builder)], Layout(), columns=120)
    assert output.splitlines()[0].endswith("process 101, python3, process 103")
    assert re.search(r"^process 103 ", output, re.MULTILINE)
    assert " pid 101 " in output
    assert "()" not in output


def test_processes_that_left_no_event_are_not_listed(analyse):
    builder = ExportBuilder()
    worker(builder, 101, [1_000])
    builder.process(pid=5, name="kworker/0:1")
    report = analyse(builder)
    assert [process.pid for process in report.report.processes] == [101]
    assert [program.process for program in report.programs] == [101]
