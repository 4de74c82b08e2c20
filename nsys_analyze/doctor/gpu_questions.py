"""Questions about the GPUs: their kernels, their identity, their memory, and what they said to each other."""

from __future__ import annotations

from nsys_analyze.doctor.answers import Finding, no, partly, yes
from nsys_analyze.doctor.patient import Patient
from nsys_analyze.metrics.wording import worded
from nsys_analyze.model.calls import CallKind

_MESSAGES = (
    *("MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_OTHER_EVENTS", "MPI_START_WAIT_EVENTS"),
    *("UCP_EVENTS", "UCP_SUBMIT_EVENTS"),
)
_NCCL_DOMAIN = "NCCL"


def graphs(patient: Patient) -> Finding:
    """Whether the kernels of CUDA graphs are there."""
    whole = sum(notice.count or 0 for notice in patient.said("whole-graphs", "untimed-graphs"))
    if whole:
        why = worded("{count} launch[|es] of [a CUDA graph|CUDA graphs] [was|were] traced whole", whole)
        return no(why, "--cuda-graph-trace=node")
    calls = patient.report.trace.calls
    launched = int(calls.of_kind(CallKind.GRAPH_LAUNCH).sum()) if len(calls) else 0
    return yes(worded("{count} graph launch[|es], traced by node", launched) if launched else "no graph was launched")


def physical_gpus(patient: Patient) -> Finding:
    """Whether a process's CUDA ordinals can be told from the machine's GPUs."""
    gpus = patient.inspection.machine_gpus
    if not patient.report.trace.devices:
        return no("no GPU did any work in it")
    if patient.inspection.has("TARGET_INFO_CUDA_DEVICE"):
        return yes(worded("{count} GPU[|s] of the machine, mapped for each process", gpus))
    if gpus == 1:
        return yes("the machine has one GPU")
    why = "the export does not map CUDA ordinals to GPUs: two processes may both say 0 and mean different ones"
    remedy = "take nsys 2024 or newer"
    return partly(why, remedy=remedy) if patient.gpu_processes <= 1 else no(why, remedy=remedy)


def communication(patient: Patient) -> Finding:
    """Whether communication between processes shows."""
    trace = patient.report.trace
    kernels = any("nccl" in name.lower() for name in trace.ops.names)
    ranges = _NCCL_DOMAIN in trace.ranges.domain_names
    messages = patient.inspection.has(*_MESSAGES)
    found = {"NCCL kernels": kernels, "NCCL's ranges": ranges, "MPI or UCX calls": messages}
    there = ", ".join(name for name, seen in found.items() if seen)
    if there:
        complete = messages or (kernels and ranges)
        return yes(f"recorded: {there}") if complete else partly(f"recorded: {there} only")
    if patient.gpu_processes <= 1:
        return yes("no more than one process used a GPU, and it talked to no other by NCCL, MPI or UCX")
    return no("several processes used GPUs, and the report has no NCCL, MPI or UCX", "--trace=cuda,nvtx,mpi,ucx")


def memory(patient: Patient) -> Finding:
    """Whether the GPUs' memory use was recorded."""
    if patient.inspection.has("CUDA_GPU_MEMORY_USAGE_EVENTS"):
        return yes("allocations were recorded")
    return no("allocations were not recorded, only the calls that made them", "--cuda-memory-usage=true")
