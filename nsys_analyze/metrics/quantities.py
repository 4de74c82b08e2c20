"""The quantities of a stage that are compared and judged: each with its name, its kind and where it is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from nsys_analyze.metrics.results import Stage


class Kind(Enum):
    """What makes a quantity vary from run to run. All but counts are nanoseconds."""

    COUNT = "count"
    GPU_TIME = "gpu time"
    HOST_TIME = "host time"
    COMPILE_TIME = "compile time"
    FIRST_INSTANCE = "first instance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number of a stage. ``name`` is what configurations and JSON call it, ``title`` what people read.

    ``of`` returns the stage's number, for one typical instance where a stage has several; None if the report cannot
    say.
    """

    name: str
    title: str
    kind: Kind
    of: Callable[[Stage], float | None]


def _gap(stage: Stage) -> float | None:
    return stage.startup_gap_ns.median if stage.startup_gap_ns else None


def _exposed(stage: Stage) -> float | None:
    return stage.startup_gap_ns.exposed_median if stage.startup_gap_ns else None


def _prelude(stage: Stage) -> float | None:
    return stage.gap_means_ns.prelude if stage.gap_means_ns else None


def _kernels(stage: Stage) -> float | None:
    return stage.kernels_per_instance.median if stage.kernels_per_instance else None


def _kernel_time(stage: Stage) -> float | None:
    return None if stage.kernel_ns is None else stage.kernel_ns / stage.instances


def _compile_time(stage: Stage) -> float | None:
    return stage.compile_ns.total if stage.compile_ns else None


def _launch_call(stage: Stage) -> float | None:
    return stage.launch_call_ns.median if stage.launch_call_ns else None


def _queue_delay(stage: Stage) -> float | None:
    return stage.queue_delay_ns.median if stage.queue_delay_ns else None


_ALL = (
    Quantity(name="wall", title="wall", kind=Kind.HOST_TIME, of=lambda s: s.wall_ns.median),
    Quantity(name="elapsed", title="elapsed", kind=Kind.HOST_TIME, of=lambda s: s.elapsed_ns.median),
    Quantity(name="pace", title="pace", kind=Kind.HOST_TIME, of=lambda s: s.pace_ns),
    Quantity(name="cpu_overhead", title="CPU overhead", kind=Kind.HOST_TIME, of=lambda s: s.cpu_overhead_ns),
    Quantity(name="profiler", title="the profiler's own time", kind=Kind.HOST_TIME, of=lambda s: s.profiler_mean_ns),
    Quantity(name="gpu_active", title="GPU active", kind=Kind.GPU_TIME, of=lambda s: s.active_mean_ns),
    Quantity(name="kernel_time", title="kernel time", kind=Kind.GPU_TIME, of=_kernel_time),
    Quantity(name="kernels", title="kernels", kind=Kind.COUNT, of=_kernels),
    Quantity(
        name="overhead_per_kernel",
        title="overhead per kernel",
        kind=Kind.HOST_TIME,
        of=lambda s: s.overhead_per_kernel_ns,
    ),
    Quantity(name="startup_gap", title="startup gap", kind=Kind.HOST_TIME, of=_gap),
    Quantity(name="startup_gap_exposed", title="startup gap, exposed", kind=Kind.HOST_TIME, of=_exposed),
    Quantity(name="startup_gap_prelude", title="startup gap, prelude", kind=Kind.HOST_TIME, of=_prelude),
    Quantity(name="launch_call", title="launch call", kind=Kind.HOST_TIME, of=_launch_call),
    Quantity(name="queue_delay", title="queue delay", kind=Kind.HOST_TIME, of=_queue_delay),
    Quantity(name="compile_time", title="compile time", kind=Kind.COMPILE_TIME, of=_compile_time),
    Quantity(name="cold_start", title="cold start", kind=Kind.COMPILE_TIME, of=lambda s: s.cold_start_ns),
)

UNPROFILED = (
    Quantity(name="unprofiled", title="unprofiled", kind=Kind.HOST_TIME, of=lambda s: s.unprofiled_ns),
    Quantity(
        name="unprofiled_cpu_overhead",
        title="CPU overhead, unprofiled",
        kind=Kind.HOST_TIME,
        of=lambda s: s.unprofiled_cpu_overhead_ns,
    ),
    Quantity(
        name="unprofiled_overhead_per_kernel",
        title="overhead per kernel, unprofiled",
        kind=Kind.HOST_TIME,
        of=lambda s: s.unprofiled_overhead_per_kernel_ns,
    ),
)  # known only where a time without the profiler was given; nothing is judged by them

QUANTITIES: dict[str, Quantity] = {quantity.name: quantity for quantity in _ALL}
