"""The command lines of nsys, with flags chosen for the numbers of this package.

CUDA calls and kernels with NVTX ranges; CUDA graphs by node, so that their kernels are seen; no sampling of the CPU and
no context switches, which cost the program time and answer no question here.
"""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nsys_analyze.driver.cases import Case
from nsys_analyze.errors import UsageError

_SHORT = {"-t": "--trace", "-s": "--sample", "-c": "--capture-range", "-f": "--force-overwrite", "-o": "--output"}
_WHERE = ("--output", "--export")

BOOTSTRAP = Path(__file__).with_name("bootstrap.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiler:
    """How programs are profiled.

    Attributes:
        nsys: The program.
        version: Its version, where it says so.
        cuda: Whether there is CUDA to trace.
        window: Whether the capture waits for cudaProfilerStart.
        export: Whether nsys exports the report to SQLite, too.
        options: More options of `nsys profile`, as they are; one that is among its own takes that one's place, since
            nsys refuses an option given twice.

    Raises:
        UsageError: If one of them says where reports go.
    """

    nsys: str = "nsys"
    version: str | None = None
    cuda: bool = True
    window: bool = False
    export: bool = True
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for word in self.options:
            if _long(word) in _WHERE:
                raise UsageError(f"--nsys-option={word}: other options say where reports go")

    def command(self, report: str) -> list[str]:
        """The words before the program; ``report`` is the path of the report without a suffix."""
        given = {_long(word) for word in self.options}
        own = [words for words in self._own(report) if words[0] not in given]
        return [self.nsys, "profile", *itertools.chain.from_iterable(own), *self.options]

    def _own(self, report: str) -> list[tuple[str, str]]:
        """Options with their values."""
        traced = [("--trace", "cuda,nvtx"), ("--cuda-graph-trace", "node")] if self.cuda else [("--trace", "nvtx")]
        window = [("--capture-range", "cudaProfilerApi"), ("--capture-range-end", "stop")] if self.window else []
        output = [("--output", report), ("--force-overwrite", "true"), *([("--export", "sqlite")] * self.export)]
        return [*traced, ("--sample", "none"), ("--cpuctxsw", "none"), *window, *output]

    def excuse(self) -> str:
        """Why there may be no report though nothing failed."""
        return ", as nothing called cudaProfilerStart" if self.window else ""


def _long(word: str) -> str:
    """Returns the long name of the option that a word is, such as --trace for -t, -tcuda and --trace=cuda."""
    return word.partition("=")[0] if word.startswith("--") else _SHORT.get(word[:2], word)


def find_nsys() -> tuple[str, str | None]:
    """Returns the path and the version of nsys: of what NSYS names, else of the one on PATH.

    Raises:
        UsageError: If there is none.
    """
    from nsys_analyze.ingest.nsys import installed_nsys

    found = installed_nsys()
    if found is None:
        named = os.environ.get("NSYS")
        why = f"NSYS names {named}, which is no program" if named else "nsys is not on PATH"
        raise UsageError(f"{why}; install Nsight Systems, or set NSYS to its nsys")
    return found


def workload_command(case: Case, arguments: Sequence[str], python: str, profiler: Sequence[str] = ()) -> list[str]:
    """Returns the command that runs a case, under the words of a profiler where there are some.

    Args:
        case: What runs.
        arguments: Arguments of its process.
        python: The interpreter.
        profiler: What to put before the program: before torchrun for one report of all ranks, else in each rank.
    """
    script = [str(BOOTSTRAP), *arguments]
    if case.ranks == 1:
        return [*profiler, python, *script]
    torchrun = [python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(case.ranks)]
    if case.report_per_rank and profiler:
        return [*torchrun, "--no-python", *profiler, python, *script]
    return [*profiler, *torchrun, *script]


def interpreter(named: str | None) -> str:
    """Returns the path of a Python interpreter: the one named, else this one.

    Raises:
        UsageError: If there is no such program.
    """
    found = shutil.which(named or sys.executable)
    if found is None:
        raise UsageError(f"--python {named}: no such program")
    return str(Path(found).absolute())
