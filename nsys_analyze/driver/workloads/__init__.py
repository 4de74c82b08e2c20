"""What can be run: each workload builds a model and its inputs, with the same weights for every executor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from nsys_analyze.errors import UsageError

NAMES = ("llama", "vit", "mlp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model and what it is called with.

    Attributes:
        module: A torch module, on its device.
        inputs: Its positional arguments.
        loss: What training minimises, of the module's output; None is the mean square of it.
    """

    module: Any
    inputs: tuple[Any, ...]
    loss: Callable[[Any], Any] | None = None


def loss_of(model: Model, output: Any) -> Any:
    """The model's loss of an output."""
    return model.loss(output) if model.loss else output.float().pow(2).mean()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A workload, loaded. ``build`` takes device (torch.device), dtype (torch.dtype) and the sizes by name."""

    name: str
    sizes: Mapping[str, int]
    build: Callable[..., Model]

    def built(self, device: Any, dtype: Any, sizes: Mapping[str, int]) -> Model:
        """Builds the model, with ``sizes`` in the place of the workload's own.

        Raises:
            UsageError: If the workload has no such size.
        """
        for size in sizes:
            if size not in self.sizes:
                known = ", ".join(f"{name}={value}" for name, value in self.sizes.items()) or "none"
                raise UsageError(f"{self.name}: no size '{size}' to set; it has {known}")
        return self.build(device=device, dtype=dtype, **{**self.sizes, **sizes})


def load(name: str) -> Workload:
    """Imports a workload: one of `NAMES`, ``module:function``, or any model name of timm.

    Raises:
        UsageError: If there is no such workload, or a package is missing.
    """
    if name in NAMES:
        home = import_module(f"{__name__}.{name}")
        return Workload(name=name, sizes=home.SIZES, build=home.build)
    if ":" in name:
        from nsys_analyze.driver.workloads import users

        return users.load(name)
    from nsys_analyze.driver.workloads import timm_models

    return timm_models.load(name)
