"""Who owns a GPU operation: nesting of ranges, and the ranges that each launch belongs to, with how that is known."""

from nsys_analyze.attribution.assign import Assignment, How, Moments
from nsys_analyze.attribution.attribute import Attribution, attribute
from nsys_analyze.attribution.membership import Membership
from nsys_analyze.attribution.nesting import Nesting, nest

__all__ = ["Assignment", "Attribution", "How", "Membership", "Moments", "Nesting", "attribute", "nest"]
