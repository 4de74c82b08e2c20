"""Workers: those of this machine, started for the occasion, or a cluster that people already run."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING

from nsys_analyze._version import __version__
from nsys_analyze.errors import UsageError

if TYPE_CHECKING:
    from distributed import Client

_CONNECT_S = 10
_WORKERS_S = 60
_SETTINGS = {
    "distributed.scheduler.allowed-failures": 1,  # deaths of workers that a task survives; then it is tried alone
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,  # one that keeps what it once took would never go on
    "distributed.worker.memory.terminate": 0.95,
}
_LEAST_MEMORY = 256 * 10**6  # bytes: a worker takes more than half of it before it reads anything
_WORTHWHILE_MEMORY = 10**9


@contextmanager
def local(workers: int, memory: str | None) -> Iterator[Client]:
    """Starts worker processes on this machine, each with one thread; they end with the block.

    Args:
        workers: How many.
        memory: What each may take, such as "4GB"; by default its share of the machine's. One that takes more is ended.

    Raises:
        UsageError: Dask is not installed, ``memory`` is no size, or too little, or a worker ends while it starts.
    """
    _require_dask()
    import dask
    from dask.utils import parse_bytes
    from distributed import Client, LocalCluster

    try:
        limit = None if memory is None else int(parse_bytes(memory))
    except ValueError as error:
        raise UsageError(f"--memory {memory}: not a size such as 4GB") from error
    if limit is not None and limit < _LEAST_MEMORY:
        raise UsageError(f"--memory {memory}: too little for a worker, which takes 256MB at least")
    with dask.config.set(_SETTINGS), contextlib.ExitStack() as stack:
        try:
            with _deaf_to_interrupts():
                cluster = stack.enter_context(
                    LocalCluster(
                        n_workers=workers,
                        threads_per_worker=1,
                        processes=True,
                        memory_limit="auto" if limit is None else limit,
                        dashboard_address="127.0.0.1:0",
                        silence_logs=logging.CRITICAL + 1,
                    )
                )
        except RuntimeError as error:
            raise UsageError(f"the workers did not start: {error}; fewer (--workers) may") from error
        yield stack.enter_context(Client(cluster))


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Holds Ctrl-C back while it lasts; threads and processes that are started within, and theirs, never hear it.

    Ctrl-C reaches all processes of a terminal: workers leave it to the one that started them and ends them.
    """
    resource_tracker.ensure_running()  # it would let the first worker hear it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def remote(address: str) -> Iterator[Client]:
    """Connects to a scheduler whose workers have the same version of this package.

    Raises:
        UsageError: Dask is not installed, the scheduler cannot be reached, or a worker lacks this version.
    """
    _require_dask()
    from distributed import Client

    try:
        client = Client(address, timeout=_CONNECT_S)
    except (OSError, ValueError) as error:
        raise UsageError(f"--scheduler {address}: cannot be reached: {error}") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_WORKERS_S)
        except TimeoutError as error:
            raise UsageError(f"--scheduler {address}: it has no workers") from error
        _check_versions(client)
        yield client


def _require_dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise UsageError("a fleet needs Dask: pip install 'nsys-analyze[fleet]'") from error


def _check_versions(client: Client) -> None:
    def version() -> str:  # a function of its own travels by value: a worker may lack the package
        try:
            from nsys_analyze import __version__ as installed
        except ImportError:
            return "none"
        return installed

    for worker, found in client.run(version).items():
        if found != __version__:
            what = "no nsys-analyze" if found == "none" else f"nsys-analyze {found}"
            raise UsageError(f"worker {worker}: has {what}; install {__version__} on all workers, as here")


def default_workers() -> int:
    """One for each core that this process may use, as far as each then has a GB of memory.

    Raises:
        UsageError: Dask is not installed.
    """
    _require_dask()
    from distributed.system import MEMORY_LIMIT

    return max(1, min(len(os.sched_getaffinity(0)), int(MEMORY_LIMIT // _WORTHWHILE_MEMORY)))
