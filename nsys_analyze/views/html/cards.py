"""Cards: everything about one stage, side by side in small tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsys_analyze.metrics.breakdown import Kind, Split, splits
from nsys_analyze.metrics.results import Stage, StageKernels, Stall, StartupGap
from nsys_analyze.views import units
from nsys_analyze.views.glossary import TERMS
from nsys_analyze.views.html import bars, names
from nsys_analyze.views.html.content import Card, Line, Panel
from nsys_analyze.views.text import visible
from nsys_analyze.views.wording import module_phrases, part_name, tells_modules, whole_name

_STALLS = 8  # of a stage, worst first
_FILLED = 3  # parts that a stall is explained by
_GPUS = 8
_KERNELS = 10


def card(number: int, stage: Stage, name: str, report: str, kernels: StageKernels | None, *, shown: bool) -> Card:
    """Returns the card of a stage; ``shown`` says whether it is open at first."""
    return Card(
        number=number,
        name=names.short(name),
        full=names.full(name),
        report=report,
        facts=_facts(stage),
        shown=shown,
        panels=[*_panels(stage), *([_kernels(kernels)] if kernels and kernels.rows else [])],
    )


def _facts(stage: Stage) -> str:
    count = f"{stage.instances:,} instance{'' if stage.instances == 1 else 's'}"
    unfinished = f"{stage.unfinished:,} never ended" if stage.unfinished else ""
    pace = "" if stage.pace_ns is None else f"pace {units.duration(stage.pace_ns)}"
    wall = f"wall {units.duration(stage.wall_ns.total)}"
    mean = "parts below are means over them" if stage.instances > 1 else ""
    return " · ".join(part for part in (count, unfinished, pace, wall, mean) if part)


def _panels(stage: Stage) -> Iterator[Panel]:
    found = list(splits(stage))
    if stage.startup_gap_ns is not None and stage.gap_means_ns is not None:
        yield _gap(stage, stage.startup_gap_ns)
    gpus = [split for split in found if split.kind is Kind.GPU]
    yield from (_split(split, stage) for split in found if split.kind is Kind.HOST)
    yield from (_split(split, stage) for split in gpus[:_GPUS])
    yield from (_split(split, stage) for split in found if split.kind not in (Kind.HOST, Kind.GPU))
    if stage.launch_call_ns is not None or stage.queue_delay_ns is not None:
        yield _launches(stage)
    yield _times(stage)
    if stage.stalls:
        yield _stalls(stage)


def _split(split: Split, stage: Stage) -> Panel:
    mean, only_loading = split.per_instance(), stage.only_loads
    united = any(part.united_if_less is not None for part in (mean.whole, *mean.parts))
    device = "" if split.device is None else f" {split.device}"
    some = f", {split.instances:,} of the instances" if split.instances < stage.instances else ""
    whole = Line(name="in all", numbers=_part_numbers(mean.whole.time, None, mean.whole.united_if_less, united))
    lines = [
        Line(
            name=part_name(split.kind, part.name, only_loading=only_loading),
            numbers=_part_numbers(part.time, part.share, part.united_if_less, united),
            look=bars.look(split.kind, part.name) if split.kind in (Kind.HOST, Kind.GPU) else "",
        )
        for part in mean.parts
    ]
    compiling = stage.compile_ns
    footer = ""
    if compiling is not None and tells_modules(split.kind, compiling):
        footer = "".join(module_phrases(compiling))
    return Panel(
        title=whole_name(split.kind, only_loading=only_loading) + device + some,
        meaning=TERMS[_TERM.get(split.kind, "compile")],
        headers=["time", "share", *(["united"] if united else [])],
        lines=[whole, *lines] if len(lines) != 1 else lines,
        bar=bars.split_bar(split),
        footer=footer,
    )


_TERM = {Kind.HOST: "host", Kind.GPU: "GPU"}


def _part_numbers(time: float, share: float | None, united: float | None, with_united: bool) -> list[str]:
    texts = [units.duration(time), "" if share is None else units.share(share)]
    return [*texts, "" if united is None else units.duration(united)] if with_united else texts


def _gap(stage: Stage, gap: StartupGap) -> Panel:
    means = stage.gap_means_ns
    assert means is not None
    parts = [("prelude", means.prelude), ("launch", means.launch), ("queue", means.queue)]
    lost = [("exposed", means.exposed), ("hidden", means.hidden)]
    lines = [
        Line(
            name=name,
            numbers=[units.duration(time), units.share(time / means.total) if means.total else ""],
            look=f"gap-{name}",
            meaning=TERMS[name],
        )
        for name, time in (*parts, *lost)
    ]
    ends = [
        ("median", gap.median),
        ("95% are below", gap.p95),
        ("first", gap.first),
        ("the profiler's own work", gap.profiler),
    ]
    more = [Line(name=name, numbers=[units.duration(value), ""]) for name, value in ends if value]
    return Panel(
        title="startup gap",
        meaning=TERMS["startup gap"],
        headers=["time", "share"],
        lines=[Line(name="in all", numbers=[units.duration(means.total), ""]), *lines, *more],
        bar=bars.stacked([(f"gap-{name}", time) for name, time in parts], means.total, ""),
    )


def _launches(stage: Stage) -> Panel:
    calls, queue = stage.launch_call_ns, stage.queue_delay_ns
    lines = []
    if calls is not None:
        numbers = [f"{calls.count:,}", *map(_duration, (calls.median, calls.p95, calls.max))]
        lines.append(Line(name="launch calls", numbers=numbers, meaning=TERMS["launch calls"]))
        if calls.first_count:
            mean = units.duration(calls.first_total / calls.first_count)
            lines.append(Line(name=f"first of a function: {mean} each", numbers=[f"{calls.first_count:,}", "", "", ""]))
    if queue is not None:
        numbers = ["", *map(_duration, (queue.median, queue.p95)), ""]
        lines.append(Line(name="queue delay", numbers=numbers, meaning=TERMS["queue delay"]))
    return Panel(
        title="launches",
        meaning=TERMS["launch calls"],
        headers=["n", "median", "95%", "max"],
        lines=lines,
    )


def _times(stage: Stage) -> Panel:
    rows = [("wall", stage.wall_ns), ("elapsed", stage.elapsed_ns)]
    return Panel(
        title="instances",
        meaning="how long an instance took; those that never ended are left out",
        headers=["median", "95%", "min", "max"],
        lines=[
            Line(
                name=name,
                numbers=list(map(_duration, (times.median, times.p95, times.min, times.max))),
                meaning=_OF_ONE[name],
            )
            for name, times in rows
        ],
    )


_OF_ONE = {"wall": "end less start of the range", "elapsed": TERMS["elapsed"].removesuffix(", on average")}


def _stalls(stage: Stage) -> Panel:
    more = len(stage.stalls) - _STALLS
    return Panel(
        title="stalls",
        meaning=TERMS["stalls"],
        headers=["at", "elapsed", "above median"],
        lines=[
            Line(
                name=f"instance {stall.index:,}: {_filled(stall)}",
                numbers=[
                    *map(str, units.instants([stall.start_ns])),
                    units.duration(stall.elapsed_ns),
                    units.duration(stall.excess_ns),
                ],
            )
            for stall in stage.stalls[:_STALLS]
        ],
        wide=True,
        footer=f"{more:,} more: --format json lists them" if more > 0 else "",
    )


def _kernels(kernels: StageKernels) -> Panel:
    shown = kernels.rows[:_KERNELS]
    more = kernels.rows_in_all - len(shown)
    return Panel(
        title="kernels and copies, all instances",
        meaning=TERMS["kernels and copies"],
        headers=["n", "an instance", "time", "share", "median"],
        lines=[
            Line(
                name=names.short(visible(row.title)),
                full=names.bounded(visible(row.name or "")),
                numbers=[
                    f"{row.count:,}",
                    *map(str, units.counts([row.per_instance])),
                    units.duration(row.total_ns),
                    "" if row.share is None else units.share(row.share),
                    units.duration(row.median_ns),
                ],
            )
            for row in shown
        ],
        wide=True,
        footer=f"{more:,} more: nsys-analyze kernels lists them" if more else "",
    )


def _filled(stall: Stall) -> str:
    parts = list(stall.filled_ns.items())[:_FILLED]
    return ", ".join(f"{_grown(name)} +{units.duration(time)}" for name, time in parts) or "nothing that is known"


def _grown(name: str) -> str:
    return "GPU work after its end" if name == "gpu_after_end" else part_name(Kind.HOST, name)


def _duration(value: float | None) -> str:
    return "-" if value is None else units.duration(value)


def chosen(stages: Sequence[Stage], loops: Sequence[Stage], most: int) -> list[Stage]:
    """Returns the stages that get a card: loops and their parts, then the two top levels; in the order they came."""
    first = {id(stage) for stage in loops}
    ranked = sorted(
        (stage for stage in stages if id(stage) in first or len(stage.path) <= 2),
        key=lambda stage: (id(stage) not in first, len(stage.path), -stage.elapsed_ns.total),
    )
    kept = {id(stage) for stage in ranked[:most]}
    return [stage for stage in stages if id(stage) in kept]
