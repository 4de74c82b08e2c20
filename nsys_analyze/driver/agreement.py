"""Whether an executor computes what eager mode does.

Results are compared by their relative distance, |x - eager| / |eager| in the Euclidean norm: the output of one pass
and, in training, all gradients together. Executors fuse and reorder, so they differ by rounding: bf16 keeps 8 bits
(0.4%), and its errors add up over layers and in gradients.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import torch

from nsys_analyze.driver.workloads import Model, loss_of

OUTPUT_TOLERANCE = defaultdict(lambda: 1e-3, {torch.bfloat16: 2e-2})
GRADIENT_TOLERANCE = defaultdict(lambda: 5e-3, {torch.bfloat16: 1e-1})


def compare(model: Model, output: Any, train: bool) -> dict[str, Any]:
    """Runs the module eagerly and returns how far an executor's results are from that.

    Args:
        model: The module that the executor ran, with the gradients that it left there.
        output: What the executor returned.
        train: Whether to compare gradients too; all are cleared afterwards.

    Returns:
        ``output`` and, in training, ``gradient``: the distances, each with its tolerance, and whether it ``agrees``.
    """
    mine, gradient = _flat(output), _gradient(model) if train else None
    model.module.zero_grad(set_to_none=True)
    eager = model.module(*model.inputs)
    dtype = next((each.dtype for each in _tensors(eager)), torch.float32)
    found = {"output": _distance(mine, _flat(eager)), "tolerance": OUTPUT_TOLERANCE[dtype]}
    if gradient is not None:
        loss_of(model, eager).backward()
        found["gradient"] = _distance(gradient, _gradient(model))
        found["gradient_tolerance"] = GRADIENT_TOLERANCE[dtype]
        model.module.zero_grad(set_to_none=True)
    agrees = found["output"] <= found["tolerance"]
    return {**found, "agrees": agrees and found.get("gradient", 0) <= found.get("gradient_tolerance", 0)}


def _flat(result: Any) -> torch.Tensor:
    """All floating tensors of a result, in one row of double precision on the CPU."""
    return torch.cat([torch.zeros(0).double(), *(_local(each).double().cpu().flatten() for each in _tensors(result))])


def _local(tensor: torch.Tensor) -> torch.Tensor:
    """The part of a sharded tensor that this rank has."""
    detached = tensor.detach()
    local: torch.Tensor = detached.to_local() if hasattr(detached, "to_local") else detached
    return local


def _tensors(result: Any) -> list[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        return [result] if result.is_floating_point() else []
    parts = result.values() if isinstance(result, dict) else result if isinstance(result, list | tuple) else []
    return [tensor for part in parts for tensor in _tensors(part)]


def _gradient(model: Model) -> torch.Tensor:
    return _flat([each.grad for each in model.module.parameters() if each.grad is not None])


def _distance(mine: torch.Tensor, eager: torch.Tensor) -> float:
    if mine.shape != eager.shape:
        return float("inf")
    norm = float(eager.norm())
    distance = float((mine - eager).norm())
    return distance / norm if norm else distance
