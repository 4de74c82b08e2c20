"""Questions about stages and what happens on the host."""

from __future__ import annotations

from nsys_analyze.doctor.answers import EXPORT_AGAIN, Finding, no, partly, yes
from nsys_analyze.doctor.patient import Patient, sentence
from nsys_analyze.metrics.coverage import knows_gpu
from nsys_analyze.metrics.wording import listed, program_name, worded
from nsys_analyze.model.evidence import Source

_NEWER = "take an nsys as new as the driver"
_SOURCES = {
    Source.API: "CUDA calls that load",
    Source.RANGES: "ranges of compilers",
    Source.OVERHEAD: "what the driver reports",
    Source.FIRST_LAUNCH: "first launches",
    Source.BENCHMARKS: "timing of candidates",
}


def _trace(patient: Patient, *kinds: str) -> list[str]:
    """The flag that traces what was not traced, if anything."""
    return [] if set(kinds) <= set(patient.traced) else ["--trace=cuda,nvtx"]


def stages(patient: Patient) -> Finding:
    """Whether there are ranges, and whether they own the GPU's work."""
    rows, ranges = len(patient.analysis.stages), len(patient.report.trace.ranges)
    lacking = patient.lacking("NVTX_EVENTS")
    if ranges and lacking:
        return no(f"{lacking}: ranges are there, but which is which cannot be told", remedy=EXPORT_AGAIN)
    if not ranges:
        missing = patient.said("missing-column", "no-nvtx", "nsys-older-than-package")
        why = "; ".join(notice.message for notice in missing)
        return no(why, *_trace(patient, "nvtx"), remedy="annotate the program with NVTX ranges")
    why = f"{worded('{count} stage[|s]', rows)} of {worded('{count} range[|s]', ranges)}"
    doubts = patient.said("growing-nesting", "too-deep") + patient.said("low-coverage")
    return partly(f"{why}, but {sentence(doubts[0])}") if doubts else yes(why)


def launches(patient: Patient) -> Finding:
    """Whether there are calls and operations that belong to each other."""
    trace = patient.report.trace
    if not knows_gpu(trace):
        missing = patient.said("no-cuda", "no-calls", "no-gpu-ops", "gpu-unknown")
        why = sentence(missing[0]) if missing else "no GPU operation can be traced back to a call"
        return no(why, *_trace(patient, "cuda"), remedy=_NEWER if len(trace.calls) else "")
    lacking = patient.lacking("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL")
    if lacking:
        return no(f"{lacking}: calls and operations are there, but not all that is needed of them", remedy=EXPORT_AGAIN)
    launched, ops = len(trace.launches), len(trace.ops)
    why = f"{worded('{count} launch[|es]', launched)}, {worded('{count} GPU operation[|s]', ops)}"
    lost, early = patient.said("launches-without-ops"), patient.said("no-launch-row")
    if not len(trace.ranges):
        why = f"{why}; launch calls can be told, but startup gaps begin at a range, and there is none"
        return partly(why, *_trace(patient, "nvtx"), remedy="annotate the program with NVTX ranges")
    if not lost and not early:
        return yes(why)
    return partly("; ".join([why, *map(sentence, [*lost, *early])]), remedy=_NEWER if lost else "")


def compiling(patient: Patient) -> Finding:
    """Which traces compiling and loading left."""
    sources = [Source(source) for source in sorted(set(patient.report.evidence.source.tolist()))]
    if not sources:
        return no("no trace of compiling or loading", *_trace(patient, "cuda", "nvtx"))
    why = f"known by {listed([_SOURCES[source] for source in sources], len(_SOURCES))}"
    if Source.RANGES in sources:
        return yes(why)
    remedy = "let compilers annotate themselves, as under torch.autograd.profiler.emit_nvtx()"
    return partly(f"{why}; by no range of a compiler", remedy=remedy)


def host_code(patient: Patient) -> Finding:
    """Whether host code can be told apart."""
    has = patient.inspection.has
    kinds = {
        "OS calls": (has("OSRT_API"), "--trace=cuda,nvtx,osrt"),
        "context switches": (has("SCHED_EVENTS"), "--cpuctxsw=process-tree"),
        "samples": (has("COMPOSITE_EVENTS"), "--sample=process-tree"),
    }
    there = [name for name, (found, _) in kinds.items() if found]
    missing = [name for name, (found, _) in kinds.items() if not found]
    flags = [flag for found, flag in kinds.values() if not found]
    if not there:
        return no(f"no {', '.join(missing[:-1])} or {missing[-1]}: host code is one number", *flags)
    recorded = f"recorded: {', '.join(there)}"
    return partly(f"{recorded}; not: {', '.join(missing)}", *flags) if missing else yes(recorded)


def backtraces(patient: Patient) -> Finding:
    """Whether backtraces told calls twice, which costs time."""
    doubled = patient.report.trace.counts.calls_doubled
    if not doubled:
        return yes("no call was told twice")
    why = "{count} call[|s] came with a backtrace, which makes calls dearer; told twice, [it counts|they count] once"
    return partly(worded(why, doubled), "--cudabacktrace=none")


def processes(patient: Patient) -> Finding:
    """Whether all processes are there."""
    ran = [f"{program_name(program.name) or 'process'} ({program.process})" for program in patient.analysis.programs]
    if not ran:
        return no("no process with ranges, calls or GPU work")
    why = worded("{count} process[|es]: {names}", len(ran), names=listed(ran))
    if patient.inspection.settings.get("TRACE_AFTER_FORK_BEFORE_EXEC") == "true":
        return yes(why)
    return partly(f"{why}; a child that forks and never execs is not among them", "--trace-fork-before-exec=true")
