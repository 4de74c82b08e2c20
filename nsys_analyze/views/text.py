"""Text that is safe and short enough to show: escapes, widths, shortening."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nsys_analyze.metrics.wording import path_title

ELLIPSIS = "…"


def visible(text: str) -> str:
    r"""Returns ``text`` with everything unprintable as a visible escape.

    Names in a report are free text: an escape code in one must not reach the terminal, and a line break must not end a
    row. ``"\x1b[2J"`` becomes the seven characters ``\x1b[2J``; a plain space stays, any other kind is escaped.
    """
    if text.isprintable():
        return text
    return "".join(ch if ch.isprintable() else _escape(ch) for ch in text)


def _escape(ch: str) -> str:
    return ch.encode("unicode_escape").decode("ascii")


def width(text: str) -> int:
    """Returns how many columns ``text`` takes on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """Returns ``text`` filled with spaces to ``columns``, flush left or flush right."""
    spaces = " " * max(0, columns - width(text))
    return spaces + text if right else text + spaces


def shorten(text: str, columns: int) -> str:
    """Returns ``text`` cut in the middle to at most ``columns``, since both ends of a name tell it apart."""
    if width(text) <= columns:
        return text
    room = max(columns - 1, 2)
    head = _take(text, room - room // 2)
    tail = _take(text[::-1], room // 2)[::-1]
    return head + ELLIPSIS + tail


def shorten_apart(texts: Sequence[str], columns: int) -> list[str]:
    """Returns ``texts`` shortened so that those which differ stay different, as far as ``columns`` allow."""
    shortened = [shorten(text, columns) for text in texts]
    alike: dict[str, set[str]] = {}
    for text, short in zip(texts, shortened, strict=True):
        alike.setdefault(short, set()).add(text)
    common = {short: _common_ends(group) for short, group in alike.items() if len(group) > 1}
    return [
        _around_difference(text, *common[short], columns) if short in common else short
        for text, short in zip(texts, shortened, strict=True)
    ]


def _common_ends(texts: Collection[str]) -> tuple[int, int]:
    """How many characters all texts begin with alike, and how many of the rest they end with alike."""
    begin = _agreement(min(texts), max(texts))
    reversed_rests = [text[begin:][::-1] for text in texts]
    return begin, _agreement(min(reversed_rests), max(reversed_rests))


def _agreement(first: str, second: str) -> int:
    """How many characters two texts begin with alike."""
    places = (place for place, (one, other) in enumerate(zip(first, second, strict=False)) if one != other)
    return next(places, min(len(first), len(second)))


def _around_difference(text: str, begin: int, end: int, columns: int) -> str:
    """The text cut twice: its start, what tells it apart from texts like it, its end."""
    difference = shorten(text[max(0, begin - 2) : len(text) - end + min(end, 2)], columns // 2)
    room = columns - width(difference) - 2
    head, tail = _take(text, room - room // 2), _take(text[::-1], room // 2)[::-1]
    return f"{head}{ELLIPSIS}{difference}{ELLIPSIS}{tail}"


def _take(text: str, columns: int) -> str:
    taken = text[:columns]
    while width(taken) > columns:
        taken = taken[:-1]
    return taken


def path_text(elements: Sequence[str]) -> str:
    """Returns a path as people read it, ``steady / step``; an empty name shows as ``''``."""
    return visible(path_title(elements))


def wrap(words: Sequence[str], separator: str, columns: int, indent: str = "") -> list[str]:
    """Returns ``words`` joined by ``separator`` on lines of at most ``columns``, later lines indented."""
    lines: list[str] = []
    line = ""
    for word in words:
        longer = line + separator + word if line else word
        if line and width(longer) > columns:
            lines.append(line.rstrip())
            line = indent + word
        else:
            line = longer
    return [*lines, line.rstrip()] if line else lines
