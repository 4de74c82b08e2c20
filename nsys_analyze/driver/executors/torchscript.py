"""TorchScript, by tracing."""

from __future__ import annotations

import warnings

import torch

from nsys_analyze.driver.executors.base import Executor, Runnable
from nsys_analyze.driver.workloads import Model


class TorchScript(Executor):
    """Traces the module; the interpreter profiles the first calls and then optimises."""

    distributes = False
    settling_calls = 3

    def compile(self, model: Model) -> Runnable:
        """Returns the traced module."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer versions call it deprecated, and shapes in a trace are meant fixed
            traced: Runnable = torch.jit.trace(model.module, model.inputs, check_trace=False)
        return traced
