"""Results that were saved as JSON, read back."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from nsys_analyze.errors import ReportError
from nsys_analyze.metrics.results.plausible import objection, objection_to
from nsys_analyze.metrics.results.report import Analysis

T = TypeVar("T")

_TOOL = "nsys-analyze"
_VERSION = 1
_NUMBERS = (float, int)
_OTHERS = {  # by a field that only they have
    "sides": "comparison",
    "checks": "verdict",
    "runs": "history",
    "points": "trend",
    "facts": "diagnosis",
}


class _MisfitError(Exception):
    """A value that cannot be; the message says where."""


def is_saved(path: Path) -> bool:
    """Whether a file holds saved results, as far as its beginning tells."""
    with path.open("rb") as file:
        head = file.read(200).lstrip()
    return head.startswith(b"{") and b'"schema_version"' in head


def read_saved(path: Path) -> list[Analysis]:
    """Reads what ``-o FILE.json`` wrote: an analysis for each of its reports.

    Properties that are not known, as a later version may add, are ignored.

    Raises:
        ReportError: The file is no such JSON, written by another version of the schema, or holds what no report can:
            numbers that are not finite, negative durations, series that do not fit their stage.
    """
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise ReportError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path}: not valid JSON ({error}); save the results again") from error
    _check(path, document)
    documents = document.get("reports", [document])
    try:
        return [_made(Analysis, one, "") for one in typing.cast(list[Any], _expected(documents, list, "reports"))]
    except _MisfitError as error:
        raise ReportError(f"{path}: {error}; save the results again with this version") from error


def _check(path: Path, document: object) -> None:
    tool = document.get("tool") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(tool, dict) or tool.get("name") != _TOOL:
        raise ReportError(f"{path}: JSON, but not results of {_TOOL}; save some with -o FILE.json")
    for key, what in _OTHERS.items():
        if key in document:
            raise ReportError(f"{path}: a saved {what}; give the reports it is of, or their saved results")
    if document.get("schema_version") != _VERSION:
        raise ReportError(
            f"{path}: results of schema version {document.get('schema_version')}, not {_VERSION}; save them again"
        )


def _made(kind: type[T], plain: object, where: str) -> T:
    """A result of type ``kind``; what a schema of before lacks takes its default."""
    mapping = typing.cast(dict[str, Any], _expected(plain, dict, where or "the document"))
    given = {
        name: _value(annotation, mapping[name], f"{where}.{name}" if where else name)
        for name, annotation in _hints(typing.cast(Hashable, kind)).items()
        if name in mapping
    }
    try:
        made = kind(**given)
    except TypeError as error:
        raise _MisfitError(f"{where or 'the document'} lacks {str(error).rpartition(': ')[2]}") from error
    _refuse(objection_to(made, where))
    return made


def _refuse(why: str | None) -> None:
    if why is not None:
        raise _MisfitError(why)


def _value(annotation: Any, plain: object, where: str) -> object:
    options = typing.get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)
    if plain is None and type(None) in options:
        return None
    option = next(option for option in options if option is not type(None))
    origin, inside = typing.get_origin(option), typing.get_args(option)
    if origin is list:
        return _list(inside[0], typing.cast(list[Any], _expected(plain, list, where)), where)
    if origin is dict:
        items = typing.cast(dict[str, Any], _expected(plain, dict, where)).items()
        return {key: _value(inside[1], item, f"{where}.{key}") for key, item in items}
    if dataclasses.is_dataclass(option):
        return _made(typing.cast(type, option), plain, where)
    _refuse(objection([_expected(plain, _primitives(options), where)], where))
    return plain


def _list(annotation: Any, plain: list[Any], where: str) -> list[Any]:
    if set(map(type, plain)) <= set(typing.get_args(annotation) or (annotation,)):  # a series may hold thousands
        _refuse(objection(plain, where))
        return plain
    return [_value(annotation, item, where) for item in plain]


def _primitives(options: tuple[Any, ...]) -> tuple[type, ...]:
    kinds = tuple(option for option in options if option is not type(None))
    return (*kinds, *_NUMBERS) if float in kinds else kinds


def _expected(plain: object, kinds: type | tuple[type, ...], where: str) -> object:
    allowed = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(plain, allowed) or (isinstance(plain, bool) and bool not in allowed):
        raise _MisfitError(f"{where} is {json.dumps(plain)[:40]}, not {' or '.join(kind.__name__ for kind in allowed)}")
    return plain


@cache
def _hints(kind: Hashable) -> dict[str, Any]:
    return typing.get_type_hints(kind)
