from __future__ import annotations

import dataclasses
import json
import typing
import xml.etree.ElementTree as ET
from dataclasses import replace
from importlib import resources

import jsonschema
import pytest
from markdown_it import MarkdownIt

from nsys_analyze.verdict import results
from nsys_analyze.verdict.config import Budget, Place
from nsys_analyze.views import verdict_github, verdict_json, verdict_junit, verdict_markdown, verdict_table
from tests.verdict_samples import STEP, report, stage, step, verdict

SCHEMA = json.loads((resources.files("nsys_analyze") / "verdict.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
TYPES = {
    "verdict": results.Verdict,
    "allowed": results.Allowed,
    "place": Place,
    "problem": results.Problem,
    "check": results.Check,
    "evidence": results.Evidence,
}
PLACE = Place(file="py:project,1.toml", line=41)
HOSTILE = "a|b`c\n::error::\x1b[2J<b>&%25"


def failing():
    budgets = [Budget(stage="step", metric="kernels", maximum=59, place=PLACE)]
    new = step(startup_gap=900e3, startup_gap_prelude=880e3)
    return verdict([report(label=f"b{place}") for place in range(3)], [report(new)] * 3, budgets=budgets)


def passing():
    return verdict([report()], [report()])


def untold():
    return verdict([report()], [report(broken="its kernels are missing", label="bad.sqlite")])


def incomparable():
    return verdict([report()], [report(circumstances={"gpus": ("NVIDIA A100",), "driver": "1"})])


def hostile():
    stages = [stage((HOSTILE, "step"), values={**STEP, "kernels": kernels}) for kernels in (60, 61)]
    return verdict([report(stages[0], label=HOSTILE)], [report(stages[1], label=HOSTILE)])


ALL = {"failing": failing, "passing": passing, "untold": untold, "incomparable": incomparable, "hostile": hostile}


def many(count):
    found = failing()
    checks = [replace(found.checks[0], stage=[f"stage {number}"]) for number in range(count)]
    return replace(found, checks=checks)


@pytest.mark.parametrize("name", ALL)
def test_json_follows_its_schema(name):
    document = json.loads(verdict_json.render(ALL[name]()))
    VALIDATOR.validate(document)
    assert list(document)[:5] == ["schema_version", "tool", "outcome", "exit_code", "headline"]


@pytest.mark.parametrize("name", TYPES)
def test_schema_and_types_agree(name):
    fields = [field.name for field in dataclasses.fields(TYPES[name])]
    described = SCHEMA["$defs"][name]
    assert [key for key in described["properties"] if key not in ("schema_version", "tool")] == fields
    assert set(described["required"]) - {"schema_version", "tool"} == set(fields)
    for field, annotation in typing.get_type_hints(TYPES[name]).items():
        kind = described["properties"][field]
        nullable = "null" in kind.get("type", []) or {"type": "null"} in kind.get("oneOf", [])
        assert nullable == (type(None) in typing.get_args(annotation)), field
        assert {"description", "$ref", "enum"} & set(kind), field


def test_states_are_those_of_the_schema():
    assert SCHEMA["$defs"]["check"]["properties"]["state"]["enum"] == [state.value for state in results.State]


@pytest.mark.parametrize("columns", [60, 80, 160])
@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("name", ["failing", "passing", "untold", "incomparable"])
def test_the_verdict_is_the_first_line_and_all_lines_fit(name, columns, everything):
    lines = verdict_table.render(ALL[name](), columns=columns, everything=everything).splitlines()
    assert lines[0].split("  ")[0] in ("FAILED", "PASSED", "CANNOT TELL")
    assert all(len(line) <= max(columns, 80) for line in lines[1:])


def test_a_failing_table():
    lines = verdict_table.render(failing(), columns=150).splitlines()
    assert lines[0].startswith("FAILED  3 of ")
    assert "startup gap of steady / step grew" in lines[0]
    assert lines[1].startswith("regressed    steady / step  startup gap, prelude  180 us -> 880 us  grew beyond +10%")
    assert "over budget  steady / step  kernels               60 of 59          over its budget; the median" in lines[3]
    assert lines[-2].endswith("ok; `-v` lists them")
    assert "prelude" in lines[-1]


def test_what_cannot_be_compared_is_told_once():
    text = verdict_table.render(incomparable(), columns=160)
    assert text.count("the GPU differs") == 2  # the headline and one row
    assert text.count("incomparable") == 1
    assert "warning: the driver differs" in text
    assert verdict_table.render(incomparable(), columns=160, everything=True).count("incomparable") > 1


def test_colour_only_when_asked_for():
    assert "\x1b[31m" in verdict_table.render(failing(), columns=100, colour=True)
    assert "\x1b" not in verdict_table.render(failing(), columns=100)


def test_nothing_hostile_reaches_a_terminal():
    for text in (verdict_table.render(hostile(), columns=100), verdict_markdown.render(hostile())):
        assert "\x1b" not in text
    assert not [line for line in verdict_github.render(hostile()).splitlines()[1:] if not line.startswith("::")]


def test_junit_counts_what_happened():
    root = ET.fromstring(verdict_junit.render(failing()))
    assert (root.tag, root.get("failures"), root.get("errors")) == ("testsuites", "3", "0")
    cases = root.findall("testsuite/testcase")
    assert len(cases) == int(root.get("tests")) == len(failing().checks)
    assert {case.get("classname") for case in cases} == {"nsys-analyze check.steady / step"}
    assert "grew beyond" in root.find("testsuite/testcase/failure").get("message")
    assert ET.fromstring(verdict_junit.render(untold())).get("errors") == "1"
    assert ET.fromstring(verdict_junit.render(hostile())).get("failures") == "1"
    assert int(ET.fromstring(verdict_junit.render(incomparable())).get("errors")) > 1


def test_a_long_stage_name_is_cut():
    stages = [stage(("n" * 10_000,), values={**STEP, "kernels": kernels}) for kernels in (60, 61)]
    found = verdict([report(stages[0])], [report(stages[1])])
    for text in (verdict_github.render(found), verdict_junit.render(found).decode()):
        assert "n" * 50 in text
        assert "n" * 500 not in text


def test_github_annotations():
    lines = verdict_github.render(failing()).splitlines()
    assert lines[0].startswith("FAILED  3 of ")
    (budget,) = [line for line in lines if "over budget: " in line]
    assert budget.startswith("::error file=py%3Aproject%2C1.toml,line=41,title=steady / step%3A kernels::over budget: ")
    assert "+10%25 and" in lines[1]
    assert verdict_github.render(passing()).count("::") == 0
    assert "::error title=cannot tell::bad.sqlite: its kernels are missing" in verdict_github.render(untold())


@pytest.mark.parametrize(("found", "shown"), [(9, 9), (10, 10), (11, 9), (500, 9)])
def test_at_most_ten_annotations_then_a_count(found, shown):
    lines = verdict_github.render(many(found)).splitlines()[1:]
    assert len(lines) <= 10
    assert sum(line.startswith("::error") for line in lines) == shown
    assert (f"{found - shown} more" in lines[-1]) == (found > shown)


def test_markdown_has_the_worst_first():
    text = verdict_markdown.render(failing())
    assert text.startswith("**FAILED  3 of ")
    assert text.index("### Failed: 3") < text.index("<details><summary>Fine: ")
    html = MarkdownIt().enable("table").render(text)
    assert html.count("<table>") == 2


@pytest.mark.parametrize("most", [1_500, 5_000, 65_000])
def test_markdown_is_cut_by_section(most):
    text = verdict_markdown.render(many(1_000), most)
    assert len(text) <= most
    rows = text.count("| regressed |")
    assert f"{1_000 - rows:,} more regressed" in text
    assert "### Failed: 1,000" in text


def test_hostile_names_stay_text_in_markdown():
    html = MarkdownIt().enable("table").render(verdict_markdown.render(hostile()))
    assert "<b>" not in html
    assert html.count("<tr>") == 2 + len(hostile().checks) + html.count("<table>") - 2
