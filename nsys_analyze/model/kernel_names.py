"""Demangled kernel names taken apart: return type, qualified name, template arguments, parameters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

_UNNAMED = re.compile(r"\(anonymous namespace\)|<unnamed>")
_OPENS, _CLOSES = "<([{", ">)]}"
_GENERIC = re.compile(  # functions whose own name says little
    r"(?i:(?:device_?|global_?)?kernel\d?|\w*elementwise_kernel\w*|reduce_kernel|multi_tensor_apply_kernel)"
)
_CAST = re.compile(r"\((?:bool|char|short|int|long|unsigned[a-z ]*|long long)\)(?=[\w-])")
_NAMESPACE = re.compile(r"\b(?:\w+)::(?=[\w~])")
_LAMBDA = re.compile(r"::\[lambda\([^\[\]]*\]|::operator \(\)(?=\()")
_PARAMETERS = re.compile(r"\([^()]*\)(?: const\b)?")
_WRAPPER = re.compile(r"<.*?void gpu_kernel_impl\w*<(.*)>>")
_SIZES = r"\d+|array<char \*, \d+>|TrivialOffsetCalculator<[^<>]*>|(?:Load|Store)With\w*Cast(?:<[^<>]*>)?"
_LAYOUT = re.compile(rf"(?<=[<\s])(?:{_SIZES})(?:, |(?=>))")


class KernelName(NamedTuple):
    """``void at::native::fill<float>(int, T2)`` is qualified ``at::native::fill``, ``<float>`` and ``(int, T2)``."""

    qualified: str
    template: str
    parameters: str

    @property
    def short(self) -> str:
        """The function's own name, without what it lies in."""
        return self.qualified.rpartition("::")[2]


def taken_apart(name: str) -> KernelName:
    """The pieces of a demangled name; one that is no C++ name (a Triton kernel's, say) is all qualified name.

    >>> taken_apart("void vllm::reduce<float, (int)2>(T1 *, int)")
    KernelName(qualified='vllm::reduce', template='<float, (int)2>', parameters='(T1 *, int)')
    """
    name = _UNNAMED.sub("unnamed", name).strip()
    cuts = _outermost(name)
    if name.startswith("[") or not cuts:  # no function: "[CUDA memset]"
        return KernelName(name, "", "")
    start, end = next(((a, b) for a, b in reversed(cuts) if name[a] == "("), (len(name), len(name)))
    before, parameters = name[:start].rstrip(), name[start:end]
    template = next((name[a:b] for a, b in cuts if b == len(before) and name[a] == "<"), "")
    qualified = _without_arguments(before.removesuffix(template)).rstrip().rpartition(" ")[2]
    return KernelName(qualified, template, parameters)


def _outermost(name: str) -> list[tuple[int, int]]:
    """Where the outermost brackets begin and end; a ``<`` or ``>`` that is no bracket is passed over."""
    found, opened = [], list[int]()
    for place, letter in enumerate(name):
        if letter in _OPENS:
            opened.append(place)
        elif letter in _CLOSES:
            still = _closed(name, opened, _OPENS[_CLOSES.index(letter)])
            if len(still) < len(opened) and not still:
                found.append((opened[0], place + 1))
            opened = still
    return found


def _closed(name: str, opened: list[int], opener: str) -> list[int]:
    """What is still open once the latest ``opener`` is closed; a ``>`` closes nothing but the innermost bracket."""
    if opener == "<":
        return opened[:-1] if opened and name[opened[-1]] == "<" else opened
    latest = max((level for level, place in enumerate(opened) if name[place] == opener), default=len(opened))
    return opened[:latest]


def _without_arguments(name: str) -> str:
    """The name without the template arguments of what it lies in: ``a<int>::b`` is ``a::b``."""
    out, last = "", 0
    for start, end in _outermost(name):
        out, last = out + name[last:start], end
    return out + name[last:]


def titles(names: Sequence[str]) -> list[str]:
    """Readable names, as short as leaves different names different.

    A function's own name, with the gist of its template arguments where it says little by itself; else, where another
    has the same, with more and more of its arguments, in the end in full.

    >>> titles(["void at::fill<(int)4, float>(int)", "void at::fill<(int)8, float>(int)", "void at::copy<float>(T1)"])
    ['fill<4, float>', 'fill<8, float>', 'copy']
    """
    different = list(dict.fromkeys(names))
    pieces = {name: taken_apart(name) for name in different}
    found: dict[str, str] = {}
    for spell in _SPELLINGS:
        spelled = {name: spell(pieces[name]) for name in different if name not in found}
        used = Counter([*spelled.values(), *found.values()])
        found |= {name: text for name, text in spelled.items() if used[text] == 1}
    return [found.get(name, name) for name in names]


def _plain(arguments: str) -> str:
    """Arguments without casts and namespaces."""
    return _NAMESPACE.sub("", _CAST.sub("", arguments))


def _gist(template: str) -> str:
    """The template arguments that say what a kernel does: functions and types, not sizes and layouts."""
    functions = _PARAMETERS.sub("", _LAMBDA.sub("", _plain(template)))
    wrapped = _WRAPPER.fullmatch(functions)
    gist = _LAYOUT.sub("", f"<{wrapped[1]}>" if wrapped else functions).replace(", >", ">")
    return "" if gist == "<>" else gist


_SPELLINGS: tuple[Callable[[KernelName], str], ...] = (
    lambda name: name.short + (_gist(name.template) if _GENERIC.fullmatch(name.short) else ""),
    lambda name: name.short + _gist(name.template),
    lambda name: name.short + _plain(name.template),
    lambda name: name.short + _plain(name.template) + _plain(name.parameters),
    lambda name: name.qualified + name.template + name.parameters,
)
