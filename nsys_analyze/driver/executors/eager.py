"""PyTorch as it is."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager

from nsys_analyze.driver.executors.base import Executor, Runnable
from nsys_analyze.driver.workloads import Model


class Eager(Executor):
    """Calls the module itself."""

    labels = True
    labels_modules = True

    def compile(self, model: Model) -> Runnable:
        """Returns the module."""
        module: Runnable = model.module
        return module

    def labelled(self, model: Model) -> AbstractContextManager[object]:
        """Labels modules and dispatched operations while it lasts."""
        if self.choice is None:
            return contextlib.nullcontext()
        from nsys_analyze.driver.labels.eager import label_eager

        return label_eager(model.module, self.choice)
