"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

import click

from nsys_analyze.cli.app import NAME, app
from tests.pages.markdown import cell, fenced, filled, page, prose, table

INTRODUCTION = f"""\
What `{NAME} VERB --help` says, verb by verb. Without a verb, `report` is meant: `{NAME} report.sqlite`.
`{NAME} --version` prints the version. [Exit codes](#exit-codes) are the same for all verbs."""
EXIT_CODES = (
    ("0", "fine; of `check`: passed, perhaps with warnings; of `doctor`: healthy"),
    ("1", "`check`: something regressed, is over its budget or is missing; `doctor`: something basic cannot be told"),
    ("2", "bad usage or input: one line on standard error says what"),
    ("3", "`check`: cannot tell"),
    ("130", "interrupted"),
)


def render():
    """Returns the page."""
    return page(
        "# The command line",
        INTRODUCTION,
        table(["verb", ""], [[f"[`{verb.name}`](#{verb.name})", prose(verb.short_help)] for verb in verbs()]),
        *(block for verb in verbs() for block in section(verb)),
        "## Exit codes",
        table(["code", ""], EXIT_CODES),
    )


def verbs():
    return list(app.commands.values())


def section(verb):
    context = click.Context(verb, info_name=f"{NAME} {verb.name}")
    usage = " ".join([context.command_path, *verb.collect_usage_pieces(context)])
    options = [option for option in verb.get_params(context) if isinstance(option, click.Option)]
    records = [record for option in options if (record := option.get_help_record(context))]
    rows = [[f"`{cell(names)}`", prose(" ".join(told.split()))] for names, told in records]
    return [
        f"## {verb.name}",
        fenced(usage),
        *texts(verb.help),
        table(["option", ""], rows),
        *texts(verb.epilog or ""),
    ]


def texts(text):
    """Paragraphs of a help text; what click leaves as it is stays so, below the line that leads to it."""
    for paragraph in text.strip().split("\n\n"):
        if not paragraph.startswith("\b\n"):
            yield filled(prose(" ".join(paragraph.split())))
            continue
        first, _, rest = paragraph.removeprefix("\b\n").partition("\n")
        if first.startswith(" "):
            yield fenced(f"{first}\n{rest}")
        else:
            yield filled(prose(first))
            yield fenced(rest)
