"""The cases of a capture: every executor with every size and every environment."""

from __future__ import annotations

import dataclasses
import itertools
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nsys_analyze.driver.request import DTYPES, Request
from nsys_analyze.errors import UsageError

CACHES = ("cold", "warm", "user")
_UNSAFE = re.compile(r"[^\w.=+-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row of the table at the end.

    Attributes:
        request: What the workload's process does.
        env: Environment variables that this case sets.
        ranks: How many processes run it.
        report_per_rank: Whether each of them has a report of its own.
        cache: What compilers find cached: "cold" nothing, "warm" what an earlier run of the case left, "user" whatever
            the user's own caches hold.
    """

    request: Request
    env: Mapping[str, str] = field(default_factory=dict)
    ranks: int = 1
    report_per_rank: bool = False
    cache: str = "cold"

    @property
    def name(self) -> str:
        """What its files are called: the same for the same case, another for another of the same capture."""
        request = self.request
        parts = [request.workload, *(["train"] if request.train else []), request.executor]
        parts += [] if request.dtype == DTYPES[0] else [request.dtype]
        parts += [f"{size}={value}" for size, value in request.sizes.items()]
        parts += [] if self.ranks == 1 else [f"{request.parallel}={self.ranks}"]
        return _UNSAFE.sub("_", "-".join(parts)) + environment_name(self.env)

    def settings(self) -> dict[str, Any]:
        """Everything that makes the case, ready for JSON."""
        return {
            **dataclasses.asdict(self.request),
            "sizes": dict(self.request.sizes),
            "regions": list(self.request.regions),
            "env": dict(self.env),
            "ranks": self.ranks,
            "report_per_rank": self.report_per_rank,
            "cache": self.cache,
        }


def environment_name(env: Mapping[str, str]) -> str:
    """The end of a case's name that its environment makes."""
    return _UNSAFE.sub("_", "".join(f"-{name}={value}" for name, value in env.items()))


def matrix(first: Case, executors: Sequence[str], sweeps: Iterable[str], environments: Iterable[str]) -> list[Case]:
    """Returns ``first`` with every combination of executor, sizes and environment; no environment comes first.

    Args:
        first: What all cases share.
        executors: Their names; `-` and `_` are the same.
        sweeps: Each ``name=1,2,4``.
        environments: Each ``NAME=VALUE``, or several of them as a shell reads them; each makes a case.

    Raises:
        UsageError: If a sweep or an environment is none.
    """
    sizes = [_sweep(each) for each in dict.fromkeys(sweeps)]
    envs = [{}, *(_environment(each) for each in dict.fromkeys(environments))]
    names = dict.fromkeys(executor.replace("-", "_") for executor in executors)
    cases = []
    for point, executor, env in itertools.product(itertools.product(*sizes), names, envs):
        request = dataclasses.replace(first.request, executor=executor, sizes=dict(point))
        cases.append(dataclasses.replace(first, request=request, env={**first.env, **env}))
    _check_names(cases)
    return cases


def _check_names(cases: Sequence[Case]) -> None:
    """Refuses cases whose files would have the same name."""
    named: dict[str, Case] = {}
    for case in cases:
        other = named.setdefault(case.name, case)
        if other is not case:
            raise UsageError(f"{case.name}: two cases would have this name; capture them into folders of their own")


def _sweep(text: str) -> list[tuple[str, int]]:
    name, equals, values = text.partition("=")
    try:
        found = [(name.strip(), int(value)) for value in values.split(",")]
    except ValueError:
        found = []
    if not equals or not name.strip() or not found or min(value for _, value in found) < 1:
        raise UsageError(f"--sweep {text}: write NAME=N or NAME=N,N,...; for example batch=1,4,8,16")
    return found


def _environment(text: str) -> dict[str, str]:
    try:
        pairs = [word.partition("=") for word in shlex.split(text)]
    except ValueError as error:
        raise UsageError(f"--env {text}: {error}") from error
    if not pairs or not all(name and equals for name, equals, _ in pairs):
        raise UsageError(f"--env {text}: write NAME=VALUE; several variables of one case go in quotes, 'A=1 B=2'")
    return {name: value for name, _, value in pairs}
