"""What a report says about itself: versions, machine and capture settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nsys_analyze.ingest.environment import environment, program
from nsys_analyze.ingest.events import lacking_columns
from nsys_analyze.ingest.export import Export
from nsys_analyze.ingest.values import as_duration, as_text, is_gpu_number

_WARNING, _ERROR = 2, 3  # of DIAGNOSTIC_EVENT
_GRAPH_MODE = "CUDA_GRAPH_TRACE_OPTIONS:MODE"
_LATE_START = "Profiling started due to "  # how nsys begins to say what opened its capture range
_TRACE_FLAGS = {  # CAPTURE_EVENT_TYPE and what `nsys profile --trace` calls it
    "Cuda": "cuda",
    "NvtxEvents": "nvtx",
    "OSRuntime": "osrt",
    "Graphics": "opengl",
    "CuDNN": "cudnn",
    "CuBLAS": "cublas",
    "MPI": "mpi",
    "OpenAcc": "openacc",
    "OpenMP": "openmp",
    "UCX": "ucx",
    "Vulkan": "vulkan",
}


@dataclass(frozen=True, slots=True)
class Metadata:
    """The report's own words, where it has them.

    ``gpus`` lists (number, name); ``duration`` is ns; ``graph_mode`` is "node" or "graph"; ``trace`` is written as for
    ``nsys profile --trace``. ``diagnostics`` lists what nsys warned of, as (severity, text): 2 warning, 3 error.
    ``command`` is the name of the program that was started; ``environment`` holds those of its variables that may be
    kept, with None for a value that may not be shown.
    ``cuda_driver`` is the newest CUDA that the driver supports, as (major, minor). ``window`` says what started the
    capture where that was not the program's own start. ``lacking`` lists columns that the numbers need and the
    export's tables do not have, as (table, column). ``part`` is how this was cut out of a larger report, by "stages",
    "window" or both, None where it was not.
    """

    nsys_version: str | None
    export_schema: str | None
    duration: int | None
    gpus: list[tuple[int, str]]
    cpu: str | None
    driver: str | None
    cuda_driver: tuple[int, int] | None
    trace: str | None
    graph_mode: str | None
    sampling: bool | None
    context_switches: bool | None
    window: str | None
    diagnostics: list[tuple[int, str]]
    command: str | None
    environment: dict[str, str | None] | None
    lacking: list[tuple[str, str]]
    part: str | None


def read_metadata(export: Export, variables: Iterable[str] = ()) -> Metadata:
    """Reads the small tables that describe the capture.

    Args:
        export: The report.
        variables: Environment variables, or what they begin with, to keep beside the packaged list.
    """
    system = _by_name(export.rows("TARGET_INFO_SYSTEM_ENV", "name", "value"))
    capture = _by_name(export.rows("META_DATA_CAPTURE", "name", "value"))
    gpus = {row[0]: as_text(row[1]) for row in export.rows("TARGET_INFO_GPU", "id", "name") if is_gpu_number(row[0])}
    said = [(severity, as_text(text) or "") for severity, text in export.rows("DIAGNOSTIC_EVENT", "severity", "text")]
    mode = _last(capture, _GRAPH_MODE) or _last(capture, f"PROCESS_0:{_GRAPH_MODE}")
    return Metadata(
        nsys_version=export.nsys_version,
        export_schema=export.schema_version,
        duration=next((as_duration(row[0]) for row in export.rows("ANALYSIS_DETAILS", "duration")), None),
        gpus=sorted((number, name or "GPU") for number, name in gpus.items()),
        cpu=_readable(_last(system, "CpuDescription")) or _readable(_last(system, "CpuArchitecture")),
        driver=_driver(_last(system, "NvDriverVersion")),
        cuda_driver=_cuda_version(_last(system, "CudaDriverVersion")),
        trace=_trace(capture.get("CAPTURE_EVENT_TYPE", [])),
        graph_mode=mode.lower() if mode else None,
        sampling=_flag(capture, "LINUX_PERF_OPTIONS:COLLECT_IP_BACKTRACE_SAMPLES"),
        context_switches=_flag(capture, "LINUX_PERF_OPTIONS:COLLECT_CPU_CTXSW_TRACE"),
        command=program(capture),
        environment=environment(capture, variables),
        window=_window(_last(capture, "START_TRIGGER"), [text for _, text in said]),
        diagnostics=[(severity, text) for severity, text in said if severity in (_WARNING, _ERROR)],
        lacking=lacking_columns(export),
        part=export.part,
    )


def _by_name(rows: Iterable[tuple[object, ...]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in rows:
        if isinstance(name, str) and value is not None:
            found.setdefault(name, []).append(as_text(value) or "")
    return found


def _last(settings: dict[str, list[str]], name: str) -> str | None:
    return settings.get(name, [None])[-1]


def _readable(value: str | None) -> str | None:
    """A value, unless whoever shared the report blanked it."""
    return None if value is None or not value.strip() or value.startswith("<") else value.strip()


def _driver(version: str | None) -> str | None:
    """The driver's version; exports of 2022 write 530.30.02 as 5303002."""
    readable = _readable(version)
    if readable and readable.isdigit() and len(readable) == 7:
        return f"{readable[:3]}.{readable[3:5]}.{readable[5:]}"
    return readable


def _cuda_version(number: str | None) -> tuple[int, int] | None:
    """13020 is CUDA 13.2."""
    if number is None or not number.isdecimal() or not int(number):
        return None
    return int(number) // 1000, int(number) % 1000 // 10


def _window(trigger: str | None, said: Iterable[str]) -> str | None:
    """What started the capture, None where it was the program's start or nobody says."""
    cause = next((text.removeprefix(_LATE_START) for text in said if text.startswith(_LATE_START)), None)
    if cause:
        return cause.split()[0]
    return None if trigger in (None, "Immediate") else "a delay or a command"


def _flag(capture: dict[str, list[str]], name: str) -> bool | None:
    """A setting that only captures which could use it mention."""
    if not capture:
        return None
    return _last(capture, name) == "true"


def _trace(kinds: list[str]) -> str | None:
    return ",".join(_TRACE_FLAGS.get(kind, kind.lower()) for kind in kinds) or None
