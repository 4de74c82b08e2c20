"""Comparisons in words: how a side differs from the first one, and what else differs around them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nsys_analyze.verdict.comparison import Caution, Comparison, Fact, KernelChanges, Reading, Setting, StageComparison
from nsys_analyze.views import units
from nsys_analyze.views.text import path_text, shorten, visible

_NAME_MOST = 40
_UNCHANGED = "Changed around them: nothing that the reports tell."
_DOUBT = ", though some runs of the two are alike"
_STATES: dict[str, str] = {"hidden": "set", "absent": "not set", "unknown": "unknown"}
_CAUTIONS = {"capture": "Not like with like", "ranges": "Recording costs time"}
_FACTS = {"cuda_graph": "CUDA graphs traced by", "context_switches": "context switches"}


def label(text: str) -> str:
    """Returns a side's label as it may be shown."""
    return shorten(visible(text), _NAME_MOST)


def stage_name(stage: StageComparison, others: Sequence[StageComparison]) -> str:
    """Returns a stage's path, with domains where another one reads the same and its process where there are several."""
    same = [other for other in others if other.path == stage.path and other.domains != stage.domains]
    pairs = zip(stage.path, stage.domains, strict=True)
    path = path_text([f"{name}@{domain or 'default'}" for name, domain in pairs] if same else stage.path)
    return path if stage.place is None else f"{path} (process {stage.place})"


def cautions(comparison: Comparison) -> list[str]:
    """Returns what keeps sides from being held against the first one as they are, a sentence a side."""
    first = label(comparison.sides[0].label)
    return [
        f"{lead}: {'; '.join(_caution(one, first) for one in some)}."
        for kind, lead in _CAUTIONS.items()
        for side in comparison.sides[1:]
        if (some := [one for one in comparison.cautions if (one.side, one.kind) == (side.label, kind)])
    ]


def unlike(comparison: Comparison) -> set[str]:
    """Returns the sides whose captures cannot be compared with those of the first."""
    return {caution.side for caution in comparison.cautions if caution.kind == "capture"}


def _caution(caution: Caution, first: str) -> str:
    """``CUDA graph tracing: graph in inductor, node in eager``."""
    values = [shorten(visible(value), _NAME_MOST) for value in (caution.here, caution.first)]
    return f"{visible(caution.what)}: {values[0]} in {label(caution.side)}, {values[1]} in {first}"


def readings(stage: StageComparison, first: str, unlike: Collection[str]) -> list[str]:
    """Returns a sentence for each side on how it differs from the first one; ``unlike`` are those with a caution."""
    name = shorten(path_text(stage.path[-1:]), _NAME_MOST)
    unit = {"pace": f" for each {name}", "elapsed": ""}
    said = [
        ("As captured, not alike: " if reading.side in unlike else "")
        + _reading(reading, kernels, label(first), unit[reading.of])
        for reading, kernels in zip(stage.readings, stage.kernels, strict=True)
    ]
    return [*said, *_absent(stage), *_kernels(stage.kernels, label(first))]


def surroundings(comparison: Comparison) -> list[str]:
    """Returns what else differs between the sides, and what nobody knows."""
    labels = [side.label for side in comparison.sides]
    changed = [_changed(fact, labels) for fact in comparison.changed]
    sentences = [f"Changed around them: {'; '.join(changed)}." if changed else _UNCHANGED]
    unknown = comparison.without_environment
    if unknown:
        whose = "any side" if len(unknown) == len(labels) else ", ".join(map(label, unknown))
        sentences.append(f"Not known: the environment variables of {whose}.")
    return sentences if len(labels) > 1 else []


def _reading(reading: Reading, kernels: KernelChanges, first: str, unit: str) -> str:
    side = label(reading.side)
    if reading.identical:
        return f"{side}: no difference from {first}."
    if reading.cause == "startup_gap_exposed" and reading.same_work:
        much = "Same" if kernels.changes == [] else "As much"
        lead = [f"{much} GPU work, different start: against {first}, {side} {_waits(reading)}", *_work(reading)]
        return _sentence([*lead, *_length(reading, first, unit, subject="it takes")])
    lead = _length(reading, first, unit, subject=f"{side} takes") or [f"{side} against {first}"]
    waits = [_waits(reading)] if reading.waits else []
    return _sentence([*lead, *_work(reading), *waits])


def _sentence(clauses: Sequence[str]) -> str:
    return f"{'; '.join(clauses)}."


def _length(reading: Reading, first: str, unit: str, subject: str) -> list[str]:
    if reading.difference_ns is None:
        return []
    factor = f" ({units.ratio(reading.ratio)})" if reading.ratio is not None else ""
    than = f"about as long{unit} as" if reading.as_long else f"{_more(reading.difference_ns)}{unit} than"
    parts = _parts(reading) if reading.shifts or not reading.as_long else ""
    doubt = _DOUBT if reading.clear is False and not reading.as_long else ""
    return [f"{subject} {than} {first}{factor}{parts}{doubt}"]


def _parts(reading: Reading) -> str:
    """What the difference consists of."""
    parts = [
        ("CPU overhead", reading.cpu_overhead_ns),
        ("GPU work", reading.gpu_active_ns),
        ("of the profiler's own work", reading.profiler_ns),
    ]
    listed = ", ".join(f"{_more(value)} {what}" for what, value in parts if value)
    return f": {listed}" if listed else ""


def _more(difference: float) -> str:
    return f"{units.duration(abs(difference))} {'more' if difference > 0 else 'less'}"


def _waits(reading: Reading) -> str:
    difference = reading.exposed_ns or 0.0
    doubt = _DOUBT if reading.exposed_clear is False else ""
    return f"waits {_more(difference)} before its first GPU work (exposed){doubt}"


def _work(reading: Reading) -> list[str]:
    if reading.kernels is None or reading.kernels_first is None:
        return []
    here, before = units.counts([reading.kernels, reading.kernels_first])
    if reading.kernels == reading.kernels_first:
        return [f"kernels {here} = {before}"]
    return [f"{here} kernels instead of {before}"]


def _absent(stage: StageComparison) -> list[str]:
    """Which sides lack the stage."""
    missing = [label(row.side) for row in stage.rows if row.absent]
    some = [label(row.side) for row in stage.rows if not row.absent]
    if not missing or not some:
        return []
    nothing = " (nothing to hold the others against)" if stage.rows[0].absent else ""
    return [f"Absent from {', '.join(missing)}{nothing}: --map old=new tells what a stage is called there."]


def _kernels(sides: Sequence[KernelChanges], first: str) -> list[str]:
    """Which sides run the same kernels as the first one, and of which nobody knows."""
    same = [label(side.side) for side in sides if side.changes == []]
    unknown = [label(side.side) for side in sides if side.changes is None]
    sentences = [f"Same kernels, as often, as {first}: {', '.join(same)}."] if same else []
    return sentences + ([f"Which kernels differ is not known for {', '.join(unknown)}."] if unknown else [])


def _changed(fact: Fact, labels: Sequence[str]) -> str:
    """``driver 580.159 (eager), 575.57 (inductor)``."""
    sides: dict[str, list[str]] = {}
    for setting, name in zip(fact.settings, labels, strict=True):
        sides.setdefault(_setting(setting), []).append(label(name))
    values = ", ".join(f"{value} ({', '.join(names)})" for value, names in sides.items())
    return f"{_FACTS.get(fact.name, visible(fact.name))} {values}"


def _setting(setting: Setting) -> str:
    return shorten(visible(setting.value), 80) if setting.value is not None else _STATES[setting.state]
