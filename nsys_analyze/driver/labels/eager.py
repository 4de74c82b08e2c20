"""Ranges in eager mode: around modules through hooks, around operations through a dispatch mode.

The dispatch mode takes every operation through Python, some 10 us each: it is on only where operations or stretches are
chosen that no module's name answers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from nsys_analyze.driver.labels.choice import Choice
from nsys_analyze.driver.labels.ranges import close_label, close_stretch, open_label, open_stretch


class LabelMode(TorchDispatchMode):
    """Opens the chosen ranges as operations are dispatched, those of the backward pass too."""

    def __init__(self, choice: Choice) -> None:
        super().__init__()
        self.choice, self.stretches = choice, choice.stretches()
        self.known: dict[Any, bool] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        for stretch in self.stretches:
            if stretch.opens((name,)):
                open_stretch(stretch.label)
        try:
            return self._called(name, func, args, kwargs or {})
        finally:
            for stretch in self.stretches:
                if stretch.closes((name,)):
                    close_stretch(stretch.label)

    def _called(self, name: str, func: Any, args: Any, kwargs: Any) -> Any:
        chosen = self.known.get(func)
        if chosen is None:
            chosen = self.known[func] = self.choice.takes(name)
        if not chosen:
            return func(*args, **kwargs)
        open_label(name)
        try:
            return func(*args, **kwargs)
        finally:
            close_label(name)


@contextlib.contextmanager
def label_eager(module: Any, choice: Choice) -> Iterator[None]:
    """Labels what runs in eager mode while it lasts.

    A module is an operation by the name of its class (``linear``), a region by its path; its range is called by both.

    Args:
        module: The torch module whose submodules are looked at.
        choice: What to label.
    """
    with contextlib.ExitStack() as stack:
        for path, child in module.named_modules():
            kind = type(child).__name__
            if choice.takes_module(path) or choice.takes(kind):
                _hook(child, path if choice.takes_module(path) else f"{kind} {path}".rstrip(), stack)
        if choice.ops or choice.stretches():
            stack.enter_context(LabelMode(choice))
        yield


def _hook(module: Any, name: str, stack: contextlib.ExitStack) -> None:
    def enter(*_: Any) -> None:
        open_label(name)

    def leave(*_: Any) -> None:
        close_label(name)

    stack.callback(module.register_forward_pre_hook(enter).remove)
    stack.callback(module.register_forward_hook(leave, always_call=True).remove)
