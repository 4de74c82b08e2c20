"""Lightning Thunder with PyTorch's own operations."""

from __future__ import annotations

from typing import Any

from nsys_analyze.driver.executors.base import Executor, Runnable
from nsys_analyze.driver.workloads import Model
from nsys_analyze.errors import UsageError


class Thunder(Executor):
    """Traces the module with Thunder and runs the trace with its torch executor."""

    distributes = False
    labels = True

    def load(self) -> None:
        """Imports Thunder.

        Raises:
            UsageError: If it is not there, or does not go with the PyTorch that is.
        """
        try:
            import thunder
        except ImportError as error:
            raise UsageError(f"thunder: cannot be imported ({error}); pip install lightning-thunder") from error
        except AttributeError as error:
            raise UsageError(f"thunder: does not go with this version of PyTorch ({error}); install others") from error
        self.thunder: Any = thunder

    def compile(self, model: Model) -> Runnable:
        """Returns the module under Thunder, which compiles at its first call."""
        transforms = []
        if self.choice is not None:
            from nsys_analyze.driver.labels.thunder import LabelTransform

            transforms.append(LabelTransform(self.choice))
        compiled: Runnable = self.thunder.jit(model.module, executors=self.backends(), transforms=transforms)
        return compiled

    def backends(self) -> list[Any]:
        """Thunder's executors, the preferred one first."""
        return [self.thunder.pytorch_executor]
