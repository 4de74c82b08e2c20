"""The command on real reports: every format, and the story that the numbers tell."""

from __future__ import annotations

import csv
import io
import json
import re
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from markdown_it import MarkdownIt

from nsys_analyze import cli
from nsys_analyze.views import text

TESTS = Path(__file__).parent
REPORTS = sorted((TESTS / "reports").glob("*.sqlite.xz"))
SAMPLES = [*REPORTS, *sorted((TESTS.parent / "sample_reports").rglob("*.sqlite.xz"))]
VALIDATOR = jsonschema.Draft202012Validator(
    json.loads((resources.files("nsys_analyze") / "result.schema.json").read_text(encoding="utf-8"))
)
# Exposed startup gap of a step, us: what each way to run the same model makes the GPU wait.
EXPOSED = {"eager": 1.2, "inductor": 135.9, "cudagraphs": 16.4, "thunder_torch": 156.8, "thunder_nvfuser": 374.5}


@pytest.fixture
def run(capsys, monkeypatch):
    def run(*arguments, columns=100):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert cli.main([str(argument) for argument in arguments]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        return captured.out

    return run


def sample(name):
    return next(path for path in REPORTS if path.name == f"{name}.sqlite.xz")


@pytest.mark.parametrize("columns", [80, 100, 160])
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_a_page_fits_and_can_be_read(run, path, columns):
    page = run(path, columns=columns)
    assert all(text.width(line) <= columns and line.isprintable() for line in page.splitlines())
    ranks = 2 if "fsdp" in path.name else 1
    assert len(page.splitlines()) <= 60 * ranks
    assert "steady / step" in page
    for title in ("exposed",) if "whole" in str(path) else ("us/kernel", "exposed"):  # a whole graph tells no kernels
        assert title in next(line for line in page.splitlines() if line.startswith("Loops"))


_VALIDATED = 200  # rows of a document: the validator takes a millisecond for each


@pytest.mark.parametrize("rows", ["path", "name", "instance"])
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_all_formats_tell_of_the_same_rows(run, path, rows):
    document = json.loads(run(path, "--by", rows, "--format", "json"))
    few = {name: part[:_VALIDATED] if isinstance(part, list) else part for name, part in document.items()}
    VALIDATOR.validate(few)
    table = list(csv.DictReader(io.StringIO(run(path, "--by", rows, "--format", "csv"))))
    listed = document["instances" if rows == "instance" else "stages"]
    assert len(table) == len(listed) > 0
    kernels = [item["kernels"] for item in listed]
    assert [row["kernels"] for row in table] == ["" if count is None else str(count) for count in kernels]
    tokens = MarkdownIt("commonmark").enable("table").parse(run(path, "--by", rows, "--format", "md"))
    assert "table_open" in {token.type for token in tokens}


def test_what_the_gpu_waits_for_differs_between_ways_to_run_a_model(run):
    page = run(*(sample(f"llama_{name}") for name in EXPOSED), "--stage", "steady/step", "--depth", "1")
    steps = re.findall(r"^  steady / step .* ([\d.]+) us$", page, re.MULTILINE)
    assert [float(step) for step in steps] == list(EXPOSED.values())


def test_attribution_by_thread_leaves_the_backward_pass_out(run):
    path = sample("vit_train_eager")
    assert "Covered: 5,758 of 5,758 GPU operations, 100% of GPU time" in run(path)
    page = run(path, "--attribution", "thread", columns=160)
    assert re.search(r"Not covered: 3,649 launched while no range was open", page)


def test_names_that_count_are_one_stage_unless_asked_not_to_be(run):
    path = sample("vit_train_eager")
    assert "steady / step " in run(path)
    single = run(path, "--no-fold", "--stage", "steady/*", "--depth", "1")
    assert len(re.findall(r"^steady / step \d+ ", single, re.MULTILINE)) == 6
