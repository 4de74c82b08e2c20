"""A few small layers: quick enough to try everything on a CPU."""

from __future__ import annotations

from typing import Any

import torch

from nsys_analyze.driver.workloads import Model

SIZES = {"batch": 8, "layers": 2, "hidden": 64}


def build(*, device: Any, dtype: Any, batch: int, layers: int, hidden: int) -> Model:
    """Builds ``layers`` times linear and ReLU."""
    pairs = [(torch.nn.Linear(hidden, hidden), torch.nn.ReLU()) for _ in range(layers)]
    module = torch.nn.Sequential(*(each for pair in pairs for each in pair)).to(device, dtype)
    return Model(module=module, inputs=(torch.randn(batch, hidden, device=device, dtype=dtype),))
