"""Ways to run a model: one file for each.

Another package adds its own through the entry point group `nsys_analyze.executors`: a subclass of `Executor` by the
name that ``--executor`` shall take.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from nsys_analyze.driver.executors.base import Executor
from nsys_analyze.driver.labels.choice import Choice
from nsys_analyze.errors import UsageError

__all__ = ["GROUP", "NAMES", "Executor", "known_names", "load"]

GROUP = "nsys_analyze.executors"
_HOMES = {
    "eager": "eager:Eager",
    "torchscript": "torchscript:TorchScript",
    "aot_eager": "aot_eager:AotEager",
    "inductor": "inductor:Inductor",
    "cudagraphs": "cudagraphs:CudaGraphs",
    "cudagraph_raw": "cudagraph_raw:CudaGraphRaw",
    "thunder": "thunder:Thunder",
    "thunder_nvfuser": "thunder_nvfuser:ThunderNvFuser",
}
NAMES = tuple(_HOMES)


def known_names() -> list[str]:
    """All names: those of this package, then those of others."""
    return [*NAMES, *sorted(set(entry_points(group=GROUP).names) - set(NAMES))]


def load(name: str, choice: Choice | None = None) -> Executor:
    """Imports an executor and what it needs.

    Args:
        name: Its name; `-` and `_` are the same.
        choice: Which operations are to get a range.

    Raises:
        UsageError: If there is none by that name, a package is missing, or it cannot label operations.
    """
    asked = name.replace("-", "_")
    if asked in _HOMES:
        module, _, kind = _HOMES[asked].partition(":")
        found: type[Executor] = getattr(import_module(f"{__name__}.{module}"), kind)
    else:
        found = _of_others(name).load()
    if choice is not None and not found.labels:
        raise UsageError(f"{name}: its operations cannot be labelled; --ops and --region go without it")
    if choice is not None and choice.module_regions() and not found.labels_modules:
        raise UsageError(
            f"{name}: does not know modules any more, so --region {choice.module_regions()[0]} means nothing to it;"
            " name its first and last operation: --region first..last"
        )
    executor = found(choice)
    executor.load()
    return executor


def _of_others(name: str) -> EntryPoint:
    found = entry_points(group=GROUP, name=name)
    if not found:
        raise UsageError(f"{name}: no such executor; there are: {', '.join(known_names())}")
    return next(iter(found))
