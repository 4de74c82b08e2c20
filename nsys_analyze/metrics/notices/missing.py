"""What the capture lacks: whole tables, columns of them, versions that work together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsys_analyze.ingest.metadata import Metadata
from nsys_analyze.metrics.coverage import knows_durations, knows_gpu
from nsys_analyze.metrics.results import Notice
from nsys_analyze.metrics.versions import conflicts, dotted, version
from nsys_analyze.metrics.wording import listed, worded
from nsys_analyze.model.tables import Trace

_PART = Notice(
    code="part",
    message="a part that was cut out of a larger report: stages around it, and cold start, are those of the part",
    level="note",
)


def notices(trace: Trace, metadata: Metadata, domains: Sequence[str] | None) -> Iterator[Notice]:
    """What is not there at all; ``domains`` are those of NVTX that were asked for, None for all."""
    if metadata.part is not None:
        yield _PART
    yield from _columns(metadata)
    if not len(trace.ranges):
        yield from _no_ranges(metadata, domains)
    cuda = _no_cuda(trace)
    if cuda is not None:
        yield cuda


def _columns(metadata: Metadata) -> Iterator[Notice]:
    for table, column in metadata.lacking:
        yield Notice(
            code="missing-column",
            message=f"the table {table} has no column {column}, so that its rows cannot be used as they should; export "
            "the report again with `nsys export --type sqlite`",
        )


def _no_ranges(metadata: Metadata, domains: Sequence[str] | None) -> Iterator[Notice]:
    if domains is not None:
        message = f"no range is in the NVTX domain{'s' if len(domains) > 1 else ''} {listed(domains)}: no stages"
        yield Notice(code="no-nvtx", message=message)
        return
    if any(table.startswith("NVTX_EVENTS") for table, _ in metadata.lacking):
        return
    yield Notice(
        code="no-nvtx",
        message="no NVTX ranges, so there are no stages; annotate the program, capture with --trace cuda,nvtx",
    )
    if metadata.trace is None or "nvtx" not in metadata.trace.split(","):
        return
    for conflict in conflicts(version(metadata.nsys_version)):
        yield Notice(
            code="nsys-older-than-package",
            message=f"NVTX was traced by nsys {metadata.nsys_version}: before nsys {dotted(conflict.nsys_before)} "
            f"{conflict.effect} from the Python package {conflict.package} {dotted(conflict.since)} and later",
        )


def _no_cuda(trace: Trace) -> Notice | None:
    calls, ops = len(trace.calls), len(trace.ops)
    if not calls and not ops:
        return Notice(
            code="no-cuda",
            message="no CUDA calls and no GPU operations: only wall times are known; capture with --trace cuda,nvtx",
        )
    if not calls:
        message = "GPU operation[|s] and no CUDA API call, so that none can be traced back to a range"
        return Notice(code="no-calls", message=worded(message, ops), count=ops)
    if not ops:
        message = "CUDA call[|s] but no GPU operation; the profiler may be older than the driver"
        return Notice(code="no-gpu-ops", message=worded(message, calls), count=calls)
    if not knows_durations(trace):
        return Notice(
            code="gpu-unknown",
            message="no kernel has an end in the report: how long the GPU worked, and for what, is unknown",
        )
    if not knows_gpu(trace):
        return Notice(
            code="gpu-unknown",
            message="launch calls, but no kernel of theirs: what the ranges put on the GPU is unknown",
        )
    return None
