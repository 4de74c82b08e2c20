from __future__ import annotations

from datetime import date

import pytest

from nsys_analyze.errors import UsageError
from nsys_analyze.verdict.config import Accept, Budget, Place
from nsys_analyze.verdict.config_file import config_of
from nsys_analyze.verdict.results import Outcome, State
from tests.verdict_samples import STEP, report, stage, step, verdict

PLACE = Place(file="pyproject.toml", line=7)


def budget(metric, maximum=None, **given):
    return Budget(**{"stage": "step", "metric": metric, "maximum": maximum, "place": PLACE} | given)


def accept(metric, up_to, **given):
    return Accept(**{"stage": "steady/*", "metric": metric, "up_to": up_to, "reason": "#1", "place": PLACE} | given)


def state(found, metric, against="baseline"):
    (one,) = [check for check in found.checks if check.metric == metric and check.against == against]
    return one.state


def three(**values):
    return [report(step(**values), label=f"{place}.sqlite") for place in range(3)]


def test_the_same_is_ok():
    found = verdict(three(), three())
    assert (found.outcome, found.exit_code) == (Outcome.PASSED, 0)
    assert {check.state for check in found.checks} == {State.OK}


@pytest.mark.parametrize(("factor", "expected"), [(2, State.REGRESSED), (1.09, State.OK), (0.5, State.IMPROVED)])
def test_a_time_that_changed(factor, expected):
    assert state(verdict(three(), three(pace=2e6 * factor)), "pace") is expected


def test_small_times_may_change_by_any_factor():
    assert state(verdict(three(startup_gap=500), three(startup_gap=15_000)), "startup_gap") is State.OK
    assert state(verdict(three(startup_gap=0), three(startup_gap=0)), "pace") is State.OK


@pytest.mark.parametrize(("kernels", "expected"), [(61, State.REGRESSED), (60, State.OK), (59, State.IMPROVED)])
def test_counts_are_exact(kernels, expected):
    found = verdict(three(), three(kernels=kernels))
    assert state(found, "kernels") is expected
    assert found.exit_code == (1 if expected is State.REGRESSED else 0)


def test_counts_may_be_what_some_report_of_the_baseline_had():
    base = [report(step(kernels=60)), report(step(kernels=64))]
    assert state(verdict(base, [report(step(kernels=63))]), "kernels") is State.OK
    assert state(verdict(base, [report(step(kernels=65))]), "kernels") is State.REGRESSED


def test_a_slow_machine_is_no_regression():
    slow = [report(step(calls=750e3, pace=2e6 * 1.5**1.4)) for _ in range(3)]
    found = verdict(three(), slow)
    assert state(found, "pace") is State.OK
    (pace,) = [check for check in found.checks if check.metric == "pace"]
    assert pace.evidence.yardstick == "cuda_calls"
    assert pace.evidence.yardstick_ratio == pytest.approx(1.5)
    assert "machine's speed" in pace.reason
    assert "CUDA calls x1.50 taken out" in pace.reason


@pytest.mark.parametrize("calls", [100e3, 250e3, 400e3])
def test_no_yardstick_turns_an_improvement_into_a_failure(calls):
    found = verdict(three(), three(calls=calls, pace=1.9e6))
    assert state(found, "pace") is State.OK
    assert found.exit_code == 0


def test_a_fast_machine_makes_a_small_growth_suspect():
    assert state(verdict(three(), three(calls=250e3, pace=2.1e6)), "pace") is State.SUSPECT


def test_dearer_launches_are_not_explained_away():
    """Everything follows the launches, so that only they tell."""
    base = three(launch_call=5e3)
    new = three(calls=2e6, pace=2e6 * 4**1.4, launch_call=20e3)
    assert state(verdict(base, new), "launch_call") is State.REGRESSED
    assert state(verdict(base * 3, new * 3), "pace") is State.REGRESSED


def test_other_launches_are_measured_one_by_one():
    base = [report(stage(values={**STEP, "launch_call": 6e3})) for _ in range(3)]
    fused = stage(calls=200e3, launches=20.0, values={**STEP, "kernels": 20.0, "launch_call": 6e3})
    found = verdict(base, [report(fused)] * 3)
    (gap,) = [check for check in found.checks if check.metric == "startup_gap_prelude"]
    assert (gap.evidence.yardstick, gap.state) == ("launch_call", State.OK)
    one = stage(calls=20e3, launches=1.0, values={**STEP, "launch_call": 20e3})
    (gap, *_) = [check for check in verdict(base, [report(one)] * 3).checks if check.metric == "startup_gap_prelude"]
    assert gap.evidence.yardstick is None


def test_one_capture_of_few_instances_settles_nothing():
    few = [report(stage(steady=3, values={**STEP, "pace": 9e6}))]
    assert state(verdict([report()], few), "pace") is State.INCONCLUSIVE
    assert state(verdict([report()] * 3, few * 3), "pace") is State.REGRESSED


def test_an_open_question_says_how_many_captures_would_settle_it():
    found = verdict([report(step())], [report(step(pace=2.5e6))])
    (pace,) = [check for check in found.checks if check.metric == "pace"]
    assert pace.state in (State.SUSPECT, State.INCONCLUSIVE)
    assert 2 <= pace.evidence.captures_needed <= 10
    assert f"about {pace.evidence.captures_needed} a side" in pace.reason
    assert found.exit_code == 0
    strict = verdict([report(step())], [report(step(pace=2.5e6))], strict=True)
    assert (strict.outcome, strict.exit_code) == (Outcome.CANNOT_TELL, 3)


@pytest.mark.parametrize(
    ("circumstances", "times", "counts"),
    [
        ({"gpus": ("NVIDIA A100",)}, State.INCOMPARABLE, State.REGRESSED),
        ({"cpu": "aarch64"}, State.INCOMPARABLE, State.REGRESSED),
        ({"sampling": True}, State.INCOMPARABLE, State.REGRESSED),
        ({"graph_mode": "graph"}, State.INCOMPARABLE, State.INCOMPARABLE),
        ({"settings": "attribution thread"}, State.INCOMPARABLE, State.INCOMPARABLE),
        ({"driver": "999"}, State.OK, State.REGRESSED),
        ({"gpus": (), "cpu": None, "sampling": None, "graph_mode": None}, State.OK, State.REGRESSED),
    ],
)
def test_what_may_be_compared(circumstances, times, counts):
    found = verdict([report()], [report(step(kernels=61), circumstances=circumstances)])
    assert (state(found, "pace"), state(found, "kernels")) == (times, counts)
    assert found.exit_code == (1 if counts is State.REGRESSED else 3)


def test_another_driver_is_a_warning():
    found = verdict([report()], [report(circumstances={"driver": "999"})])
    assert [warning.message for warning in found.warnings] == ["the driver differs: 580 before, 999 now"]
    assert found.exit_code == 0


def test_missing_and_new_stages():
    other = stage(("eval", "step"))
    found = verdict([report(stage(), other)], [report()])
    assert {check.state for check in found.checks if check.stage[0] == "eval"} == {State.MISSING}
    assert found.exit_code == 1
    found = verdict([report()], [report(stage(), other)])
    assert {check.state for check in found.checks if check.stage[0] == "eval"} == {State.NEW}
    assert found.exit_code == 0
    found = verdict([report(stage(), other)], [report(stage(), other), report()])
    assert "1 of 2 new reports lack this stage" in {check.reason for check in found.checks}


def test_lost_gpu_work_is_missing():
    without = stage(values={"kernels": 0.0, "pace": 2e6})
    found = verdict([report()], [report(without)])
    assert state(found, "startup_gap") is State.MISSING


def test_nothing_in_common_is_decided_before_anything_is_missing():
    found = verdict([report()], [report(stage(("other",)))], budgets=[budget("kernels", 1)])
    assert (found.exit_code, found.checks) == (3, [])


def test_reports_that_cannot_be_judged_are_left_out_and_told():
    found = verdict([report()], [report(broken="its kernels are missing", label="bad"), report()])
    assert (found.exit_code, found.problems[0].report) == (3, "bad")
    assert {check.state for check in found.checks} == {State.OK}
    failing = [report(broken="its kernels are missing"), report(step(kernels=99))]
    assert verdict([report()], failing).exit_code == 1


def test_ranges_that_never_end_are_fine_where_they_never_do():
    cut = report(stage(unfinished=1))
    assert verdict([report()], [cut]).exit_code == 3
    assert verdict([cut], [cut]).exit_code == 0
    assert verdict([], [cut], budgets=[budget("kernels", 60)]).exit_code == 3


def test_budgets():
    found = verdict([], [report()], budgets=[budget("kernels", 59), budget("pace", 3_000_000)])
    assert [(check.metric, check.state) for check in found.checks] == [
        ("kernels", State.OVER_BUDGET),
        ("pace", State.OK),
    ]
    assert found.exit_code == 1
    assert found.checks[0].place == PLACE


def test_the_last_budget_that_fits_wins():
    found = verdict([], [report()], budgets=[budget("kernels", 59), budget("kernels", 60, stage="steady/*")])
    assert found.exit_code == 0
    margins = [budget("kernels", 60), budget("kernels", increase=0.5, named=False)]
    assert [check.against for check in verdict([], [report()], budgets=margins).checks] == ["budget"]


def test_a_budget_may_only_warn():
    found = verdict([], [report()], budgets=[budget("kernels", 59, level="warn")])
    assert (found.exit_code, found.checks[0].state, found.checks[0].warns) == (0, State.OVER_BUDGET, True)
    assert "1 to look at: kernels of steady / step is over budget" in found.headline


def test_a_budget_sets_the_margin_of_its_stage():
    new = three(pace=2.8e6)
    assert state(verdict(three(), new), "pace") is State.REGRESSED
    margin = budget("pace", increase=0.5, named=False)
    assert state(verdict(three(), new, budgets=[margin]), "pace") is State.OK


@pytest.mark.parametrize("pattern", ["step", "steady/*"])
def test_an_entry_that_names_no_quantity_adds_no_checks(pattern):
    config = config_of({"budget": [{"stage": pattern, "max_increase": "50%"}]}, "config")
    new = three(pace=2.8e6, elapsed=9e6)
    plain, wider = verdict(three(elapsed=1e6), new), verdict(three(elapsed=1e6), new, budgets=config.budgets)
    assert [check.metric for check in plain.checks if check.state is State.REGRESSED] == ["pace"]
    assert sorted(check.metric for check in wider.checks) == sorted(check.metric for check in plain.checks)
    assert state(wider, "pace") is State.OK
    named = config_of({"budget": [{"stage": pattern, "elapsed": {"max_increase": "50%"}}]}, "config")
    assert state(verdict(three(elapsed=1e6), new, budgets=named.budgets), "elapsed") is State.REGRESSED


def test_budgets_of_what_a_report_cannot_tell():
    without = report(stage(values={"pace": 2e6}))
    assert state(verdict([], [without], budgets=[budget("kernels", 1)]), "kernels", "budget") is State.INCOMPARABLE
    assert verdict([], [without], budgets=[budget("kernels", 1)]).exit_code == 3


@pytest.mark.parametrize(
    ("acceptance", "expected"),
    [
        (accept("kernels", 61), State.ACCEPTED),
        (accept("kernels", 60), State.REGRESSED),
        (accept("pace", 61), State.REGRESSED),
        (accept("kernels", 61, expires=date(2026, 1, 1)), State.ACCEPTED),
        (accept("kernels", 61, expires=date(2025, 12, 31)), State.REGRESSED),
    ],
)
def test_what_is_accepted(acceptance, expected):
    found = verdict(three(), three(kernels=61), accepts=[acceptance])
    assert state(found, "kernels") is expected
    assert found.exit_code == (0 if expected is State.ACCEPTED else 1)


def test_an_expired_acceptance_is_told():
    found = verdict(three(), three(kernels=61), accepts=[accept("kernels", 70, expires=date(2025, 12, 31))])
    assert "its acceptance (#1) expired on 2025-12-31" in found.checks[0].reason


def test_a_pattern_that_fits_nothing_is_refused():
    with pytest.raises(UsageError, match=r"pyproject.toml:7: stage 'stop' matches no stage.*nearest: "):
        verdict([report()], [report()], budgets=[budget("kernels", 1, stage="stop")])
    one_side = verdict([report(stage(), stage(("eval",)))], [report()], budgets=[budget("kernels", 99, stage="eval")])
    assert state(one_side, "kernels", "budget") is State.MISSING


def test_stages_and_metrics_can_be_chosen():
    found = verdict(three(), three(), stages=["step"], metrics=["pace"])
    assert [(check.stage, check.metric) for check in found.checks] == [(["steady", "step"], "pace")]


def compiling(first_wall, *loops, holds_loop=True):
    once = stage(("compile",), loop=False, holds_loop=holds_loop, steady=0, active=0, values={"first_wall": first_wall})
    return report(once, stage(), *loops)


def inner(active, name="warmup"):
    return stage(("compile", name), active=active)


@pytest.mark.parametrize(
    ("base", "new", "checked"),
    [
        ([], [], True),
        ([], [inner(9_000_000)], True),  # the loop is new
        ([inner(9_000_000)], [], True),
        ([inner(90_000)], [inner(90_000)], True),  # too small to be checked itself
        ([inner(9_000_000)], [inner(9_000_000)], False),  # checked itself
    ],
)
def test_a_top_level_stage_is_checked_unless_its_loop_is(base, new, checked):
    found = verdict(
        [compiling(2e9, *base, holds_loop=bool(base))] * 3, [compiling(9e9, *new, holds_loop=bool(new))] * 3
    )
    states = {check.state for check in found.checks if (check.stage, check.metric) == (["compile"], "first_wall")}
    assert states == ({State.REGRESSED} if checked else set())
    loop = [check for check in found.checks if check.stage == ["compile", "warmup"]]
    assert checked or loop


def test_the_worst_comes_first():
    found = verdict(three(), three(kernels=61, startup_gap=900e3, pace=1e6))
    assert [check.state for check in found.checks][:2] == [State.REGRESSED, State.REGRESSED]
    assert found.checks[0].metric == "startup_gap"
    order = list(State)
    places = [order.index(check.state) for check in found.checks]
    assert places == sorted(places)
