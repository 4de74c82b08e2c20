"""The vision transformer ViT-B/16 in plain PyTorch, for images of 224 by 224."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from nsys_analyze.driver.workloads import Model

SIZES = {"batch": 1, "layers": 12, "hidden": 768, "heads": 12, "image": 224, "patch": 16, "classes": 1000}


class Block(nn.Module):
    """Attention and MLP, each after a layer norm."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.proj = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.mlp = nn.Sequential(nn.Linear(hidden, 4 * hidden), nn.GELU(), nn.Linear(4 * hidden, hidden))

    def forward(self, x: Any) -> Any:
        batch, tokens, hidden = x.shape
        qkv = self.qkv(self.norm1(x)).reshape(batch, tokens, 3, self.heads, hidden // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        attended = F.scaled_dot_product_attention(q, k, v)
        x = x + self.proj(attended.transpose(1, 2).reshape(batch, tokens, hidden))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    """Patches, a class token, blocks, a linear head."""

    def __init__(self, layers: int, hidden: int, heads: int, image: int, patch: int, classes: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, hidden, kernel_size=patch, stride=patch)
        self.token = nn.Parameter(torch.zeros(1, 1, hidden))
        self.positions = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, hidden) * 0.02)
        self.layers = nn.ModuleList(Block(hidden, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(hidden), nn.Linear(hidden, classes)

    def forward(self, images: Any) -> Any:
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), dim=1) + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)[:, 0])


def classifier(module: Any, *, device: Any, dtype: Any, shape: tuple[int, ...], classes: int) -> Model:
    """Returns a model with random images of ``shape`` and labels for them."""
    images = torch.randn(shape, device=device, dtype=dtype)
    labels = torch.randint(classes, shape[:1], device=device)
    return Model(
        module=module.to(device, dtype), inputs=(images,), loss=lambda output: F.cross_entropy(output.float(), labels)
    )


def build(*, device: Any, dtype: Any, batch: int, **sizes: int) -> Model:
    """Builds the transformer, for a batch of random images with labels."""
    with torch.device(device):
        module = ViT(**sizes)
    shape = (batch, 3, sizes["image"], sizes["image"])
    return classifier(module, device=device, dtype=dtype, shape=shape, classes=sizes["classes"])
