"""What a comparison says, as values: sides, the stages they share, and what else differs around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Compile = Literal["stage", "report"]
State = Literal["value", "hidden", "absent", "unknown"]
_SPREAD = 1.05

Cause = Literal["cpu_overhead", "gpu_active", "startup_gap_exposed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number of a side: the median over its runs, between the ``least`` and the ``most`` of them.

    ``ratio`` and ``difference`` are to the first side; None where either lacks the number, or the first side's is 0.
    """

    value: float | None
    least: float | None
    most: float | None
    ratio: float | None
    difference: float | None

    @property
    def spreads(self) -> bool:
        """Whether the runs differ by so much that the median alone would mislead."""
        return self.least is not None and self.most is not None and self.most > self.least * _SPREAD


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side: its label, its files (a run each), and how long it compiled.

    ``compile_ns`` is the wall time of its stage "compile" where ``compile_from`` says "stage", else the compile time of
    the whole report; figures that come from different places have no ratio. ``unprofiled_compile_ns`` is what that
    stage took without the profiler, where it is known.
    """

    label: str
    files: list[str]
    compile_ns: Figure
    compile_from: Compile
    unprofiled_compile_ns: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A stage in one side: in how many of its ``runs`` it is, with how many instances each, and its ``figures``.

    Figures go by the names of `nsys_analyze.verdict.quantities`; there are none where no run has the stage.
    """

    side: str
    runs: int
    instances: float | None
    figures: dict[str, Figure]

    @property
    def absent(self) -> bool:
        """Whether the side lacks the stage."""
        return self.runs == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a side differs from the first one in a stage, in short.

    ``of`` names the quantity that says how long the stage takes, "pace" or "elapsed", and ``ratio`` and
    ``difference_ns`` are of it. For a loop the difference is the sum of ``cpu_overhead_ns``, ``gpu_active_ns`` and
    ``profiler_ns``, the difference in the profiler's own time.
    ``exposed_ns`` is the difference in startup gap that the GPU lost. ``as_long`` says that the length is about the
    same, ``shifts`` that a part of it is not, ``waits`` that the exposed gap is not, measured by that length, and
    ``same_work`` that there are as many kernels and about as much GPU time. ``cause`` is what differs most, None where
    nothing differs notably.
    ``clear`` says whether all runs of one side took longer than all of the other, and ``exposed_clear`` the same of the
    exposed gap; None where both have one run only.
    """

    side: str
    of: str
    ratio: float | None
    difference_ns: float | None
    cpu_overhead_ns: float | None
    gpu_active_ns: float | None
    exposed_ns: float | None
    kernels: float | None
    kernels_first: float | None
    same_work: bool | None
    as_long: bool
    shifts: bool
    waits: bool
    identical: bool
    cause: Cause | None
    clear: bool | None
    exposed_clear: bool | None
    profiler_ns: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelChange:
    """A kernel that runs more or less often than in the first side; numbers are for one instance of the stage."""

    name: str
    count: float
    count_first: float
    time_ns: float
    time_first_ns: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelChanges:
    """All kernels that run more or less often in a side, most time first; None where one of the two is not known."""

    side: str
    changes: list[KernelChange] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageComparison:
    """One stage in all sides. ``place`` tells apart processes that have the same stage: their ranks, else an order.

    It is None where no side has the stage in more than one process.
    """

    path: list[str]
    domains: list[str]
    place: int | None
    rows: list[Row]
    readings: list[Reading]
    kernels: list[KernelChanges]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a side says on a fact: a value, or that it is set but not shown, or not set, or that nobody knows."""

    state: State
    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something around the sides, such as the driver: one setting a side. ``kind`` is "environment" for variables."""

    kind: str
    name: str
    settings: list[Setting]

    @property
    def known(self) -> list[Setting]:
        """The settings of the sides that tell."""
        return [setting for setting in self.settings if setting.state != "unknown"]

    @property
    def differs(self) -> bool:
        """Whether two sides are known to differ."""
        return len(set(self.known)) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Caution:
    """Why numbers of a side, ``of`` times or all of them, are unlike those of the first side.

    ``what`` is another on both: ``first`` there and ``here``. The ``kind`` is "capture" where that keeps the sides from
    being compared, and "ranges" where recording ranges costs one of them more.
    """

    side: str
    kind: Literal["capture", "ranges"]
    of: Literal["all", "times"]
    what: str
    first: str
    here: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Sides, the first of which is what the others are held against; stages; and the facts around the sides.

    ``stages_left_out`` counts stages that would have been compared but for their number. ``cautions`` say where like
    is not held against like.
    """

    sides: list[Side]
    stages: list[StageComparison]
    stages_left_out: int
    facts: list[Fact]
    cautions: list[Caution]

    @property
    def changed(self) -> list[Fact]:
        """The facts in which sides differ."""
        return [fact for fact in self.facts if fact.differs]

    @property
    def without_environment(self) -> list[str]:
        """Labels of the sides whose environment nobody knows."""
        facts = [fact for fact in self.facts if fact.name == "environment"]
        return [
            side.label
            for fact in facts
            for side, setting in zip(self.sides, fact.settings, strict=True)
            if setting.state == "unknown"
        ]
