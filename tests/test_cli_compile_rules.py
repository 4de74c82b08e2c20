"""``--compile-rules``: what a file of rules changes, and what is said of a bad one."""

from __future__ import annotations

import json

import pytest

from nsys_analyze import UsageError, cli
from nsys_analyze.model.compile_rules import with_user_rules
from tests.exports import ExportBuilder

RULES = """
[[rule]]
tool = "my compiler"
phase = "codegen"
pattern = 'emit_\\w+'
module = true
"""


@pytest.fixture
def report(tmp_path):
    """A stage of 1 us, in which 0.4 us are spent in a range that no packaged rule knows."""
    builder = ExportBuilder()
    thread = builder.process(100).thread()
    thread.push_pop("build", 0, 1000)
    thread.push_pop("emit_kernel", 100, 500)
    thread.push_pop("emit_", 600, 700)
    thread.call("cudaMalloc_v3020", 800, 810)
    return str(builder.write(tmp_path / "report.sqlite"))


@pytest.fixture
def rules(tmp_path):
    def write(text):
        path = tmp_path / "rules.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_ranges_that_rules_describe_are_compiling(report, rules, capsys):
    assert cli.main([report, "--compile-rules", rules(RULES), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    compiling = document["stages"][0]["compile_ns"]
    assert compiling["tools"] == {"my compiler": 400}
    assert (compiling["phases"]["codegen"], compiling["modules"]) == (400, 1)
    assert document["settings"]["compile_rules"] == "rules.toml"


def test_without_them_they_are_not(report, capsys):
    assert cli.main([report, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["stages"][0]["compile_ns"]["total"] == 0
    assert document["settings"]["compile_rules"] is None


def test_the_page_names_phases_and_tools_of_rules(report, rules, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main([report, "--compile-rules", rules(RULES), "--breakdown"]) == 0
    page = capsys.readouterr().out
    assert "  compiling, by phase: code generation" in page
    assert "  compiling, by tool: my compiler" in page


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[rule]\n", "not TOML"),
        ("", "no [[rule]] in it"),
        ("rule = 3", "no [[rule]] in it"),
        (RULES.replace("codegen", "cook"), "rule 1: phase 'cook' is not one of trace, segment"),
        (RULES + RULES.replace("emit_\\w+", "(emit"), "rule 2: '(emit' is not a regular expression"),
        (RULES.replace("module", "modules"), "rule 1: unknown key 'modules'"),
        (RULES.replace("true", '"yes"'), "module is true or false"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_a_bad_file_is_one_line(report, rules, capsys, text, expected):
    assert cli.main([report, "--compile-rules", rules(text)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert "rules.toml" in captured.err
    assert expected in captured.err


def test_a_missing_file_is_one_line(report, capsys):
    assert cli.main([report, "--compile-rules", "absent.toml"]) == 2
    assert capsys.readouterr().err.startswith("Error: --compile-rules absent.toml: cannot be read")


def test_the_file_of_rules_is_not_written_over(report, rules, capsys):
    path = rules(RULES)
    assert cli.main([report, "--compile-rules", path, "--format", "json", "-o", path]) == 2
    assert capsys.readouterr().err == f"Error: {path}: is the file of compile rules; --output would overwrite it\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rule = [1, 2]", "rule 1: not a table"),
        ('rule = ["a"]', "rule 1: not a table"),
        ("rule = [[]]", "rule 1: not a"),
    ],
)
def test_a_rule_that_is_no_table(tmp_path, text, said):
    rules = tmp_path / "m.toml"
    rules.write_text(text)
    with pytest.raises(UsageError, match=f"m.toml, {said}"):
        with_user_rules(rules)


def test_a_directory_as_rules_is_told_in_words(tmp_path):
    with pytest.raises(UsageError) as raised:
        with_user_rules(tmp_path)
    assert str(raised.value) == f"--compile-rules {tmp_path}: cannot be read (Is a directory)"
