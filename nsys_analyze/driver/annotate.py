"""NVTX ranges around code: a decorator and a context manager that cost nothing where nobody records them.

>>> import nsys_analyze
>>> @nsys_analyze.annotate("load batch", domain="data")
... def load(path): ...
>>> with nsys_analyze.annotate("step"):
...     pass

Code that may be suspended (coroutines, generators, asynchronous generators) gets start/end ranges: other code runs
between its awaits and yields, and push/pop ranges would then end each other. All other code gets push/pop ranges.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from nsys_analyze.driver.wrappers import around_async_generator, around_coroutine, around_generator, around_plain

STAGES = "stages"  # the NVTX domain of the driver's stages and steps
SWITCH = "NSYS_ANALYZE_ANNOTATE"  # "0" in the environment switches annotations off

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

SUSPENDABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_REMEMBERED = 4096  # annotations kept, so that one made in a loop costs a look-up
_INJECTION = "NVTX_INJECTION64_PATH"  # where NVTX finds the tool that records it
_COLOURS = {
    "black": 0x000000,
    "blue": 0x0000FF,
    "cyan": 0x00FFFF,
    "green": 0x008000,
    "grey": 0x808080,
    "magenta": 0xFF00FF,
    "orange": 0xFFA500,
    "purple": 0x800080,
    "red": 0xFF0000,
    "white": 0xFFFFFF,
    "yellow": 0xFFFF00,
}


class Annotation:
    """What `annotate` returns: decorates functions, and is a context manager, of `async with` too.

    This one does nothing; it is what there is when no tool records NVTX ranges.
    """

    __slots__ = ()

    def __call__(self, function: Decorated) -> Decorated:
        """Returns the function as it is."""
        return function

    def begin(self) -> Any:
        """Opens a range that no block encloses, and returns what `finish` takes, on any thread."""
        return None

    def finish(self, opened: Any) -> None:
        """Closes the range that `begin` opened."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of NVTX for one name in one domain; ``start`` returns what ``end`` takes."""

    push: Callable[[], Any]
    pop: Callable[[], Any]
    start: Callable[[], Any]
    end: Callable[[Any], Any]


class Recorded(Annotation):
    """An annotation that a tool records. It may be entered many times at once, by any thread or task.

    `recorded` makes it, with what `with` needs.
    """

    __slots__ = ("_end", "_open", "_pop", "_push", "_start")

    def __init__(self, calls: Calls) -> None:
        self._push, self._pop, self._start, self._end = calls.push, calls.pop, calls.start, calls.end
        self._open: dict[object, list[Any]] = {}  # start/end ranges, by who opened them

    def __call__(self, function: Decorated) -> Decorated:
        """Returns a function of the same kind, name and signature that runs inside a range."""
        if isinstance(function, staticmethod | classmethod):
            return cast("Decorated", type(function)(self(function.__func__)))
        if isinstance(function, type):
            raise TypeError(f"annotate: {function.__name__} is a class; decorate its methods")
        return cast("Decorated", functools.wraps(function)(self._around(function)))

    def _around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(function):
            return around_coroutine(function, self._start, self._end)
        if inspect.isasyncgenfunction(function):
            return around_async_generator(function, self._start, self._end)
        if inspect.isgeneratorfunction(function):
            return around_generator(function, self._start, self._end)
        return around_plain(function, self._push, self._pop)

    def begin(self) -> Any:
        """Opens a start/end range."""
        return self._start()

    def finish(self, opened: Any) -> None:
        """Closes it."""
        self._end(opened)

    async def __aenter__(self) -> Self:
        self._begin(_task())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._finish(_task())

    def _begin(self, owner: object) -> None:
        self._open.setdefault(owner, []).append(self._start())

    def _finish(self, owner: object) -> bool:
        """Ends the owner's innermost start/end range; says whether it had one."""
        ranges = self._open.get(owner)
        if not ranges:
            return False
        self._end(ranges.pop())
        if not ranges:
            del self._open[owner]
        return True


def recorded(calls: Calls) -> Recorded:
    """Returns an annotation that makes these calls.

    Each has a class of its own whose `__enter__` and `__exit__` are static, which spares a block two bound methods and
    all attributes: a sixth of its cost. They ignore the annotation itself, which `contextlib.ExitStack` passes.
    """
    push, pop, frame = calls.push, calls.pop, sys._getframe

    def enter(_: object = None) -> Recorded:
        if frame(1).f_code.co_flags & 0x2A0:  # SUSPENDABLE: to look the name up costs 10 ns
            annotation._begin(id(frame(1)))
        else:
            push()
        return annotation

    def leave(_kind: object, _error: object, _traceback: object, _last: object = None) -> None:
        if opened and annotation._finish(id(frame(1))):
            return
        pop()

    methods = {"__slots__": (), "__enter__": staticmethod(enter), "__exit__": staticmethod(leave)}
    annotation: Recorded = type("Recorded", (Recorded,), methods)(calls)
    opened = annotation._open
    return annotation


_NOTHING = Annotation()


def annotate(name: str, *, domain: str | None = None, color: str | int | None = None) -> Annotation:
    """Returns a range by that name, to decorate functions with or to put a `with` block into.

    Nothing is recorded, and a decorated function is returned as it is, when no tool listens to NVTX in this process,
    when the nvtx package is not installed, or when NSYS_ANALYZE_ANNOTATE is 0.

    Args:
        name: The range's name. Names are registered with NVTX and stay in memory until the process ends.
        domain: Its NVTX domain; None is the nvtx package's own, "NVTX".
        color: "red" and the like, "#76b900", or an integer 0xRRGGBB.

    Raises:
        TypeError: If the name is not a string.
        ValueError: If there is no such color.
    """
    return _remembered(name, domain, color)


def stage(name: str) -> Annotation:
    """Returns the range of a stage or a step, in the domain `stages`: import, build, compile, warmup, steady, ..."""
    return _remembered(name, STAGES, None)


@functools.lru_cache(maxsize=_REMEMBERED)
def _remembered(name: str, domain: str | None, color: str | int | None) -> Annotation:
    if not isinstance(name, str):
        raise TypeError(f"annotate: the name is a string, not {name!r}; write @annotate('name') over a function")
    argb = None if color is None else 0xFF000000 | _rgb(color)
    calls = None if os.environ.get(SWITCH) == "0" else nvtx_calls(name, domain, argb)
    return _NOTHING if calls is None else recorded(calls)


def nvtx_calls(name: str, domain: str | None, argb: int | None) -> Calls | None:
    """Returns how to open and close a range, or None where there is no nvtx package or no tool that records it."""
    try:
        import nvtx
    except ImportError:
        return None
    native: Any = nvtx.annotate(name, color=argb, domain=domain)
    attributes = getattr(native, "attributes", None)
    if attributes is None:
        return None
    scope = native.domain
    if hasattr(scope, "push_range"):
        push, start = scope.push_range, scope.start_range
        return Calls(
            functools.partial(push, attributes), scope.pop_range, functools.partial(start, attributes), scope.end_range
        )
    return _calls_before_0_2_12(attributes, scope.handle) if _INJECTION in os.environ else None


def _calls_before_0_2_12(attributes: Any, handle: Any) -> Calls:
    """The calls of nvtx packages whose domains have none of their own, which nsys before 2024 needs."""
    from nvtx import _lib

    return Calls(
        functools.partial(_lib.push_range, attributes, handle),
        functools.partial(_lib.pop_range, handle),
        functools.partial(_lib.start_range, attributes, handle),
        _lib.end_range,
    )


def _rgb(color: str | int) -> int:
    if isinstance(color, int):
        return color & 0xFFFFFF
    if color in _COLOURS:
        return _COLOURS[color]
    try:
        if color.startswith("#") and len(color) == 7:
            return int(color[1:], 16)
    except ValueError:
        pass
    raise ValueError(f"annotate: no color {color!r}; use '#rrggbb', 0xRRGGBB, or one of {', '.join(_COLOURS)}")


def _task() -> object:
    """The running asyncio task, else the thread: whose `async with` this is."""
    import asyncio
    import threading

    try:
        return asyncio.current_task() or threading.get_ident()
    except RuntimeError:
        return threading.get_ident()
