"""Which tables and columns of an export are read, from the requests that reading makes."""

from __future__ import annotations

from contextlib import ExitStack
from unittest import mock

import nsys_analyze
from nsys_analyze.ingest.events import _NEEDED
from nsys_analyze.ingest.export import open_export
from nsys_analyze.ingest.inspection import inspect
from nsys_analyze.ingest.sqliteexport import SqliteExport
from tests.export_schema import PROFILES
from tests.exports import ExportBuilder
from tests.pages.markdown import page, table

PURPOSES = {
    "ANALYSIS_DETAILS": "how long the capture took",
    "COMPOSITE_EVENTS": "when CPU samples were taken",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "CUDA graphs traced whole",
    "CUPTI_ACTIVITY_KIND_KERNEL": "kernels",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "copies",
    "CUPTI_ACTIVITY_KIND_MEMSET": "memsets",
    "CUPTI_ACTIVITY_KIND_OVERHEAD": "compiling and loading that the driver reports",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "CUDA calls, of the runtime and of the driver",
    "DIAGNOSTIC_EVENT": "what nsys itself said",
    "EXPORT_META_DATA": "versions, up to schema 3.1",
    "META_DATA_CAPTURE": "flags of the capture; the program's name and chosen variables of its environment",
    "META_DATA_EXPORT": "versions",
    "MPI_RANKS": "ranks",
    "NVTX_EVENTS": "ranges and their domains",
    "OSRT_API": "OS calls",
    "PROCESSES": "names of programs",
    "PROFILER_OVERHEAD": "the profiler's own work",
    "SAMPLING_CALLCHAINS": "in which function a CPU sample was taken",
    "SCHED_EVENTS": "when threads ran",
    "StringIds": "names",
    "TARGET_INFO_CUDA_DEVICE": "which GPU of the machine a CUDA device is",
    "TARGET_INFO_GPU": "names of GPUs",
    "TARGET_INFO_SESSION_START_TIME": "when the capture began",
    "TARGET_INFO_SYSTEM_ENV": "CPU, driver and the machine's name",
    "ThreadNames": "ranks, where MPI's table lacks",
}
INTRODUCTION = """\
An export is an SQLite file whose layout changes from one version of Nsight Systems to the next. Tables and columns are
looked up by name and never by version; what is missing is left out, and what cannot be told without it is `null`. A
table whose name carries a version, such as `NVTX_EVENTS_V2`, is found too. All other tables and columns are ignored,
and so are views, indexes and whatever else was added to the file. [reading.md](reading.md) says how it is read."""
VERSIONS = """\
The tests write small exports in the layouts of these versions, and read them:"""
REAL = """\
Whole real exports of schema 3.0.0, 3.6.0, 3.20.3, 3.24.0, 3.24.14 and 3.25.0 were read as well; those
in `sample_reports` are of 3.20.3. To check yours against all invariants that the numbers have to keep:

    pytest tests/test_invariants.py --reports FOLDER

An export of the years 2020 and 2021 carries no version."""


def render(folder):
    """Returns the page; ``folder`` takes the exports that are read for it."""
    return page(
        "# What is read of an export",
        INTRODUCTION,
        table(["table", "for", "columns"], rows(folder)),
        "Columns in bold are needed: without one of them the table's rows are of no use, and the warning"
        " `missing-column`\nsays so. Of `text` and `textId`, one is enough.",
        "## Versions",
        VERSIONS,
        table(["export schema", "nsys"], [[name, profile.product] for name, profile in PROFILES.items()]),
        REAL,
    )


def rows(folder):
    found = requests(folder)
    assert set(found) == set(PURPOSES)
    return [[f"`{name}`", PURPOSES[name], columns(name, found[name])] for name in sorted(found, key=str.lower)]


def columns(name, asked):
    needed = {column for columns in _NEEDED.get(name, ()) for column in columns.split()}
    return ", ".join(f"**`{each}`**" if each in needed else f"`{each}`" for each in asked)


def requests(folder):
    """The columns asked for, by table, when exports of the newest and of an old layout are opened and examined."""
    asked = {}

    def note(table_name, names):
        asked.setdefault(table_name, {}).update(dict.fromkeys(names))

    read, small, strings = SqliteExport.read, SqliteExport.rows, SqliteExport.strings

    def noted_read(self, wanted):
        for request in wanted:
            note(request.table, [column.name for column in request.columns])
        return read(self, wanted)

    def noted_rows(self, name, *names):
        note(name, names)
        return small(self, name, *names)

    def noted_strings(self, ids):
        note("StringIds", ["id", "value"])
        return strings(self, ids)

    with ExitStack() as patches:
        for name, function in (("read", noted_read), ("rows", noted_rows), ("strings", noted_strings)):
            patches.enter_context(mock.patch.object(SqliteExport, name, function))
        for layout in ("3.25.0", "2.9.1"):
            path = exported(layout).write(folder / f"{layout}.sqlite")
            nsys_analyze.open_report(path)
            with open_export(path) as export:
                inspect(export)
    return asked


def exported(layout):
    """An export in which a thread with a range did something in every table, and a call is told twice."""
    builder = ExportBuilder(layout)
    thread = builder.process(100).thread(name="python3")
    thread.push_pop("step", 0, 100)
    thread.os_call("read", 10, 20)
    thread.switch(0, running=True)
    thread.sample(50, "f")
    thread.call("cudaLaunchKernel_v7000", 60, 70, doubled=True).kernel("gemm", 80, 90)
    return builder
