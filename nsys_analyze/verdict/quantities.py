"""The quantities of a stage that verdicts are about: those that `nsys_analyze.metrics.quantities` defines."""

from nsys_analyze.metrics.quantities import QUANTITIES, UNPROFILED, Kind, Quantity

__all__ = ["QUANTITIES", "UNPROFILED", "Kind", "Quantity"]
