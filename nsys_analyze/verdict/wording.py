"""The reasons of verdicts in words."""

from __future__ import annotations

from nsys_analyze.durations import duration_text
from nsys_analyze.verdict.compared import Compared, Values
from nsys_analyze.verdict.judged import Judged
from nsys_analyze.verdict.results import State
from nsys_analyze.verdict.statistics import MOST_CAPTURES, Margin

_SPEED = 0.03  # relative change of the yardstick that is worth a word


def percent(share: float) -> str:
    """A share as people write it: ``10%``, ``2.5%``."""
    return f"{100 * share:,.0f}%" if share >= 10 else f"{100 * share:.3g}%"


def exact_percent(share: float) -> str:
    """A share as a configuration writes it."""
    return f"{100 * share:.10g}%"


def chance(p: float) -> str:
    """A p value in words."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def reports(base: Values, new: Values) -> str:
    """How many reports a verdict rests on."""
    if len(base.values) == len(new.values):
        return f"{len(base.values)} report{'' if len(base.values) == 1 else 's'} a side"
    return f"{len(base.values)} against {len(new.values)} reports"


def _short(duration: float) -> str:
    return duration_text(duration).replace(".00 ", " ").replace(".0 ", " ")


def allowance(margin: Margin) -> str:
    """What a change must exceed to count."""
    return f"+{percent(margin.relative)} and {_short(margin.absolute)}"


def of_time(state: State, compared: Compared, margin: Margin, p: float, counted: str, needed: int | None) -> str:
    """Why a time got its verdict."""
    sentences = {
        State.REGRESSED: f"grew beyond {allowance(margin)}; {counted}, {chance(p)}",
        State.SUSPECT: f"{_suspicion(compared, margin)}; {counted}, {_more(needed)}",
        State.INCONCLUSIVE: f"lies beyond {allowance(margin)}, but so does noise; {counted}, {_more(needed)}",
        State.IMPROVED: f"fell by more than {percent(margin.relative)} and {_short(margin.absolute)}; {counted}",
        State.OK: _fine(compared, margin),
    }
    return sentences[state] + _machine(compared) + (_likeness(compared) if state is not State.OK else "")


def _suspicion(compared: Compared, margin: Margin) -> str:
    if compared.exceeds:
        return f"probably grew beyond {allowance(margin)}"
    return "grew, if one allows for a faster machine"


def _more(needed: int | None) -> str:
    if needed is None:
        return f"and over {MOST_CAPTURES} a side would not settle it"
    return f"about {needed} a side would settle it"


def _fine(compared: Compared, margin: Margin) -> str:
    if compared.exceeds:
        return "grew no more than the machine's speed explains"
    return f"within {allowance(margin)}"


def _machine(compared: Compared) -> str:
    """What the yardstick told, where it told anything."""
    ratio = compared.yardstick_ratio
    if ratio is None or abs(ratio - 1) < _SPEED:
        return ""
    what = "CUDA calls" if compared.yardstick == "cuda_calls" else "launch calls"
    return f"; {what} x{ratio:.2f} taken out"


def _likeness(compared: Compared) -> str:
    """Why less noise was allowed for than usual, where it was."""
    why = "; little noise allowed for, as the stages beside it and CUDA calls took the same time"
    return why if compared.share < 1 else ""


def of_count(state: State, before: float, after: float) -> str:
    """Why a count got its verdict; counts are exact."""
    if state is State.OK:
        return "unchanged" if before == after else "within what the baseline's reports show"
    return f"{after - before:+,.6g}; counts are compared exactly"


def absent(new: Values) -> str:
    """Which reports lack a stage that the baseline has."""
    if new.without_stage == new.reports:
        return "the baseline has this stage, the new reports do not"
    return f"{new.without_stage} of {new.reports} new reports lack this stage"


def never_steady(quantity: Judged, *sides: Values) -> str | None:
    """Why a number of steady instances tells nothing: a stage has several instances, and none is steady."""
    if quantity.each is None or not any(stage.never_steady for side in sides for stage in side.stages):
        return None
    return "no instance is steady: the stage has no more of them than `warmup` leaves out"
