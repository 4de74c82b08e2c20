"""What the doctor says: an answer a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_TRACE = "--trace="
_ORDER = ("cuda", "nvtx", "osrt")
EXPORT_AGAIN = "export the .nsys-rep again: nsys export --type sqlite"


class State(StrEnum):
    """Whether a question can be answered."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Whether something can be answered, why, and what would have made it so.

    ``flags`` are options of ``nsys profile``; ``remedy`` says what else would help.
    """

    state: State
    why: str
    flags: tuple[str, ...] = ()
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A finding and the question that it answers, whose name is stable.

    Without an answer to what is ``needed``, the tool has nothing to say.
    """

    question: str
    title: str
    needed: bool
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """All answers about one file or machine; ``facts`` say what was examined. Not ``readable``: it was no report.

    ``traced`` lists what the capture traced, as `nsys profile --trace` calls it.
    """

    subject: str
    facts: Sequence[str]
    answers: Sequence[Answer]
    traced: Sequence[str] = ()
    readable: bool = True

    @property
    def healthy(self) -> bool:
        """Whether all that is needed can be answered."""
        return self.readable and all(answer.finding.state is not State.NO for answer in self.answers if answer.needed)

    @property
    def flags(self) -> list[str]:
        """The flags that would make the most of another capture, each once, what was traced already included."""
        wanted = [flag for answer in self.answers for flag in answer.finding.flags]
        others = [flag for flag in dict.fromkeys(wanted) if not flag.startswith(_TRACE)]
        traced = {kind for flag in wanted if flag.startswith(_TRACE) for kind in flag.removeprefix(_TRACE).split(",")}
        if not wanted:
            return []
        return [_TRACE + ",".join(sorted({*traced, *self.traced, "cuda", "nvtx"}, key=_trace_order)), *others]


def yes(why: str) -> Finding:
    """It can be answered."""
    return Finding(state=State.YES, why=why)


def partly(why: str, *flags: str, remedy: str = "") -> Finding:
    """It can be answered in part."""
    return Finding(state=State.PARTLY, why=why, flags=flags, remedy=remedy)


def no(why: str, *flags: str, remedy: str = "") -> Finding:
    """It cannot be answered."""
    return Finding(state=State.NO, why=why, flags=flags, remedy=remedy)


def _trace_order(kind: str) -> tuple[int, str]:
    return (_ORDER.index(kind) if kind in _ORDER else len(_ORDER), kind)
