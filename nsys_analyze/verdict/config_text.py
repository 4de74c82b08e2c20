"""A configuration written out: what applies, and where it was said."""

from __future__ import annotations

import json
from collections.abc import Iterator

from nsys_analyze.durations import exact_duration
from nsys_analyze.metrics.wording import path_title
from nsys_analyze.verdict.config import Accept, Budget, Config, Place
from nsys_analyze.verdict.gates import Gate
from nsys_analyze.verdict.judged import JUDGED
from nsys_analyze.verdict.wording import exact_percent


def as_toml(config: Config) -> str:
    """Returns the configuration as nsys-analyze.toml would say it."""
    return "\n".join([*_general(config), *_tables(config)]) + "\n"


def _general(config: Config) -> Iterator[str]:
    yield f"[check]  # {config.place or 'no configuration found: all by default'}"
    for key, value in (("baseline", config.baseline), ("history", config.history), ("noise", config.noise)):
        if value is not None:
            yield f"{key} = {json.dumps(value)}"
    yield f'max_increase = "{exact_percent(config.increase)}"'
    yield f'ignore_below = "{exact_duration(config.ignore_below)}"'
    yield f"warmup = {config.warmup}"
    yield f"strict = {str(config.strict).lower()}"
    for key, names in (("stages", config.stages), ("metrics", config.metrics)):
        if names is not None:
            yield f"{key} = {json.dumps(list(names))}"


def _tables(config: Config) -> Iterator[str]:
    told: set[tuple[str, Place]] = set()
    for budget in config.budgets:
        if budget.named:
            yield from _budget(budget)
        elif (budget.stage, budget.place) not in told:
            told.add((budget.stage, budget.place))
            yield from _margin(budget)
    for accept in config.accepts:
        yield from _accept(accept)


def _budget(budget: Budget) -> Iterator[str]:
    parts = [] if budget.maximum is None else [f"max = {amount(budget.metric, budget.maximum)}"]
    parts += [] if budget.increase is None else [f'max_increase = "{exact_percent(budget.increase)}"']
    parts += [f'level = "{budget.level}"']
    yield from ("", "[[check.budget]]", f"stage = {json.dumps(budget.stage)}")
    yield f"{budget.metric} = {{ {', '.join(parts)} }}  # {budget.place}"


def _margin(budget: Budget) -> Iterator[str]:
    yield from ("", "[[check.budget]]", f"stage = {json.dumps(budget.stage)}")
    yield f'max_increase = "{exact_percent(budget.increase or 0)}"  # {budget.place}'
    yield f'level = "{budget.level}"'


def _accept(accept: Accept) -> Iterator[str]:
    yield from ("", f"[[check.accept]]  # {accept.place}", f"stage = {json.dumps(accept.stage)}")
    yield from (f'metric = "{accept.metric}"', f"up_to = {amount(accept.metric, accept.up_to)}")
    yield f"reason = {json.dumps(accept.reason)}"
    if accept.expires:
        yield f"expires = {accept.expires}"


def amount(metric: str, value: float) -> str:
    """A limit of a metric as a configuration writes it."""
    return f"{value:.0f}" if JUDGED[metric].is_count else f'"{exact_duration(value)}"'


def applying(gates: list[Gate], config: Config) -> str:
    """Returns a comment line for each quantity that is checked: what it is held against."""
    return "".join(f"# {line}\n" for gate in gates for line in _applying(gate, config))


def _applying(gate: Gate, config: Config) -> Iterator[str]:
    what = f"{path_title(gate.key[0])}: {gate.quantity.name}"
    if gate.compared:
        own = gate.margin.increase if gate.margin else None
        where = f" ({gate.margin.place})" if gate.margin else ""
        margin = f"+{exact_percent(config.increase if own is None else own)}"
        yield f"{what} against the baseline, {'exactly' if gate.quantity.is_count else margin}{where}"
    if gate.budget is not None and gate.budget.maximum is not None:
        yield f"{what} at most {amount(gate.quantity.name, gate.budget.maximum)} ({gate.budget.place})"
