"""Quantities against a baseline: tests of times, corrected for their number, and exact comparison of counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsys_analyze.verdict import wording
from nsys_analyze.verdict.blank import blank
from nsys_analyze.verdict.comparable import Obstacles, obstacles
from nsys_analyze.verdict.compared import LEVEL, Compared, Values, compare_times, margin_of
from nsys_analyze.verdict.config import Config
from nsys_analyze.verdict.gates import Gate
from nsys_analyze.verdict.likeness import Likeness
from nsys_analyze.verdict.noise import NoiseTable, seen_in
from nsys_analyze.verdict.results import Check, Evidence, State
from nsys_analyze.verdict.samples import ReportSample
from nsys_analyze.verdict.statistics import Margin, holm


@dataclass(frozen=True, slots=True)
class _Test:
    """A time whose verdict waits for the p values of all others."""

    check: Check
    compared: Compared
    margin: Margin
    counted: str


def checks_against_baseline(
    gates: Sequence[Gate],
    base: Sequence[ReportSample],
    new: Sequence[ReportSample],
    config: Config,
    table: NoiseTable,
) -> list[Check]:
    """Returns a check for every gate that is held against the baseline; those that neither side tells are left out."""
    blocked = obstacles(base, new)
    table = seen_in(base, table, config.ignore_below)
    alike = Likeness([*base, *new], table)
    done: list[Check] = []
    tests: list[_Test] = []
    for gate in gates:
        before, after = Values.of(gate, base), Values.of(gate, new)
        check = blank(gate, "baseline", before, after)
        if (told := _without_test(check, gate, before, after, blocked)) is not None:
            done.append(told)
        elif any((*before.values, *after.values)):
            margin = margin_of(gate, before, config.increase, config.ignore_below)
            compared = compare_times(gate, before, after, margin, table, alike.noise_share(gate.key))
            tests.append(_Test(check, compared, margin, wording.reports(before, after)))
    return [*done, *_judged(tests)]


def _without_test(check: Check, gate: Gate, base: Values, new: Values, blocked: Obstacles) -> Check | None:
    """The verdict where no test is needed for it, else None."""
    if new.without_stage and base.without_stage < base.reports:
        return replace(check, state=State.MISSING, reason=wording.absent(new))
    if not base.values:
        reason = "the baseline lacks it"
        return replace(check, state=State.NEW, reason=reason) if any(new.values) else None
    why = blocked.counts if gate.quantity.is_count else blocked.timings
    if why is not None:
        return replace(check, state=State.INCOMPARABLE, reason=why)
    if len(new.values) < new.reports:
        return _untold(check, base, new)
    if (why := wording.never_steady(gate.quantity, base, new)) is not None:
        return replace(check, state=State.INCONCLUSIVE, reason=why)
    return _counted(check, base, new) if gate.quantity.is_count else None


def _untold(check: Check, base: Values, new: Values) -> Check | None:
    """A new report does not tell what the baseline does: its GPU work is gone, or it cannot be known."""
    if not any(base.values):
        return None
    without = new.stages_without
    if without and all(stage.values.get("kernels") == 0 for stage in without):
        return replace(check, state=State.MISSING, reason="the baseline has GPU work here, the new reports have none")
    return replace(check, state=State.INCOMPARABLE, reason="a new report cannot tell it")


def _counted(check: Check, base: Values, new: Values) -> Check:
    most, least = max(base.values), min(base.values)
    lost = new.lost
    if max(new.values) > most:
        state = State.REGRESSED
    elif max(new.values) < least:
        state = State.INCOMPARABLE if lost else State.IMPROVED
    else:
        state = State.OK
    if state is State.INCOMPARABLE:
        return replace(check, state=state, reason="fewer, but launches of the new reports have lost their GPU work")
    before, after = check.base or 0.0, max(new.values)
    return replace(check, state=state, new=after, limit=most, reason=wording.of_count(state, before, after))


def _judged(tests: Sequence[_Test]) -> list[Check]:
    grew = holm([test.compared.grew for test in tests])
    shrank = holm([test.compared.shrank for test in tests])
    return [_one(test, up, down, len(tests)) for test, up, down in zip(tests, grew, shrank, strict=True)]


def _one(test: _Test, grew: float, shrank: float, number: int) -> Check:
    compared, margin, check = test.compared, test.margin, test.check
    state = _state(compared, grew, shrank)
    open_question = state in (State.SUSPECT, State.INCONCLUSIVE)
    needed = compared.adjusted.needed(LEVEL / number) if open_question else None
    p = shrank if state is State.IMPROVED else grew
    has_yardstick = compared.yardstick is not None
    return replace(
        check,
        state=state,
        limit=margin.above(compared.raw.base),
        base=compared.raw.base,
        new=compared.raw.new,
        reason=wording.of_time(state, compared, margin, p, test.counted, needed),
        evidence=Evidence(
            ratio=compared.raw.ratio,
            adjusted_ratio=compared.adjusted.ratio if has_yardstick else None,
            yardstick=compared.yardstick,
            yardstick_ratio=compared.yardstick_ratio,
            p=p,
            tests=number,
            noise=compared.adjusted.sd,
            captures_needed=needed,
        ),
    )


def _state(compared: Compared, grew: float, shrank: float) -> State:
    """The verdict on a time. Only what was measured beyond the margin can fail, whatever a yardstick makes of it."""
    if compared.exceeds:
        return _beyond(compared, grew)
    if grew <= LEVEL and (compared.raw.ratio or 0) > 1:
        return State.SUSPECT
    return State.IMPROVED if shrank <= LEVEL and compared.raw.shrank < 0.5 else State.OK


def _beyond(compared: Compared, grew: float) -> State:
    if not compared.settled:
        return State.INCONCLUSIVE
    if grew <= LEVEL:
        return State.REGRESSED
    if not compared.unexplained:
        return State.OK
    return State.SUSPECT if compared.grew <= LEVEL else State.INCONCLUSIVE
