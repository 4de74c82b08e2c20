"""Tables and columns of SQLite exports, version by version, as far as tests need them.

A column is written `name`, with `!` behind it where it is NOT NULL and `:TEXT` or `:REAL` where it is no integer. The
newest layout is spelled out; `PROFILES` says what the older ones lack or call differently.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Columns = tuple[str, ...]

_OPERATION = "start! end! deviceId! contextId! greenContextId streamId! correlationId globalPid"
_GRID = "gridX! gridY! gridZ! blockX! blockY! blockZ!"
_MEMORY = "staticSharedMemory! dynamicSharedMemory! localMemoryPerThread! localMemoryTotal!"
_CLUSTER = "clusterX clusterY clusterZ clusterSchedulingPolicy maxPotentialClusterSize maxActiveClusters"
_GPU_LIMITS = (
    "constantMemory maxIPC maxRegistersPerBlock maxShmemPerBlock maxShmemPerBlockOptin maxShmemPerSm maxRegistersPerSm "
    "threadsPerWarp asyncEngines maxWarpsPerSm maxBlocksPerSm maxThreadsPerBlock maxBlockDimX maxBlockDimY "
    "maxBlockDimZ maxGridDimX maxGridDimY maxGridDimZ computeMajor computeMinor smMajor smMinor"
)

NEWEST: dict[str, str] = {
    "ANALYSIS_DETAILS": "globalVid! duration! startTime! stopTime!",
    "COMPOSITE_EVENTS": "id! start! cpu threadState globalTid cpuCycles!",
    "CUDA_GRAPH_EVENTS": "start! end! eventClass! globalTid nameId! graphId originalGraphId graphExecId",
    "CUDA_GRAPH_NODE_EVENTS": "start! end! eventClass! globalTid nameId! graphNodeId! originalGraphNodeId",
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT": (
        "timestamp deviceId! contextId! greenContextId streamId! correlationId globalPid eventId! eventSyncId"
    ),
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": f"{_OPERATION} graphId! graphExecId!",
    "CUPTI_ACTIVITY_KIND_KERNEL": (
        f"{_OPERATION} demangledName! shortName! mangledName launchType cacheConfig registersPerThread! {_GRID} "
        f"{_MEMORY} gridId! sharedMemoryExecuted graphNodeId sharedMemoryLimitConfig qmdBulkReleaseDone qmdPreexitDone "
        f"qmdLastCtaDone graphId {_CLUSTER} sharedMemoryRequestedPercentage tensorSizeMinusOneElements!:TEXT"
    ),
    "CUPTI_ACTIVITY_KIND_MEMCPY": (
        f"{_OPERATION} bytes! copyKind! deprecatedSrcId srcKind dstKind srcDeviceId srcContextId dstDeviceId "
        "dstContextId migrationCause graphNodeId virtualAddress copyCount"
    ),
    "CUPTI_ACTIVITY_KIND_MEMSET": f"{_OPERATION} value! bytes! graphNodeId memKind",
    "CUPTI_ACTIVITY_KIND_OVERHEAD": "start! end! eventClass! globalTid correlationId nameId overheadType!",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start! end! eventClass! globalTid correlationId nameId! returnValue! callchainId",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": f"{_OPERATION} deprecatedSyncType syncType! eventId! eventSyncId",
    "DIAGNOSTIC_EVENT": "timestamp! timestampType! source! severity! text!:TEXT globalPid",
    "META_DATA_CAPTURE": "name!:TEXT value:TEXT",
    "META_DATA_EXPORT": "name!:TEXT value:TEXT",
    "MPI_RANKS": "globalTid! rank!",
    "NVTX_EVENTS": (
        "start! end eventType! rangeId category color text:TEXT globalTid endGlobalTid textId domainId uint64Value "
        "int64Value doubleValue:REAL uint32Value int32Value floatValue:REAL jsonTextId jsonText:TEXT binaryData:TEXT"
    ),
    "OSRT_API": "start! end! eventClass! globalTid nameId! returnValue! nestingLevel callchainId! argumentsId!",
    "PROCESSES": "globalPid pid name:TEXT",
    "PROFILER_OVERHEAD": "start! end! globalTid nameId! overheadType!",
    "ProcessStreams": "globalPid! filenameId! contentId!",
    "SAMPLING_CALLCHAINS": (
        "id! symbol! module! kernelMode thumbCode unresolved specialEntry originalIP unwindMethod stackDepth!"
    ),
    "SCHED_EVENTS": "start! cpu! isSchedIn! globalTid threadState threadBlock",
    "StringIds": "id! value!:TEXT",
    "TARGET_INFO_CUDA_CONTEXT_INFO": (
        "nullStreamId! hwId! vmId! processId! deviceId! contextId! parentContextId isGreenContext numMultiprocessors"
    ),
    "TARGET_INFO_CUDA_DEVICE": "gpuId cudaId! pid! uuid:TEXT numMultiprocessors",
    "TARGET_INFO_CUDA_STREAM": "streamId! hwId! vmId! processId! contextId! priority! flag!",
    "TARGET_INFO_GPU": (
        "vmId! id! name:TEXT busLocation:TEXT isDiscrete l2CacheSize totalMemory memoryBandwidth clockRate smCount "
        "pwGpuId uuid:TEXT luid chipName:TEXT cuDevice ctxswDevPath:TEXT ctrlDevPath:TEXT "
        f"revision nodeMask {_GPU_LIMITS}"
    ),
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs utcTime:TEXT localTime:TEXT systemClockNs",
    "TARGET_INFO_SYSTEM_ENV": "globalVid devStateName!:TEXT name!:TEXT nameEnum! value!:TEXT",
    "ThreadNames": "nameId! priority globalTid",
}

ENUMS: dict[str, dict[int, str]] = {
    "ENUM_CUDA_KERNEL_LAUNCH_TYPE": {0: "Unknown", 1: "Regular", 2: "Cooperative", 3: "Cooperative multi-device"},
    "ENUM_CUDA_MEMCPY_OPER": {1: "Host-to-Device", 2: "Device-to-Host", 8: "Device-to-Device", 10: "Peer-to-Peer"},
    "ENUM_CUDA_MEM_KIND": {0: "Pageable", 1: "Pinned", 2: "Device", 3: "Array", 4: "Managed"},
    "ENUM_CUPTI_OVERHEAD_TYPE": {
        2: "Driver JIT compiler (CUDA)",
        6: "Runtime module loading (CUDA)",
        7: "Lazy function loading (CUDA)",
        8: "Command buffer full (CUDA)",
    },
    "ENUM_CUPTI_SYNC_TYPE": {1: "Event sync", 2: "Stream wait sync", 3: "Stream sync", 4: "Context sync"},
    "ENUM_DIAGNOSTIC_SEVERITY_LEVEL": {1: "Info", 2: "Warning", 3: "Error"},
    "ENUM_NSYS_EVENT_CLASS": {
        0: "CUDA runtime",
        1: "CUDA driver",
        67: "CUDA call with backtrace",
        103: "CUPTI overhead",
    },
    "ENUM_NSYS_EVENT_TYPE": {
        33: "NvtxCategory",
        34: "NvtxMark",
        39: "NvtxThread",
        59: "NvtxPushPopRange",
        60: "NvtxStartEndRange",
        70: "NvtxtPushPopRange",
        71: "NvtxtStartEndRange",
        75: "NvtxDomainCreate",
        76: "NvtxDomainDestroy",
    },
}


@dataclass(frozen=True)
class Profile:
    """How one version's layout differs from the newest one."""

    schema: str | None  # as stamped; None where the export has no version table
    product: str
    without_tables: Columns = ()
    without_columns: dict[str, str] = field(default_factory=dict)
    extra_columns: dict[str, str] = field(default_factory=dict)
    renamed_tables: dict[str, str] = field(default_factory=dict)
    output_key: str = "EXPORT_PARAM_OUTPUT_FILE"
    enums: bool = True
    integer: str = "INTEGER"

    def tables(self) -> list[str]:
        return [table for table in NEWEST if table not in self.without_tables]

    def columns(self, table: str) -> Columns:
        """Give the columns of a table of this version, as they are written above."""
        gone = self.without_columns.get(table, "").split()
        kept = [column for column in NEWEST[table].split() if column_name(column) not in gone]
        return (*kept, *self.extra_columns.get(table, "").split())

    def stored_name(self, table: str) -> str:
        return self.renamed_tables.get(table, table)

    def create_table(self, table: str, columns: Iterable[str], stored_name: str) -> str:
        """Write the CREATE TABLE statement of a table."""
        definitions = ", ".join(self._definition(table, column) for column in columns)
        return f'CREATE TABLE "{stored_name}" ({definitions})'

    def create_enum(self, enum: str) -> str:
        return f'CREATE TABLE "{self.stored_name(enum)}" (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT)'

    def _definition(self, table: str, column: str) -> str:
        if (table, column) == ("StringIds", "id!"):
            return '"id" INTEGER NOT NULL PRIMARY KEY'
        declared = column_type(column).replace("INTEGER", self.integer)
        return f'"{column_name(column)}" {declared}' + " NOT NULL" * is_required(column)


def column_name(column: str) -> str:
    return column.partition(":")[0].rstrip("!")


def column_type(column: str) -> str:
    return column.partition(":")[2] or "INTEGER"


def is_required(column: str) -> bool:
    return "!" in column


def _added_up(*changes: dict[str, str]) -> dict[str, str]:
    tables = {table for change in changes for table in change}
    return {table: " ".join(change[table] for change in changes if table in change) for table in tables}


_SINCE_3_25 = {"CUPTI_ACTIVITY_KIND_KERNEL": "tensorSizeMinusOneElements"}
_SINCE_3_24 = {
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT": "timestamp",
    "CUPTI_ACTIVITY_KIND_KERNEL": (
        f"qmdBulkReleaseDone qmdPreexitDone qmdLastCtaDone graphId {_CLUSTER} sharedMemoryRequestedPercentage"
    ),
    "PROFILER_OVERHEAD": "overheadType",
    "SCHED_EVENTS": "threadState threadBlock",
    "TARGET_INFO_CUDA_CONTEXT_INFO": "numMultiprocessors",
    "TARGET_INFO_CUDA_DEVICE": "uuid numMultiprocessors",
    "TARGET_INFO_SESSION_START_TIME": "systemClockNs",
}
_SINCE_2024 = {
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT": "greenContextId eventSyncId",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "greenContextId",
    "CUPTI_ACTIVITY_KIND_KERNEL": "greenContextId",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "greenContextId copyCount",
    "CUPTI_ACTIVITY_KIND_MEMSET": "greenContextId",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "greenContextId deprecatedSyncType eventSyncId",
    "NVTX_EVENTS": "binaryData",
    "OSRT_API": "argumentsId",
}
_SINCE_2022 = {
    "CUPTI_ACTIVITY_KIND_RUNTIME": "eventClass callchainId",
    "CUPTI_ACTIVITY_KIND_KERNEL": "globalPid mangledName graphNodeId",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "globalPid graphNodeId",
    "CUPTI_ACTIVITY_KIND_MEMSET": "globalPid graphNodeId",
    "NVTX_EVENTS": "jsonTextId jsonText",
}
_OVERHEAD_TABLE = ("CUPTI_ACTIVITY_KIND_OVERHEAD",)
_TABLES_SINCE_2024 = (
    *_OVERHEAD_TABLE,
    "CUDA_GRAPH_EVENTS",  # of graphs: earlier tables of that name hold nodes
    "DIAGNOSTIC_EVENT",
    "TARGET_INFO_CUDA_DEVICE",
    "TARGET_INFO_CUDA_CONTEXT_INFO",
)
_TABLES_SINCE_2023 = (*_TABLES_SINCE_2024, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "META_DATA_CAPTURE")
_TABLES_SINCE_2022 = (*_TABLES_SINCE_2023, "META_DATA_EXPORT", "CUDA_GRAPH_NODE_EVENTS")
_NODES_IN_GRAPH_EVENTS = {"CUDA_GRAPH_NODE_EVENTS": "CUDA_GRAPH_EVENTS"}
_NAMES_OF_2022 = {**_NODES_IN_GRAPH_EVENTS, "META_DATA_EXPORT": "EXPORT_META_DATA"}

_3_25_0 = Profile("3.25.0", "2026.2.1.210")
_3_24_14 = replace(_3_25_0, schema="3.24.14", product="2026.1.1.204", without_columns=_SINCE_3_25)
_3_20_3 = replace(
    _3_24_14,
    schema="3.20.3",
    product="2025.3.2.0",
    without_tables=_OVERHEAD_TABLE,
    without_columns=_added_up(_SINCE_3_25, _SINCE_3_24),
    extra_columns={"PROFILER_OVERHEAD": "returnValue!"},
)
_3_6_0 = replace(
    _3_20_3,
    schema="3.6.0",
    product="2023.4.1.97",
    without_tables=_TABLES_SINCE_2024,
    without_columns=_added_up(_SINCE_3_25, _SINCE_3_24, _SINCE_2024),
    renamed_tables=_NODES_IN_GRAPH_EVENTS,
    output_key="EXPORT_PARAM_OUTUPT_FILE",
)
_3_0_0 = replace(
    _3_6_0,
    schema="3.0.0",
    product="2022.4.2.1",
    without_tables=_TABLES_SINCE_2023,
    renamed_tables={**_NAMES_OF_2022, "ENUM_CUDA_KERNEL_LAUNCH_TYPE": "ENUM_CUDA_KRENEL_LAUNCH_TYPE"},
)
_2_9_1 = replace(
    _3_0_0,
    schema="2.9.1",
    product="2022.1.3.3",
    renamed_tables=_NAMES_OF_2022,
    enums=False,
)
_UNSTAMPED = replace(
    _2_9_1,
    schema=None,
    product="2020.3.4.32",
    without_tables=_TABLES_SINCE_2022,
    without_columns=_added_up(_SINCE_3_25, _SINCE_3_24, _SINCE_2024, _SINCE_2022),
    integer="INT",
)

PROFILES: dict[str, Profile] = {
    profile.schema or "unstamped": profile
    for profile in (_3_25_0, _3_24_14, _3_20_3, _3_6_0, _3_0_0, _2_9_1, _UNSTAMPED)
}
