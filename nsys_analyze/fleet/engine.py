"""Runs the tasks: some at a time, again where a worker dies, and apart where one seems to kill its workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from nsys_analyze.errors import UsageError
from nsys_analyze.fleet.task import Job, Outcome, analyse, identify

if TYPE_CHECKING:
    from distributed import Client, Future

_RETRIES = 2  # of a task that raised: a full disk or a network file system may recover
_AHEAD = 2  # tasks given to each thread: one at work, one to go on with; results wait nowhere else


def run(client: Client, jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome]]:
    """Analyses reports and yields what became of each, in the order in which they are finished.

    A task whose worker dies is run again by another. One that was running on workers that died again and again may have
    been the cause or a neighbour of it: it waits to the end and is then run with no other beside it, where a worker's
    death can only be its own doing.

    Raises:
        UsageError: The scheduler is gone.
    """
    suspects: list[Job] = []
    for job, found in _through(client, jobs, analyse):
        if _is_death(found):
            suspects.append(job)
        else:
            yield job, _outcome(job, found)
    for suspect in suspects:
        for job, found in _through(client, [suspect], analyse):
            yield job, _outcome(job, found)


def identified(client: Client, jobs: Iterable[Job]) -> Iterator[tuple[Job, str]]:
    """Yields the digest of each report's content, empty where that failed.

    Raises:
        UsageError: The scheduler is gone.
    """
    for job, found in _through(client, jobs, identify):
        yield job, found if isinstance(found, str) else ""


def _through(client: Client, jobs: Iterable[Job], task: Callable[[Job], Any]) -> Iterator[tuple[Job, object]]:
    """Runs a task for each job; yields its result, or what it raised."""
    from distributed import as_completed

    waiting, running = deque(jobs), dict["Future", Job]()
    finished = as_completed(raise_errors=False)
    while waiting or running:
        for _ in range(min(len(waiting), _threads(client) * _AHEAD - len(running))):
            job = waiting.popleft()
            future = client.submit(task, job, pure=False, retries=_RETRIES)
            running[future] = job
            finished.add(future)
        future = next(finished)
        yield running.pop(future), _found(future)
        future.release()


def _threads(client: Client) -> int:
    """Threads of all workers there are at the moment, at least one: a cluster may still grow."""
    return max(1, sum(int(worker["nthreads"]) for worker in _info(client)["workers"].values()))


def _info(client: Client) -> dict[str, Any]:
    try:
        info: dict[str, Any] = client.scheduler_info(n_workers=-1)
    except TypeError:  # a Dask that always tells of all workers
        info = client.scheduler_info()
    return info


def _found(future: Future) -> object:
    """The result of a task, or what it raised; a result that was lost with its worker is made again meanwhile."""
    from concurrent.futures import CancelledError

    try:
        return future.result()
    except CancelledError as error:
        raise UsageError("the scheduler is gone; what was finished is kept, the same command goes on") from error
    except Exception as error:
        return error


def _is_death(found: object) -> bool:
    from distributed import KilledWorker

    return isinstance(found, KilledWorker)


def _outcome(job: Job, found: object) -> Outcome:
    if isinstance(found, Outcome):
        return found
    if _is_death(found):
        why = "its workers died, each time; a memory limit (--memory) may be too low for it"
    else:
        why = f"{type(found).__name__}: {' '.join(str(found).split())}"
    return Outcome(state="failed", digest=None, fingerprint=None, error=f"{job.file}: {why}")
