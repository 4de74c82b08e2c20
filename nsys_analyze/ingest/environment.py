"""The profiled program's environment: of all that a report holds of it, only what is known to be harmless.

A report holds every variable of the environment that nsys was started in, and secrets are among them. Variables are
kept by an allow-list (``environment.toml``); whatever else there is goes no further than this module.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import PurePosixPath, PureWindowsPath

from nsys_analyze.errors import UsageError

_VARIABLE = re.compile(r"PROCESS_\d+:ENVIRONMENT_VARIABLE")
_COMMAND = re.compile(r"PROCESS_\d+:COMMAND")
REMOVED = "<removed>"  # the value of a variable, where whoever shared the report took it out
_LONGEST = 200  # characters of a value that is shown
_CREDENTIALS = re.compile(r"@|[A-Za-z0-9+/_=-]{40,}")  # of a URL, or something that looks like a key
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class AllowList:
    """Names of variables: ``prefixes`` of those that are kept, those whose values are ``shown``, words of secrets."""

    prefixes: tuple[str, ...]
    shown: frozenset[str]
    secret: tuple[str, ...]

    def with_prefixes(self, prefixes: Iterable[str]) -> AllowList:
        """Returns the list with more to keep; where one is a variable's whole name, its value is shown.

        Raises:
            UsageError: If one is neither a name nor the beginning of any.
        """
        more = tuple(prefix.removesuffix("*") for prefix in prefixes)
        for prefix in more:
            if not _NAME.fullmatch(prefix):
                raise UsageError(f"environment variable {prefix!r}: not the beginning of a name")
        return AllowList((*self.prefixes, *more), self.shown | set(more), self.secret)

    def keeps(self, name: str) -> bool:
        """Whether a variable may be named at all."""
        return name.startswith(self.prefixes) and _NAME.fullmatch(name) is not None

    def value(self, name: str, value: str) -> str | None:
        """Returns the value of a variable if it may be shown, else None."""
        harmless = name in self.shown and len(value) <= _LONGEST and not _CREDENTIALS.search(value) and value != REMOVED
        secret = any(word in name.upper() for word in self.secret)
        return value if harmless and not secret else None


@cache
def allow_list() -> AllowList:
    """Returns the packaged list."""
    text = (resources.files("nsys_analyze.ingest") / "environment.toml").read_text(encoding="utf-8")
    lists = tomllib.loads(text)
    return AllowList(tuple(lists["prefixes"]), frozenset(lists["shown"]), tuple(lists["secret"]))


def environment(capture: Mapping[str, Sequence[str]], prefixes: Iterable[str]) -> dict[str, str | None] | None:
    """Returns the allowed variables by name; None for the value of one that is set but not shown.

    Args:
        capture: The values of META_DATA_CAPTURE by name.
        prefixes: Names, or what they begin with, to allow beside the packaged list.

    Returns:
        None if the report holds no environment.
    """
    rows = [row for name, values in capture.items() if _VARIABLE.fullmatch(name) for row in values]
    if not rows:
        return None
    allowed = allow_list().with_prefixes(prefixes)
    values: dict[str, set[str | None]] = {}
    for row in rows:
        name, _, value = row.partition("=")
        if allowed.keeps(name):
            values.setdefault(name, set()).add(allowed.value(name, _unquoted(value)))
    return {name: _joined(found) for name, found in sorted(values.items())}


def shareable(row: str) -> str | None:
    """Returns a row ``NAME=VALUE`` as it may be shared: without a value that may not be shown; None for no row at all.

    >>> shareable("NCCL_DEBUG=INFO"), shareable("NCCL_AUTH=me"), shareable("HOME=/root")
    ('NCCL_DEBUG=INFO', 'NCCL_AUTH=<removed>', None)
    """
    name, _, value = row.partition("=")
    if not allow_list().keeps(name):
        return None
    return f"{name}={REMOVED}" if allow_list().value(name, _unquoted(value)) is None else row


def program(capture: Mapping[str, Sequence[str]]) -> str | None:
    """Returns the name of the program that was started, without its folder and arguments, or None if unknown."""
    commands = [value for name, values in capture.items() if _COMMAND.fullmatch(name) for value in values]
    readable = [command for command in commands if command.strip() and not command.startswith("<")]
    if not readable:
        return None
    command = readable[0].strip().strip('"')
    return (PureWindowsPath(command) if "\\" in command else PurePosixPath(command)).name or None


def _joined(values: set[str | None]) -> str | None:
    """The value, or all of them where the processes that nsys started got different ones."""
    shown = sorted(value for value in values if value is not None)
    return "; ".join(shown) if len(shown) == len(values) else None


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return value[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return value
