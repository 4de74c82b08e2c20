"""The process of a workload: ``python -m nsys_analyze.driver.run_workload llama --executor inductor``.

Runs with any Python 3.11 that has PyTorch, and imports nothing else but nvtx, if that is there.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from nsys_analyze.driver.request import parse
from nsys_analyze.driver.staged import run
from nsys_analyze.errors import NsysAnalyzeError

COMPLAINT = "nsys-analyze workload: "  # begins the line on standard error that says why there is no outcome
FAILED = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the workload, writes the outcome, and returns the exit code: 0, or 2 where it could not run."""
    request, outcome = parse(sys.argv[1:] if arguments is None else arguments)
    try:
        measured = run(request)
    except NsysAnalyzeError as error:
        print(f"{COMPLAINT}{error}", file=sys.stderr)
        return FAILED
    if outcome and os.environ.get("RANK", "0") == "0":
        Path(outcome).write_text(json.dumps(measured, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
