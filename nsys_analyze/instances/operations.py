"""The GPU operations of given instances, one by one."""

from __future__ import annotations

from dataclasses import dataclass

from nsys_analyze.arrays import AnyInt, Int64, expand_slices
from nsys_analyze.attribution import Membership
from nsys_analyze.model.tables import Launches


@dataclass(frozen=True, slots=True)
class OwnedOps:
    """Pairs of an instance and a launch that belongs to it, and what these launches put on the GPU.

    ``range`` and ``launch`` are the rows of each pair; operation ``op[i]`` is of pair ``pair[i]``. An operation that
    belongs to several of the instances is there once for each.
    """

    range: Int64
    launch: Int64
    pair: Int64
    op: AnyInt


def owned_ops(launches: Launches, members: Membership, rows: Int64) -> OwnedOps:
    """All operations of the instances in ``rows``."""
    owner, launch = members.pairs(rows)
    pair, position = expand_slices(launches.first_op[launch], launches.first_op[launch + 1])
    return OwnedOps(owner, launch, pair, launches.ops[position])
