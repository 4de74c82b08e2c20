"""What becomes of the text in the small tables that describe machine and capture."""

from __future__ import annotations

import re
from collections.abc import Callable

from nsys_analyze.ingest.environment import program as program_of
from nsys_analyze.ingest.environment import shareable
from nsys_analyze.ingest.ranks import states_rank
from nsys_analyze.store.names import Names
from nsys_analyze.store.policy import policy

Rule = Callable[[str | None, object], str | None]

BESIDE = {"nvtx": "eventType", "captured": "name", "exported": "name", "system": "name"}  # the column a rule looks at
DROPS_ROWS = frozenset({"captured", "exported", "system"})  # rules that drop the whole row with the text
REMOVED_MESSAGE = "(a message that was removed)"

_NUMBER = re.compile(r"-?\d[\d.]*(?:[ -]\d+)*")
_PROCESS = re.compile(r"PROCESS_\d+:")
_PROGRAM = re.compile(r"[\w.+-]{1,64}")
_GPU = re.compile(r"(?:NVIDIA|Tesla|Quadro|GeForce|GRID|TITAN|Orin|Xavier)[\w ()./+-]{0,60}")
_CHIP = re.compile(r"[A-Z]{2,3}\d{2,3}[A-Z]{0,2}")
_CPU = re.compile(r"(?:Intel|AMD|ARM|Arm|Ampere|Neoverse|Cortex|NVIDIA|Grace|POWER)[\w ()@.,/+-]{0,80}")
_MOMENT = re.compile(r"[\d:T. +-]{1,40}")


def rules(names: Names) -> dict[str, Rule]:
    """The rules by name; each takes a text, or None, and the value of the column that it looks at.

    Args:
        names: What becomes of names.
    """
    known = policy()
    return {
        "nvtx": lambda text, kind: names.event(text, kind if isinstance(kind, int) else None),
        "captured": _captured,
        "exported": lambda text, name: _setting(text, name in known.exported),
        "system": _system,
        "known": lambda text, _: text,  # of a row whose value stays, since its name is known
        "program": lambda text, _: _program(text),
        "gpu": lambda text, _: _matching(text, _GPU) or "GPU",
        "chip": lambda text, _: _matching(text, _CHIP),
        "moment": lambda text, _: _matching(text, _MOMENT),
        "enum": lambda text, _: text if text in known.enums else "",
        "diagnostic": lambda text, _: _matching(text, known.diagnostics) or REMOVED_MESSAGE,
        "nothing": lambda text, _: "" if text is not None else None,
    }


def _matching(text: str | None, pattern: re.Pattern[str]) -> str | None:
    return text if text is not None and pattern.fullmatch(text) else None


def _setting(value: str | None, known: bool) -> str | None:
    fine = value is not None and known and (not value or value in policy().values or _NUMBER.fullmatch(value))
    return value if fine else None


def _captured(value: str | None, name: object) -> str | None:
    setting = _PROCESS.sub("", str(name), count=1)
    if value is None:
        return None
    if setting == "ENVIRONMENT_VARIABLE":
        return value if states_rank(value) else shareable(value)
    return _program(value) if setting == "COMMAND" else _setting(value, setting in policy().captured)


def _system(value: str | None, name: object) -> str | None:
    return _matching(value, _CPU) if name == "CpuDescription" else _setting(value, name in policy().system)


def _program(text: str | None) -> str | None:
    """The name of a program without its folder and arguments."""
    found = program_of({"PROCESS_0:COMMAND": [text or ""]})
    return _matching((found or "").split(" ", 1)[0], _PROGRAM)
