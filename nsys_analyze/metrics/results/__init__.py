"""What an analysis says, as plain values: the JSON contract (schema version 1) in types.

Field names are the JSON names. Times are nanoseconds: ``int`` where they are exact (a duration or a sum of durations),
``float`` where they are a mean or a percentile. ``None`` is "this capture cannot say", never zero.
"""

from nsys_analyze.metrics.results.parts import (
    CompileTime,
    Distribution,
    GapMeans,
    GpuWindow,
    HostTime,
    KernelsPerInstance,
    LaunchCalls,
    Markers,
    QueueDelay,
    SelfCounts,
    Series,
    Stall,
    StartupGap,
)
from nsys_analyze.metrics.results.ranks import Rank, RankedProgram, RankedStage, Spread, StartSkew
from nsys_analyze.metrics.results.report import (
    Analysis,
    Coverage,
    CoverageTime,
    DeviceUse,
    Gpu,
    Notice,
    Process,
    Program,
    ReportInfo,
    Settings,
)
from nsys_analyze.metrics.results.stage import (
    Instance,
    Stage,
)

SCHEMA_VERSION = 1

__all__ = [
    "SCHEMA_VERSION",
    "Analysis",
    "CompileTime",
    "Coverage",
    "CoverageTime",
    "DeviceUse",
    "Distribution",
    "GapMeans",
    "Gpu",
    "GpuWindow",
    "HostTime",
    "Instance",
    "KernelsPerInstance",
    "LaunchCalls",
    "Markers",
    "Notice",
    "Process",
    "Program",
    "QueueDelay",
    "Rank",
    "RankedProgram",
    "RankedStage",
    "ReportInfo",
    "SelfCounts",
    "Series",
    "Settings",
    "Spread",
    "Stage",
    "Stall",
    "StartSkew",
    "StartupGap",
]
