"""The results as JSON, schema version 1: what other tools build on. ``result.schema.json`` describes it."""

from __future__ import annotations

import dataclasses
import json
import math
import typing
from collections.abc import Sequence

from nsys_analyze._version import __version__
from nsys_analyze.metrics.results import SCHEMA_VERSION, Analysis, KernelAnalysis, RankedProgram

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def render(
    analyses: Sequence[Analysis], *, instances: bool = False, ranks: Sequence[RankedProgram] | None = None
) -> str:
    """Returns one document for one report, else one that lists them; ``instances`` includes the list of instances.

    ``ranks`` are those of all reports together, None if they were not asked for.

    Keys come in the order of the schema, and each stage stands on a line of its own: two results can be compared line
    by line. Everything outside ASCII is escaped, so that no name can upset a terminal.
    """
    whole = _whole([document(analysis, instances=instances) for analysis in analyses])
    return written(whole if ranks is None else {**whole, "ranks": _plain(ranks)})


def dump(result: object) -> str:
    """Returns a dataclass as a document of its own, under the schema's version and this tool's."""
    return written(_framed(_plain(result)))


def render_kernels(kernels: Sequence[KernelAnalysis]) -> str:
    """Returns the operations of each report's stages likewise; ``kernels.schema.json`` describes the document."""
    return written(_whole([_framed(_plain(each)) for each in kernels]))


def _whole(documents: Sequence[dict[str, Json]]) -> dict[str, Json]:
    return documents[0] if len(documents) == 1 else {**frame(), "reports": list(documents)}


def document(analysis: Analysis, *, instances: bool = False) -> dict[str, Json]:
    """Returns one report's results as plain values, with None for a number that is missing or not finite."""
    framed = _framed(_plain(analysis))
    if not instances:
        del framed["instances"]
    return framed


def _framed(plain: Json) -> dict[str, Json]:
    assert isinstance(plain, dict)
    return {**frame(), **plain}


def frame() -> dict[str, Json]:
    """Returns what every document begins with: the version of the schema, and what made it."""
    return {"schema_version": SCHEMA_VERSION, "tool": {"name": "nsys-analyze", "version": __version__}}


def _plain(value: object) -> Json:
    if value is None or type(value) in (int, str, bool):  # most are, and a series may hold thousands
        return typing.cast(Json, value)
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, str):  # a kind of text, such as a state
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return _number(value)


def _number(value: object) -> int | float | None:
    """A number that JSON can write: NumPy's integers and floats become Python's."""
    if hasattr(value, "__index__"):
        return int(value)
    number = float(value)  # type: ignore[arg-type]
    return number if math.isfinite(number) else None


def written(plain: dict[str, Json]) -> str:
    """Returns a document as text, an entry of a list of objects on a line of its own."""
    entries = [f"{json.dumps(key)}: {_dump_entry(value)}" for key, value in plain.items()]
    return "{" + ",\n ".join(entries) + "}\n"


def _dump_entry(value: Json) -> str:
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return "[\n  " + ",\n  ".join(json.dumps(item, allow_nan=False) for item in value) + "]"
    return json.dumps(value, allow_nan=False)
