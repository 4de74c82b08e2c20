"""Changes single operators and numbers of the package, and says which changes no test notices.

    python -m tests.mutants nsys_analyze/timeline --tests tests/test_timeline.py --sample 30

A copy of the project is changed, never the project. Each mutant has a number: the same seed samples the same ones.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

ROOT = Path(__file__).parent.parent
_OTHERS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def mutants(path: Path) -> Iterator[tuple[int, str, str]]:
    """Gives the line of every mutant of a file, what was changed, and the whole changed source."""
    count = sum(1 for _ in _places(ast.parse(path.read_text("utf-8"))))
    for number in range(count):
        tree = ast.parse(path.read_text("utf-8"))
        line, what = _change(list(_places(tree))[number])
        yield line, what, ast.unparse(tree)


def _places(tree: ast.AST) -> Iterator[ast.AST]:
    passed_over = {id(part) for node in ast.walk(tree) for kind in _declared(node) for part in ast.walk(kind)}
    for node in ast.walk(tree):
        if id(node) in passed_over:
            continue
        number = isinstance(node, ast.Constant) and type(node.value) in (int, bool)
        if number or type(_operator(node)) in _OTHERS:
            yield node


def _declared(node: ast.AST) -> Iterator[ast.AST]:
    """What does nothing by itself: types, and decorators, as those that make a dataclass frozen and slotted."""
    for name in ("annotation", "returns"):
        kind = getattr(node, name, None)
        if kind is not None:
            yield kind
    yield from getattr(node, "decorator_list", ())


def _operator(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Compare):
        return node.ops[0]
    return node.op if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) else None


def _change(node: ast.AST) -> tuple[int, str]:
    line: int = node.lineno  # type: ignore[attr-defined]
    if isinstance(node, ast.Constant):
        before = node.value
        node.value = not before if isinstance(before, bool) else int(before) + 1  # type: ignore[arg-type]
        return line, f"{before} -> {node.value}"
    operator = _operator(node)
    other = _OTHERS[type(operator)]()
    if isinstance(node, ast.Compare):
        node.ops[0] = other  # type: ignore[call-overload]
    else:
        node.op = other  # type: ignore[attr-defined]
    return line, f"{type(operator).__name__} -> {type(other).__name__}"


def outcome(copy: Path, tests: list[str], seconds: float) -> str:
    """Whether the tests let the package pass: "survived", "killed", or "too long", which may be the machine's doing."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=seconds)  # noqa: PLW1510
    except subprocess.TimeoutExpired:
        return "too long"
    return "killed" if done.returncode else "survived"


def main() -> int:
    """Tries a sample; returns 1 if any survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="the files to change, or one of them")
    parser.add_argument("--tests", nargs="+", required=True)
    parser.add_argument("--sample", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=120, help="that the tests may take")
    options = parser.parse_args()
    folder = options.folder.resolve().relative_to(ROOT)
    files = sorted((ROOT / folder).rglob("*.py")) if (ROOT / folder).is_dir() else [ROOT / folder]
    every = [(path.relative_to(ROOT), *mutant) for path in files for mutant in mutants(path)]
    chosen = Random(options.seed).sample(every, min(options.sample, len(every)))
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        copy = Path(name) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "dist", "build"))
        if outcome(copy, options.tests, options.seconds) != "survived":
            parser.error("the tests fail without any change, or take too long")
        for path, line, what, source in chosen:
            (copy / path).write_text(source, "utf-8")
            verdict = outcome(copy, options.tests, options.seconds)
            shutil.copyfile(ROOT / path, copy / path)
            found[verdict] += 1
            if verdict != "killed":
                print(f"{verdict}: {path}:{line}: {what}", flush=True)
    counts = ", ".join(f"{found[verdict]} {verdict}" for verdict in ("killed", "too long", "survived"))
    print(f"{len(chosen)} of {len(every)} mutants tried: {counts}")
    return 1 if found["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
