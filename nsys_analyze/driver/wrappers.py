"""Functions inside a range, one wrapper for each kind of function."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

Function = Callable[..., Any]
Call = Callable[[], Any]


def around_plain(function: Function, push: Call, pop: Call) -> Function:
    """Returns a function that runs inside a push/pop range."""

    def annotated(*args: Any, **kwargs: Any) -> Any:
        push()
        try:
            return function(*args, **kwargs)
        finally:
            pop()

    return annotated


def around_coroutine(function: Function, start: Call, end: Callable[[Any], Any]) -> Function:
    """Returns a coroutine function; the range lasts from its first step until it returns."""

    async def annotated(*args: Any, **kwargs: Any) -> Any:
        opened = start()
        try:
            return await function(*args, **kwargs)
        finally:
            end(opened)

    return annotated


def around_generator(function: Function, start: Call, end: Callable[[Any], Any]) -> Function:
    """Returns a generator function; the range lasts from the first `next` until the generator is done or closed."""

    def annotated(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        opened = start()
        try:
            return (yield from function(*args, **kwargs))
        finally:
            end(opened)

    return annotated


def around_async_generator(function: Function, start: Call, end: Callable[[Any], Any]) -> Function:
    """Returns an asynchronous generator function; what is sent and thrown into it reaches the wrapped one."""

    async def annotated(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        opened = start()
        inner = function(*args, **kwargs)
        resume, argument = inner.asend, None
        try:
            while True:
                try:
                    value = await resume(argument)
                except StopAsyncIteration:
                    return
                try:
                    resume, argument = inner.asend, (yield value)
                except GeneratorExit:
                    raise
                except BaseException as error:
                    resume, argument = inner.athrow, error
        finally:
            try:
                await inner.aclose()
            finally:
                end(opened)

    return annotated
