"""Ranges in what Inductor generated: around the kernels that its code launches.

Operations are labelled after optimisation, so fusion is the same as without labels. A kernel goes by its own name
(`triton_poi_fused_add_mul_3`) and by the operations fused in it (`add`, `mul`); calls of other libraries go by theirs
(`mm`, `_scaled_dot_product_flash_attention`).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

from nsys_analyze.driver.annotate import Annotation
from nsys_analyze.driver.labels.choice import Choice
from nsys_analyze.driver.labels.ranges import close_stretch, label, open_stretch

_KERNEL = re.compile(r"(?:triton|cpp)_\w*?fused_(\w+?)_?\d*")
_LIBRARIES = ("extern_kernels", "aten", "torch")


@contextlib.contextmanager
def label_inductor(choice: Choice) -> Iterator[None]:
    """Labels the code of all graphs that Inductor loads while it lasts, forward and backward."""
    from torch._inductor.codecache import PyCodeCache

    labeller, original = _Labeller(choice), vars(PyCodeCache)["load_by_key_path"]

    def load_and_label(cls: Any, *args: Any, **kwargs: Any) -> Any:
        module = original.__func__(cls, *args, **kwargs)
        if hasattr(module, "call"):
            labeller.label_module(module)
        return module

    PyCodeCache.load_by_key_path = classmethod(load_and_label)
    try:
        yield
    finally:
        PyCodeCache.load_by_key_path = original


class _Labeller:
    """Puts proxies in the place of kernels and libraries."""

    def __init__(self, choice: Choice) -> None:
        self.choice, self.stretches = choice, choice.stretches()

    def label_module(self, module: Any) -> None:
        """Labels one generated module: its globals are what its code calls."""
        for name, value in list(vars(module).items()):
            if isinstance(value, _Proxy | _Kernel):
                continue
            if _KERNEL.fullmatch(name):
                setattr(module, name, self._kernel(name, value))
            elif name in _LIBRARIES:
                setattr(module, name, _Proxy(value, self))

    def _kernel(self, name: str, kernel: Any) -> Any:
        found = _KERNEL.fullmatch(name)
        names = (name, *found[1].split("_")) if found else (name,)
        if not callable(getattr(kernel, "run", None)):
            return self.ranged(names, kernel)

        def run(*args: Any, **kwargs: Any) -> Any:
            return kernel.run(*args, **kwargs)  # each time: a kernel may get another once it is tuned

        return _Kernel(kernel, self.ranged(names, run))

    def ranged(self, names: tuple[str, ...], function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function inside its range and at the ends of stretches, or as it is if nothing was chosen."""
        chosen = self.choice.takes(*names)
        if not self.stretches:
            return label(names[0])(function) if chosen else function  # the lightest: push, call, pop
        annotation = label(names[0]) if chosen else None

        def call(*args: Any, **kwargs: Any) -> Any:
            for stretch in self.stretches:
                if stretch.opens(names):
                    open_stretch(stretch.label)
            result = _inside(annotation, function, args, kwargs)
            for stretch in self.stretches:
                if stretch.closes(names):
                    close_stretch(stretch.label)
            return result

        return call


def _inside(annotation: Annotation | None, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    if annotation is None:
        return function(*args, **kwargs)
    with annotation:
        return function(*args, **kwargs)


class _Kernel:
    """A kernel with a labelled ``run``."""

    def __init__(self, kernel: Any, run: Callable[..., Any]) -> None:
        self._kernel, self.run = kernel, run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)


class _Proxy:
    """A library whose operations are labelled: `extern_kernels.mm`, `torch.ops.aten.bmm.default`, `aten.bmm.out`."""

    def __init__(self, inner: Any, labeller: _Labeller) -> None:
        self._inner, self._labeller = inner, labeller

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        replaced = self._replaced(name, value)
        setattr(self, name, replaced)
        return replaced

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._inner(*args, **kwargs)

    def _replaced(self, name: str, value: Any) -> Any:
        kind = type(value).__name__
        if kind == "OpOverload":
            return self._labeller.ranged((value.overloadpacket.__name__,), value)
        if kind in ("_Ops", "_OpNamespace", "OpOverloadPacket"):
            return _Proxy(value, self._labeller)
        if kind in ("builtin_function_or_method", "function") and type(self._inner).__name__ != "module":
            return self._labeller.ranged((name,), value)
        return value
