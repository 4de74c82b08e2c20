"""Names of a redacted report: which may stay, and the labels that stand for the others.

A label is the same for the same name throughout a report. Labels end in ``_7`` and not in `` 7``: what ends so is taken
for a running number, and all of them would fold to one name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from nsys_analyze.ingest.ranks import RANK_NAME
from nsys_analyze.model.communication import collective
from nsys_analyze.model.compile_rules import CompileRule, matching_rule
from nsys_analyze.model.folding import fold_name
from nsys_analyze.model.kernel_names import taken_apart
from nsys_analyze.model.os_calls import waits
from nsys_analyze.store.policy import policy

_API_CALL = re.compile(r"cu(?:da)?[A-Z][A-Za-z0-9]{2,60}(?:_[a-z0-9]{1,12}){0,3}")
_COMPILERS = re.compile(r"[\w.:<>]{1,100}(?: \(dynamo_timed\))?")
_QUALIFIED = re.compile(r"[\w:]{1,200}")
_COUNTED = re.compile(r", (?:(?:op_id|seq) = -?\d+|(?:sizes|input_op_ids) = \[[\d, \[\]()]*\](?=, \w+ = |$))")
_NUMBER = re.compile(r"[-+]?\d+$")
_RANGES = (59, 60, 70, 71)
_DOMAINS = (75, 76)
_MARK, _CATEGORY = 34, 33


class Names:
    """What names become.

    ``hide`` replaces names of ranges, domains and kernels, too. How names fold is the same before and after where they
    are folded in the usual way afterwards.
    """

    def __init__(
        self, rules: Sequence[CompileRule], patterns: Sequence[re.Pattern[str]], fold: bool, hide: bool
    ) -> None:
        self._rules, self._patterns, self._fold, self._hide = rules, patterns, fold, hide
        self._labels: dict[str, dict[str, str]] = {}
        self._ranges: dict[str, str] = {}
        self.roles: dict[str, Callable[[str], str]] = {
            "call": lambda name: name if _API_CALL.fullmatch(name) else self._label("call", name),
            "range": self._range,
            "domain": lambda name: self._label("domain", name) if self._hide and name else name,
            "kernel": self._kernel,
            "activity": lambda name: name if name in policy().activities else self._label("activity", name),
            "os_call": lambda name: name if waits(name) else self._label("os_call", name),
            "function": lambda name: self._label("function", name),
            "module": lambda name: self._label("module", name),
            "rank": lambda name: name if RANK_NAME.fullmatch(name) else self._label("thread", name),
            "other": lambda name: self._label("text", name),
        }

    def event(self, text: str | None, kind: int | None) -> str | None:
        """What the text of an NVTX event becomes, by the event's type."""
        if text is None:
            return None
        return self.roles[role_of_event(kind)](text) if kind != 39 else None

    def _label(self, kind: str, name: str) -> str:
        known = self._labels.setdefault(kind, {})
        return known.setdefault(name, f"{kind}_{len(known) + 1}")

    def _range(self, name: str) -> str:
        if not self._hide or not name or RANK_NAME.fullmatch(name):
            return name
        known = self._ranges.get(name)
        if known is None:
            known = self._ranges[name] = self._counted(name, fold_name(name, self._patterns, self._fold))
        return known

    def _counted(self, name: str, folded: str) -> str:
        """The label of a folded name, and behind it what the name counts."""
        label = self._folded(folded)
        counts = "".join(_COUNTED.findall(name))
        number = _NUMBER.search(name)
        if not counts and number:
            counts = f" {number[0]}"
        return label + counts if name != folded and fold_name(label + counts) == label else label

    def _folded(self, folded: str) -> str:
        """The label of a folded name; a name that tells of compiling keeps what tells it."""
        rule = matching_rule(folded, self._rules)
        if rule >= 0 and _COMPILERS.fullmatch(folded):
            return folded
        label = self._label("range", folded)
        if rule < 0:
            return label
        head = re.match(r"(?:TSL:)?\w*", folded)
        for candidate in (f"{head[0] if head else ''} {label}", f"{label} (dynamo_timed)"):
            if matching_rule(candidate, self._rules) == rule and fold_name(candidate) == candidate:
                return candidate
        return label

    def _kernel(self, name: str) -> str:
        """A kernel's label; one that communicates keeps its function's name, which tells so."""
        if not self._hide:
            return name
        found = collective(name)
        if found is not None:
            qualified = taken_apart(name).qualified
            if _QUALIFIED.fullmatch(qualified) and collective(qualified) == found:
                return qualified
        return self._label("kernel", name)


def role_of_event(kind: int | None) -> str:
    """What the name of an NVTX event of some type is; without a type, a range's."""
    if kind is None or kind in _RANGES:
        return "range"
    return "domain" if kind in _DOMAINS else "other"
