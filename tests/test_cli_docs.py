"""The outputs in README.md are what comes out. ``python -m tests.test_cli_docs`` writes them anew."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from pathlib import Path
from unittest import mock

from nsys_analyze import cli
from nsys_analyze.cli.report import report

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"```console\n(\$ (nsys-analyze [^\n]*)\n)(.*?)```", re.DOTALL)
COLUMNS = "110"


def output(command):
    """What a command of the README prints, run where the README is."""
    arguments = [each for word in shlex.split(command)[1:] for each in sorted(ROOT.glob(word)) or [word]]
    out = io.StringIO()
    with mock.patch.dict(os.environ, {"COLUMNS": COLUMNS}), contextlib.chdir(ROOT), contextlib.redirect_stdout(out):
        assert cli.main([str(argument) for argument in arguments]) == 0
    return out.getvalue()


def refreshed(text):
    return BLOCK.sub(lambda block: f"```console\n{block[1]}{output(block[2])}```", text)


def test_the_readme_shows_what_comes_out():
    text = README.read_text(encoding="utf-8")
    assert len(BLOCK.findall(text)) == 2
    assert text == refreshed(text)


def test_every_option_is_explained():
    for option in report.params:
        if option.param_type_name == "option":
            assert option.help, option.name


def test_documents_name_only_options_that_exist():
    known = {name for option in report.params for name in option.opts} | {"--version", "--help"}
    for document in (README, ROOT / "docs" / "numbers.md", ROOT / "CHANGELOG.md"):
        text = re.sub(r"nsys (profile|export).*", "", document.read_text(encoding="utf-8"))
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known


if __name__ == "__main__":
    README.write_text(refreshed(README.read_text(encoding="utf-8")), encoding="utf-8")
