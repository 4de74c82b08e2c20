"""What an executor is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from nsys_analyze.driver.labels.choice import Choice
from nsys_analyze.driver.workloads import Model

Runnable = Callable[..., Any]


class Executor:
    """A way to run a model; a subclass overrides `compile`, and what else differs.

    Attributes:
        trains: Whether gradients flow through what it makes.
        needs_cuda: Whether it needs a GPU.
        distributes: Whether it takes modules that DDP or FSDP wrapped.
        labels: Whether it can put ranges around operations.
        labels_modules: Whether it knows which module an operation comes from.
        settling_calls: Calls after which nothing is compiled, recorded or captured any more.
    """

    trains: ClassVar[bool] = True
    needs_cuda: ClassVar[bool] = False
    distributes: ClassVar[bool] = True
    labels: ClassVar[bool] = False
    labels_modules: ClassVar[bool] = False
    settling_calls: ClassVar[int] = 1

    def __init__(self, choice: Choice | None = None) -> None:
        self.choice = choice

    def load(self) -> None:
        """Imports what it needs.

        Raises:
            UsageError: If a package is missing, naming what to install.
        """

    def compile(self, model: Model) -> Runnable:
        """Returns what is called in the place of the module."""
        raise NotImplementedError

    def before_step(self) -> None:
        """Is called before each step."""

    def compiling(self) -> AbstractContextManager[object]:
        """Surrounds compilation where its phases are to be seen as NVTX ranges."""
        return contextlib.nullcontext()

    def labelled(self, model: Model) -> AbstractContextManager[object]:
        """Surrounds everything from compilation on where operations are to get ranges."""
        return contextlib.nullcontext()
