"""The outputs in the documents are what comes out. ``python -m tests.test_cli_docs`` writes them anew."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import re
import shlex
from pathlib import Path
from unittest import mock

import pytest

from nsys_analyze import cli
from nsys_analyze.cli.app import app
from nsys_analyze.cli.pictures import KINDS
from nsys_analyze.metrics.notices import attributed, mended
from nsys_analyze.metrics.results import GpuWindow, HostTime, KernelRow
from nsys_analyze.model.compile_rules import Phase, matching_rule, with_user_rules
from nsys_analyze.model.evidence import Source

ROOT = Path(__file__).parent.parent
PACKAGE = Path(cli.__file__).parent.parent
README, NUMBERS, COMPARE = ROOT / "README.md", ROOT / "docs" / "numbers.md", ROOT / "docs" / "compare.md"
CHECK, RECIPES = ROOT / "docs" / "check.md", ROOT / "docs" / "recipes.md"
OUTPUTS = {README: 1, NUMBERS: 2, COMPARE: 1, CHECK: 1, RECIPES: 1}  # how many a document shows
PLOTS = ROOT / "docs" / "plots.md"
BLOCK = re.compile(r"```console\n(\$ (nsys-analyze [^\n]*)\n)(.*?)```", re.DOTALL)
PICTURE = re.compile(r"^ *(nsys-analyze .*-o (docs/images/\S+).*)$", re.MULTILINE)
COLUMNS = "110"
# from the code, with options of other programs in examples
GENERATED = {ROOT / "docs" / name for name in ("cli.md", "schema.md")}
# that documents name without the words "nsys profile" before them
NSYS_OPTIONS = {"--trace", "--cuda-graph-trace", "--sample", "--cpuctxsw"}
PYTEST_OPTIONS = set(re.findall(r'"(--nsys-[a-z]+)"', (PACKAGE / "pytest_plugin.py").read_text(encoding="utf-8")))
TESTS_OPTIONS = {
    option
    for script in ("fuzz/__main__.py", "mutants.py")
    for option in re.findall(r'add_argument\("(--[a-z]+)"', (ROOT / "tests" / script).read_text(encoding="utf-8"))
}


def found(word):
    """The files that a word of a command stands for, named as somebody in the folder would, or the word."""
    return [path.relative_to(ROOT) for path in sorted(ROOT.glob(word))] or [word]


def output(command):
    """What a command of the README prints, run where the README is."""
    arguments = [each for word in shlex.split(command)[1:] for each in found(word)]
    out = io.StringIO()
    with mock.patch.dict(os.environ, {"COLUMNS": COLUMNS}), contextlib.chdir(ROOT), contextlib.redirect_stdout(out):
        assert cli.main([str(argument) for argument in arguments]) in (0, 1)  # 1: a verdict
    return out.getvalue()


def pictures():
    """The pictures that documents show how to make, each with its command."""
    return {
        path: command for document in (README, PLOTS) for command, path in PICTURE.findall(document.read_text("utf-8"))
    }


def refreshed(text):
    return BLOCK.sub(lambda block: f"```console\n{block[1]}{output(block[2])}```", text)


@pytest.mark.parametrize("document", OUTPUTS, ids=lambda path: path.name)
def test_a_document_shows_what_comes_out(document):
    text = document.read_text(encoding="utf-8")
    assert len(BLOCK.findall(text)) == OUTPUTS[document]
    assert text == refreshed(text)


def test_pictures_are_there_with_their_commands():
    shown = {
        str((document.parent / path).resolve().relative_to(ROOT))
        for document in (README, PLOTS)
        for path in re.findall(r"!\[.+?\]\((.+?)\)", document.read_text("utf-8"))
    }
    assert shown == set(pictures())
    assert {path.name for path in (ROOT / "docs" / "images").iterdir()} == {Path(path).name for path in shown}


def test_every_plot_has_a_section():
    assert re.findall(r"^## `(\w+)`", PLOTS.read_text("utf-8"), re.MULTILINE) == list(KINDS)


def test_the_rule_in_the_document_is_one(tmp_path):
    example = re.search(r"```toml\n(.*?)```", NUMBERS.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "rules.toml").write_text(example[1], encoding="utf-8")
    rules = with_user_rules(tmp_path / "rules.toml")
    assert matching_rule("emit_kernel", rules) == 0
    assert rules[0].module


def test_the_tables_name_every_part():
    text = NUMBERS.read_text(encoding="utf-8")
    parts = [field.name for kind in (HostTime, GpuWindow) for field in dataclasses.fields(kind)]
    parts = [part for part in parts if part not in ("device", "instances", "window")]
    for part in (*parts, *(phase.name.lower() for phase in Phase), *(source.name.lower() for source in Source)):
        assert f"| `{part}` |" in text, part
    for field in dataclasses.fields(KernelRow):
        assert f"`{field.name}`" in text, field.name


@pytest.mark.parametrize("verb", app.commands.values(), ids=lambda verb: verb.name)
def test_every_option_is_explained(verb):
    assert verb.short_help
    for option in verb.params:
        if option.param_type_name == "option":
            assert option.help, option.name


def test_documents_name_only_options_that_exist():
    options = [option for verb in app.commands.values() for option in verb.params]
    known = (
        {name for option in options for name in (*option.opts, *option.secondary_opts)}
        | {"--version", "--help"}
        | NSYS_OPTIONS
        | PYTEST_OPTIONS
        | TESTS_OPTIONS
    )
    for document in (README, ROOT / "CHANGELOG.md", *sorted(set((ROOT / "docs").glob("*.md")) - GENERATED)):
        text = BLOCK.sub("", document.read_text(encoding="utf-8"))
        text = re.sub(r"nsys (profile|export).*|benchmarks[/.].*", "", text)
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known


def test_every_code_of_a_warning_is_explained():
    text = (ROOT / "docs" / "warnings.md").read_text(encoding="utf-8")
    modules = sorted((PACKAGE / "metrics" / "notices").glob("*.py"))
    codes = {code for path in modules for code in re.findall(r'code="([a-z-]+)"', path.read_text(encoding="utf-8"))}
    codes |= {kind.name.lower().replace("_", "-") for kind in attributed._UNATTRIBUTED}
    codes |= {*mended._FOUND, "nsys-error", "nsys-warning"}
    assert len(codes) > 25
    assert {code for code in codes if f"`{code}`" not in text} == set()


if __name__ == "__main__":
    for path in OUTPUTS:
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
    for made in pictures().values():
        output(made)
