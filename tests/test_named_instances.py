"""The instances to look at: the median one and the worst one, by name and by the GUI's clock."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from nsys_analyze import open_report
from nsys_analyze.metrics.results import NamedInstance
from nsys_analyze.views import table_view
from nsys_analyze.views.page import Layout
from tests import strategies
from tests.samples import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nsys_analyze.metrics.results import Analysis
    from tests.exports import ExportBuilder


def steps(builder: ExportBuilder, lengths: list[int]) -> ExportBuilder:
    thread = builder.process(100).thread()
    for number, length in enumerate(lengths):
        thread.push_pop(f"step {number}", 1000 * number, 1000 * number + length)
    return builder


def named(index: int, start: int, elapsed: int) -> NamedInstance:
    return NamedInstance(index=index, name=f"step {index}", start_ns=start, elapsed_ns=elapsed)


@pytest.mark.parametrize(
    ("lengths", "median", "worst"),
    [
        ([50, 10, 20], 2, 0),
        ([10, 20, 30, 40], 1, 3),  # as near to 25 as the third
        ([40, 40, 10, 10], 0, 0),
        ([7, 7], 0, 0),
    ],
)
def test_the_nearest_to_the_median_and_the_longest(
    builder: ExportBuilder, analyse: Callable[..., Analysis], lengths: list[int], median: int, worst: int
) -> None:
    (stage,) = analyse(steps(builder, lengths)).stages
    assert stage.median_instance == named(median, 1000 * median, lengths[median])
    assert stage.worst_instance == named(worst, 1000 * worst, lengths[worst])


def test_one_instance_is_not_named(builder: ExportBuilder, analyse: Callable[..., Analysis]) -> None:
    (stage,) = analyse(steps(builder, [10])).stages
    assert (stage.median_instance, stage.worst_instance) == (None, None)


def test_open_ranges_are_not_named_but_keep_their_place(
    builder: ExportBuilder, analyse: Callable[..., Analysis]
) -> None:
    process = builder.process(100)
    main, other = process.thread(), process.thread(101)
    other.push_pop("step 0", 0, None)
    main.push_pop("step 1", 1000, 1010)
    main.push_pop("step 2", 2000, 2030)
    (stage,) = analyse(builder).stages
    assert stage.unfinished == 1
    assert (stage.median_instance, stage.worst_instance) == (named(1, 1000, 10), named(2, 2000, 30))


def check(analysis: Analysis) -> None:
    """By the list of all instances."""
    for stage in analysis.stages:
        listed = [each for each in analysis.instances if each.stage == stage.key and each.finished]
        if len(listed) < 2:
            assert stage.median_instance is stage.worst_instance is None
            continue
        median = statistics.median(each.elapsed_ns for each in listed)
        middle = min(listed, key=lambda each: (abs(each.elapsed_ns - median), each.index))
        worst = min(listed, key=lambda each: (-each.elapsed_ns, each.index))
        for found, expected in ((stage.median_instance, middle), (stage.worst_instance, worst)):
            assert found is not None
            fields = ("index", "name", "start_ns", "elapsed_ns")
            assert [getattr(found, name) for name in fields] == [getattr(expected, name) for name in fields]


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(export=strategies.exports())
def test_the_list_of_instances_has_them(tmp_path: Path, export: ExportBuilder) -> None:
    check(open_report(export.write(tmp_path / "report.sqlite")).analysis(instances=True))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_list_of_instances_has_them_on_real_reports(sample_report: Any, name: str) -> None:
    check(open_report(sample_report(name)).analysis(instances=True))


LOOK = "  look at: median `step 2` at 0.000002 s; worst `step 0` at 0 s"


@pytest.mark.parametrize(
    ("layout", "times"),
    [
        (Layout(), 0),
        (Layout(listing=True), 0),
        (Layout(listing=True, look=True), 1),
        (Layout(listing=True, look=True, breakdown=True), 1),
        (Layout(breakdown=True), 1),
    ],
)
def test_a_page_says_where_to_look(
    builder: ExportBuilder, analyse: Callable[..., Analysis], layout: Layout, times: int
) -> None:
    page = table_view.render([analyse(steps(builder, [50, 10, 20]))], layout, columns=80)
    assert page.splitlines().count(LOOK) == times


def test_names_are_short_and_no_escape_codes(builder: ExportBuilder, analyse: Callable[..., Analysis]) -> None:
    thread = builder.process(100).thread()
    for number in range(2):
        thread.push_pop("\x1b[2J" + "x" * 100 + f" {number}", 100 * number, 100 * number + 10)
    page = table_view.render([analyse(builder)], Layout(listing=True, look=True), columns=80)
    assert all(line.isprintable() and len(line) <= 80 for line in page.splitlines())
    assert "`\\x1b[2J" in page
