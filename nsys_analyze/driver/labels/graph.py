"""Ranges in FX graphs: a backend of torch.compile that runs the graphs of AOTAutograd, labelled."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from nsys_analyze.driver.labels.choice import Choice
from nsys_analyze.driver.labels.ranges import close_label, close_stretch, open_label, open_stretch

Insertion = tuple[Callable[[str], None], str]  # a call, and the name that it is given

_ROOT = re.compile(r"^L\['self'\]\.?|^L\['\w+'\]\.?")  # what Dynamo puts before a module's path


def labelling_backend(choice: Choice) -> Callable[..., Any]:
    """Returns a backend for `torch.compile` that labels each graph and runs it operation by operation."""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    def compiler(graph_module: Any, _: Any) -> Any:
        label_graph(graph_module, choice)
        return make_boxed_func(graph_module.forward)

    backend: Callable[..., Any] = aot_autograd(fw_compiler=compiler)
    return backend


def label_graph(graph_module: Any, choice: Choice) -> None:
    """Puts ranges around the chosen nodes of an FX graph, in place.

    An operation gets a range by its name; the nodes that come from a chosen module, one by the module's path.
    """
    stretches, inside = choice.stretches(), ""
    for node in list(graph_module.graph.nodes):
        before: list[Insertion] = []
        after: list[Insertion] = []
        region = _region(node, choice)
        if region != inside and (node.op == "output" or _computes(node)):
            before += [(close_stretch, inside)] if inside else []
            before += [(open_stretch, region)] if region else []
            inside = region
        if _computes(node):
            name = operation_name(node)
            before += [(open_stretch, each.label) for each in stretches if each.opens((name,))]
            if choice.takes(name):
                before.append((open_label, name))
                after.append((close_label, name))
            after += [(close_stretch, each.label) for each in stretches if each.closes((name,))]
        _surround(graph_module.graph, node, before, after)
    graph_module.recompile()


def operation_name(node: Any) -> str:
    """The name of what a node calls, without its overload: ``addmm``."""
    packet = getattr(node.target, "overloadpacket", node.target)
    return str(getattr(packet, "__name__", packet))


def _computes(node: Any) -> bool:
    return node.op in ("call_function", "call_method", "call_module")


def _region(node: Any, choice: Choice) -> str:
    """The path of the outermost chosen module that a node comes from, or ''."""
    for path, _ in (node.meta.get("nn_module_stack") or {}).values():
        named = _ROOT.sub("", path)
        if choice.takes_module(named):
            return named
    return ""


def _surround(graph: Any, node: Any, before: Sequence[Insertion], after: Sequence[Insertion]) -> None:
    """Inserts calls before and after a node, each in the order given."""
    with graph.inserting_before(node):
        for function, name in before:
            graph.call_function(function, (name,))
    for function, name in reversed(after):
        with graph.inserting_after(node):
            graph.call_function(function, (name,))
