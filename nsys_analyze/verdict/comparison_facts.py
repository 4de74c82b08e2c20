"""What stood around the sides: machine, versions, capture, settings, environment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nsys_analyze.metrics.results import Analysis, ReportInfo
from nsys_analyze.verdict.comparison import Fact, Setting

ENVIRONMENT = "environment"
_UNKNOWN, _ABSENT, _HIDDEN = Setting(state="unknown"), Setting(state="absent"), Setting(state="hidden")


def facts(sides: Sequence[Sequence[Analysis]]) -> list[Fact]:
    """Returns what is known around the sides; where runs of a side differ, its value lists all."""
    stated = [[_stated(analysis) for analysis in side] for side in sides]
    names = dict.fromkeys(key for side in stated for run in side for key in run)
    found = [
        Fact(
            kind=kind,
            name=name,
            settings=[_joined([run.get((kind, name), _UNKNOWN) for run in side]) for side in stated],
        )
        for kind, name in names
    ]
    return [*found, *_variables(sides)]


def _stated(analysis: Analysis) -> dict[tuple[str, str], Setting]:
    info, settings = analysis.report, analysis.settings
    values: dict[tuple[str, str], object] = {
        ("machine", "GPU"): _gpus(info),
        ("machine", "CPU"): info.cpu,
        ("version", "driver"): info.driver,
        ("version", "nsys"): info.nsys_version,
        **{("capture", name): _in_order(value) for name, value in info.capture.items()},
        ("program", "command"): info.command,
        ("settings", "attribution"): settings.attribution,
        ("settings", "folding"): settings.folding,
        ("settings", "domain"): ", ".join(settings.domain) if settings.domain is not None else "all",
        ("settings", "compile rules"): settings.compile_rules or "packaged",
    }
    return {key: _setting(value) for key, value in values.items()}


def _gpus(info: ReportInfo) -> str | None:
    counted = Counter(gpu.name for gpu in info.gpus)
    return ", ".join(name if count == 1 else f"{count} x {name}" for name, count in counted.items()) or None


def _in_order(value: object) -> object:
    """A list such as ``nvtx,cuda``, in alphabetical order."""
    return ",".join(sorted(value.split(","))) if isinstance(value, str) else value


def _setting(value: object) -> Setting:
    if value is None:
        return _UNKNOWN
    return Setting(state="value", value=("on" if value else "off") if isinstance(value, bool) else str(value))


def _variables(sides: Sequence[Sequence[Analysis]]) -> list[Fact]:
    """A fact for each environment variable, and one that says whether the environment is known at all."""
    environments = [[analysis.report.environment for analysis in side] for side in sides]
    names = sorted({name for side in environments for run in side for name in run or ()})
    known = [Setting(state="value", value="known") if None not in side else _UNKNOWN for side in environments]
    return [
        Fact(kind="program", name=ENVIRONMENT, settings=known),
        *(
            Fact(
                kind=ENVIRONMENT,
                name=name,
                settings=[_joined([_variable(run, name) for run in s]) for s in environments],
            )
            for name in names
        ),
    ]


def _variable(environment: dict[str, str | None] | None, name: str) -> Setting:
    if environment is None:
        return _UNKNOWN
    if name not in environment:
        return _ABSENT
    value = environment[name]
    return _HIDDEN if value is None else Setting(state="value", value=value)


def _joined(runs: Sequence[Setting]) -> Setting:
    """The setting that all runs share, else all that there are; those that do not tell are left out."""
    known = dict.fromkeys(setting for setting in runs if setting.state != "unknown")
    if len(known) < 2:
        return next(iter(known), _UNKNOWN)
    words = {"absent": "not set", "hidden": "set"}
    return Setting(state="value", value="; ".join(words.get(s.state, s.value or "") for s in known))
