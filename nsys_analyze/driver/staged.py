"""A workload in stages: import, build, compile, warmup, steady, each an NVTX range of the domain `stages`."""

from __future__ import annotations

import contextlib
import platform
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from nsys_analyze.driver.annotate import stage
from nsys_analyze.driver.request import Request
from nsys_analyze.driver.workloads import loss_of
from nsys_analyze.errors import UsageError

if TYPE_CHECKING:
    from nsys_analyze.driver.executors import Executor
    from nsys_analyze.driver.ranks import Ranks
    from nsys_analyze.driver.workloads import Model, Workload

Outcome = dict[str, Any]


def run(request: Request) -> Outcome:
    """Runs a workload and returns what was measured, ready for JSON: see docs/driver.md.

    Raises:
        UsageError: If the request does not fit the workload, the executor or the machine, or a package is missing.
    """
    staged = Staged(request)
    with staged.stage("import"):
        staged.load()
    return staged.run()


class Stage:
    """Surrounds a stage. No generator, for ranges in those are start/end ranges."""

    def __init__(self, run: Staged, name: str) -> None:
        self._run, self._name, self._range = run, name, stage(name)

    def __enter__(self) -> None:
        window = self._run.request.window
        if self._name == window:
            self._run.open_window()
        self._begin = time.perf_counter_ns()
        self._range.__enter__()
        if self._name == (window or "build"):
            self._run.tell_rank()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._run.synchronize()
        finally:
            self._range.__exit__(kind, error, traceback)
        self._run.stages_ns[self._name] = time.perf_counter_ns() - self._begin


class Staged:
    """One run, from import to the last step; the attributes fill as the stages pass."""

    workload: Workload
    executor: Executor
    ranks: Ranks
    model: Model
    call: Callable[..., Any]

    def __init__(self, request: Request) -> None:
        self.request = request
        self.stages_ns: dict[str, int] = {}
        self.synchronize: Callable[[], None] = lambda: None
        self.step_ns: list[float] = []
        self.agreement: dict[str, Any] | None = None

    def stage(self, name: str) -> Stage:
        """Surrounds a stage, which ends when the GPU has done its work; the capture window may open before it."""
        return Stage(self, name)

    def load(self) -> None:
        """Imports PyTorch, the workload and the executor."""
        request = self.request
        try:
            import torch
        except ImportError as error:
            raise UsageError(f"PyTorch cannot be imported ({error}); pip install torch, or name a --python") from error
        from nsys_analyze.driver import executors, workloads
        from nsys_analyze.driver.labels.choice import Choice
        from nsys_analyze.driver.ranks import Ranks

        if request.device == "cuda":
            if not torch.cuda.is_available():
                raise UsageError("PyTorch finds no GPU (torch.cuda.is_available() is False); use --device cpu")
            self.synchronize = torch.cuda.synchronize
        self.executor = executors.load(request.executor, Choice.of(request.ops, request.regions))
        self.workload = workloads.load(request.workload)
        self.ranks = Ranks.of(request)
        _check(request, self.executor)

    def run(self) -> Outcome:
        """Goes through the other stages."""
        import torch

        gradients = contextlib.nullcontext() if self.request.train else torch.no_grad()
        with gradients, self.ranks.joined():
            self.build()
            with self.executor.labelled(self.model):
                self.compile()
                self.check()
                self.steps()
        if self.request.window is not None:
            self.close_window()
        return {
            "stages_ns": self.stages_ns,
            "step_ns": self.step_ns,
            "steps": self.request.steps,
            "clock": "cuda events" if self.request.device == "cuda" else "perf_counter",
            "sizes": {**self.workload.sizes, **self.request.sizes},
            "agreement": self.agreement,
            "machine": machine(self.request.device),
        }

    def build(self) -> None:
        """Makes the model and its inputs."""
        import torch

        request = self.request
        with self.stage("build"):
            torch.manual_seed(request.seed)
            dtype = torch.bfloat16 if request.dtype == "bf16" else torch.float32
            self.model = self.workload.built(self.ranks.device(request.device), dtype, request.sizes)
            self.model.module.train(request.train)
            if not request.train:
                self.model.module.requires_grad_(False)
            self.model = self.ranks.wrapped(self.model)

    def compile(self) -> None:
        """Lets the executor compile, record and capture until nothing of that is left."""
        phases = self.executor.compiling() if self.request.compile_phases else contextlib.nullcontext()
        with self.stage("compile"), phases:
            self.call = self.executor.compile(self.model)
            for _ in range(self.executor.settling_calls):
                self.model.module.zero_grad(set_to_none=True)
                self.output = self.forward_backward()

    def check(self) -> None:
        """Compares with eager mode, where that was asked for, and makes the optimizer."""
        if self.request.check:
            from nsys_analyze.driver.agreement import compare

            self.agreement = compare(self.model, self.output, self.request.train)
        del self.output
        if self.request.train:
            self.model.module.zero_grad(set_to_none=True)
            self.optimizer = torch_optimizer(self.model.module)

    def steps(self) -> None:
        """Warms up, then runs and times the blocks of numbered steps."""
        step = self.training_step if self.request.train else self.forward_backward
        with self.stage("warmup"):
            for _ in range(self.request.warmup):
                step()
        from nsys_analyze.driver.timing import stopwatch

        with self.stage("steady"):
            for block in range(self.request.repeats):
                watch = stopwatch(self.request.device)
                for number in range(block * self.request.steps, (block + 1) * self.request.steps):
                    with stage(f"step {number + 1}"):
                        step()
                self.step_ns.append(watch.elapsed_ns() / self.request.steps)

    def forward_backward(self) -> Any:
        """One pass without an optimizer; returns the output."""
        self.executor.before_step()
        if not self.request.train:
            return self.call(*self.model.inputs)
        with stage("forward"):
            output = self.call(*self.model.inputs)
            loss = loss_of(self.model, output)
        with stage("backward"):
            loss.backward()
        return output

    def training_step(self) -> None:
        """Forward, backward, optimizer."""
        self.forward_backward()
        with stage("optimizer"):
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)

    def tell_rank(self) -> None:
        """Opens and closes a range by which the report of a job tells its processes apart."""
        if self.request.parallel is not None:
            with stage(f"rank {self.ranks.rank}"):
                pass

    def open_window(self) -> None:
        """Tells a waiting profiler to begin."""
        if self.ranks.opens_window():
            cuda_profiler("start")

    def close_window(self) -> None:
        """Tells it to stop."""
        if self.ranks.opens_window():
            cuda_profiler("stop")


def cuda_profiler(what: str) -> None:
    """Calls cudaProfilerStart or cudaProfilerStop."""
    import torch

    getattr(torch.cuda.profiler, what)()


def torch_optimizer(module: Any) -> Any:
    """The optimizer of all training workloads."""
    import torch

    return torch.optim.AdamW(module.parameters(), lr=1e-4)


def machine(device: str) -> dict[str, str | None]:
    """What the workload ran on."""
    import torch

    gpu = device == "cuda"
    return {
        "gpu": torch.cuda.get_device_name() if gpu else None,
        "cpu": _cpu_name(),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "cuda": torch.version.cuda if gpu else None,
    }


def _cpu_name() -> str | None:
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or None


def _check(request: Request, executor: Executor) -> None:
    """Refuses what the executor cannot do."""
    if executor.needs_cuda and request.device != "cuda":
        raise UsageError(f"{request.executor}: needs a GPU; leave it out with --device {request.device}")
    if request.train and not executor.trains:
        raise UsageError(f"{request.executor}: runs the forward pass alone; leave it out with --train")
    if request.parallel and not executor.distributes:
        raise UsageError(f"{request.executor}: cannot run a model that {request.parallel} wrapped; leave it out")
    if request.window and request.device != "cuda":
        raise UsageError("--from needs a GPU: CUDA's profiler calls begin the capture")
