"""The tables of ``--merge-ranks``: stages over ranks, how far apart they start, and those that only some ranks have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsys_analyze.metrics.loops import largest
from nsys_analyze.metrics.quantities import QUANTITIES, Kind, Quantity
from nsys_analyze.metrics.results import Rank, RankClock, RankedProgram, RankedStage, Spread, StartSkew
from nsys_analyze.metrics.wording import program_name
from nsys_analyze.views import units
from nsys_analyze.views.columns import Measure, columns
from nsys_analyze.views.document import Column, Group, Name, Row, Table
from nsys_analyze.views.naming import flat_names, process_name
from nsys_analyze.views.tables import left_out
from nsys_analyze.views.text import path_text, visible
from nsys_analyze.views.units import Number

_OF_LOOPS = (
    *("pace", "cpu_overhead", "gpu_active", "kernels", "overhead_per_kernel", "startup_gap", "startup_gap_exposed"),
    "compile_time",
)
_OF_OTHERS = ("wall", "startup_gap", "startup_gap_exposed", "compile_time", "gpu_active", "kernels")
_RANKS_MOST = 16  # that a page lists with their processes

_Line = tuple[Row, Quantity | None, Spread | None]


def ranks_tables(
    programs: Sequence[RankedProgram], *, loops: int, top: int, listing: bool, several_reports: bool
) -> list[Table]:
    """Returns the tables of stages over ranks, of how far apart these start, and of stages that not all ranks have.

    Args:
        programs: The ranks of each program.
        loops: How many loops, and how many other stages of the top level, each program may have; 0 for any number.
        top: How many stages each program may have where all are listed, or that some ranks lack; 0 for any number.
        listing: Whether to list all stages.
        several_reports: Whether ranks must be told apart by report.
    """
    shared = [_shared(program) for program in programs]
    shown = [largest(stages, top, _size) if listing else _overview(stages, loops) for stages in shared]
    footer = left_out(
        sum(map(len, shared)), sum(map(len, shown)), "shared stage", _option(shared, top, listing=listing)
    )
    footer += [sentence for program in programs for sentence in _who(program, several_reports)]
    lines = [list(_lines(program, stages)) for program, stages in zip(programs, shown, strict=True)]
    return [_table(programs, lines, footer), _starts(programs, shown), _partial(programs, top)]


def _shared(program: RankedProgram) -> list[RankedStage]:
    return [stage for stage in program.stages if len(stage.ranks) > 1]


def _size(stage: RankedStage) -> float:
    return stage.wall_total_ns.max


def _gpu_time(stage: RankedStage) -> float:
    return stage.active_total_ns.max if stage.active_total_ns else 0.0


def _overview(stages: Sequence[RankedStage], most: int) -> list[RankedStage]:
    """The loops with most GPU time, and of the rest of the top level what took longest."""
    looping = [stage for stage in stages if stage.quantities["pace"]]
    starting = [stage for stage in stages if len(stage.path) == 1 and not stage.quantities["pace"]]
    looping = [stage for stage in looping if _gpu_time(stage)] or looping
    return [*largest(looping, most, _gpu_time), *largest(starting, most, _size)]


def _option(shared: Sequence[Sequence[RankedStage]], top: int, *, listing: bool) -> str:
    """The options that list every stage."""
    depth = max((len(stage.path) for stages in shared for stage in stages), default=0)
    return "--top 0 lists all" if listing else f"--depth {depth} --top 0 lists all"


def _lines(program: RankedProgram, stages: Sequence[RankedStage]) -> Iterator[_Line]:
    """A row for each stage, and below it one for each number that says something."""
    for stage, name in zip(stages, flat_names(stages), strict=True):
        yield Row(name, remarks=[[_counts(program, stage), *_no_skew(stage)]]), None, None
        for quantity in _OF_LOOPS if stage.quantities["pace"] else _OF_OTHERS:
            spread = stage.quantities[quantity]
            if spread is not None and (spread.max or spread.min):
                title = QUANTITIES[quantity].title
                yield Row(Name(title, 1, full=f"{name.full}: {title}")), QUANTITIES[quantity], spread


def _counts(program: RankedProgram, stage: RankedStage) -> str:
    counts = stage.instances
    several = "" if counts.min == counts.max == 1 else "s"
    each = f"{counts.min:,} instance{several} each"
    if counts.min != counts.max:
        each = f"{counts.min:,} instances (rank {counts.min_rank}) to {counts.max:,} (rank {counts.max_rank})"
    return f"{_of(program, stage)} ranks, {each}"


def _of(program: RankedProgram, stage: RankedStage) -> str:
    some, every = len(stage.ranks), len(program.ranks)
    return f"{some:,}" if some == every else f"{some:,} of {every:,}"


def _no_skew(stage: RankedStage) -> list[str]:
    """Why nobody can tell how far apart the ranks start."""
    return [] if stage.start_skew_missing is None else [f"start skew unknown: {stage.start_skew_missing}"]


_SKEW: tuple[Measure[StartSkew], ...] = (
    Measure(title="n", write=units.counts, get=lambda skew: skew.instances, drop=3),
    Measure(title="first", get=lambda skew: skew.first, scale="apart"),
    Measure(title="median", get=lambda skew: skew.median, scale="apart"),
    Measure(title="max", get=lambda skew: skew.max, scale="apart"),
    Measure(title="last rank", write=units.counts, get=lambda skew: skew.latest_rank, drop=1),
    Measure(title="times last", write=units.counts, get=lambda skew: skew.latest_count or None, drop=2),
)


def _starts(programs: Sequence[RankedProgram], shown: Sequence[Sequence[RankedStage]]) -> Table:
    """How far apart the ranks start each stage shown, and who is late."""
    told = [
        [(name, stage.start_skew_ns) for stage, name in zip(stages, flat_names(stages), strict=True)]
        for stages in shown
    ]
    known = [[(name, skew) for name, skew in stages if skew is not None] for stages in told]
    clocks = [program.clock for program, stages in zip(programs, known, strict=True) if stages]
    return Table(
        title="Starts apart",
        groups=[
            Group(heading=_heading(program) if len(programs) > 1 else "", rows=[Row(name) for name, _ in stages])
            for program, stages in zip(programs, known, strict=True)
            if stages
        ],
        columns=columns(_SKEW, [skew for stages in known for _, skew in stages]),
        footer=list(dict.fromkeys(_clock(clock) for clock in clocks if clock)),
    )


def _clock(clock: RankClock) -> str:
    """By which clock starts were compared, and how far it can be trusted."""
    if clock.by == "report":
        return "By the clock of the report."
    if clock.by == "iteration":
        loop = path_text(clock.stage or [])
        return (
            f"By iterations: each report's clock is shifted so that instances of {loop} start together in the median. "
            "What a rank is always late by does not show there; --align wall shows it."
        )
    if clock.hosts == 1:
        return "By the wall clock of the one machine that all reports are of."
    machines = "machines that the reports do not name" if clock.hosts is None else f"{clock.hosts:,} machines"
    return f"By the wall clocks of {machines}: only as good as NTP or PTP kept these together, often milliseconds."


def _table(programs: Sequence[RankedProgram], lines: Sequence[Sequence[_Line]], footer: Sequence[str]) -> Table:
    spreads = [(quantity, spread) for group in lines for _, quantity, spread in group]
    numbers = [_numbers(quantity, spread) for quantity, spread in spreads]
    ranks = [(None, None) if spread is None else (spread.min_rank, spread.max_rank) for _, spread in spreads]
    median, least, greatest = ([row[place] for row in numbers] for place in range(3))
    return Table(
        title="Ranks",
        groups=[
            Group(heading=_heading(program) if len(programs) > 1 else "", rows=[row for row, _, _ in group])
            for program, group in zip(programs, lines, strict=True)
            if group
        ],
        columns=[
            Column(title="median", cells=median),
            Column(
                title="min",
                cells=least,
                marks=[spread is not None and spread.outlier == "min" for _, spread in spreads],
            ),
            Column(title="rank", cells=[_rank_number(low) for low, _ in ranks]),
            Column(
                title="max",
                cells=greatest,
                marks=[spread is not None and spread.outlier == "max" for _, spread in spreads],
            ),
            Column(title="rank", cells=[_rank_number(high) for _, high in ranks]),
        ],
        footer=footer,
    )


def _heading(program: RankedProgram) -> str:
    return f"{visible(program_name(program.program) or 'unnamed program')}, {len(program.ranks):,} ranks"


def _numbers(quantity: Quantity | None, spread: Spread | None) -> list[Number | None]:
    """Median, least and greatest in one unit; blank where the row is not for them."""
    if quantity is None or spread is None:
        return [Number("")] * 3
    write = units.counts if quantity.kind is Kind.COUNT else units.durations
    return write([spread.median, spread.min, spread.max])


def _rank_number(rank: int | None) -> Number:
    return Number("" if rank is None else str(rank))


def _partial(programs: Sequence[RankedProgram], top: int) -> Table:
    """The stages that not all ranks have."""
    partial = [[stage for stage in program.stages if len(stage.ranks) < len(program.ranks)] for program in programs]
    shown = [largest(stages, top, _size) for stages in partial]
    rows = [(program, stage) for program, stages in zip(programs, shown, strict=True) for stage in stages]
    return Table(
        title="Not on all ranks",
        groups=[
            Group(
                heading=_heading(program) if len(programs) > 1 else "", rows=[Row(name) for name in flat_names(stages)]
            )
            for program, stages in zip(programs, shown, strict=True)
            if stages
        ],
        columns=[
            Column(
                title="ranks",
                cells=[Number(f"{len(stage.ranks):,} of {len(program.ranks):,}") for program, stage in rows],
            ),
            Column(title="n", cells=units.counts([stage.instances.median for _, stage in rows])),
            Column(title="wall", cells=units.durations([stage.wall_total_ns.median for _, stage in rows])),
            Column(title="lowest rank", cells=[Number(str(stage.ranks[0])) for _, stage in rows], drop=1),
        ],
        footer=left_out(sum(map(len, partial)), len(rows), "stage", "--top 0 lists all"),
    )


def _who(program: RankedProgram, several_reports: bool) -> list[str]:
    """Which process each rank is, and what "rank" means."""
    ranks = [_process(rank, several_reports) for rank in program.ranks[:_RANKS_MOST]]
    if len(program.ranks) > _RANKS_MOST:
        ranks.append(f"{len(program.ranks) - _RANKS_MOST:,} more in --format json")
    name = visible(process_name(program.program, program.ranks[0].process))
    order = "report, GPU and process id" if several_reports else "GPU and process id"
    told = "" if program.numbered_by == "report" else f" No report tells their ranks: they are numbered by {order}."
    return [f"Ranks of {name}: {'; '.join(ranks)}.{told}"]


def _process(rank: Rank, several_reports: bool) -> str:
    gpus = f", GPU {', '.join(map(str, rank.gpus))}" if rank.gpus else ""
    file = f"{visible(rank.file)}, " if several_reports else ""
    return f"{rank.rank} is {file}process {rank.process}{gpus}"
