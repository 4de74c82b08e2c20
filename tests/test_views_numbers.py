"""The worked example of docs/numbers.md: worked by hand there, checked here."""

from __future__ import annotations

from pathlib import Path

import pytest

import nsys_analyze
from nsys_analyze.views import table_view
from nsys_analyze.views.page import Layout
from tests.exports import ExportBuilder

DOCUMENT = Path(__file__).parent.parent / "docs" / "numbers.md"
US = 1_000


@pytest.fixture
def example(tmp_path):
    builder = ExportBuilder()
    builder.gpu(0)
    main = builder.process(pid=100).thread()
    main.push_pop("steady", 0, 260 * US)
    for step, begin, end in ((1, 10, 110), (2, 120, 220)):
        main.push_pop(f"step {step}", begin * US, end * US)
    for name, call, kernel in (
        ("a", (40, 50), (52, 92)),
        ("b", (60, 70), (95, 125)),
        ("a", (140, 150), (153, 193)),
        ("b", (160, 170), (195, 225)),
    ):
        launch = main.call("cudaLaunchKernel_v7000", call[0] * US, call[1] * US)
        launch.kernel(name, kernel[0] * US, kernel[1] * US)
    path = builder.write(tmp_path / "example.sqlite")
    return nsys_analyze.open_report(path).analysis()


@pytest.fixture
def step(example):
    return next(stage for stage in example.stages if stage.name == "step")


def test_elapsed_and_pace(step):
    assert step.wall_ns.total == 200 * US
    assert (step.elapsed_ns.max, step.elapsed_ns.min) == (115 * US, 105 * US)
    assert step.pace_ns == 107.5 * US


def test_startup_gap(step):
    gap = step.startup_gap_ns
    assert (gap.total, gap.prelude, gap.launch, gap.queue) == (75 * US, 50 * US, 20 * US, 5 * US)
    assert (gap.exposed, gap.hidden) == (70 * US, 5 * US)
    assert (gap.median, gap.exposed_median, gap.first) == (37.5 * US, 35 * US, 42 * US)


def test_overhead(step):
    assert (step.busy_ns, step.active_ns, step.kernel_ns) == (140 * US, 140 * US, 140 * US)
    assert step.cpu_overhead_ns == 37.5 * US
    assert step.overhead_per_kernel_ns == 18.75 * US


def test_launches_and_cold_start(step):
    assert step.queue_delay_ns.median == 14 * US
    assert step.launch_call_ns.median == 10 * US
    assert step.cold_start_ns == 10 * US


def test_what_filled_the_time(example):
    steady = example.stages[0]
    assert (steady.host_ns.launch, steady.host_ns.code) == (40 * US, 220 * US)


def test_the_page_in_the_document_is_what_comes_out(example):
    loops, start = table_view.render([example], Layout(), columns=100).split("\n\n")[1:3]
    assert f"```text\n{loops}\n\n{start}\n```" in DOCUMENT.read_text(encoding="utf-8")
