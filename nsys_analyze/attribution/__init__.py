"""Who owns a GPU operation: nesting of ranges, and the ranges that each launch belongs to, with how that is known."""

from nsys_analyze.attribution.assign import Assignment, How, Moments, assign
from nsys_analyze.attribution.membership import Membership, membership
from nsys_analyze.attribution.nesting import Nesting, nest

__all__ = ["Assignment", "How", "Membership", "Moments", "Nesting", "assign", "membership", "nest"]
