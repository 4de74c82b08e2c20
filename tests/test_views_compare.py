from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
import typing
from importlib import resources

import jsonschema
import pytest

from nsys_analyze import compare
from nsys_analyze.verdict import comparison as values
from nsys_analyze.views import compare_csv, compare_page, json_view, markdown_view, table_view
from nsys_analyze.views.text import width
from tests.view_samples import LLAMA, MS, US, analysis, hostile, llama, loop, report, two_processes, without_nvtx

SCHEMA = json.loads((resources.files("nsys_analyze") / "comparison.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
TYPES = {
    "comparison": values.Comparison,
    "side": values.Side,
    "figure": values.Figure,
    "row": values.Row,
    "reading": values.Reading,
    "kernel_change": values.KernelChange,
    "kernel_changes": values.KernelChanges,
    "stage": values.StageComparison,
    "setting": values.Setting,
    "fact": values.Fact,
    "caution": values.Caution,
}
FRAME = {"schema_version", "tool"}


def step(pace, **given):
    return analysis(given.pop("file", "a.sqlite"), [loop(["steady", "step"], pace, **given)])


def other_gpu():
    return dataclasses.replace(step(2 * MS), report=report("b.sqlite", driver="575.1", environment={"CUDA_X": None}))


SIDES = {
    "executors": list(map(llama, LLAMA)),
    "one": [llama("eager")],
    "same": [llama("eager"), llama("eager")],
    "absent": [step(MS), analysis("b.sqlite", [loop(["other"], MS)]), step(MS, file="c.sqlite")],
    "hostile": [hostile(), hostile()],
    "ranks": [two_processes(), two_processes()],
    "runs": [[step(MS), step(2 * MS), step(4 * MS)], step(3 * MS)],
    "around": [step(MS), other_gpu()],
    "twelve": [step(MS * number, file=f"{number}.sqlite") for number in range(1, 13)],
}


def drawn(sides, columns=160, colour=False, **options):
    return table_view.draw(compare_page.compose(compare(*sides, **options)), columns, colour)


@pytest.mark.parametrize("name", SIDES)
@pytest.mark.parametrize("columns", [80, 160])
def test_every_line_fits(name, columns):
    lines = drawn(SIDES[name], columns).splitlines()
    assert all(width(line) <= columns for line in lines)
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("name", SIDES)
def test_json_follows_the_schema(name):
    VALIDATOR.validate(json.loads(json_view.dump(compare(*SIDES[name]))))


@pytest.mark.parametrize("name", TYPES)
def test_schema_and_types_name_the_same_fields(name):
    fields = [field.name for field in dataclasses.fields(TYPES[name])]
    described = SCHEMA["$defs"][name]
    assert [key for key in described["properties"] if key not in FRAME] == fields
    assert set(described["required"]) - FRAME == set(fields)
    for field, annotation in typing.get_type_hints(TYPES[name]).items():
        kinds = described["properties"][field]
        nullable = "null" in kinds.get("type", []) or None in kinds.get("enum", [])
        assert nullable == (type(None) in typing.get_args(annotation)), field


def test_the_schema_itself_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert set(SCHEMA["$defs"]) - set(TYPES) == {"tool"}


def test_the_table_of_executors():
    text = drawn(SIDES["executors"], 120)
    assert re.search(r"^thunder_torch +1\.646 ms +1\.367 ms +0\.279 ms .* 60 +22\.8 +234\.3 us +156\.8 us", text, re.M)
    assert re.search(r"^thunder_torch +0\.99x +0\.98x +1\.01x .* 1\.00x +0\.98x +2\.50x +136x", text, re.M)
    assert "thunder_torch waits 156 us more before its first GPU work (exposed); kernels 60 = 60" in text.replace(
        "\n  ", " "
    )


def test_an_author_reads_his_difference():
    eager, torch = step(1.014 * MS, kernels=65, active=398 * US), step(1.232 * MS, kernels=77, active=413 * US)
    text = drawn([eager, torch], labels=["eager", "thunder"])
    assert "thunder takes 218 us more for each step than eager (1.21x): 203 us more CPU overhead, 15.0 us more" in text


def test_a_report_against_itself():
    text = drawn(SIDES["same"])
    assert "llama_eager (2): no difference from llama_eager (1)." in text
    assert "Changed around them: nothing that the reports tell." in text


def test_a_stage_that_a_side_lacks_reads_absent():
    text = drawn(SIDES["absent"], stages="step")
    assert re.search(r"^b +absent( +-)+$", text, re.M)
    assert "Absent from b: --map old=new" in text


def test_runs_show_how_far_they_spread():
    text = drawn(SIDES["runs"])
    assert "median of 3 runs; pace 1.00 to 4.00 ms" in text
    assert "though some runs of the two are alike" in text


def test_what_changed_around_them_is_said():
    text = " ".join(drawn(SIDES["around"]).split())
    assert "Changed around them: driver 580.159 (a), 575.1 (b)" in text
    assert "Not known: the environment variables of a." in text


def test_a_secret_variable_is_named_without_its_value():
    one, two = (dataclasses.replace(step(MS), report=report("a", environment=e)) for e in ({}, {"NCCL_KEY": None}))
    assert "NCCL_KEY not set (a (1)), set (a (2))" in drawn([one, two])


def test_only_the_ratio_of_the_length_is_coloured():
    coloured = re.findall(r"\x1b\[33m(.*?)\x1b\[0m", drawn(SIDES["executors"], colour=True))
    assert [text.strip() for text in coloured][-4:] == ["0.60x", "0.14x", "0.99x", "1.01x"]
    assert all(text.strip().endswith("x") for text in coloured)


@pytest.mark.parametrize("name", SIDES)
def test_markdown_has_a_row_a_side(name):
    text = markdown_view.draw(compare_page.compose(compare(*SIDES[name])))
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len({line.count("|") - line.count("\\|") for line in rows if "pace" in line or "elapsed" in line}) >= 1
    assert "\x1b" not in text


@pytest.mark.parametrize("name", SIDES)
def test_csv_has_a_row_for_each_stage_and_side(name):
    comparison = compare(*SIDES[name])
    table = list(csv.DictReader(io.StringIO(compare_csv.render(comparison))))
    assert len(table) == len(comparison.stages) * len(comparison.sides)
    first, figures = table[0], comparison.stages[0].rows[0].figures
    assert float(first["kernels"]) == figures["kernels"].value
    assert not any(cell.startswith(("=", "+", "@")) for line in table for cell in line.values())


def test_csv_leaves_what_is_absent_empty():
    line = list(csv.DictReader(io.StringIO(compare_csv.render(compare(*SIDES["absent"], stages="step")))))[1]
    assert (line["side"], line["runs"], line["pace_ns"], line["pace_ratio"]) == ("b", "0", "", "")


def test_where_the_compile_time_is_of_the_whole_report():
    programs = [dataclasses.replace(program, compile_ns=5 * MS) for program in without_nvtx().programs]
    whole = dataclasses.replace(step(MS), programs=programs)
    assert "* time in which something was compiled or loaded, in the whole report" in drawn([whole, whole])
    mixed = drawn(
        [analysis("x.sqlite", [*llama("eager").stages]), dataclasses.replace(whole, report=report("y.sqlite"))]
    )
    assert "* the stage compile, wall; y: compiling and loading in the whole report, without a ratio" in mixed
