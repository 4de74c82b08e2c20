"""What kind of work each GPU operation is."""

from __future__ import annotations

import numpy as np

from nsys_analyze.arrays import Int64
from nsys_analyze.model.communication import collective
from nsys_analyze.model.tables import GpuOps, OpKind

KINDS = ("compute", "communication", "copy", "memset", "graph", "mixed")
MIXED = len(KINDS) - 1
_COMPUTE, _COMMUNICATION = 0, 1
_OF_OP = {OpKind.KERNEL: _COMPUTE, OpKind.MEMCPY: 2, OpKind.MEMSET: 3, OpKind.GRAPH: 4}


def kinds(ops: GpuOps) -> Int64:
    """The kind of each operation, as a place in KINDS: a kernel computes, unless its name tells otherwise."""
    found = np.array([_OF_OP[kind] for kind in OpKind], np.int64)[ops.kind]
    moves = np.array([collective(name) is not None for name in ops.names], bool)
    if moves.any():
        found[(found == _COMPUTE) & moves[ops.name]] = _COMMUNICATION
    return found


def kind_of_groups(group: Int64, kind: Int64, groups: int) -> Int64:
    """The kind that all operations of a group have, else mixed."""
    least, greatest = np.full(groups, MIXED), np.zeros(groups, np.int64)
    np.minimum.at(least, group, kind)
    np.maximum.at(greatest, group, kind)
    return np.where(least == greatest, least, MIXED)
