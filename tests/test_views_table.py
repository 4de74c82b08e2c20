from __future__ import annotations

import dataclasses
import re

import pytest

from nsys_analyze.metrics.results import KernelsPerInstance
from nsys_analyze.views import table_view, text
from nsys_analyze.views.document import Column, Group, Name, Row, Table
from nsys_analyze.views.grid import grid
from nsys_analyze.views.page import Layout
from nsys_analyze.views.units import Number
from tests.view_samples import (
    HOSTILE,
    LLAMA,
    MS,
    PID,
    US,
    analysis,
    coverage,
    hostile,
    instances,
    llama,
    loop,
    many_stages,
    program,
    stage,
    training,
    two_processes,
    without_nvtx,
)
from tests.view_samples_parts import thunder

LAYOUTS = [
    Layout(),
    Layout(listing=True),
    Layout(ordered=True),
    Layout(by="name"),
    Layout(top=0),
    Layout(by="instance"),
    Layout(breakdown=True),
    Layout(listing=True, breakdown=True),
]
REPORTS = {
    "one": [llama("thunder_torch")],
    "five": [llama(executor) for executor in LLAMA],
    "bare": [without_nvtx()],
    "ranks": [two_processes()],
    "training": [training()],
    "compiled": [thunder()],
    "many": [many_stages()],
    "hostile": [hostile()],
    "nothing": [analysis(programs=[], coverage=coverage(0))],
}

PAGE = """\
llama_thunder_torch.sqlite · NVIDIA H200 · driver 580.159 · nsys 2025.3 · python3 · 18.0 s captured

Loops                  n      pace  CPU overhead  GPU active  kernels  us/kernel  startup gap   exposed
warmup / step          3  1.810 ms      1.532 ms    0.279 ms       60       25.5     120.0 us   90.0 us
  mean gap 120.0 us = prelude 90.0 + launch 10.0 + queue 20.0; hidden behind earlier work: 30.0 us
steady / step         10  1.646 ms      1.367 ms    0.279 ms       60       22.8     234.3 us  156.8 us
  mean gap 236.3 us = prelude 224.2 + launch 10.7 + queue 1.4; hidden behind earlier work: 70.8 us

Start                 n       wall  to first GPU work  GPU active  kernels
import                1   10.6 s                    -           -        -
build                 1  311 ms              250 ms      2.000 ms       32
compile               1    5.64 s              5.60 s    0.279 ms       60
warmup                1    5.80 ms           120 us      0.836 ms      180
steady                1   16.5 ms            120 us      2.786 ms      600

Cold start               first  others, median     extra
warmup / step         2.304 ms        1.646 ms  0.658 ms

Covered: 887 of 887 GPU operations, 100% of GPU time (all by the launching thread).
note     profiler-init  CUDA profiling initialisation took 382 ms inside `import`; it is not counted as overhead
"""


def page(name, layout=None, columns=160, **options):
    return table_view.render(REPORTS[name], layout or Layout(), columns=columns, **options)


def row(output, start):
    """The first line that starts with ``start``, spaces in front aside."""
    return next(line for line in output.splitlines() if line.strip().startswith(start))


def test_one_report_looks_like_this():
    assert page("one", columns=120) == PAGE


@pytest.mark.parametrize("columns", [80, 100, 160])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", REPORTS)
def test_every_line_fits(name, layout, columns):
    for line in page(name, layout, columns).splitlines():
        assert text.width(line) <= columns
        assert line == line.rstrip()


@pytest.mark.parametrize("name", ["one", "five", "ranks", "training"])
def test_nothing_wraps_where_there_is_room(name):
    for line in page(name, columns=160).splitlines():
        assert not line.startswith("      hidden")
    assert page(name, columns=160) == page(name, columns=10_000)


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_the_numbers_that_matter_never_go(columns):
    header = row(page("one", columns=columns), "Loops")
    for title in ("pace", "us/kernel", "exposed"):
        assert title in header


def test_the_least_needed_columns_go_first():
    assert "GPU active" not in row(page("one", columns=80), "Loops")
    assert "startup gap" in row(page("one", columns=80), "Loops")
    assert "GPU active" in row(page("one", columns=120), "Loops")


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_but_printable_text_comes_out(name, layout):
    for line in page(name, layout).splitlines():
        assert line.isprintable()


def test_only_what_is_exposed_is_in_colour():
    plain, coloured = page("one"), page("one", colour=True)
    marked = re.findall(r"\x1b\[33m(.*?)\x1b\[0m", coloured)
    assert [cell.strip() for cell in marked] == ["90.0 us", "156.8 us"]
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


def test_numbers_of_a_column_align_on_the_decimal_point():
    lines = [line for line in page("one").splitlines() if " / step" in line]
    loops = lines[:2]
    assert [line.index(".") for line in loops] == [loops[0].index(".")] * 2
    assert [line.rindex(".") for line in loops] == [loops[0].rindex(".")] * 2


def test_a_number_that_is_missing_is_a_dash_and_never_zero():
    assert re.fullmatch(r"import +1 +10\.6 s +- +- +-", row(page("one"), "import"))


def test_parts_of_a_loop_stand_below_it():
    lines = page("training").splitlines()
    loop_line = lines.index(row(page("training"), "steady / step"))
    assert [line.split()[0] for line in lines[loop_line + 2 : loop_line + 5]] == ["forward", "backward", "optimizer"]
    assert "elapsed" in row(page("training"), "Loops")


def test_kernels_that_vary_show_their_range():
    spread = KernelsPerInstance(min=58, median=60.0, max=1_064)
    report = analysis(stages=[loop(["step"], 1000 * US, kernels_per_instance=spread)])
    assert "60 (58-1,064)" in table_view.render([report], Layout(), columns=160)


def test_notes_on_stages_that_were_not_asked_for_stay_away():
    report = llama("eager")
    assert "profiler-init" in table_view.render([report], Layout(listing=True), columns=160)
    chosen = dataclasses.replace(report, stages=report.stages[-1:])
    assert "profiler-init" not in table_view.render([chosen], Layout(listing=True), columns=160)
    grave = dataclasses.replace(chosen, warnings=[dataclasses.replace(report.warnings[0], level="warning")])
    assert "profiler-init" in table_view.render([grave], Layout(listing=True), columns=160)


def test_a_report_without_the_stage_says_so():
    output = table_view.render([llama("eager"), analysis("other.sqlite")], Layout(listing=True), columns=160)
    assert "\nother.sqlite: no such stage\n" in output
    assert "Program" not in output


def test_several_reports_share_one_table():
    output = page("five")
    assert output.count("Loops ") == 1
    lines = output.splitlines()
    start = lines.index(row(output, "Loops"))
    assert [line for line in lines[start:] if line.startswith("llama_")][:5] == [
        f"llama_{name}.sqlite" for name in LLAMA
    ]
    assert all(exposed in output for exposed in ("1.2 us", "135.9 us", "156.8 us", "374.5 us", "16.4 us"))


def test_reports_of_one_name_are_numbered():
    output = table_view.render([llama("eager"), llama("eager")], Layout(), columns=160)
    assert "llama_eager.sqlite (1)" in output
    assert "llama_eager.sqlite (2)" in output


def test_processes_are_named_where_there_are_several():
    assert [line.split()[3:5] for line in page("ranks").splitlines() if line.startswith("train / step")] == [
        ["rank", "0"],
        ["rank", "1"],
    ]
    assert "process" not in page("one")


def test_a_report_without_stages_still_shows_its_processes():
    output = page("bare")
    assert re.search(rf"^python3 \({PID}\) .* 880 +872", output, re.MULTILINE)
    assert "Covered: 0 of 12 GPU operations, 0% of GPU time (none belongs to a range)." in output
    assert "Not covered: 12 launched while no range was open: 48.0 us." in output
    assert "Loops" not in output
    assert "Program" not in page("one")


def test_a_process_without_stages_shows_beside_one_that_has_some():
    report = analysis(stages=[stage(["a"], [US])], programs=[program(), program(99, name="helper")])
    output = table_view.render([report], Layout(), columns=160)
    assert "helper (99)" in output
    assert f"python3 ({PID})" not in output


def test_a_report_of_nothing_says_so():
    assert "Covered: nothing, as the report holds no GPU operation." in page("nothing")


def test_what_is_covered_and_what_is_not():
    output = page("ranks")
    assert "Covered: 4,010 of 4,034 GPU operations, 99.4% of GPU time (1,024 of them" in output
    assert "Not covered: 24 with no launch in the report (launched before the capture began): 96.0 us." in output


def test_a_page_stays_readable_with_a_thousand_stages():
    output = page("many")
    assert len(output.splitlines()) < 60
    assert "994 more stages: --depth 3 --top 0 lists all" in output
    assert "more stage" not in page("many", Layout(listing=True, top=0))
    assert len(page("many", Layout(listing=True, top=0)).splitlines()) > 1_000


def test_the_largest_stages_are_the_ones_that_stay():
    shown = {int(number) for number in re.findall(r"operation_(\d+)", page("many"))}
    assert {number % 50 for number in shown} == {49}


def test_the_loops_on_a_page_are_those_with_most_gpu_work():
    """Two hundred loops that launch nothing do not hide the one that does, nor do the many small ones."""
    small = [loop(["compile", f"pass_{number}"], 10 * MS, kernels=1, active=100 * US) for number in range(200)]
    tiny = [loop(["compile", f"tiny_{number}"], 90 * MS, kernels=9, active=US) for number in range(200)]
    idle = [loop(["compile", f"idle_{number}"], 900 * MS, kernels=0) for number in range(200)]
    output = table_view.render(
        [analysis(stages=[stage(["compile"], [60 * MS]), *small, *tiny, *idle, loop(["steady", "step"], MS)])],
        Layout(),
        columns=100,
    )
    assert "steady / step" in output
    assert "idle" not in output
    assert "tiny" not in output
    assert output.count("pass_") == 4


def test_what_is_left_out_is_told_where_everything_is_a_loop():
    report = analysis(stages=[loop(["step"], MS), *(stage(["step", "part", f"{n}"], [US]) for n in range(5))])
    output = table_view.render([report], Layout(), columns=160)
    assert "Start" not in output
    assert "\n5 more stages: --depth 3 lists all\n" in output


def test_a_loop_inside_a_loop_shows_with_it():
    report = analysis(
        stages=[
            loop(["epoch"], 900 * MS, 3, 6_000),
            loop(["epoch", "step"], 9 * MS, 300),
            loop(["epoch", "step", "layer"], MS, 3_000, 6),
        ]
    )
    lines = table_view.render([report], Layout(), columns=160).splitlines()
    assert [line.split()[0] for line in lines if re.match(" *(epoch|step|layer) ", line)] == ["epoch", "step"]


def test_cold_starts_are_the_largest_ones():
    loops = [loop([f"s{n}"], MS, cold_start_ns=(n - 2) * 1e6, cold_first_ns=(n - 1) * MS) for n in range(20)]
    output = table_view.render([analysis(stages=loops)], Layout(loops=0, top=0), columns=160)
    cold = output[output.index("Cold start") : output.index("Covered")]
    assert re.findall(r"^s(\d+) ", cold, re.MULTILINE) == ["15", "16", "17", "18", "19"]
    assert "17.00 ms" in cold


def test_sorted_rows_are_flat_and_keep_their_order():
    report = analysis(stages=[stage(["b", "c"], [US]), stage(["a"], [2 * US]), stage(["b"], [3 * US])])
    output = table_view.render([report], Layout(listing=True, ordered=True), columns=160)
    starts = [line[:5].rstrip() for line in output.splitlines() if re.match(r"[ab]( |$)", line)]
    assert starts == ["b / c", "a", "b"]


def test_a_tree_names_what_its_parents_do_not():
    report = analysis(stages=[stage(["a"], [9 * US]), stage(["a", "b", "c"], [US]), stage(["x", "y"], [US])])
    output = table_view.render([report], Layout(listing=True), columns=160)
    assert row(output, "b / c").startswith("  b / c")
    assert row(output, "x / y").startswith("x / y")


def test_paths_that_differ_by_domain_only_name_it():
    same = [stage(["a"], [US], domains=[""], key="1"), stage(["a"], [US], domains=["other"], key="2")]
    output = table_view.render([analysis(stages=same)], Layout(listing=True), columns=160)
    assert "a@default" in output
    assert "a@other" in output


def test_instances_have_a_row_each():
    report = analysis(stages=[llama("eager").stages[-1]], instances=instances())
    output = table_view.render([report], Layout(by="instance"), columns=160)
    assert output.count("steady / step ") == 20
    assert "steady / step 7 " in output
    assert "10 more instances: --top 0 lists all" in output
    assert "17.001646 s" in output


def test_warnings_come_first_and_there_are_not_too_many():
    findings = hostile().warnings * 30 + llama("eager").warnings
    output = table_view.render([analysis(warnings=findings)], Layout(), columns=100)
    assert len(re.findall("^warning  open-range", output, re.MULTILINE)) == 12
    assert re.search(r"^note +more +18 more warnings and notes: --format json lists all", output, re.MULTILINE)


def test_long_names_are_cut_in_the_middle():
    output = page("hostile", columns=100)
    assert "xxxx…xxxx" in output
    assert max(len(line) for line in output.splitlines()) <= 100
    assert len(HOSTILE[4]) == 10_000


def test_a_long_part_of_a_remark_is_broken():
    reason = "start skew unknown: instances cannot be paired: ranks have 249 to 255 of them"
    rows = [Row(Name("step"), remarks=[["2 ranks", reason], [reason]])]
    cells = [Column(title="wall", cells=[Number("1")])]
    lines = grid(Table(title="Ranks", groups=[Group(heading="", rows=rows)], columns=cells), 50, str)
    assert max(map(text.width, lines)) <= 50
    assert " ".join(" ".join(lines[2:]).split()) == f"2 ranks {reason} {reason}"
    assert all(line.startswith("  ") for line in lines[2:])


def test_columns_make_room_for_the_shortest_name_that_is_set():
    rows = [Row(Name("GPU"))]
    cells = [Column(title=title, cells=[Number("1")], drop=1) for title in ("aaaa", "bbbb")]
    lines = grid(Table(title="T", groups=[Group(heading="", rows=rows)], columns=cells), 18, str)
    assert max(map(text.width, lines)) <= 18
