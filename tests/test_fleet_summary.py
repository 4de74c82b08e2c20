"""What a fleet's summary says: medians, who stands out of them and by which rule."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nsys_analyze import cli
from nsys_analyze.verdict.fleet import Cohort, FleetStage, summarise
from nsys_analyze.verdict.noise import packaged
from nsys_analyze.verdict.standing import standing
from nsys_analyze.views import fleet_page, markdown_view, table_view
from nsys_analyze.views.fleet_page import Headline
from nsys_analyze.views.text import width
from tests.test_fleet import write

STEP = FleetStage(cohort=Cohort("python3", None, "NVIDIA H200"), path=("steady", "step"), domains=("", ""), loop=True)
MS = 1_000_000
FLOOR = 20_000


def by_hand(values, quantity):
    """One-sided p values of lying beyond the median by more than a tenth and 20 us, value by value."""
    logs = [math.log(value + FLOOR) for value in values]
    centre = statistics.median(logs)
    own = 1.4826 * statistics.median(abs(each - centre) for each in logs)
    noise = packaged()["gpu time" if quantity == "gpu_active" else quantity]
    many = len(values) > 9
    freedom = len(values) - 1 if many else round(noise.freedom)
    sd = max(own, 0.01) if many else max(own, noise.raw)
    error = sd * math.sqrt(1 + math.pi / (2 * len(values)))
    typical = max(math.exp(centre) - FLOOR, 0)
    above = max(typical * 1.1, typical + FLOOR)
    below = max(min(typical / 1.1, typical - FLOOR), 0)
    up = math.log(above + FLOOR) - math.log(typical + FLOOR)
    down = math.log(typical + FLOOR) - math.log(below + FLOOR)
    slower = [stats.t.sf((each - centre - up) / error, freedom) for each in logs]
    faster = [stats.t.sf((centre - each - down) / error, freedom) for each in logs]
    return slower, faster


@given(
    st.lists(st.integers(0, 10**10), min_size=2, max_size=20), st.sampled_from(["pace", "startup_gap", "gpu_active"])
)
def test_the_rule_is_what_it_says(values, quantity):
    found = standing(np.array(values, np.float64), quantity)
    slower, faster = by_hand(values, quantity)
    assert found.median == statistics.median(values)
    assert found.slower.tolist() == pytest.approx(slower, rel=1e-6, abs=1e-12)
    assert found.faster.tolist() == pytest.approx(faster, rel=1e-6, abs=1e-12)


def fleet_rows(hosts=12, days=10, slow_host=None, slow_day=None, odd=None, seed=0):
    """A row a host and day, pace 10 ms with 3% of noise; what is slow takes twice as long."""
    random = np.random.default_rng(seed)
    rows = []
    for host in range(hosts):
        for day in range(days):
            twice = (host == slow_host) or (day == slow_day) or ((host, day) == odd)
            pace = 10 * MS * math.exp(random.normal(0, 0.03)) * (2 if twice else 1)
            where = {"report": f"r/{host}-{day}.sqlite", "host": f"node{host}", "date": f"2026-01-{day + 1:02}"}
            rows.append({**where, "rank": str(host), "pace": pace, "kernels": 60.0})
    return pd.DataFrame(rows)


def found(rows, by):
    return {(each.name, each.quantity, each.more) for each in summarise([(STEP, rows)]).findings if each.by == by}


def test_nothing_stands_out_of_noise():
    for seed in range(20):
        assert summarise([(STEP, fleet_rows(seed=seed))]).findings == []


def test_a_slow_host_is_a_straggler():
    rows = fleet_rows(slow_host=3)
    assert found(rows, "host") == {("node3", "pace", True)}
    assert found(rows, "rank") == {("3", "pace", True)}
    assert found(rows, "date") == set()
    assert len(found(rows, "report")) == 10


def test_a_slow_day_is_a_regression():
    rows = fleet_rows(slow_day=9)
    assert found(rows, "date") == {("2026-01-10", "pace", True)}
    assert found(rows, "host") == set()


def test_one_report_does_not_make_its_host_slow():
    rows = fleet_rows(odd=(2, 4))
    assert found(rows, "report") == {("r/2-4.sqlite", "pace", True)}
    assert found(rows, "host") == set()


def test_a_count_that_differs_is_found():
    rows = fleet_rows()
    rows.loc[7, "kernels"] = 61.0
    assert found(rows, "report") == {(rows.loc[7, "report"], "kernels", True)}


def test_spreads_are_of_medians():
    rows = fleet_rows(hosts=3, days=5, seed=4)
    (summed,) = summarise([(STEP, rows)]).stages
    spread = summed.spreads["pace", "host"]
    medians = {host: statistics.median(group["pace"]) for host, group in rows.groupby("host")}
    assert (spread.count, spread.median) == (3, pytest.approx(statistics.median(medians.values())))
    assert spread.max_name == max(medians, key=medians.get)
    assert spread.min == pytest.approx(min(medians.values()))


# --- the page


def page(rows):
    files, failed = list(rows["report"]), [("r/x.sqlite", "r/x.sqlite: cut short")]
    headline = Headline(files=files, failed=failed, hosts=12, days=["2026-01-01"])
    return fleet_page.compose(summarise([(STEP, rows)]), headline, 20)


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_every_line_fits(columns):
    text = table_view.draw(page(fleet_rows(slow_host=3)), columns, colour=False)
    assert all(width(line) <= columns for line in text.splitlines())
    assert "Hosts: steady / step, pace\n  node3" in text
    assert "Failed\nr/x.sqlite: cut short\n" in text


def test_reports_of_one_name_are_told_apart_even_where_only_one_of_them_is_shown():
    rows = fleet_rows(hosts=1, days=4)
    rows["report"] = [f"runs/day{number}/r.sqlite" for number in range(len(rows))]
    rows["pace"] = 1.0 * MS
    assert " day0/r " in table_view.draw(page(rows), 160, colour=False)


def test_files_may_be_named_by_relative_and_by_absolute_paths():
    rows = fleet_rows(hosts=1, days=2)
    rows["report"] = ["/runs/a.sqlite", "runs/b.sqlite"]
    text = table_view.draw(page(rows), 160, colour=False)
    assert " /runs/a" in text
    assert " runs/b" in text


def test_markdown_has_it_all():
    text = markdown_view.draw(page(fleet_rows(slow_day=9)))
    assert "2026-01-10" in text
    assert "cut short" in text


def test_nothing_to_compare_is_said(tmp_path, capsys, monkeypatch):
    import contextlib

    from nsys_analyze.cli import fleet as verb
    from nsys_analyze.fleet import engine
    from nsys_analyze.fleet.task import analyse

    monkeypatch.setattr(verb, "_workers", lambda _: lambda: contextlib.nullcontext(None))
    monkeypatch.setattr(engine, "run", lambda _, jobs: ((job, analyse(job)) for job in jobs))
    write(tmp_path / "r.sqlite")
    arguments = ["fleet", str(tmp_path / "r.sqlite"), "-o", str(tmp_path / "out")]
    assert cli.main(arguments) == 0
    assert "No two reports of one program share a stage." in capsys.readouterr().out
    assert cli.main([*arguments, "--stage", "stepp"]) == 2
    assert "--stage stepp: matches no stage (nearest: step)" in capsys.readouterr().err
    assert cli.main([*arguments, "--stage", "step"]) == 0
