"""Options that verbs share: how reports are read, and where results go."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import click

from nsys_analyze.cli import output
from nsys_analyze.errors import UsageError

if TYPE_CHECKING:
    from rich.status import Status

    from nsys_analyze.report import Report

Command = TypeVar("Command", bound=Callable[..., Any])
Request = TypeVar("Request")

_BINARY = ("png", "svg", "pdf", "parquet")
_ANY_TEXT = ".txt"  # may be the suffix of a file of any format

_READING = (
    click.option("--domain", metavar="NAME", multiple=True, help="Only ranges of this NVTX domain. Repeatable."),
    click.option(
        "--attribution",
        type=click.Choice(["process", "thread"]),
        default="process",
        show_default=True,
        help="Who owns GPU work launched by a thread without ranges: its process's main thread, or nobody.",
    ),
    click.option("--fold", metavar="REGEX", multiple=True, help="Remove this from range names, too. Repeatable."),
    click.option("--no-fold", is_flag=True, help="Keep running numbers in range names: `step 1` and `step 2` differ."),
    click.option(
        "--compile-rules", metavar="FILE", help="What compilers call their ranges, besides known ones: a TOML file."
    ),
)

debug_option = click.option("--debug", is_flag=True, help="Show the traceback of an error.")


def reading_options(command: Command) -> Command:
    """Gives a command the options that say how reports are read; see `Reading`."""
    for option in reversed(_READING):
        command = option(command)
    return command


def output_options(suffixes: Mapping[str, str]) -> Callable[[Command], Command]:
    """Gives a command the options that say where results go, and how they are written; see `destination`.

    Args:
        suffixes: The format of each suffix, the usual one first.
    """
    usual, listed = next(iter(suffixes.values())), " ".join(suffixes)
    form = click.option(
        "--format", type=click.Choice(list(suffixes.values())), help=f"How to write the results.  [default: {usual}]"
    )
    file = click.option("-o", "--output", metavar="FILE", help=f"Write to FILE; its suffix picks the format: {listed}.")
    return lambda command: form(file(command))


def top_option(rows: int, what: str) -> Callable[[Command], Command]:
    """Gives a command ``--top``: how many rows of ``what`` to show, ``rows`` unless told."""
    return click.option(
        "--top", type=click.IntRange(min=0), metavar="N", default=rows, show_default=True, help=f"{what}; 0 for all."
    )


def requested(request: Callable[..., Request]) -> Callable[[Callable[[Request], None]], Callable[..., None]]:
    """Gives a command the options of `Reading` and of debugging, and all that is asked for as one request."""

    def taking(command: Callable[[Request], None]) -> Callable[..., None]:
        @functools.wraps(command)
        def asked(**options: Any) -> None:
            command(request(reading=Reading.taken(options), **options))

        return reading_options(debug_option(asked))

    return taking


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How reports are read, as asked for on the command line."""

    domain: tuple[str, ...]
    attribution: Literal["process", "thread"]
    fold: tuple[str, ...]
    no_fold: bool
    compile_rules: str | None

    @classmethod
    def taken(cls, options: dict[str, Any]) -> Self:
        """Takes its own options out of those of a command.

        Raises:
            UsageError: If they contradict each other, or an expression is none.
        """
        reading = cls(**{field.name: options.pop(field.name) for field in fields(cls)})
        if reading.no_fold and reading.fold:
            raise UsageError("--fold and --no-fold exclude each other")
        for expression in reading.fold:
            try:
                re.compile(expression)
            except re.error as error:
                raise UsageError(f"--fold {expression}: not a regular expression: {error}") from error
        return reading

    @property
    def arguments(self) -> dict[str, Any]:
        """The same as arguments of `open_report`."""
        return {
            "attribution": self.attribution,
            "fold": not self.no_fold,
            "fold_patterns": self.fold,
            "domains": self.domain or None,
            "compile_rules": self.compile_rules,
        }


def read(path: str, reading: Reading, *, environment: Sequence[str] = ()) -> Report:
    """Opens a report, showing that it does; ``environment`` names variables to keep beside the known ones.

    Raises:
        NsysAnalyzeError: If it cannot be read, or the options do not fit it.
    """
    with progress(f"reading {path}"):
        import nsys_analyze

        return nsys_analyze.open_report(path, environment=environment, **reading.arguments)


def destination(
    asked: str | None, target: str | None, suffixes: Mapping[str, str], inputs: Sequence[str], what: str = ""
) -> str:
    """Returns the format to write: the one asked for, else the one of the output's suffix, else the first of all.

    Args:
        asked: The format that was asked for.
        target: Where to write, None or "-" for standard output.
        suffixes: The format of each suffix.
        inputs: What is being read, which must not be written over.
        what: What the inputs are called, if not the reports.

    Raises:
        UsageError: If no format has that suffix, the suffix is that of another format, a terminal cannot show it, or
            the output is an input.
    """
    kind = chosen_format(asked, target, suffixes)
    if kind in _BINARY and target in (None, "-") and output.is_terminal(sys.stdout):
        raise UsageError(f"a terminal cannot show a {kind} file: write it with -o FILE.{kind}")
    if target is not None:
        output.check_target(target, inputs, *([what] if what else []))
    return kind


def chosen_format(asked: str | None, target: str | None, suffixes: Mapping[str, str]) -> str:
    """Returns the format asked for, else the one that the output's suffix names, in capitals or not, else the first.

    Raises:
        UsageError: If no format has that suffix, or it names another format than the one asked for.
    """
    if target in (None, "-"):
        return asked or next(iter(suffixes.values()))
    suffix = PurePath(target).suffix
    named = suffixes.get(suffix.lower())
    if asked is None:
        if named is None:
            raise UsageError(f"{target}: no format has the suffix '{suffix}'; use {', '.join(suffixes)}, or --format")
        return named
    if named not in (None, asked) and suffix.lower() != _ANY_TEXT:
        raise UsageError(f"{target}: --format {asked} contradicts the suffix {suffix}, which is {named}; leave one out")
    return asked


@contextlib.contextmanager
def counting(message: str) -> Iterator[Callable[[str], None]]:
    """Shows what goes on, as `progress` does; what it yields changes the message."""
    with progress(message) as status:
        if status is None:
            yield lambda _: None
            return
        from rich.text import Text

        from nsys_analyze.views.text import visible

        yield lambda now: typing.cast("Status", status).update(Text(visible(now)))


def progress(message: str) -> contextlib.AbstractContextManager[object]:
    """Shows what goes on while it does, if standard error is a terminal."""
    if not output.is_terminal(sys.stderr):
        return contextlib.nullcontext()
    from rich.console import Console
    from rich.text import Text

    from nsys_analyze.views.text import visible

    return Console(stderr=True).status(Text(visible(message)))
