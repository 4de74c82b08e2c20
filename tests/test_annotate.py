from __future__ import annotations

import asyncio
import contextlib
import inspect
import subprocess
import sys
import types

import pytest

import nsys_analyze
from nsys_analyze.driver import annotate as module
from nsys_analyze.driver.annotate import SWITCH, Annotation, annotate, stage


class Domain:
    def __init__(self, name, events):
        self.name, self.events, self.count = name, events, 0

    def push_range(self, attributes):
        self.events.append(("push", *attributes))

    def pop_range(self):
        self.events.append(("pop", self.name))

    def start_range(self, attributes):
        self.count += 1
        self.events.append(("start", self.count, *attributes))
        return self.count

    def end_range(self, number):
        self.events.append(("end", number))


@pytest.fixture
def events(monkeypatch):
    """What nvtx is told; every name is registered once."""
    events, domains = [], {}

    class Native:
        def __init__(self, message, color=None, domain=None):
            events.append(("register", message, domain))
            self.domain = domains.setdefault(domain, Domain(domain, events))
            self.attributes = (message, color)

    monkeypatch.setitem(sys.modules, "nvtx", types.SimpleNamespace(annotate=Native))
    monkeypatch.delenv(SWITCH, raising=False)
    module._remembered.cache_clear()
    yield events
    module._remembered.cache_clear()


def kinds(events):
    return [event[0] for event in events if event[0] != "register"]


def test_a_block_is_a_range(events):
    with annotate("outer", domain="d"), annotate("inner", domain="d", color="red"):
        pass
    assert events == [
        ("register", "outer", "d"),
        ("push", "outer", None),
        ("register", "inner", "d"),
        ("push", "inner", 0xFFFF0000),
        ("pop", "d"),
        ("pop", "d"),
    ]


def test_a_name_is_registered_once(events):
    for _ in range(3):
        with annotate("step"):
            pass
        with stage("step"):
            pass
    registered = [event for event in events if event[0] == "register"]
    assert registered == [("register", "step", None), ("register", "step", "stages")]
    assert kinds(events) == ["push", "pop"] * 6


def test_an_exception_closes_the_range_and_goes_on(events):
    @annotate("failing")
    def fail():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail()
    with pytest.raises(KeyError, match="block"), annotate("block"):
        raise KeyError("block")
    assert kinds(events) == ["push", "pop"] * 2


def test_a_decorated_function_keeps_its_looks(events):
    def scale(x: int, *, by: float = 2.0) -> float:
        """Scales."""
        return x * by

    wrapped = annotate("scale")(scale)
    assert wrapped is not scale
    assert wrapped(3, by=4.0) == 12
    assert (wrapped.__name__, wrapped.__doc__, wrapped.__wrapped__) == ("scale", "Scales.", scale)
    assert wrapped.__qualname__ == scale.__qualname__
    assert inspect.signature(wrapped) == inspect.signature(scale)


def test_methods_of_all_kinds(events):
    class Model:
        @annotate("plain")
        def plain(self):
            return self

        @annotate("static")
        @staticmethod
        def static():
            return 1

        @annotate("class")
        @classmethod
        def of_class(cls):
            return cls

    model = Model()
    assert (model.plain(), model.static(), model.of_class()) == (model, 1, Model)
    assert kinds(events) == ["push", "pop"] * 3
    with pytest.raises(TypeError, match="Model is a class"):
        annotate("x")(Model)


def test_recursion_nests(events):
    @annotate("fall")
    def fall(n):
        return fall(n - 1) if n else 0

    fall(2)
    assert kinds(events) == ["push"] * 3 + ["pop"] * 3


def test_tasks_that_take_turns_keep_their_ranges_apart(events):
    shared = annotate("shared")

    @annotate("decorated")
    async def decorated(delay):
        with shared:
            await asyncio.sleep(delay)
        async with shared:
            await asyncio.sleep(delay)
        return delay

    async def both():
        return await asyncio.gather(decorated(0.02), decorated(0.03))

    assert inspect.iscoroutinefunction(decorated)
    assert asyncio.run(both()) == [0.02, 0.03]
    assert set(kinds(events)) == {"start", "end"}
    ended = [event[1] for event in events if event[0] == "end"]
    assert sorted(ended) == [1, 2, 3, 4, 5, 6]
    assert ended[0] == 2  # the first task's block, though the second task's began later and is still open


def test_plain_code_called_from_a_coroutine_pops_its_own(events):
    shared = annotate("shared")

    def plain():
        with shared:
            pass

    async def outer():
        with shared:
            plain()

    asyncio.run(outer())
    assert kinds(events) == ["start", "push", "pop", "end"]


def test_a_generator_is_one_range_from_first_to_last(events):
    @annotate("count")
    def count(n):
        received = {}
        for i in range(n):
            received[i] = yield i
        return list(received.values())

    running = count(2)
    assert events[1:] == []
    assert next(running) == 0
    assert kinds(events) == ["start"]
    assert running.send("a") == 1
    with pytest.raises(StopIteration) as stop:
        running.send("b")
    assert stop.value.value == ["a", "b"]
    assert kinds(events) == ["start", "end"]
    assert inspect.isgeneratorfunction(count)
    left = count(5)
    next(left)
    left.close()
    assert kinds(events) == ["start", "end"] * 2


def test_generators_that_interleave_end_their_own(events):
    def numbers(name):
        with annotate(name):
            yield 1
            yield 2

    first, second = numbers("first"), numbers("second")
    for generator in (first, second, first, second, first, second):
        next(generator, None)
    assert kinds(events) == ["start", "start", "end", "end"]


def test_an_async_generator_hears_what_is_sent_and_thrown(events):
    heard = []

    @annotate("stream")
    async def stream():
        try:
            while True:
                heard.append((yield len(heard)))
        except KeyError as error:
            heard.append(error)
            yield "caught"
        finally:
            heard.append("closed")

    async def use():
        running = stream()
        assert [await anext(running), await running.asend("a")] == [0, 1]
        assert await running.athrow(KeyError("thrown")) == "caught"
        with pytest.raises(StopAsyncIteration):
            await anext(running)
        left = stream()
        await anext(left)
        await left.aclose()
        return [item async for item in empty()]

    @annotate("empty")
    async def empty():
        return
        yield

    assert inspect.isasyncgenfunction(stream)
    assert asyncio.run(use()) == []
    assert [str(item) for item in heard] == ["a", "'thrown'", "closed", "closed"]
    assert kinds(events) == ["start", "end"] * 3


def test_exit_stacks(events):
    async def use():
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(annotate("asynchronous"))
            stack.enter_context(annotate("plain"))

    asyncio.run(use())
    with contextlib.ExitStack() as stack:
        stack.enter_context(annotate("plain"))
    assert sorted(kinds(events)) == ["end", "pop", "pop", "push", "push", "start"]


def test_nothing_is_done_where_it_is_switched_off(events, monkeypatch):
    monkeypatch.setenv(SWITCH, "0")

    def function():
        pass

    annotation = annotate("off")
    assert type(annotation) is Annotation
    assert annotation(function) is function
    with annotation:
        pass

    async def use():
        async with annotation:
            return 1

    assert asyncio.run(use()) == 1
    assert events == []


def test_nothing_is_done_without_the_package_or_a_tool(events, monkeypatch):
    monkeypatch.setitem(sys.modules, "nvtx", types.SimpleNamespace(annotate=lambda *args, **kwargs: object()))
    assert type(annotate("no tool")) is Annotation
    monkeypatch.setitem(sys.modules, "nvtx", None)
    assert type(annotate("no package")) is Annotation


def test_older_packages_are_called_through_their_library(events, monkeypatch):
    calls = []
    library = {
        name: lambda *args, name=name: calls.append((name, *args)) or 7
        for name in ("push_range", "pop_range", "start_range", "end_range")
    }
    native = types.SimpleNamespace(attributes="attributes", domain=types.SimpleNamespace(handle="handle"))
    package = types.ModuleType("nvtx")
    package.annotate, package._lib = lambda *args, **kwargs: native, types.SimpleNamespace(**library)
    monkeypatch.setitem(sys.modules, "nvtx", package)
    monkeypatch.delenv("NVTX_INJECTION64_PATH", raising=False)
    assert type(annotate("no tool")) is Annotation
    monkeypatch.setenv("NVTX_INJECTION64_PATH", "/somewhere/libToolsInjection64.so")
    with annotate("old"):
        pass
    annotate("old").finish(annotate("old").begin())
    assert calls == [
        ("push_range", "attributes", "handle"),
        ("pop_range", "handle"),
        ("start_range", "attributes", "handle"),
        ("end_range", 7),
    ]


@pytest.mark.parametrize("color", ["mauve", "#12345", "#gggggg"])
def test_a_colour_that_is_none(events, color):
    with pytest.raises(ValueError, match="no color"):
        annotate("x", color=color)


def test_colours(events):
    assert [module._rgb(color) for color in ("#76b900", 0x76B900, "cyan")] == [0x76B900, 0x76B900, 0x00FFFF]


def test_a_bare_decorator_is_told_how(events):
    with pytest.raises(TypeError, match=r"write @annotate\('name'\)"):
        nsys_analyze.annotate(lambda: None)


def test_the_literal_is_what_its_name_says():
    assert module.SUSPENDABLE == 0x2A0


def test_importing_it_is_cheap():
    code = (
        "import sys, nsys_analyze; nsys_analyze.annotate\n"
        "print(*{'torch', 'numpy', 'pandas', 'nvtx', 'asyncio', 'click'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
