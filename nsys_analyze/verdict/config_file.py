"""Reads a check's configuration: pyproject.toml's ``[tool.nsys-analyze.check]``, or nsys-analyze.toml's ``[check]``."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, NoReturn

from nsys_analyze.durations import parse_duration
from nsys_analyze.errors import UsageError
from nsys_analyze.verdict.config import IGNORE_BELOW, INCREASE, WARMUP, Accept, Budget, Config, Level, Place
from nsys_analyze.verdict.judged import JUDGED, Judged
from nsys_analyze.verdict.toml_lines import Address, first_line_within, key_lines, line_of

FILES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("nsys-analyze.toml", ("check",)),
    ("pyproject.toml", ("tool", "nsys-analyze", "check")),
)
_KEYS = (
    *("baseline", "history", "max_increase", "ignore_below", "warmup", "stages", "metrics", "noise", "strict"),
    *("budget", "accept"),
)
_LIKE_ITS_NAME = 0.9  # of [tool.NAME]: what is as similar was meant to be this tool's
_PERCENT = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*%", re.ASCII)
_MOST_PERCENT = 10_000
_LONGEST = 86_400_000_000_000  # ns: a day
_MOST = 10**9  # of anything that is counted
_MOST_WARMUP = 10_000


def find_config(start: Path) -> Config:
    """Returns the configuration of the nearest folder, from ``start`` upwards, that has one; else the default one.

    Raises:
        UsageError: If a file cannot be read, or says something that makes no sense.
    """
    for folder in (start.resolve(), *start.resolve().parents):
        for name, table in FILES:
            path = folder / name
            if path.is_file() and (found := _read(path, table, start)) is not None:
                return found
    return Config()


def read_config(path: Path) -> Config:
    """Returns the configuration of a file.

    Raises:
        UsageError: If it cannot be read, has none, or says something that makes no sense.
    """
    table = ("tool", "nsys-analyze", "check") if path.name == "pyproject.toml" else ("check",)
    found = _read(path, table, Path.cwd())
    if found is None:
        raise UsageError(f"{path}: has no table [{'.'.join(table)}]")
    return found


def config_of(table: Mapping[str, Any], name: str) -> Config:
    """Returns the configuration that a table says, which errors call ``name``; its files are in the working folder.

    Raises:
        UsageError: If it says something that makes no sense.
    """
    return _config(table, _Source(name, {}, ()), Path.cwd())


def _read(path: Path, table: tuple[str, ...], start: Path) -> Config | None:
    try:
        text = path.read_text(encoding="utf-8")
        document: Any = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from error
    source = _Source(_shown(path, start), key_lines(text), table)
    _refuse_misspelt(document, source)
    for key in table:
        document = document.get(key) if isinstance(document, dict) else None
    if document is None:
        return None
    if not isinstance(document, dict):
        source.refuse((), "is no table")
    return _config(document, source, path.resolve().parent)


def _refuse_misspelt(document: Mapping[str, Any], source: _Source) -> None:
    """Refuses tables beside the check's own, whose budgets would go unheeded."""
    *around, own = source.table
    inside: object = document
    if around:
        tools = document.get(around[0])
        for name in tools if isinstance(tools, dict) else ():
            if name != around[1] and _is_like(name, around[1]):
                source.refuse_table((around[0], name))
        inside = tools.get(around[1]) if isinstance(tools, dict) else {}
    for name in inside if isinstance(inside, dict) else ():
        if name != own:
            source.refuse_table((*around, name))


def _is_like(name: str, wanted: str) -> bool:
    first, second = (re.sub(r"[\W_]", "", each.lower()) for each in (name, wanted))
    return difflib.SequenceMatcher(None, first, second).ratio() >= _LIKE_ITS_NAME


def _shown(path: Path, start: Path) -> str:
    """The file as people in ``start`` name it."""
    try:
        return str(path.relative_to(start.resolve()))
    except ValueError:
        return str(path)


@dataclass(frozen=True, slots=True)
class _Source:
    """The file, and where in it keys stand. Addresses are relative to the check's own table."""

    file: str
    lines: dict[Address, int]
    table: tuple[str, ...]

    def place(self, address: Address) -> Place:
        return Place(file=self.file, line=line_of((*self.table, *address), self.lines))

    def refuse_table(self, address: tuple[str, ...]) -> NoReturn:
        """Refuses a table, by its address from the top, that is none of the check's."""
        place = Place(file=self.file, line=first_line_within(address, self.lines))
        own = ".".join(self.table)
        hint = f"write [{own}], [[{own}.budget]] and [[{own}.accept]]"
        raise UsageError(f"{place}: {'.'.join(address)} is not known here; {hint}")

    def refuse(self, address: Address, why: str) -> NoReturn:
        named = [str(key) for key in address if isinstance(key, str)]
        subject = f"{named[-1]} " if named else f"[{'.'.join(self.table)}] "
        raise UsageError(f"{self.place(address)}: {subject}{why}")


def _config(table: Mapping[str, Any], source: _Source, folder: Path) -> Config:
    for key in table:
        if key not in _KEYS:
            source.refuse((key,), f"is not known here; there are: {', '.join(_KEYS)}")
    read = _Reader(table, source, ())
    baseline, history, noise = (_file(read.text(key), folder) for key in ("baseline", "history", "noise"))
    increase, ignore_below = read.percent("max_increase"), read.duration("ignore_below")
    return Config(
        baseline=baseline,
        history=history,
        increase=INCREASE if increase is None else increase,
        ignore_below=IGNORE_BELOW if ignore_below is None else ignore_below,
        warmup=read.warmup(),
        stages=read.texts("stages"),
        metrics=read.metrics("metrics"),
        noise=noise,
        strict=read.flag("strict"),
        budgets=[budget for entry in read.tables("budget") for budget in _budgets(entry)],
        accepts=[_accept(entry) for entry in read.tables("accept")],
        place=source.place(("max_increase",)),
        stages_place=source.place(("stages",)),
    )


def _file(name: str | None, folder: Path) -> str | None:
    """A path as written in a file in ``folder``; ``history:`` and the like are none."""
    return name if name is None or re.match(r"\w{2,}:", name) else str(folder / name)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Values of one table, each checked."""

    table: Mapping[str, Any]
    source: _Source
    address: Address

    def refuse(self, key: str, why: str) -> NoReturn:
        self.source.refuse((*self.address, key), why)

    def place(self, key: str) -> Place:
        return self.source.place((*self.address, key))

    def text(self, key: str) -> str | None:
        value = self.table.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.refuse(key, f"is {value!r}; it takes a text")
        return value

    def needed(self, key: str) -> str:
        value = self.text(key)
        if value is None:
            self.source.refuse(self.address, f"needs the key {key}")
        return value

    def texts(self, key: str) -> list[str] | None:
        value = self.table.get(key)
        if value is not None and not (isinstance(value, list) and value and all(isinstance(one, str) for one in value)):
            self.refuse(key, "takes a list of texts")
        return value

    def metrics(self, key: str) -> list[str] | None:
        names = self.texts(key)
        for name in names or []:
            self.quantity(key, name)
        return names

    def quantity(self, key: str, name: str) -> Judged:
        if name not in JUDGED:
            self.refuse(key, f"names {name!r}, which is no metric; there are: {', '.join(JUDGED)}")
        return JUDGED[name]

    def flag(self, key: str) -> bool:
        value = self.table.get(key, False)
        if not isinstance(value, bool):
            self.refuse(key, "takes true or false")
        return value

    def warmup(self) -> int:
        value = self.table.get("warmup", WARMUP)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_WARMUP:
            self.refuse("warmup", f"is {value!r}; it takes a number of instances, from 0 to {_MOST_WARMUP:,}")
        return value

    def percent(self, key: str) -> float | None:
        value = self.table.get(key)
        if value is None:
            return None
        found = _PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
        if found is None:
            self.refuse(key, f'is {value!r}; it takes a percentage, such as "10%"')
        if float(found[1]) > _MOST_PERCENT:
            self.refuse(key, f"is {value!r}: that allows anything")
        return float(found[1]) / 100

    def duration(self, key: str) -> int | None:
        value = self.table.get(key)
        return None if value is None else self._duration(key, value)

    def _duration(self, key: str, value: object) -> int:
        if not isinstance(value, str):
            self.refuse(key, f'is {value!r}; it takes a duration with its unit, such as "50 us"')
        try:
            duration = parse_duration(value)
        except UsageError as error:
            self.refuse(key, f"is wrong: {error}")
        if duration > _LONGEST:
            self.refuse(key, f"is {value!r}: longer than a day")
        return duration

    def amount(self, key: str, value: object, quantity: Judged) -> float:
        """A limit of a quantity: a number for a count, a duration for a time."""
        if not quantity.is_count:
            return self._duration(key, value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
            self.refuse(key, f"is {value!r}; it takes a whole number, from 0 to {_MOST:,}")
        return value

    def level(self, key: str = "level") -> Level:
        value = self.table.get(key, "fail")
        if value not in ("fail", "warn"):
            self.refuse(key, f'is {value!r}; it takes "fail" or "warn"')
        level: Level = "warn" if value == "warn" else "fail"
        return level

    def expiry(self) -> date | None:
        value = self.table.get("expires")
        if value is not None and (not isinstance(value, date) or isinstance(value, datetime)):
            self.refuse("expires", "takes a day, such as 2026-12-31, without quotes")
        return value

    def only(self, known: Sequence[str]) -> None:
        for key in self.table:
            if key not in known:
                self.refuse(key, f"is not known here; there are: {', '.join(known)}")

    def tables(self, key: str) -> Iterator[_Reader]:
        entries = self.table.get(key, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            self.refuse(key, f"takes tables: [[{'.'.join((*self.source.table, key))}]]")
        for place, entry in enumerate(entries):
            yield _Reader(entry, self.source, (*self.address, key, place))


def _budgets(entry: _Reader) -> Iterator[Budget]:
    entry.only(("stage", "max_increase", "level", *JUDGED))
    stage, increase, level = entry.needed("stage"), entry.percent("max_increase"), entry.level()
    names = [name for name in entry.table if name in JUDGED]
    if not names and increase is None:
        entry.source.refuse(entry.address, "needs a limit, such as max_increase or one of a metric")
    if increase is not None:
        for name in JUDGED:
            if name not in names:
                place = entry.place("max_increase")
                yield Budget(stage=stage, metric=name, increase=increase, level=level, named=False, place=place)
    for name in names:
        yield _budget(entry, stage, JUDGED[name], increase, level)


def _budget(entry: _Reader, stage: str, quantity: Judged, increase: float | None, level: Level) -> Budget:
    name, value = quantity.name, entry.table[quantity.name]
    if not isinstance(value, dict):
        maximum = entry.amount(name, value, quantity)
        return Budget(
            stage=stage, metric=name, maximum=maximum, increase=increase, level=level, place=entry.place(name)
        )
    inner = _Reader(value, entry.source, (*entry.address, name))
    inner.only(("max", "max_increase", "level"))
    own = inner.percent("max_increase")
    if not value.keys() & {"max", "max_increase"}:
        entry.refuse(name, "needs max or max_increase")
    return Budget(
        stage=stage,
        metric=name,
        maximum=inner.amount("max", value["max"], quantity) if "max" in value else None,
        increase=increase if own is None else own,
        level=inner.level() if "level" in value else level,
        place=entry.place(name),
    )


def _accept(entry: _Reader) -> Accept:
    entry.only(("stage", "metric", "up_to", "reason", "expires"))
    stage, metric, reason = entry.needed("stage"), entry.needed("metric"), entry.needed("reason")
    quantity = entry.quantity("metric", metric)
    if "up_to" not in entry.table:
        entry.source.refuse(entry.address, "needs the key up_to")
    return Accept(
        stage=stage,
        metric=metric,
        up_to=entry.amount("up_to", entry.table["up_to"], quantity),
        reason=reason,
        expires=entry.expiry(),
        place=entry.place("up_to"),
    )
