"""What the executors of torch.compile share."""

from __future__ import annotations

from typing import Any

import torch

from nsys_analyze.driver.executors.base import Executor, Runnable
from nsys_analyze.driver.workloads import Model


class TorchCompile(Executor):
    """Compiles with torch.compile for the shapes of the inputs alone, in one graph."""

    def compile(self, model: Model) -> Runnable:
        """Returns the module that compiles itself at its first call."""
        torch._dynamo.reset()
        compiled: Runnable = torch.compile(model.module, dynamic=False, **self.options())
        return compiled

    def options(self) -> dict[str, Any]:
        """Arguments of torch.compile."""
        return {}
