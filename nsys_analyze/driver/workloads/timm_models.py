"""Any image model that timm knows, by its name there."""

from __future__ import annotations

from typing import Any

from nsys_analyze.driver.workloads import NAMES, Model, Workload
from nsys_analyze.errors import UsageError


def load(name: str) -> Workload:
    """Finds a model of timm.

    Raises:
        UsageError: If timm is missing or has no such model.
    """
    try:
        import timm
    except ImportError as error:
        raise UsageError(
            f"{name}: no workload of that name ({', '.join(NAMES)}, or module:function);"
            f" for a model of timm: pip install timm torchvision ({error})"
        ) from error
    if not timm.is_model(name):
        near = ", ".join(timm.list_models(f"*{name}*")[:5]) or ", ".join(NAMES)
        raise UsageError(f"{name}: neither a workload nor a model of timm; near it: {near}")

    def build(*, device: Any, dtype: Any, batch: int) -> Model:
        from nsys_analyze.driver.workloads.vit import classifier

        module = timm.create_model(name, pretrained=False)
        shape = (batch, *module.default_cfg["input_size"])
        return classifier(module, device=device, dtype=dtype, shape=shape, classes=module.num_classes)

    return Workload(name=name, sizes={"batch": 1}, build=build)
