"""Where a stage's time went: the host's, each GPU's, communication's and the compilers', each split up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum

from nsys_analyze.metrics.results import Communication, CompileTime, GpuWindow, HostTime, SampledFunction, Stage

_NAMED = 3  # functions of a split of host code; the rest is one part
OTHERS = "other functions"

_GPU_PARTS = ("own", "other", "idle_startup", "idle_between", "idle_tail")


HOST_PARTS = {  # what the parts of the host partition are called
    "profiler": "profiler",
    "compile": "compiling and loading",
    "launch": "launches",
    "memory": "memory calls",
    "sync": "waiting for the GPU",
    "graph": "building graphs",
    "cuda_other": "other CUDA calls",
    "helpers": "other threads",
    "code": "host code",
}


class Kind(StrEnum):
    """What is split up, and by what."""

    HOST = "host"
    GPU = "gpu"
    COMMUNICATION = "communication"
    COMPILE_SOURCES = "sources"
    COMPILE_PHASES = "phases"
    COMPILE_TOOLS = "tools"
    CODE = "code"
    BLOCKED = "blocked"
    SAMPLED = "sampled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a split: its time in ns (for samples, their number) and its share of the whole.

    Where ``time`` adds threads up, ``united`` counts what they did at once once; it is None where that is not known.
    """

    name: str
    time: float
    share: float
    united: float | None = None

    @property
    def united_if_less(self) -> float | None:
        """``united`` where it says more than ``time``."""
        return None if self.united == self.time else self.united


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A time of ``instances`` instances and its parts but for those of 0, the largest first.

    Parts add up to the whole, but for sources of evidence, which may tell of the same time.
    """

    kind: Kind
    whole: Part
    parts: list[Part]
    instances: int
    device: int | None = None

    def per_instance(self) -> Split:
        """Returns means over the instances in place of the totals."""
        parts = [_divided(part, self.instances) for part in self.parts]
        return replace(self, whole=_divided(self.whole, self.instances), parts=parts)


def host_split(stage: Stage) -> Split | None:
    """Returns the stage's wall time by what its thread did, None where that is not known or there is none."""
    if stage.host_ns is None or not stage.wall_ns.total:
        return None
    times = {field.name: getattr(stage.host_ns, field.name) for field in fields(HostTime)}
    return _split(Kind.HOST, stage.wall_ns.total, times, stage.instances)


def splits(stage: Stage) -> Iterator[Split]:
    """Yields all that is known of where the stage's time went, as totals: host, each GPU, communication, compiling."""
    host = host_split(stage)
    if host is not None:
        yield host
    yield from (_gpu_split(window) for window in stage.gpu_window_ns if window.window)
    if stage.communication is not None and stage.communication.busy_ns:
        yield _communication_split(stage.communication, stage.instances)
    if stage.compile_ns is not None and stage.compile_ns.total:
        yield from _compile_splits(stage.compile_ns, stage.instances)


def phase_split(stage: Stage) -> Split | None:
    """Returns the stage's compile time by phase, in thread time; None where nothing was compiled or loaded."""
    if stage.compile_ns is None or not stage.compile_ns.total:
        return None
    return _phases(stage.compile_ns, stage.instances)


def code_splits(stage: Stage) -> Iterator[Split]:
    """Yields what the stage's host code consists of, where the capture tells: its time, blocked time, samples.

    Of functions, the largest are named, and the others are the last part.
    """
    code = stage.host_code
    if code is None or stage.host_ns is None or not stage.host_ns.code:
        return
    states = {"running": code.running_ns or 0, "blocked": code.blocked_ns or 0, "unknown": code.unknown_ns}
    yield _split(Kind.CODE, stage.host_ns.code, states, stage.instances)
    if code.blocked_ns:
        times = [(each.function, each.time_ns) for each in code.blocked_on]
        yield _of_functions(Kind.BLOCKED, code.blocked_ns, times, stage.instances)
    if code.samples:
        counts = [(_function_name(each), each.samples) for each in code.functions]
        yield _of_functions(Kind.SAMPLED, code.samples, counts, stage.instances)


def _function_name(function: SampledFunction) -> str:
    """The symbol, else the file of the module that it is in."""
    return function.symbol or (function.module or "unknown module").rpartition("/")[2]


def _of_functions(kind: Kind, whole: int, values: Sequence[tuple[str, int]], instances: int) -> Split:
    named = values[:_NAMED] if len(values) > _NAMED + 1 else values
    rest = whole - sum(value for _, value in named)
    listed = [*named, *([(OTHERS, rest)] if rest else [])]
    parts = [Part(name=name, time=value, share=value / whole) for name, value in listed]
    return Split(kind=kind, whole=Part(name="", time=whole, share=1.0), parts=parts, instances=instances)


def _gpu_split(window: GpuWindow) -> Split:
    times = {name: getattr(window, name) for name in _GPU_PARTS}
    return replace(_split(Kind.GPU, window.window, times, window.instances), device=window.device)


def _communication_split(communication: Communication, instances: int) -> Split:
    times = {"overlapped": communication.overlapped_ns, "exposed": communication.exposed_ns}
    return _split(Kind.COMMUNICATION, communication.busy_ns, times, instances)


def _compile_splits(compiling: CompileTime, instances: int) -> Iterator[Split]:
    """By source; and by phase and tool, where there is more to tell than that the CUDA driver loaded modules."""
    yield _split(Kind.COMPILE_SOURCES, compiling.total, compiling.sources, instances)
    if not compiling.only_loading:
        yield _phases(compiling, instances)
    if not compiling.only_loading or len(compiling.tools) > 1:
        yield _split(Kind.COMPILE_TOOLS, compiling.threads_total, compiling.tools, instances)


def _phases(compiling: CompileTime, instances: int) -> Split:
    united = {**compiling.phases_united, "": compiling.total}
    return _split(Kind.COMPILE_PHASES, compiling.threads_total, compiling.phases, instances, united)


def _split(
    kind: Kind, whole: int, times: Mapping[str, int], instances: int, united: Mapping[str, int] | None = None
) -> Split:
    united = united or {}
    parts = [
        Part(name=name, time=time, share=time / whole, united=united.get(name)) for name, time in times.items() if time
    ]
    return Split(
        kind=kind,
        whole=Part(name="", time=whole, share=1.0, united=united.get("")),
        parts=sorted(parts, key=lambda part: part.time, reverse=True),
        instances=instances,
    )


def _divided(part: Part, count: int) -> Part:
    united = None if part.united is None else part.united / count
    return replace(part, time=part.time / count, united=united)
