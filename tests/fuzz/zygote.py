"""Runs the command again and again, each time in a child forked from one process that has loaded everything.

Reads a line of JSON a run, and answers with one: how the child ended and how long it took.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import matplotlib.figure
import pyarrow
import scipy.stats  # noqa: F401 - what the command would load

import nsys_analyze.ingest.arrowreader
import nsys_analyze.views.plots  # noqa: F401
from nsys_analyze.cli.app import main
from nsys_analyze.ingest import reading


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _child(job: dict[str, Any]) -> int:
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(job[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    most = _address_space() + job["megabytes"] * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(job["seconds"])
    tempfile.tempdir = job["temporary"]
    if job["arrow"]:
        reading.ARROW_ROWS = 1
    code = main(job["arguments"])
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def run(job: dict[str, Any]) -> dict[str, float]:
    """Runs one job; a negative status is the signal that ended it."""
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = _child(job)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return {"status": os.waitstatus_to_exitcode(status), "seconds": time.monotonic() - started}


if __name__ == "__main__":
    matplotlib.use("agg")
    pyarrow.set_cpu_count(1)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
