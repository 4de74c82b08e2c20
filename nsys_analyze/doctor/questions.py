"""The questions that a capture may answer, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nsys_analyze.doctor import capture_questions, gpu_questions, stage_questions
from nsys_analyze.doctor.answers import Finding
from nsys_analyze.doctor.patient import Patient


@dataclass(frozen=True, slots=True)
class Question:
    """A question; ``name`` is stable."""

    name: str
    title: str
    ask: Callable[[Patient], Finding]
    needed: bool = False


QUESTIONS = (
    Question("file", "the file is whole", capture_questions.file, needed=True),
    Question("stages", "what each stage cost", stage_questions.stages, needed=True),
    Question("launches", "startup gaps and launch overhead", stage_questions.launches, needed=True),
    Question("graphs", "the kernels of CUDA graphs", gpu_questions.graphs),
    Question("compiling", "what went into compiling and loading", stage_questions.compiling),
    Question("host-code", "what host code did", stage_questions.host_code),
    Question("backtraces", "calls without the cost of backtraces", stage_questions.backtraces),
    Question("window", "the capture cut nothing off", capture_questions.window),
    Question("processes", "every process", stage_questions.processes),
    Question("gpus", "which physical GPU did the work", gpu_questions.physical_gpus),
    Question("communication", "communication between processes", gpu_questions.communication),
    Question("memory", "how much GPU memory was in use", gpu_questions.memory),
    Question("profiler", "what the profiler itself cost", capture_questions.profiler_cost),
    Question("environment", "where it was made", capture_questions.environment),
    Question("versions", "versions that work together", capture_questions.versions),
    Question("nsys", "nsys had nothing to complain of", capture_questions.nsys_itself),
)
