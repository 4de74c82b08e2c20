"""Ranks of a job: which processes are ranks, their numbers, spreads and start skews."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from nsys_analyze import open_report
from nsys_analyze.errors import UsageError
from nsys_analyze.metrics.quantities import QUANTITIES
from nsys_analyze.metrics.ranks import merge_ranks
from nsys_analyze.metrics.results import Spread
from tests import strategies
from tests.exports import ExportBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nsys_analyze.metrics.results import Analysis, RankedProgram, RankedStage

LAUNCH = "cudaLaunchKernel_v7000"


def worker(builder: ExportBuilder, pid: int, starts: Sequence[int], **options: Any) -> Any:
    """A process with a `step` of 100 ns at each of the times, a kernel in each."""
    gpu, name, path = options.get("gpu", 0), options.get("name", "python3"), options.get("path", "step")
    process = builder.process(pid=pid, name=name)
    thread = process.thread()
    for number, start in enumerate(starts):
        thread.push_pop(f"{path} {number}", start, start + 100)
        thread.call(LAUNCH, start + 10, start + 20).kernel("gemm", start + 30, start + 50 + pid % 10, device=gpu)
    return process


def stage(program: RankedProgram, name: str = "step") -> RankedStage:
    return next(each for each in program.stages if each.name == name)


def merged(*analyses: Analysis) -> RankedProgram:
    (program,) = merge_ranks(analyses)
    return program


def numbers(program: RankedProgram) -> dict[int, int]:
    return {rank.rank: rank.process for rank in program.ranks}


# --- numbers


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(builder=strategies.exports())
def test_spreads_and_skews_are_what_their_definitions_say(builder: ExportBuilder, tmp_path: Path) -> None:
    analysis = open_report(builder.write(tmp_path / "report.sqlite")).analysis(instances=True)
    for program in merge_ranks([analysis]):
        pid_of = numbers(program)
        rows = {(each.process, tuple(each.path), tuple(each.domains)): each for each in analysis.stages}
        keys = {key[1:] for key in rows if key[0] in pid_of.values()}
        assert {(tuple(each.path), tuple(each.domains)) for each in program.stages} == keys
        for ranked in program.stages:
            whole = (tuple(ranked.path), tuple(ranked.domains))
            mine = {rank: rows[pid, *whole] for rank, pid in pid_of.items() if (pid, *whole) in rows}
            assert ranked.ranks == sorted(mine)
            check_spread(ranked.instances, {rank: row.instances for rank, row in mine.items()})
            check_spread(ranked.wall_total_ns, {rank: row.wall_ns.total for rank, row in mine.items()})
            check_spread(ranked.active_total_ns, {rank: row.active_ns for rank, row in mine.items()})
            for name, spread in ranked.quantities.items():
                check_spread(spread, {rank: QUANTITIES[name].of(row) for rank, row in mine.items()})
            starts = {
                rank: sorted(each.start_ns for each in analysis.instances if each.stage == row.key)
                for rank, row in mine.items()
            }
            check_skew(ranked, starts)


def check_spread(spread: Spread | None, values: dict[int, float | None]) -> None:
    known = {rank: value for rank, value in values.items() if value is not None}
    assert (spread is None) == (not known)
    if spread is None:
        return
    assert (spread.count, spread.min, spread.max) == (len(known), min(known.values()), max(known.values()))
    assert spread.median == pytest.approx(statistics.median(known.values()))
    assert spread.min_rank == min(rank for rank, value in known.items() if value == spread.min)
    assert spread.max_rank == min(rank for rank, value in known.items() if value == spread.max)


def check_skew(ranked: RankedStage, starts: dict[int, list[int]]) -> None:
    comparable = len(starts) > 1 and len({len(each) for each in starts.values()}) == 1
    assert (ranked.start_skew_ns is not None) == comparable
    assert (ranked.start_skew_missing is None) == comparable
    if ranked.start_skew_ns is None:
        return
    together = list(zip(*starts.values(), strict=True))
    skews = [max(each) - min(each) for each in together]
    last = [list(starts)[each.index(max(each))] for each in together if max(each) > min(each)]
    skew = ranked.start_skew_ns
    assert (skew.instances, skew.first, skew.max) == (len(skews), skews[0], max(skews))
    assert skew.median == statistics.median(skews)
    often = {rank: last.count(rank) for rank in starts}
    assert skew.latest_count == max(often.values())
    assert skew.latest_rank == (min(rank for rank in often if often[rank] == skew.latest_count) if last else None)


def test_the_slow_rank_and_the_late_one_are_named(builder, analyse):
    worker(builder, 101, [1_000, 1_200, 1_400], gpu=0)
    worker(builder, 109, [1_005, 1_203, 1_450], gpu=1)
    worker(builder, 105, [1_001, 1_220, 1_401], gpu=2)
    step = stage(merged(analyse(builder)))
    active = step.quantities["gpu_active"]
    assert (active.min, active.min_rank, active.median, active.max, active.max_rank) == (21, 0, 25, 29, 1)
    assert active.outlier == "max"
    skew = step.start_skew_ns
    assert (skew.first, skew.median, skew.max, skew.latest_rank, skew.latest_count) == (5, 20, 50, 1, 2)


def test_a_report_that_is_there_twice_is_no_second_rank(builder, analyse):
    builder.session(1_767_225_600 * 10**9)
    worker(builder, 101, [1_000, 1_200, 1_400])
    analysis = analyse(builder)
    with pytest.raises(UsageError, match=r"report.sqlite and .*report.sqlite: the same capture twice"):
        merge_ranks([analysis, analysis])


@pytest.mark.parametrize(
    ("count", "low", "median", "high", "outlier"),
    [
        (3, 90, 100, 110, None),
        (3, 89, 100, 110, "min"),
        (3, 99, 100, 120, "max"),
        (2, 80.0, 100, 119.9, "max"),
        (4, 0, 0, 0, None),
        (4, 0, 0, 1, "max"),
    ],
)
def test_an_extreme_stands_out_beyond_a_tenth_of_the_median(count, low, median, high, outlier):
    spread = Spread(count=count, min=low, median=median, max=high, min_rank=0, max_rank=1)
    assert spread.outlier == outlier


# --- where no skew is known


def test_no_skew_where_instances_cannot_be_paired(builder, analyse):
    worker(builder, 101, [1_000, 1_200])
    worker(builder, 102, [1_000, 1_200, 1_400])
    step = stage(merged(analyse(builder)))
    assert step.start_skew_ns is None
    assert step.start_skew_missing == "instances cannot be paired: ranks have 2 to 3 of them"
    assert (step.instances.min, step.instances.max, step.instances.max_rank) == (2, 3, 1)


def test_no_skew_between_clocks(tmp_path):
    analyses = []
    for number in range(2):
        builder = ExportBuilder()
        worker(builder, 100, [1_000 * number])
        analyses.append(open_report(builder.write(tmp_path / f"rank{number}.sqlite")).analysis())
    program = merged(*analyses)
    assert program.clock is None
    assert [(rank.rank, rank.report, rank.file) for rank in program.ranks] == [
        (0, 0, "rank0.sqlite"),
        (1, 1, "rank1.sqlite"),
    ]
    assert stage(program).start_skew_ns is None
    assert "different reports" in stage(program).start_skew_missing


# --- several reports on one clock

DAY = 1_767_225_600_000_000_000  # ns: 2026-01-01 in UTC


@pytest.fixture
def job(tmp_path):
    """Analyses of a job with a report a rank: each host, when its capture began, when its stages start on its clock."""

    def analyses(*ranks: tuple[str | None, int | None, dict[str, list[int]]], duration: int = 10**9) -> list[Analysis]:
        found = []
        for number, (host, began, starts) in enumerate(ranks):
            builder = ExportBuilder()
            builder.row("ANALYSIS_DETAILS", globalVid=1 << 48, duration=duration, startTime=0, stopTime=duration)
            if began is not None:
                builder.session(DAY + began, host)
            thread = builder.process(pid=100 + number, name="python3").thread()
            for name, times in starts.items():
                for place, start in enumerate(times):
                    thread.push_pop(f"{name} {place}", start, start + 100)
                    thread.call(LAUNCH, start + 10, start + 20).kernel("gemm", start + 30, start + 50)
            found.append(open_report(builder.write(tmp_path / f"rank{number}.sqlite")).analysis())
        return found

    return analyses


def skews(program: RankedProgram, name: str = "step") -> tuple[int, float, int, int | None, int]:
    skew = stage(program, name).start_skew_ns
    return skew.first, skew.median, skew.max, skew.latest_rank, skew.latest_count


def test_reports_of_one_machine_are_on_its_wall_clock(job):
    reports = job(
        ("node1", 0, {"import": [1_000], "step": [5_000, 6_000, 7_000]}),
        ("node1", 500, {"import": [900], "step": [4_510, 5_500, 6_490]}),
    )
    program = merged(*reports)
    assert (program.clock.by, program.clock.stage, program.clock.hosts) == ("wall", None, 1)
    assert skews(program, "import") == (400, 400, 400, 1, 1)
    assert skews(program) == (10, 10, 10, 0, 1)


def test_reports_of_several_machines_are_aligned_by_their_main_loop(job):
    reports = job(
        ("node1", 0, {"import": [1_000], "step": [5_000, 6_000, 7_000]}),
        ("node2", 7_000_000, {"import": [2_400], "step": [5_300, 6_310, 7_340]}),
    )
    program = merged(*reports)
    assert (program.clock.by, program.clock.stage, program.clock.hosts) == ("iteration", ["step"], 2)
    assert skews(program) == (10, 10, 30, 0, 1)
    assert skews(program, "import") == (1_090, 1_090, 1_090, 1, 1)
    (by_wall,) = merge_ranks(reports, "wall")
    assert (by_wall.clock.by, by_wall.clock.hosts) == ("wall", 2)
    assert skews(by_wall) == (7_000_300, 7_000_310, 7_000_340, 1, 3)


def test_one_shift_a_report_keeps_how_its_own_ranks_differ(tmp_path):
    analyses = []
    for node, late in enumerate((0, 5_000_000)):
        builder = ExportBuilder()
        for rank in range(2):
            worker(builder, 100 + rank, [late + start + 40 * rank for start in (1_000, 2_000, 3_000)], gpu=rank)
        analyses.append(open_report(builder.write(tmp_path / f"node{node}.sqlite")).analysis())
    program = merged(*analyses)
    assert (program.clock.by, program.clock.hosts) == ("iteration", None)
    assert skews(program) == (40, 40, 40, 1, 3)


def test_captures_that_never_ran_together_are_not_put_on_the_wall_clock(job):
    steps = {"step": [5_000, 6_000]}
    (program,) = merge_ranks(job(("node1", 0, steps), ("node1", 10**10, steps)))
    assert program.clock.by == "iteration"
    (program,) = merge_ranks(job(("node1", 0, {"step": [1]}), ("node1", 10**10, {"step": [1]})))
    assert program.clock is None


def test_a_clock_that_is_not_to_be_had_is_refused(job):
    with pytest.raises(UsageError, match=r"rank1\.sqlite does not tell when its capture began"):
        merge_ranks(job(("node1", 0, {"step": [1, 300]}), (None, None, {"step": [1, 300]})), "wall")
    with pytest.raises(UsageError, match="no loop that all ranks ran equally often"):
        merge_ranks(job(("node1", 0, {"step": [1, 300]}), ("node2", 0, {"step": [1, 300, 600]})), "iteration")


def test_a_stage_of_one_rank_only_is_listed_with_it(builder, analyse):
    worker(builder, 101, [1_000, 1_200])
    process = worker(builder, 102, [1_000, 1_200])
    process.thread().push_pop("save", 2_000, 2_100)
    save = stage(merged(analyse(builder)), "save")
    assert save.ranks == [1]
    assert save.start_skew_missing == "only one rank has the stage"


# --- which processes are ranks


def test_helpers_are_no_ranks(builder, analyse):
    """Neither another program, nor one without stages, nor a worker that shares stages but never calls CUDA."""
    worker(builder, 101, [1_000], gpu=0)
    worker(builder, 102, [1_000], gpu=1)
    worker(builder, 103, [1_000], name="monitor")
    builder.process(pid=104).thread().call("cudaGetDeviceCount_v3020", 5, 6)
    builder.process(pid=105).thread().push_pop("step 0", 1_000, 1_100)
    assert numbers(merged(analyse(builder))) == {0: 101, 1: 102}


def test_ranks_without_cuda_are_ranks(builder, analyse):
    for pid in (101, 102):
        builder.process(pid=pid).thread().push_pop("step 0", 1_000, 1_100 + pid)
    program = merged(analyse(builder))
    assert numbers(program) == {0: 101, 1: 102}
    assert stage(program).quantities["gpu_active"] is None


def test_nothing_shared_is_no_job(builder, analyse):
    worker(builder, 101, [1_000], path="load")
    worker(builder, 102, [1_000], path="train")
    assert merge_ranks([analyse(builder)]) == []


def test_two_jobs_of_one_program_stay_apart(builder, analyse):
    for pid in (101, 102, 103, 104):
        worker(builder, pid, [1_000], path="train" if pid % 2 else "serve")
    programs = merge_ranks([analyse(builder)])
    assert sorted(tuple(numbers(program).values()) for program in programs) == [(101, 103), (102, 104)]


def test_parents_come_before_children_whoever_has_them(builder, analyse):
    for pid, inside in ((101, ["a"]), (102, ["b", "a"])):
        thread = worker(builder, pid, []).thread()
        thread.push_pop("outer", 0, 1_000)
        for place, name in enumerate(inside):
            thread.push_pop(name, 100 * place + 10, 100 * place + 60)
    program = merged(analyse(builder))
    assert [(each.path, each.ranks) for each in program.stages] == [
        (["outer"], [0, 1]),
        (["outer", "a"], [0, 1]),
        (["outer", "b"], [1]),
    ]


# --- their numbers


def test_ranks_that_nobody_tells_are_in_order_of_gpu_then_pid(builder, analyse):
    for pid, gpu in ((101, 1), (102, 0), (103, 0)):
        worker(builder, pid, [1_000], gpu=gpu)
    analysis = analyse(builder)
    program = merged(analysis)
    assert (numbers(program), program.numbered_by) == ({0: 102, 1: 103, 2: 101}, "order")
    assert [process.rank for process in analysis.report.processes] == [None] * 3
    assert {each.process: each.key for each in analysis.stages}[101] == "python3#2: step"


def test_the_order_goes_by_the_machines_gpu(builder, analyse):
    for pid, gpu in ((101, 1), (102, 0)):
        worker(builder, pid, [1_000], gpu=0).device(0, gpu)
    assert numbers(merged(analyse(builder))) == {0: 102, 1: 101}


def by_mpi(process, rank):
    process.builder.row("MPI_RANKS", globalTid=process.global_pid | process.pid, rank=rank)


def by_thread_name(process, rank):
    process.thread(name=f"MPI Rank {rank}")


def by_range(process, rank):
    process.thread().push_pop(f"rank={rank}", 0, 5)


@pytest.mark.parametrize("tell", [by_mpi, by_thread_name, by_range])
def test_ranks_that_the_report_tells(builder, analyse, tell):
    for pid, rank in ((101, 5), (102, 4)):
        tell(worker(builder, pid, [1_000]), rank)
    worker(builder, 103, []).thread().call("cuInit", 5, 6)
    analysis = analyse(builder)
    program = merged(analysis)
    assert (numbers(program), program.numbered_by) == ({4: 102, 5: 101}, "report")
    assert {process.pid: process.rank for process in analysis.report.processes} == {101: 5, 102: 4, 103: None}
    keys = {each.process: each.key for each in analysis.stages if each.name == "step"}
    assert keys == {101: "python3#5: step", 102: "python3#4: step"}


def test_a_rank_that_two_claim_is_none(builder, analyse):
    for pid in (101, 102):
        by_mpi(worker(builder, pid, [1_000]), 0)
    analysis = analyse(builder)
    assert [process.rank for process in analysis.report.processes] == [None, None]
    assert merged(analysis).numbered_by == "order"


def launched(variables: dict[str, str], *, pids: Sequence[int] = (101,)) -> ExportBuilder:
    builder = ExportBuilder()
    options = [("PROCESS_0:ENVIRONMENT_VARIABLE", f'{name}="{value}"') for name, value in variables.items()]
    builder.capture(10_000, options)
    for pid in pids:
        worker(builder, pid, [1_000])
    return builder


@pytest.mark.parametrize(
    ("variables", "rank"),
    [
        ({"RANK": "3", "WORLD_SIZE": "8", "HOME": "/root"}, 3),
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4", "RANK": "0"}, 2),
        ({"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}, 1),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, None),  # a batch script, which is no task
        ({"RANK": "0", "WORLD_SIZE": "1"}, None),
        ({"RANK": "zero", "WORLD_SIZE": "2"}, None),
    ],
)
def test_the_environment_tells_the_rank_of_the_only_process(analyse, variables, rank):
    analysis = analyse(launched(variables))
    assert [process.rank for process in analysis.report.processes] == [rank]
    assert [each.key for each in analysis.stages] == ["python3: step"]


def test_the_environment_of_a_launcher_is_not_that_of_its_ranks(analyse):
    analysis = analyse(launched({"RANK": "0", "WORLD_SIZE": "8"}, pids=(101, 102)))
    assert [process.rank for process in analysis.report.processes] == [None, None]


def test_reports_with_known_ranks_may_come_in_any_order(tmp_path):
    analyses = [
        open_report(launched({"RANK": str(rank), "WORLD_SIZE": "12"}).write(tmp_path / f"rank{rank}.sqlite")).analysis()
        for rank in (10, 2)
    ]
    program = merged(*analyses)
    assert [(rank.rank, rank.file) for rank in program.ranks] == [(2, "rank2.sqlite"), (10, "rank10.sqlite")]
    assert program.numbered_by == "report"
