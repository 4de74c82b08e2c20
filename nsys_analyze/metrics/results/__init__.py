"""What an analysis says, as plain values: the JSON contract (schema version 1) in types.

Field names are the JSON names. Times are nanoseconds: ``int`` where they are exact (a duration or a sum of durations),
``float`` where they are a mean or a percentile. ``None`` is "this capture cannot say", never zero.
"""

from nsys_analyze.metrics.results.kernels import KernelAnalysis, KernelRow, NamedOps, StageKernels
from nsys_analyze.metrics.results.parts import (
    BlockedOn,
    Collective,
    Communication,
    CompileTime,
    Distribution,
    GapMeans,
    GpuWindow,
    HostCode,
    HostTime,
    KernelsPerInstance,
    LaunchCalls,
    Markers,
    NamedInstance,
    QueueDelay,
    SampledFunction,
    SelfCounts,
    Series,
    Stall,
    StartupGap,
)
from nsys_analyze.metrics.results.ranks import Rank, RankClock, RankedProgram, RankedStage, Spread, StartSkew
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
    "BlockedOn",
    "Collective",
    "Communication",
    "CompileTime",
    "Coverage",
    "CoverageTime",
    "DeviceUse",
    "Distribution",
    "GapMeans",
    "Gpu",
    "GpuWindow",
    "HostCode",
    "HostTime",
    "Instance",
    "KernelAnalysis",
    "KernelRow",
    "KernelsPerInstance",
    "LaunchCalls",
    "Markers",
    "NamedInstance",
    "NamedOps",
    "Notice",
    "Process",
    "Program",
    "QueueDelay",
    "Rank",
    "RankClock",
    "RankedProgram",
    "RankedStage",
    "ReportInfo",
    "SampledFunction",
    "SelfCounts",
    "Series",
    "Settings",
    "Spread",
    "Stage",
    "StageKernels",
    "Stall",
    "StartSkew",
    "StartupGap",
]
