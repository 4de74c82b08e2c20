"""Rules that tell compilers' NVTX ranges from others: a packaged file, and what users add to it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from importlib.resources import files
from pathlib import Path

from nsys_analyze.errors import UsageError


class Phase(IntEnum):
    """What a compiler was doing."""

    TRACE = 0
    SEGMENT = 1
    LOWER = 2
    CODEGEN = 3
    COMPILE = 4
    LOAD = 5
    AUTOTUNE = 6
    OTHER = 7


@dataclass(frozen=True, slots=True)
class CompileRule:
    """Ranges whose whole folded name matches ``pattern`` are evidence of ``tool`` compiling."""

    tool: str
    phase: Phase
    pattern: re.Pattern[str]
    module: bool = False


def packaged_rules() -> tuple[CompileRule, ...]:
    """The rules that come with the package."""
    return tuple(_parsed((files(__package__) / "compile_rules.toml").read_text("utf-8"), "compile_rules.toml"))


def with_user_rules(path: Path | None) -> tuple[CompileRule, ...]:
    """A user's rules, which go first, then the packaged ones.

    Raises:
        UsageError: The file cannot be read or does not hold rules.
    """
    if path is None:
        return packaged_rules()
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"--compile-rules {path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--compile-rules {path}: cannot be read ({error})") from error
    return (*_parsed(text, str(path)), *packaged_rules())


def matching_rule(name: str, rules: Sequence[CompileRule]) -> int:
    """Number of the first rule that matches a folded name, or -1."""
    return next((number for number, rule in enumerate(rules) if rule.pattern.fullmatch(name)), -1)


def _parsed(text: str, where: str) -> list[CompileRule]:
    try:
        tables = tomllib.loads(text).get("rule")
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where}: not TOML ({error})") from error
    if not isinstance(tables, list) or not tables:
        raise UsageError(f"{where}: no [[rule]] in it; a rule has tool, phase and pattern")
    return [_rule(table, f"{where}, rule {number}") for number, table in enumerate(tables, 1)]


def _rule(table: object, where: str) -> CompileRule:
    if not isinstance(table, dict):
        raise UsageError(f"{where}: not a table; a rule has tool, phase and pattern")
    unknown = sorted(set(table) - {"tool", "phase", "pattern", "module"})
    if unknown:
        raise UsageError(f"{where}: unknown key {unknown[0]!r}; a rule has tool, phase, pattern and module")
    phases = [phase.name.lower() for phase in Phase]
    if table.get("phase") not in phases:
        raise UsageError(f"{where}: phase {table.get('phase')!r} is not one of {', '.join(phases)}")
    tool, pattern, module = table.get("tool"), table.get("pattern"), table.get("module", False)
    if not isinstance(tool, str) or not isinstance(pattern, str) or not isinstance(module, bool):
        raise UsageError(f"{where}: tool and pattern are strings, module is true or false")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"{where}: {pattern!r} is not a regular expression ({error})") from error
    return CompileRule(tool, Phase[table["phase"].upper()], compiled, module)
