"""What stages' time consists of, made by hand: the host's, the GPUs' and the compilers' parts."""

from __future__ import annotations

import dataclasses
from typing import Any

from nsys_analyze.metrics.results import Analysis, CompileTime, GpuWindow, HostTime
from nsys_analyze.model.compile_rules import Phase
from tests.view_samples import MS, US, analysis, loop, stage


def host(**given: int) -> HostTime:
    """Parts of the host's time, 0 but for those given."""
    return HostTime(**dict.fromkeys((field.name for field in dataclasses.fields(HostTime)), 0) | given)


def window(instances: int = 1, device: int = 0, **given: int) -> GpuWindow:
    """How a device spent a window, 0 but for the parts given."""
    parts = dict.fromkeys(("own", "other", "idle_startup", "idle_between", "idle_tail"), 0) | given
    return GpuWindow(device=device, instances=instances, window=sum(parts.values()), **parts)


def compiling(
    total: int, sources: dict[str, int], phases: dict[str, int], united: dict[str, int] | None = None, **given: Any
) -> CompileTime:
    """Compile time of which ``phases`` are the thread time, ``united`` that of phases where it is less."""
    none = dict.fromkeys((phase.name.lower() for phase in Phase), 0)
    fields: dict[str, Any] = {"modules": 0, "tools": {"nvFuser": sum(phases.values())}}
    return CompileTime(
        total=total,
        threads_total=sum(phases.values()),
        sources=dict.fromkeys(("api", "ranges", "overhead", "first_launch"), 0) | sources,
        phases=none | phases,
        phases_united=none | phases | (united or {}),
        **fields | given,
    )


def thunder() -> Analysis:
    """A model that a compiler with threads builds, then a loop of ten steps, with all that is known of their time."""
    loaded = compiling(
        181 * MS, {"api": 114 * MS, "first_launch": 67 * MS}, {"load": 181 * MS}, tools={"CUDA driver": 181 * MS}
    )
    built = compiling(
        5_380 * MS,
        {"ranges": 5_330 * MS, "api": 50 * MS},
        {"segment": 2_920 * MS, "lower": 750 * MS, "compile": 1_589 * MS, "other": 1_431 * MS, "load": 50 * MS},
        {"lower": 577 * MS, "compile": 1_436 * MS, "other": 1_198 * MS},
        modules=7,
        tools={"CUDA driver": 50 * MS, "nvFuser": 6_690 * MS},
    )
    step_host = host(code=14_826 * US, launch=1_950 * US, cuda_other=44 * US)
    step_gpu = window(10, own=2_044 * US, other=494 * US, idle_startup=3_810 * US, idle_between=10_950 * US)
    return analysis(
        "llama_thunder.sqlite",
        [
            stage(["import"], [4 * MS], host_ns=host(code=4 * MS)),
            stage(
                ["build"],
                [363 * MS],
                32,
                2 * MS,
                host_ns=host(compile=181 * MS, code=168 * MS, profiler=11 * MS, memory=3 * MS),
                gpu_window_ns=[window(own=2 * MS, idle_startup=175 * MS, idle_between=186 * MS)],
                compile_ns=loaded,
            ),
            stage(
                ["compile"],
                [10_465 * MS],
                17,
                208 * US,
                host_ns=host(compile=5_377 * MS, code=5_086 * MS, cuda_other=2 * MS),
                gpu_window_ns=[window(own=208 * US, idle_startup=5_523 * MS, idle_between=4_941_792 * US)],
                compile_ns=built,
            ),
            loop(["steady", "step"], 1_682 * US, 10, 17, 204 * US, host_ns=step_host, gpu_window_ns=[step_gpu]),
        ],
    )
