"""In which line of a TOML file a key stands, which Python's parser does not tell."""

from __future__ import annotations

import re
from collections.abc import Iterator

Address = tuple[str | int, ...]
"""Keys from the top of the document, with the place in the array where a table is one of several."""

_ELEMENT = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(\.|$)""")
_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_.\- ])+?)\s*=""")


def key_lines(text: str) -> dict[Address, int]:
    """Returns the line, from 1, of every table header and of every key that begins a line."""
    lines: dict[Address, int] = {}
    entered: dict[Address, int] = {}
    table: Address = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _entered(header[2], entered, several=header[1] == "[[")
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, *_elements(key[1])), number)
    return lines


def line_of(address: Address, lines: dict[Address, int]) -> int | None:
    """Returns the line of a key, else of the nearest table around it that has one."""
    while address and address not in lines:
        address = address[:-1]
    return lines.get(address)


def first_line_within(address: Address, lines: dict[Address, int]) -> int | None:
    """Returns the line where a table, or anything inside it, is first spoken of."""
    return min((line for inner, line in lines.items() if inner[: len(address)] == address), default=None)


def _entered(header: str, entered: dict[Address, int], *, several: bool) -> Address:
    """The address of the table that a header opens; a path through an array of tables goes through its last one."""
    address: Address = ()
    elements = list(_elements(header))
    for place, element in enumerate(elements):
        address = (*address, element)
        if several and place == len(elements) - 1:
            entered[address] = entered.get(address, -1) + 1
        if address in entered:
            address = (*address, entered[address])
    return address


def _elements(dotted: str) -> Iterator[str]:
    position = 0
    while position < len(dotted) and (element := _ELEMENT.match(dotted, position)):
        yield next(group for group in element.groups()[:3] if group is not None)
        position = element.end()
