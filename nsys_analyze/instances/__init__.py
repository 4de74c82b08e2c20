"""One row a range: every additive number of every instance, as an integer."""

from nsys_analyze.instances.build import build_instances
from nsys_analyze.instances.paths import Paths
from nsys_analyze.instances.table import Instances

__all__ = ["Instances", "Paths", "build_instances"]
