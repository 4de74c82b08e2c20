from __future__ import annotations

import dataclasses

import pytest

from nsys_analyze.cli.selection import INSTANCE_ORDERS, STAGE_ORDERS, Selection, select
from nsys_analyze.errors import UsageError
from tests.view_samples import MS, analysis, instances, llama, loop, many_stages, training


def paths(selected):
    return [" / ".join(stage.path) for report in selected for stage in report.stages]


def chosen(report, **selection):
    return paths(select([report], Selection(**selection)))


def test_all_stages_unless_something_is_asked_for():
    assert chosen(llama("eager")) == paths([llama("eager")])


def test_depth_counts_levels_from_the_top():
    assert chosen(training(), depth=1) == ["build", "steady"]
    assert chosen(training(), depth=2) == ["build", "steady", "steady / step"]
    assert len(chosen(training(), depth=9)) == 6


def test_a_stage_comes_with_what_lies_below_it():
    below = [f"steady / step / {name}" for name in ("forward", "backward", "optimizer")]
    assert chosen(training(), patterns=["step"]) == ["steady / step", *below]
    assert chosen(training(), patterns=["steady/*"], depth=1) == ["steady / step"]
    assert chosen(training(), patterns=["steady"], depth=2) == ["steady", "steady / step"]


def test_several_patterns_select_what_any_of_them_does():
    assert chosen(training(), patterns=["build", "optimizer"]) == ["build", "steady / step / optimizer"]


def test_a_pattern_without_a_match_names_what_is_near():
    with pytest.raises(UsageError, match=r"^--stage stedy: matches no stage \(nearest: steady.*\)$"):
        chosen(training(), patterns=["steady", "stedy"])
    with pytest.raises(UsageError, match="there are no stages"):
        chosen(analysis(), patterns=["x"])


def test_one_report_with_a_match_is_enough():
    selected = select([llama("eager"), training()], Selection(patterns=["forward"]))
    assert [len(report.stages) for report in selected] == [0, 1]


def test_the_rest_of_the_analysis_stays():
    report = llama("eager")
    assert dataclasses.replace(select([report], Selection(depth=1))[0], stages=report.stages) == report


@pytest.mark.parametrize("column", STAGE_ORDERS)
def test_stages_sort_by_any_column_with_missing_numbers_last(column):
    assert sorted(chosen(many_stages(60), sort=column)) == sorted(paths([many_stages(60)]))


def test_sorting_puts_the_largest_first():
    assert chosen(training(), sort="pace")[0] == "steady / step"
    assert chosen(training(), sort="wall")[:2] == ["build", "steady"]
    assert chosen(llama("eager"), sort="gap")[-1] == "import"


def test_equal_rows_keep_their_order():
    stages = [loop([name], MS) for name in "cab"]
    assert chosen(analysis(stages=stages), sort="pace") == ["c", "a", "b"]


@pytest.mark.parametrize("column", INSTANCE_ORDERS)
def test_instances_sort_by_any_column(column):
    report = analysis(stages=llama("eager").stages, instances=instances())
    listed = select([report], Selection(sort=column, top=5, instances=True))[0].instances
    assert len(listed) == 5
    if column in ("elapsed", "gap", "exposed", "start"):
        assert [instance.index for instance in listed] == [29, 28, 27, 26, 25]


def test_instances_follow_their_stages():
    report = analysis(stages=llama("eager").stages, instances=instances())
    assert not select([report], Selection(patterns=["build"], instances=True))[0].instances
    assert len(select([report], Selection(patterns=["step"], instances=True))[0].instances) == 30


@pytest.mark.parametrize("instances_too", [False, True])
def test_an_unknown_column_lists_those_there_are(instances_too):
    with pytest.raises(UsageError, match=r"^--sort speed: no such column; there are: n, .*exposed"):
        select([training()], Selection(sort="speed", instances=instances_too))


def test_top_zero_is_all():
    assert len(chosen(many_stages(50), top=0)) == 50
    assert len(chosen(many_stages(50), top=7)) == 7
