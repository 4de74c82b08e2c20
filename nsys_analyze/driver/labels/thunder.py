"""Ranges in Thunder's traces: a transform, for `thunder.jit(model, transforms=[LabelTransform(...)])`.

It does what Thunder's own NvtxProfileTransform does, for the operations that were chosen.
"""

from __future__ import annotations

from typing import Any

from thunder.core.trace import TraceProvenance, from_trace
from thunder.core.transforms import Transform
from thunder.dev_utils.utils import NON_COMPUTATION_PRIMS
from thunder.extend import OperatorExecutor

from nsys_analyze.driver.labels.choice import Choice
from nsys_analyze.driver.labels.ranges import close_label, close_stretch, open_label, open_stretch

_operators = OperatorExecutor("nsys_analyze_labels")


def _operator(name: str, function: Any) -> Any:
    return _operators.register_operator(name, meta=lambda label: None, fn=function)


_open_label = _operator("nsys_analyze_open_label", open_label)
_close_label = _operator("nsys_analyze_close_label", close_label)
_open_stretch = _operator("nsys_analyze_open_stretch", open_stretch)
_close_stretch = _operator("nsys_analyze_close_stretch", close_stretch)


class LabelTransform(Transform):
    """Puts NVTX ranges around chosen operations of the final trace.

    Args:
        choice: What to label: `Choice(ops="linear|nvFusion*")`. None labels every operation.
        source: Whether a range is called by its whole line of the trace, as Thunder's own transform does, instead of
            the operation's name.
    """

    def __init__(self, choice: Choice | None = None, *, source: bool = False) -> None:
        super().__init__()
        self.choice, self.source = choice or Choice(ops="*"), source

    def transform_trace_post_optimization(self, trace: Any, **_: Any) -> Any:
        """Returns the trace with calls that open and close ranges."""
        labelled, stretches = from_trace(trace), self.choice.stretches()
        add = labelled.bound_symbols.append
        for bound in trace.bound_symbols:
            if bound.sym.id in NON_COMPUTATION_PRIMS:
                add(bound)
                continue
            names = (bound.sym.name, str(bound.sym.id))
            for stretch in stretches:
                if stretch.opens(names):
                    add(_open_stretch.bind(stretch.label, output=None))
            for each in self._labelled(bound, names):
                add(each)
            for stretch in stretches:
                if stretch.closes(names):
                    add(_close_stretch.bind(stretch.label, output=None))
        labelled.set_provenance(TraceProvenance("nsys-analyze labels"))
        return labelled

    def _labelled(self, bound: Any, names: tuple[str, ...]) -> list[Any]:
        if not self.choice.takes(*names):
            return [bound]
        name = "".join(bound.python(indent=0)) if self.source else names[0]
        return [_open_label.bind(name, output=None), bound, _close_label.bind(name, output=None)]
