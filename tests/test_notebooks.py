"""The notebooks run from top to bottom, show what they promise, and are committed as people write them."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nsys_analyze

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
IMPORTS = {"nsys_analyze", "pandas", "pathlib"}
LONGEST = 12  # lines of a cell
WIDEST = 120


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def source(cell):
    return "".join(cell["source"])


def code_cells(path):
    return [source(cell) for cell in read(path)["cells"] if cell["cell_type"] == "code"]


def run(path):
    """Runs the cells in one namespace, and prints of each last value how a notebook would show it."""
    names = {}
    for cell in code_cells(path):
        body = ast.parse(cell).body
        last = ast.Expression(body.pop().value) if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), path.name, "exec"), names)
        value = None if last is None else eval(compile(last, path.name, "eval"), names)
        if value is not None:
            print(*(kind for kind in ("png", "markdown", "html") if shown(value, kind)))


def shown(value, kind):
    method = getattr(value, f"_repr_{kind}_", None)
    return method is not None and bool(method())


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == [
        "comparing_executors",
        "finding_a_startup_regression",
        "reading_a_report",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    command = [sys.executable, "-W", "error", "-m", "tests.test_notebooks", path]
    environment = {**os.environ, "PYTHONPATH": str(FOLDER.parent)}
    done = subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kinds = done.stdout.splitlines()
    assert kinds.count("png") >= 3
    assert kinds.count("markdown") == 1
    assert "html" in kinds
    assert "" not in kinds  # a value that a notebook would show as <object at 0x7f>


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_as_written(path):
    notebook = read(path)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    identities = [cell["id"] for cell in notebook["cells"]]
    assert len(set(identities)) == len(identities)
    for cell in notebook["cells"]:
        assert cell["metadata"] == {}
        lines = source(cell).splitlines()
        assert 0 < len(lines) <= LONGEST
        assert max(map(len, lines)) <= WIDEST
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
    assert path.read_text(encoding="utf-8").endswith("}\n")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_uses_only_what_is_public(path):
    for node in ast.walk(ast.parse("\n".join(code_cells(path)))):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= IMPORTS
        elif isinstance(node, ast.ImportFrom):
            assert node.module in IMPORTS - {"nsys_analyze"}
        elif isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_")
            if ast.unparse(node.value) == "nsys_analyze":
                assert node.attr in nsys_analyze.__all__
            elif ast.unparse(node.value) == "nsys_analyze.plots":
                assert node.attr in nsys_analyze.plots.__all__


if __name__ == "__main__":
    run(Path(sys.argv[1]))
