"""How much a number varies from run to run of unchanged code: packaged, measured by the user, or seen in a baseline.

A report's value x counts as log(x + floor) - exponent * log(yardstick), where the yardstick is what an instance spends
in CUDA calls: most noise of host times is the speed of the machine that day, and a capture's CUDA calls measure it.
Host code slows down by more than they do, so exponents are over 1; they differ between programs, so each has an
uncertainty of its own, which counts for as much as the yardstick differs between two sides.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.quantities import Kind
from nsys_analyze.verdict.judged import JUDGED, Judged
from nsys_analyze.verdict.samples import ReportSample, StageSample

Float64 = npt.NDArray[np.float64]
_LEAST_SPREAD = 0.05  # of the log of the yardstick: below, it tells nothing about the exponent
LEAST_SD = 0.01  # nobody's GPU clocks are as steady as those of one machine
_FULL = 30  # instances: what the packaged noise was measured on
ENOUGH = 8.0  # degrees of freedom: with fewer, a measurement is mixed with the packaged noise
_POOLED = ("wall", "elapsed", "pace", "cpu_overhead", "startup_gap", "startup_gap_prelude")  # share their sd
_OF_LAUNCH_CALL = 1.2  # the median launch call varies less than the sum of calls, and leaves more
_LIKE = {"overhead_per_kernel": "cpu_overhead"}  # the same number in another unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Noise of one quantity; standard deviations are those of the logarithm, between reports.

    ``raw`` is that of the values as they are, ``sd`` that of what the yardstick leaves, ``exponent`` and
    ``exponent_sd`` how values follow it (None: they do not). ``instance`` is that between instances of one report;
    ``freedom`` is how many degrees of freedom these were measured with.
    """

    raw: float
    sd: float
    exponent: float | None = None
    exponent_sd: float = 0.0
    instance: float = 0.0
    freedom: float = ENOUGH

    def by_launch_call(self) -> Noise:
        """The noise that the median launch call leaves as a yardstick, instead of the sum of all CUDA calls."""
        if self.exponent is None:
            return self
        exponent, exponent_sd = self.exponent * _OF_LAUNCH_CALL, self.exponent_sd * _OF_LAUNCH_CALL
        return replace(self, sd=self.sd * _OF_LAUNCH_CALL, exponent=exponent, exponent_sd=exponent_sd)

    def shrunk_to(self, share: float) -> Noise:
        """The noise of captures that are more alike than runs are; see `nsys_analyze.verdict.likeness`."""
        raw, sd = (min(one, max(share * one, LEAST_SD)) for one in (self.raw, self.sd))
        return replace(self, raw=raw, sd=sd)

    def with_few(self, steady: int) -> Noise:
        """The noise of medians over fewer instances than it was measured with."""
        if steady >= _FULL or steady < 1:
            return self
        extra = math.pi / 2 * self.instance**2 * (1 / steady - 1 / _FULL)
        return replace(self, raw=math.hypot(self.raw, extra**0.5), sd=math.hypot(self.sd, extra**0.5))


NoiseTable = Mapping[str, Noise]
"""Noise by a quantity's name or kind; see ``noise_name``."""


def noise_name(quantity: Judged, stage: StageSample) -> str:
    """Returns what the noise of a quantity of a stage is called."""
    if quantity.kind is Kind.FIRST_INSTANCE and stage.loop:
        return "first of a loop"
    name = _LIKE.get(quantity.name, quantity.name)
    return name if quantity.kind is Kind.HOST_TIME else quantity.kind.value


_NAMES = {
    "first of a loop",
    *(q.name if q.kind is Kind.HOST_TIME else q.kind.value for q in JUDGED.values() if not q.is_count),
} - set(_LIKE)


@cache
def packaged() -> NoiseTable:
    """The noise that comes with the package."""
    text = (resources.files("nsys_analyze.verdict") / "noise.toml").read_text(encoding="utf-8")
    return _table(tomllib.loads(text))


def with_measured(path: Path) -> NoiseTable:
    """The packaged noise, replaced where a file that ``calibrate`` wrote knows better.

    Raises:
        UsageError: If the file cannot be read, or holds something else.
    """
    try:
        return {**packaged(), **_table(tomllib.loads(path.read_text(encoding="utf-8")))}
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, TypeError) as error:
        raise UsageError(f"{path}: not a noise file as `check --calibrate` writes it: {error}") from error


def _table(document: Mapping[str, object]) -> NoiseTable:
    table = {}
    for name, entry in document.items():
        if name not in _NAMES or not isinstance(entry, dict):
            raise ValueError(f"unknown entry {name!r}")
        values = {key: float(value) for key, value in entry.items()}
        if not all(math.isfinite(value) and (value >= 0 or key == "exponent") for key, value in values.items()):
            raise ValueError(f"a number of {name!r} is negative or none at all")
        table[name] = Noise(**values)
    return table


@dataclass(frozen=True, slots=True)
class _Series:
    """The same stage and quantity in unchanged reports: logs of the values and of the yardstick, about their means."""

    values: Float64
    yardstick: Float64 | None
    instance: float

    @property
    def slope(self) -> float | None:
        """By which power of the yardstick the values grow; None where the yardstick hardly moved."""
        yardstick = self.yardstick
        if yardstick is None or len(yardstick) < 3 or np.sqrt((yardstick**2).mean()) < _LEAST_SPREAD:
            return None
        return float(yardstick @ self.values / (yardstick @ yardstick))


def calibrate(groups: Sequence[Sequence[ReportSample]], floor: float) -> dict[str, Noise]:
    """Measures the noise between reports of unchanged code.

    Args:
        groups: Reports; those of one group ran the same code on the same machine.
        floor: What is added to a value before its logarithm is taken, ns an instance.

    Raises:
        UsageError: If no group has two reports with a stage in common.
    """
    found: dict[str, list[_Series]] = {}
    for group in groups:
        for name, series in _all_series(group, floor):
            found.setdefault(name, []).append(series)
    if not found:
        raise UsageError("--calibrate needs two or more reports of the same code; no stage is in two of them")
    free = _Freedom(sum(len(group) - 1 for group in groups), len(groups))
    table = {name: _measured(packaged()[name], series, free) for name, series in sorted(found.items())}
    return _with_shared(table, found, free)


@dataclass(frozen=True, slots=True)
class _Freedom:
    """Degrees of freedom of the reports, not of the series: the stages of a report rise and fall together."""

    reports: int
    groups: int

    def left(self, fitted: int) -> int:
        """What is left when so many slopes were fitted, one for each group that tells one."""
        return max(self.reports - min(fitted, self.groups), 0)


def seen_in(baseline: Sequence[ReportSample], table: NoiseTable, floor: float) -> NoiseTable:
    """Returns the noise to judge by: that of the baseline's own reports where they are many, else the larger one."""
    if len(baseline) < 3:
        return table
    measured = calibrate([baseline], floor)
    if len(baseline) > ENOUGH:
        return {**table, **measured}
    larger = {
        name: replace(table[name], raw=max(noise.raw, table[name].raw), sd=max(noise.sd, table[name].sd))
        for name, noise in measured.items()
    }
    return {**table, **larger}


def _all_series(group: Sequence[ReportSample], floor: float) -> Iterator[tuple[str, _Series]]:
    for key in dict.fromkeys(key for report in group for key in report.stages):
        stages = [report.stages[key] for report in group if key in report.stages]
        for quantity in JUDGED.values():
            some = [stage for stage in stages if quantity.name in stage.values]
            if len(some) > 1 and quantity.name not in _LIKE and _is_usual(some[0], quantity):
                yield noise_name(quantity, some[0]), _series(some, quantity, floor)


def _is_usual(stage: StageSample, quantity: Judged) -> bool:
    """Whether such a stage tells of the quantity's noise: loops of steady times, what runs once of the others."""
    if quantity.is_count or quantity.name == "cold_start":
        return False
    once = quantity.kind in (Kind.FIRST_INSTANCE, Kind.COMPILE_TIME)
    return stage.loop or (once and len(stage.path) == 1 and not stage.holds_loop and stage.values[quantity.name] > 0)


def _series(stages: Sequence[StageSample], quantity: Judged, floor: float) -> _Series:
    floor = floor_of(quantity, stages[0], floor)
    values = np.log(np.array([stage.values[quantity.name] for stage in stages]) + floor)
    calls = [stage.calls for stage in stages if stage.calls]
    yardstick = np.log(np.array(calls)) if len(calls) == len(stages) else None
    spreads = [spread(stage.series[quantity.name], floor) for stage in stages if quantity.name in stage.series]
    return _Series(
        values - values.mean(),
        None if yardstick is None else yardstick - yardstick.mean(),
        float(np.median(spreads)) if spreads and stages[0].steady > 1 else 0.0,
    )


def floor_of(quantity: Judged, stage: StageSample, floor: float) -> float:
    """What is too small to matter of a quantity, ns: for times of one kernel, the instance's share for each."""
    return floor / max(stage.values.get("kernels", 1.0), 1.0) if quantity.per_kernel else floor


def spread(values: Sequence[float], floor: float) -> float:
    """A robust standard deviation of the logarithm between instances."""
    logs = np.log(np.asarray(values) + floor)
    return float(1.4826 * np.median(np.abs(logs - np.median(logs))))


def _measured(default: Noise, series: Sequence[_Series], free: _Freedom) -> Noise:
    slopes = [slope for one in series if default.exponent is not None and (slope := one.slope) is not None]
    exponent = float(np.median(slopes)) if slopes else default.exponent
    left = free.left(len(slopes))
    return replace(
        default,
        raw=_mixed(_pooled([one.values for one in series]), free.reports, default.raw),
        sd=_mixed(_pooled([_residuals(one, exponent) for one in series], len(slopes)), left, default.sd),
        exponent=exponent,
        exponent_sd=max(default.exponent_sd, float(np.ptp(slopes)) / 2) if slopes else default.exponent_sd,
        instance=float(np.median([one.instance for one in series])),
        freedom=max(left, ENOUGH),
    )


def _mixed(measured: float, freedom: float, default: float) -> float:
    """A measured standard deviation, mixed with the packaged one for the degrees of freedom that it lacks."""
    lacking = max(ENOUGH - freedom, 0.0)
    return math.sqrt((freedom * measured**2 + lacking * default**2) / (freedom + lacking))


def _residuals(series: _Series, exponent: float | None) -> Float64:
    if exponent is None or series.yardstick is None:
        return series.values
    slope = series.slope
    return series.values - (exponent if slope is None else slope) * series.yardstick


def _pooled(values: Sequence[Float64], fitted: int = 0) -> float:
    freedom = sum(len(one) - 1 for one in values) - fitted
    return max(LEAST_SD, math.sqrt(sum(float((one**2).sum()) for one in values) / max(freedom, 1)))


def _with_shared(table: dict[str, Noise], found: Mapping[str, Sequence[_Series]], free: _Freedom) -> dict[str, Noise]:
    """The table with one noise for host times that follow the yardstick: what it leaves is much the same for all.

    Pooling k quantities with residuals correlated by r is worth k**2 / sum(r**2) times the degrees of freedom of one.
    """
    names = [name for name in _POOLED if name in table]
    left = [np.concatenate([_residuals(one, table[name].exponent) for one in found[name]]) for name in names]
    slopes = max((sum(one.slope is not None for one in found[name]) for name in names), default=0)
    freedom = free.left(slopes)
    if len(names) < len(_POOLED) or len({len(one) for one in left}) > 1 or freedom < ENOUGH / 2:
        return table
    if not all(one.any() for one in left):
        return table
    worth = len(names) ** 2 / float((np.corrcoef(left) ** 2).sum())
    series = len(left[0]) - len(found[names[0]]) - slopes
    sd = math.sqrt(sum(float((one**2).sum()) for one in left) / (len(left) * max(series, 1)))
    shared = {name: replace(table[name], sd=max(sd, LEAST_SD), freedom=freedom * worth) for name in names}
    return {**table, **shared}


def as_toml(table: NoiseTable) -> str:
    """Writes noise as the file that ``noise = "..."`` in the configuration names."""
    lines = ["# Noise between reports of unchanged code, as `nsys-analyze check --calibrate` measured it."]
    for name, noise in table.items():
        numbers = ((field.name, getattr(noise, field.name)) for field in fields(noise))
        lines += ["", f'["{name}"]', *(f"{key} = {value:.4g}" for key, value in numbers if value)]
    return "\n".join(lines) + "\n"
