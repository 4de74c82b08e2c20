"""Decoder layers of Llama 3.2 1B in plain PyTorch: grouped-query attention, rotary positions, RMS norms, SwiGLU.

Sizes are those of the published model: 2048 wide, 32 heads of 64 over 8 heads of keys and values, 8192 within the MLP.
Rotations are computed in the forward pass, as the usual implementations do; embedding and head are left out.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from nsys_analyze.driver.workloads import Model

SIZES = {"batch": 1, "seq": 6, "layers": 1, "hidden": 2048, "heads": 32, "kv_heads": 8, "intermediate": 8192}
_THETA = 500_000.0  # base of the rotary frequencies


class RMSNorm(nn.Module):
    """Scales by the root mean square, in single precision."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))

    def forward(self, x: Any) -> Any:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.weight * wide.to(x.dtype)


def _turned(x: Any) -> Any:
    """The second half of each head, negated, before the first."""
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


class Attention(nn.Module):
    """Causal self-attention; several query heads share a head of keys and values."""

    def __init__(self, hidden: int, heads: int, kv_heads: int) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.width = heads, kv_heads, hidden // heads
        self.q_proj = nn.Linear(hidden, heads * self.width, bias=False)
        self.k_proj = nn.Linear(hidden, kv_heads * self.width, bias=False)
        self.v_proj = nn.Linear(hidden, kv_heads * self.width, bias=False)
        self.o_proj = nn.Linear(heads * self.width, hidden, bias=False)

    def forward(self, x: Any, cos: Any, sin: Any) -> Any:
        batch, seq, _ = x.shape
        q = self.q_proj(x).view(batch, seq, self.heads, self.width).transpose(1, 2)
        k = self.k_proj(x).view(batch, seq, self.kv_heads, self.width).transpose(1, 2)
        v = self.v_proj(x).view(batch, seq, self.kv_heads, self.width).transpose(1, 2)
        q, k = q * cos + _turned(q) * sin, k * cos + _turned(k) * sin
        attended = F.scaled_dot_product_attention(q, self._shared(k), self._shared(v), is_causal=True)
        return self.o_proj(attended.transpose(1, 2).reshape(batch, seq, self.heads * self.width))

    def _shared(self, x: Any) -> Any:
        """Repeats each head for the query heads that share it."""
        batch, _, seq, _ = x.shape
        shared = x[:, :, None].expand(batch, self.kv_heads, self.heads // self.kv_heads, seq, self.width)
        return shared.reshape(batch, self.heads, seq, self.width)


class MLP(nn.Module):
    """SwiGLU."""

    def __init__(self, hidden: int, intermediate: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(hidden, intermediate, bias=False)
        self.up_proj = nn.Linear(hidden, intermediate, bias=False)
        self.down_proj = nn.Linear(intermediate, hidden, bias=False)

    def forward(self, x: Any) -> Any:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """One decoder layer."""

    def __init__(self, hidden: int, heads: int, kv_heads: int, intermediate: int) -> None:
        super().__init__()
        self.input_norm, self.post_norm = RMSNorm(hidden), RMSNorm(hidden)
        self.attention = Attention(hidden, heads, kv_heads)
        self.mlp = MLP(hidden, intermediate)

    def forward(self, x: Any, cos: Any, sin: Any) -> Any:
        x = x + self.attention(self.input_norm(x), cos, sin)
        return x + self.mlp(self.post_norm(x))


class Llama(nn.Module):
    """Decoder layers and the last norm."""

    def __init__(self, layers: int, hidden: int, heads: int, kv_heads: int, intermediate: int) -> None:
        super().__init__()
        width = hidden // heads
        self.layers = nn.ModuleList(Layer(hidden, heads, kv_heads, intermediate) for _ in range(layers))
        self.norm = RMSNorm(hidden)
        self.register_buffer("frequencies", _THETA ** -(torch.arange(0, width, 2).float() / width), persistent=False)

    def forward(self, x: Any, positions: Any) -> Any:
        angles = positions[:, None].float() * self.frequencies[None, :].float()
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)


def build(*, device: Any, dtype: Any, batch: int, seq: int, **sizes: int) -> Model:
    """Builds the layers, for hidden states of ``seq`` tokens."""
    with torch.device(device):
        module = Llama(**sizes).to(dtype=dtype)
        inputs = (torch.randn(batch, seq, sizes["hidden"], dtype=dtype), torch.arange(seq))
    return Model(module=module, inputs=inputs)
