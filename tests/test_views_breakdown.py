"""``--breakdown``: every part of a stage's time, named, with the leftover and what it is a part of."""

from __future__ import annotations

import dataclasses
import re

import pytest

from nsys_analyze.metrics.breakdown import Kind, host_split, splits
from nsys_analyze.metrics.results import BlockedOn, HostCode, SampledFunction
from nsys_analyze.views import markdown_view, table_view
from nsys_analyze.views.page import Layout
from tests.view_samples import MS, analysis, hostile, loop, stage, two_processes
from tests.view_samples_parts import compiling, host, thunder, window

TABLE = """\
Breakdown                                time  share   united
compile
  host                               10.5 s
    compiling and loading             5.38 s   51.4%
    host code                         5.09 s   48.6%
    other CUDA calls                  2.00 ms  <0.1%
  GPU 0                              10.5 s
    idle before own work (exposed)    5.52 s   52.8%
    idle between own work             4.94 s   47.2%
    own work                        208 us     <0.1%
  compiling, by source                5.38 s
    compilers' ranges                 5.33 s   99.1%
    CUDA calls that load or link     50.0 ms    0.9%
  compiling, by phase                 6.74 s          5.380 s
    segmentation                      2.92 s   43.3%
    compilation                       1.59 s   23.6%  1.436 s
    compilers' other work             1.43 s   21.2%  1.198 s
    lowering                        750 ms     11.1%  0.577 s
    loading                          50.0 ms    0.7%
  compilation of 7 modules, each    227 ms
  compiling, by tool                  6.74 s
    nvFuser                           6.69 s   99.3%
    CUDA driver                      50.0 ms    0.7%
steady / step, mean of 10
  host                                1.68 ms
    host code                         1.48 ms  88.1%
    launches                        195 us     11.6%
    other CUDA calls                  4.40 us   0.3%
  GPU 0                               1.73 ms
    idle between own work             1.09 ms  63.3%
    idle before own work (exposed)  381 us     22.0%
    own work                        204 us     11.8%
    others' work                     49.4 us    2.9%
Phases and tools add threads up; united counts once what several did at once.
"""

MARKDOWN = """\
| Breakdown | time | share | united |
| :--- | ---: | ---: | ---: |
| `compile` |  |  |  |
| `host` | 10.5 s |  |  |
| `host: compiling and loading` | 5.38 s | 51.4% |  |
"""


def only(*names):
    """The sample of a compiled model, with the stages named only."""
    return dataclasses.replace(thunder(), stages=[stage for stage in thunder().stages if stage.name in names])


def breakdown(report, columns=80):
    """The lines of the table."""
    page = table_view.render([report], Layout(listing=True, breakdown=True), columns=columns)
    return page[page.index("\nBreakdown") + 1 :].split("\n\n")[0].splitlines()


@pytest.mark.parametrize("columns", [80, 160])
def test_a_breakdown_looks_like_this(columns):
    assert "\n".join(breakdown(only("compile", "step"), columns)) + "\n" == TABLE


def test_it_is_a_table_in_markdown_too():
    layout = Layout(listing=True, breakdown=True)
    assert MARKDOWN in markdown_view.render([only("compile", "step")], layout)


def test_it_is_there_only_when_asked_for():
    assert "Breakdown" not in table_view.render([thunder()], Layout(listing=True), columns=100)


def test_the_stages_of_the_page_are_broken_down_in_its_order():
    page = table_view.render([thunder()], Layout(breakdown=True), columns=100)
    lines = page[page.index("Breakdown ") : page.index("Covered")].splitlines()
    named = [line for line in lines[1:] if re.match("[a-z]", line)]
    assert named == ["steady / step, mean of 10", "import", "build", "compile"]


def test_the_parts_of_host_and_gpu_add_up_to_the_whole():
    for shown in thunder().stages:
        for split in splits(shown):
            parts, whole = sum(part.time for part in split.parts), split.whole.time
            assert parts == whole, (shown.name, split.kind)
            assert sum(part.share for part in split.parts) == pytest.approx(1)


def test_means_are_over_the_instances_that_used_the_gpu():
    shown = loop(["step"], MS, 10, host_ns=host(code=10 * MS), gpu_window_ns=[window(4, 2, own=MS, other=3 * MS)])
    lines = breakdown(analysis(stages=[shown]))
    assert lines[1].startswith("step, mean of 10")
    assert re.fullmatch(r"  host: host code +1\.000 ms", lines[2])
    assert re.fullmatch(r"  GPU 2, 4 of 10 instances +1\.000 ms", lines[3])
    assert re.fullmatch(r"    others' work +0\.750 ms +75\.0%", lines[4])


def test_every_gpu_has_its_own_split():
    windows = [window(device=device, own=MS, idle_startup=(device + 1) * MS) for device in range(3)]
    lines = breakdown(analysis(stages=[stage(["build"], [4 * MS], 3, gpu_window_ns=windows)]))
    assert [line.split()[:2] for line in lines if line.startswith("  GPU")] == [["GPU", f"{n}"] for n in range(3)]


def test_loading_alone_is_told_once():
    lines = breakdown(only("build"))
    assert not [line for line in lines if "compil" in line]
    assert [line.split("  ")[1] for line in lines if "loading" in line] == ["", "loading modules, by source"]


def test_what_lies_in_a_compilers_range_is_compiling_though_its_own_evidence_is_loading():
    loaded = compiling(MS, {"api": MS}, {"load": MS}, tools={"CUDA driver": MS})
    for evidence in (loaded, compiling(0, {}, {})):
        shown = stage(["zero_"], [9 * MS], host_ns=host(compile=9 * MS), compile_ns=evidence)
        assert re.fullmatch(r"  host: compiling and loading +9\.00 ms", breakdown(analysis(stages=[shown]))[2])


def test_a_tool_that_only_loads_is_named_beside_the_driver():
    loaded = compiling(5 * MS, {"ranges": 5 * MS}, {"load": 5 * MS}, tools={"CUDA driver": MS, "XLA": 4 * MS})
    lines = breakdown(analysis(stages=[stage(["build"], [9 * MS], compile_ns=loaded)]))
    assert [line.split()[0] for line in lines[-2:]] == ["XLA", "CUDA"]


def of_build(found):
    filled = host(compile=5 * MS, code=4 * MS)
    return analysis(stages=[stage(["build"], [9 * MS], host_ns=filled, compile_ns=found)])


def test_modules_without_known_compilation_have_no_time_each():
    unknown = compiling(5 * MS, {"ranges": 5 * MS}, {"other": 5 * MS}, modules=3)
    assert unknown.module_ns is None
    assert "  3 modules" in breakdown(of_build(unknown))
    page = table_view.render([of_build(unknown)], Layout(), columns=100)
    assert "\n  compiling: compilers' other work 5.00 ms; 3 modules\n" in page


def test_modules_that_were_only_loaded_are_counted():
    loaded = compiling(5 * MS, {"ranges": 5 * MS}, {"load": 5 * MS}, modules=10)
    assert "  10 modules" in breakdown(of_build(loaded))
    assert "\n  loaded: 10 modules\n" in table_view.render([of_build(loaded)], Layout(), columns=100)


def test_what_is_not_known_is_left_out():
    assert breakdown(analysis(stages=[stage(["a"], [MS])])) == ["Breakdown", "a"]
    assert host_split(stage(["a"], [0], host_ns=host())) is None
    nothing = stage(["a"], [MS], host_ns=host(code=MS), gpu_window_ns=[window()], compile_ns=compiling(0, {}, {}))
    assert [split.kind for split in splits(nothing)] == [Kind.HOST]


def test_stages_of_several_processes_name_theirs():
    lines = breakdown(two_processes())
    assert [line.split()[-2:] for line in lines[1:]] == [["rank", "0"], ["rank", "0"], ["rank", "1"], ["rank", "1"]]


def test_reports_share_the_table():
    page = table_view.render([only("compile"), only("step")], Layout(listing=True, breakdown=True), columns=100)
    assert page.count("Breakdown ") == 1
    assert "\n  compile\n    host  " in page
    assert "\n  steady / step, mean of 10\n    host  " in page


def coded(**fields):
    """A stage of ten instances whose host code is told of."""
    nothing = {"blocked_on": [], "blocked_on_others_ns": 0, "samples": None, "functions": [], "samples_of_others": 0}
    code = HostCode(**{"running_ns": None, "blocked_ns": None, "unknown_ns": 0} | nothing | fields)
    total = (code.running_ns or 0) + (code.blocked_ns or 0) + code.unknown_ns
    return loop(["step"], 2 * MS, 10, host_ns=host(code=total, launch=MS), host_code=code)


def blocked_on(*functions):
    return [BlockedOn(function=f"wait_{letter}", time_ns=time * MS) for letter, time in functions]


def sampled(*functions):
    return [SampledFunction(symbol=s, module=m, samples=n, share=n / 100) for s, m, n in functions]


HOST_CODE = """\
    host code         18.00 ms  99.9%
      running 12.0 ms; blocked 5.00 ms; unknown 1.00 ms
      blocked: wait_a 2.00 ms; wait_b 1.00 ms; wait_c 900 us
        other functions 1.10 ms
      100 samples: torch::autograd::Eng…tograd::NodeTask>&) 40.0%
        libfoo.so 30.0%; unknown module 20.0%; other functions 10.0%
"""


def test_host_code_is_told_below_its_line():
    engine = "torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::NodeTask>&)"
    functions = sampled(
        (engine, "/lib/t.so", 40), (None, "/opt/libfoo.so", 30), (None, None, 20), ("f", "m", 5), ("g", "m", 3)
    )
    shown = coded(
        running_ns=120 * MS,
        blocked_ns=50 * MS,
        unknown_ns=10 * MS,
        blocked_on=blocked_on(("a", 20), ("b", 10), ("c", 9), ("d", 8), ("e", 2)),
        blocked_on_others_ns=MS,
        samples=100,
        functions=functions,
        samples_of_others=2,
    )
    lines = breakdown(analysis(stages=[shown]))
    assert "\n".join(lines[3:9]) + "\n" == HOST_CODE
    assert all(len(line) <= 80 for line in lines)


def test_few_functions_are_all_named():
    shown = coded(blocked_ns=4 * MS, blocked_on=blocked_on(("a", 1), ("b", 1), ("c", 1), ("d", 1)))
    assert "other" not in "".join(breakdown(analysis(stages=[shown])))


def test_one_sample_is_one():
    shown = coded(running_ns=MS, samples=1, functions=sampled(("f", "m", 1)))
    assert "      1 sample: f 100%" in breakdown(analysis(stages=[shown]))


def test_a_capture_that_does_not_tell_says_so():
    lines = breakdown(analysis(stages=[coded(unknown_ns=5 * MS)]))
    assert "      the capture does not tell what the thread did" in lines
    assert not [line for line in breakdown(only("step")) if "capture" in line]


def test_what_markdown_says_of_host_code_names_the_stage():
    page = markdown_view.render([analysis(stages=[coded(running_ns=MS)])], Layout(listing=True, breakdown=True))
    assert "- `step: host: host code`: running 100 us" in page


def test_names_of_tools_are_no_escape_codes():
    evil = compiling(MS, {"ranges": MS}, {"other": MS}, tools={"\x1b[31m`x` | y": MS})
    report = analysis(stages=[stage(["a"], [MS], compile_ns=evil), *hostile().stages])
    layout = Layout(listing=True, breakdown=True)
    for page in (table_view.render([report], layout, columns=80), markdown_view.render([report], layout)):
        assert all(line.isprintable() for line in page.splitlines())
        assert r"\x1b[31m" in page
