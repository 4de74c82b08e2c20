"""Several processes that run one workload together, started by torchrun."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import torch

from nsys_analyze.driver.request import Request
from nsys_analyze.driver.workloads import Model
from nsys_analyze.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """This process among the others; alone it is rank 0 of 1 without any way to be parallel."""

    request: Request
    rank: int
    local_rank: int

    @classmethod
    def of(cls, request: Request) -> Self:
        """Reads what torchrun says of this process.

        Raises:
            UsageError: If DDP is asked to run a model without gradients.
        """
        if request.parallel == "ddp" and not request.train:
            raise UsageError("ddp: only exchanges gradients, so it needs --train; fsdp goes without")
        return cls(
            request=request, rank=int(os.environ.get("RANK", "0")), local_rank=int(os.environ.get("LOCAL_RANK", "0"))
        )

    @contextlib.contextmanager
    def joined(self) -> Iterator[None]:
        """Has the ranks know each other while it lasts."""
        if self.request.parallel is None:
            yield
            return
        from torch import distributed

        backend = "nccl" if self.request.device == "cuda" else "gloo"
        if self.request.device == "cuda":
            torch.cuda.set_device(self.local_rank)
        distributed.init_process_group(backend)
        try:
            yield
        finally:
            distributed.destroy_process_group()

    def device(self, kind: str) -> torch.device:
        """This rank's device."""
        return torch.device(kind, self.local_rank) if kind == "cuda" else torch.device(kind)

    def wrapped(self, model: Model) -> Model:
        """Returns the model with its module spread over the ranks."""
        if self.request.parallel is None:
            return model
        wrap = _ddp if self.request.parallel == "ddp" else _fsdp
        return dataclasses.replace(model, module=wrap(model.module, self.device(self.request.device)))

    def opens_window(self) -> bool:
        """Whether this rank begins the capture."""
        return self.request.window_rank in (None, self.rank)


def _ddp(module: Any, device: torch.device) -> Any:
    from torch.nn.parallel import DistributedDataParallel

    return DistributedDataParallel(module, device_ids=[device.index] if device.type == "cuda" else None)


def _fsdp(module: Any, device: torch.device) -> Any:
    """Shards each layer by itself, then what is left."""
    from torch.distributed import get_world_size
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(device.type, (get_world_size(),))
    for layer in getattr(module, "layers", ()):
        fully_shard(layer, mesh=mesh)
    return fully_shard(module, mesh=mesh)
