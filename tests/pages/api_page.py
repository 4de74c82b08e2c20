"""The Python API, from its signatures and docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re

import nsys_analyze
from nsys_analyze import frames, plots
from tests.pages.markdown import cell, fenced, filled, page, prose, table

INTRODUCTION = """\
All of it is in `nsys_analyze`; nothing else is public. Importing the package loads nothing: names are fetched when they
are used. Times are nanoseconds, and what a report cannot tell is `None`, or missing in a DataFrame, never 0.

Results are dataclasses with the fields of the JSON: an `Analysis` has those of
[`result.schema.json`](../nsys_analyze/result.schema.json), a `KernelAnalysis` those of
[`kernels.schema.json`](../nsys_analyze/kernels.schema.json), a `Comparison` those of
[`comparison.schema.json`](../nsys_analyze/comparison.schema.json) and a `Verdict` those of
[`verdict.schema.json`](../nsys_analyze/verdict.schema.json).

Three notebooks show it at work; pages of `show` and plots draw themselves there:

- [reading one report](../notebooks/reading_a_report.ipynb)
- [comparing five executors](../notebooks/comparing_executors.ipynb), and what follows from it
- [finding a startup regression](../notebooks/finding_a_startup_regression.ipynb), from a failed check on"""
GROUPS = (  # headings, and the names below them in order
    ("Reports", ("open_report", "Report")),
    ("Pages", ("show",)),
    ("Plots", ("plots",)),
    ("Comparing", ("compare", "Comparison")),
    ("Checking", ("check", "Verdict")),
    ("Ranges in your code", ("annotate", "stage")),
    ("Errors and version", ("NsysAnalyzeError", "ReportError", "UsageError", "__version__")),
)
INNER = ("nesting", "launched", "evidence", "compiled", "instances", "host_code", "paths")  # of Report: not public
LONGEST = 100  # characters of a signature in one line
FRAMES = ("stages", "kernels", "ranges", "launches", "gpu_ops")
_SECTION = re.compile(r"(Args|Attributes|Columns|Raises|Returns):")
_TITLES = {"Args": "Takes", "Attributes": "Has", "Columns": "Columns", "Raises": "Raises", "Returns": "Returns"}


def render():
    """Returns the page."""
    return page(
        "# From Python",
        INTRODUCTION,
        *(block for heading, names in GROUPS for block in (f"## {heading}", *group(names))),
    )


def group(names):
    for name in names:
        thing = getattr(nsys_analyze, name)
        if name == "__version__":
            yield from ("### `nsys_analyze.__version__`", "The version of the package, a string.")
        elif name == "plots":
            yield from explained(inspect.getdoc(plots))
            for each in plots.__all__:
                yield from function(f"plots.{each}", getattr(plots, each))
        elif inspect.isclass(thing):
            yield from class_(name, thing)
        else:
            yield from function(name, thing)


def function(name, thing):
    yield f"### `nsys_analyze.{name}`"
    yield fenced(called(name, thing), "python")
    yield from explained(inspect.getdoc(thing))


def class_(name, kind):
    yield f"### `nsys_analyze.{name}`"
    if name == "annotate":
        yield fenced(called(name, kind), "python")
    yield from explained(inspect.getdoc(kind))
    if dataclasses.is_dataclass(kind) and kind is not nsys_analyze.Report:
        rows = [[f"`{field.name}`", f"`{cell(str(field.type))}`"] for field in dataclasses.fields(kind)]
        yield table(["attribute", "type"], rows)
    for each, member in vars(kind).items():
        if each.startswith("_") or each in INNER or not (inspect.isroutine(member) or isinstance(member, property)):
            continue
        yield f"#### `{name}.{each}`"
        if isinstance(member, property):
            yield from explained(inspect.getdoc(member))
        else:
            yield fenced(called(each, member), "python")
            columns = getattr(frames, each) if name == "Report" and each in FRAMES else None
            text = re.sub(r"; see `nsys_analyze.frames.\w+`( for the columns)?", "", inspect.getdoc(member))
            yield from explained(text)
            if columns:
                yield from explained(inspect.getdoc(columns), without_summary=True)


def called(name, thing):
    """The signature, a parameter a line where it is long."""
    signature = inspect.signature(thing)
    written = []
    starred = False
    for parameter in signature.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            written.append("*")
        starred = starred or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        written.append(_written(parameter))
    result = "" if signature.return_annotation in (signature.empty, None, "None") else signature.return_annotation
    arrow = f" -> {result}" if result else ""
    line = f"{name}({', '.join(written)}){arrow}"
    if len(line) <= LONGEST:
        return line
    return "\n".join([f"{name}(", *(f"    {each}," for each in written), f"){arrow}"])


def _written(parameter):
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    kind = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    return f"{stars}{parameter.name}{kind}{default}".replace("os.PathLike", "PathLike")


def explained(text, *, without_summary=False):
    """A docstring of Google's style as Markdown."""
    paragraphs = [each for each in re.split(r"\n\s*\n", text) if not each.startswith(">>>")]
    for paragraph in paragraphs[1:] if without_summary else paragraphs:
        title, _, rest = paragraph.partition("\n")
        if section := _SECTION.fullmatch(title):
            yield f"**{_TITLES[section[1]]}**"
            yield "\n".join(items(rest))
        else:
            yield filled(inline(" ".join(paragraph.split())))


def items(text):
    """The list below a section's title: an item a name, or a line of its own."""
    gathered = []
    deep = min(len(line) - len(line.lstrip()) for line in text.splitlines())
    for line in text.splitlines():
        if len(line) - len(line.lstrip()) == deep:
            gathered.append(line.strip())
        else:
            gathered[-1] += f" {line.strip()}"
    for each in gathered:
        name, colon, rest = each.partition(": ")
        named = colon and re.fullmatch(r"[\w, ]+", name)
        yield filled(inline(f"{', '.join(f'`{one}`' for one in name.split(', '))}: {rest}" if named else each), "- ")


def inline(text):
    return prose(re.sub(r"``(.+?)``", r"`\1`", text))
