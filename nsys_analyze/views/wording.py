"""What parts of a time are called on a page."""

from __future__ import annotations

from nsys_analyze.metrics.breakdown import HOST_PARTS, Kind
from nsys_analyze.metrics.results import CompileTime
from nsys_analyze.views import units
from nsys_analyze.views.text import visible

_PARTS = {
    Kind.HOST: HOST_PARTS,
    Kind.GPU: {
        "own": "own work",
        "other": "others' work",
        "idle_startup": "idle before own work (exposed)",
        "idle_between": "idle between own work",
        "idle_tail": "idle after own work",
    },
    Kind.COMMUNICATION: {
        "overlapped": "under compute",
        "exposed": "not under compute",
    },
    Kind.COMPILE_SOURCES: {
        "api": "CUDA calls that load or link",
        "ranges": "compilers' ranges",
        "overhead": "reported by the driver",
        "first_launch": "first launches",
        "benchmarks": "timing of candidates",
    },
    Kind.COMPILE_PHASES: {
        "trace": "tracing",
        "segment": "segmentation",
        "lower": "lowering",
        "codegen": "code generation",
        "compile": "compilation",
        "load": "loading",
        "autotune": "autotuning",
        "other": "compilers' other work",
    },
    Kind.COMPILE_TOOLS: {},
    Kind.CODE: {},
    Kind.BLOCKED: {},
    Kind.SAMPLED: {},
}

_WHOLES = {
    Kind.HOST: "host",
    Kind.GPU: "GPU",
    Kind.COMMUNICATION: "communication between GPUs",
    Kind.COMPILE_SOURCES: "compiling, by source",
    Kind.COMPILE_PHASES: "compiling, by phase",
    Kind.COMPILE_TOOLS: "compiling, by tool",
}


def whole_name(kind: Kind, *, only_loading: bool = False) -> str:
    """Returns what is split up; with ``only_loading``, that nothing is known to have been compiled."""
    return _WHOLES[kind].replace("compiling", "loading modules") if only_loading else _WHOLES[kind]


def modules(count: int) -> str:
    """Returns a number of modules in words."""
    return f"{count:,} module{'' if count == 1 else 's'}"


def module_phrases(compiling: CompileTime) -> list[str]:
    """Returns how many modules were compiled, where any is known, and what each took, where that is."""
    if not compiling.modules:
        return []
    each = compiling.module_ns
    took = "" if each is None else f", {units.duration(each)} of compilation each"
    return [f"{modules(compiling.modules)}{took}"]


def tells_modules(kind: Kind, compiling: CompileTime) -> bool:
    """Whether the number of modules stands below this split: by phase, else (nothing but loading) by source."""
    below = Kind.COMPILE_SOURCES if compiling.only_loading else Kind.COMPILE_PHASES
    return kind is below and compiling.modules > 0


def part_name(kind: Kind, name: str, *, only_loading: bool = False) -> str:
    """Returns what a part is called; a tool by its own name.

    With ``only_loading``, host time is not said to have gone into compiling.
    """
    if only_loading and (kind, name) == (Kind.HOST, "compile"):
        return "loading modules"
    return _PARTS[kind].get(name, visible(name))
