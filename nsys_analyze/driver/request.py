"""What a workload's process is asked to do: its command line, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

STAGE_NAMES = ("import", "build", "compile", "warmup", "steady")
WINDOW_STAGES = STAGE_NAMES[1:]  # the profiler can be told only once torch is there
DTYPES = ("bf16", "fp32")
PARALLEL = ("ddp", "fsdp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One run of a workload.

    Attributes:
        workload: A name of `workloads`, of timm, or ``module:function``.
        executor: A name of `executors`.
        device: "cuda" or "cpu".
        dtype: "bf16" or "fp32".
        sizes: What differs from the workload's own sizes, such as batch, seq and layers.
        train: Whether a step is forward, backward and optimizer.
        steps: Steps of a block in the stage ``steady``.
        warmup: Steps of the stage ``warmup``.
        repeats: Blocks of steps, each of which is timed.
        seed: Seed of weights and inputs.
        check: Whether to compare the results with eager mode's, outside all stages.
        compile_phases: Whether PyTorch should emit NVTX ranges while it compiles.
        ops: Which operations get a range, such as ``linear|nvFusion*``.
        regions: Which stretches get one: a module's path, or ``first..last`` operation.
        window: The stage at which the capture begins, where it does not from the start.
        window_rank: The rank that begins it, or None for all.
        parallel: "ddp" or "fsdp" where there are several ranks.
    """

    workload: str
    executor: str = "eager"
    device: str = "cuda"
    dtype: str = "bf16"
    sizes: Mapping[str, int] = field(default_factory=dict)
    train: bool = False
    steps: int = 10
    warmup: int = 3
    repeats: int = 1
    seed: int = 0
    check: bool = False
    compile_phases: bool = False
    ops: str | None = None
    regions: tuple[str, ...] = ()
    window: str | None = None
    window_rank: int | None = None
    parallel: str | None = None

    def arguments(self) -> list[str]:
        """The command line that `parse` reads back."""
        words = [self.workload, "--executor", self.executor, "--device", self.device, "--dtype", self.dtype]
        for name in ("steps", "warmup", "repeats", "seed", "ops", "window", "window_rank", "parallel"):
            value = getattr(self, name)
            words += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
        for size, value in self.sizes.items():
            words += ["--size", f"{size}={value}"]
        for region in self.regions:
            words += ["--region", region]
        return words + [
            f"--{name.replace('_', '-')}" for name in ("train", "check", "compile_phases") if getattr(self, name)
        ]


def parse(arguments: Sequence[str]) -> tuple[Request, str | None]:
    """Returns the request on a command line, and the file that the outcome goes to.

    Raises:
        SystemExit: If the command line is none.
    """
    import argparse

    parser = argparse.ArgumentParser(prog="run_workload", description="Runs one workload in stages.")
    parser.add_argument("workload")
    parser.add_argument("--executor", default="eager")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--dtype", choices=DTYPES, default="bf16")
    parser.add_argument("--size", action="append", type=_size, default=[], dest="sizes", metavar="NAME=N")
    for name, default in (("steps", 10), ("warmup", 3), ("repeats", 1), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name in ("train", "check", "compile-phases"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--ops", metavar="PATTERN")
    parser.add_argument("--region", action="append", default=[], dest="regions")
    parser.add_argument("--window", choices=WINDOW_STAGES)
    parser.add_argument("--window-rank", type=int)
    parser.add_argument("--parallel", choices=PARALLEL)
    parser.add_argument("--outcome", metavar="FILE", help="where to write what was measured")
    options: dict[str, Any] = vars(parser.parse_args(arguments))
    outcome = options.pop("outcome")
    return Request(**{**options, "sizes": dict(options["sizes"]), "regions": tuple(options["regions"])}), outcome


def _size(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    return name, int(value)
