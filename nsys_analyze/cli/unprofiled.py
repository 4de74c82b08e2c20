"""The option ``--unprofiled``: times that were measured without a profiler, for stages by pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from nsys_analyze.durations import parse_duration
from nsys_analyze.errors import UsageError

if TYPE_CHECKING:
    from nsys_analyze.metrics.results import Analysis

unprofiled_option = click.option(
    "--unprofiled",
    metavar="PATTERN=TIME",
    multiple=True,
    help="What an instance takes without a profiler, such as step=0.71ms: CPU overhead is given for that, too. "
    "Repeatable; of several that match a stage, the last counts.",
)


def parsed(texts: Sequence[str]) -> dict[str, int]:
    """The times in nanoseconds by pattern, in the order in which they were given.

    Raises:
        UsageError: One is not written as PATTERN=TIME.
    """
    times: dict[str, int] = {}
    for text in texts:
        pattern, equals, time = text.rpartition("=")
        if not equals or not pattern.strip():
            raise UsageError(f"--unprofiled {text}: write PATTERN=TIME, such as step=0.71ms")
        times.pop(pattern, None)
        times[pattern] = _duration(text, time)
    return times


def _duration(text: str, time: str) -> int:
    try:
        duration = parse_duration(time)
    except UsageError as error:
        raise UsageError(f"--unprofiled {text}: {error}") from error
    if not duration:
        raise UsageError(f"--unprofiled {text}: nothing takes no time")
    return duration


def applied(analyses: Sequence[Analysis], times: Mapping[str, int]) -> list[Analysis]:
    """The analyses with the times that are for their stages.

    Raises:
        UsageError: A pattern matches no stage of any of them.
    """
    if not times:
        return list(analyses)
    from nsys_analyze.metrics.unprofiled import check_patterns, with_unprofiled

    try:
        check_patterns(times, [stage for analysis in analyses for stage in analysis.stages])
    except UsageError as error:
        raise UsageError(f"--{error}") from error
    return [replace(analysis, stages=with_unprofiled(analysis.stages, times)) for analysis in analyses]
