"""From samples to a verdict: what can be judged, every check, the worst first, and what it comes to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from nsys_analyze.verdict.against_baseline import checks_against_baseline
from nsys_analyze.verdict.against_budgets import checks_against_budgets, with_acceptances
from nsys_analyze.verdict.comparable import broken, cautions, without_cut
from nsys_analyze.verdict.config import Config
from nsys_analyze.verdict.gates import gates
from nsys_analyze.verdict.hints import hints
from nsys_analyze.verdict.noise import NoiseTable
from nsys_analyze.verdict.outcome import conclude
from nsys_analyze.verdict.results import Allowed, Check, Problem, State, Verdict
from nsys_analyze.verdict.samples import ReportSample

_LONGEST = 80  # characters of a list of stages
_ORDER = list(State)


def judge(
    base: Sequence[ReportSample], new: Sequence[ReportSample], config: Config, table: NoiseTable, today: date
) -> Verdict:
    """Checks reports against a baseline and budgets.

    Args:
        base: Reports of the baseline; none: only budgets are checked.
        new: The reports to check.
        config: What is allowed.
        table: The noise to allow for.
        today: Acceptances that expired before do not count.

    Raises:
        UsageError: If a pattern of the configuration fits no stage of either side.
    """
    base, new = without_cut(base, new), without_cut(new, base)
    problems = [*broken(base), *broken(new)]
    before, after = ([report for report in side if report.broken is None] for side in (base, new))
    checks: list[Check] = []
    if before and after and _are_strangers(before, after):
        problems.append(_strangers(before, after))
    elif after:
        found = gates(config, before, after)
        compared = [gate for gate in found if gate.compared]
        judged = checks_against_baseline(compared, before, after, config, table) if before else []
        judged += checks_against_budgets(found, before, after)
        checks = sorted(with_acceptances(judged, config.accepts, today), key=_badness)
    outcome, exit_code, headline = conclude(checks, problems, strict=config.strict)
    return Verdict(
        outcome=outcome,
        exit_code=exit_code,
        headline=headline,
        reports=[report.label for report in new],
        baseline=[report.label for report in base],
        allowed=Allowed(
            increase=config.increase,
            ignore_below_ns=config.ignore_below,
            warmup=config.warmup,
            strict=config.strict,
            place=config.place,
        ),
        problems=problems,
        warnings=cautions(before, after),
        hints=hints(checks, before, after),
        checks=checks,
    )


def _badness(check: Check) -> tuple[bool, int, bool, float]:
    """What comes first: failures, the worse state, startup gaps, the larger change."""
    ratio = check.new / check.base if check.new and check.base else 1.0
    return not check.fails, _ORDER.index(check.state), not check.metric.startswith("startup_gap"), -ratio


def _are_strangers(base: Sequence[ReportSample], new: Sequence[ReportSample]) -> bool:
    return {key for report in base for key in report.stages}.isdisjoint(key for report in new for key in report.stages)


def _strangers(base: Sequence[ReportSample], new: Sequence[ReportSample]) -> Problem:
    return Problem(
        code="no-common-stage",
        message=f"no stage is in both: the baseline has {_top_level(base)}, the new reports have {_top_level(new)}",
    )


def _top_level(reports: Sequence[ReportSample]) -> str:
    names = ", ".join(dict.fromkeys(key[0][0] for report in reports for key in report.stages)) or "none"
    return names if len(names) <= _LONGEST else f"{names[: _LONGEST - 1]}…"
