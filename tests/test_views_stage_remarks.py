"""What stands below the rows of stages, and which loops a page leaves out."""

from __future__ import annotations

from nsys_analyze.views import table_view
from nsys_analyze.views.page import Layout
from tests.view_samples import MS, US, analysis, gap, loop, stage
from tests.view_samples_parts import compiling, host, thunder


def page_of(report):
    return table_view.render([report], Layout(), columns=200)


def test_what_filled_a_stage_is_told_with_the_largest_part_first():
    filled = host(code=20 * MS, compile=75 * MS, profiler=4 * MS, sync=MS // 2, launch=MS // 2)
    stages = [stage(["build"], [100 * MS], host_ns=filled), stage(["import"], [MS], host_ns=host(code=MS))]
    output = table_view.render([analysis(stages=stages)], Layout(), columns=100)
    assert "\n  filled by compiling and loading 75.0 ms; host code 20.0 ms; profiler 4.00 ms\n" in output
    assert output.count("filled by") == 1


def test_what_compilers_did_is_told_with_the_thread_time_where_they_had_threads():
    output = page_of(thunder())
    assert "\n  filled by compiling and loading 5.38 s; host code 5.09 s\n" in output
    assert (
        "\n  compiling, 6.74 s of thread time: segmentation 2.92 s; compilation 1.59 s; compilers' other work 1.43 s; "
        "lowering 750 ms; 7 modules, 227 ms of compilation each\n"
    ) in output
    one_thread = compiling(9 * MS, {"ranges": 9 * MS}, {"trace": 3 * MS, "compile": 6 * MS}, modules=1)
    output = page_of(analysis(stages=[stage(["build"], [10 * MS], compile_ns=one_thread)]))
    assert "\n  compiling: compilation 6.00 ms; tracing 3.00 ms; 1 module, 6.00 ms of compilation each\n" in output


def test_loading_is_not_called_compiling_and_the_rest_is_named():
    """Where no compiler left a trace: most of such a stage may be compiling all the same."""
    assert "\n  filled by loading modules 181 ms; host code 168 ms; profiler 11.0 ms\n" in page_of(thunder())
    loaded = compiling(47 * MS, {"api": 47 * MS}, {"load": 47 * MS})
    stages = [stage(["compile"], [8_400 * MS], host_ns=host(code=8_353 * MS, compile=47 * MS), compile_ns=loaded)]
    output = page_of(analysis(stages=stages))
    assert "\n  filled by host code 8.35 s\n" in output
    assert "compiling" not in output


def test_loops_inside_compilers_leave_the_loops_to_the_programs_own():
    """What autotuning repeats is no loop of the program, unless there is no other."""
    inside = host(compile=950 * US, profiler=50 * US)
    tuned = loop(["compile", "benchmark"], 100 * US, 10, 5, 90 * US, host_ns=inside)
    step = loop(["steady", "step"], MS, 2, 5, 90 * US, host_ns=host(compile=1_900 * US, code=100 * US))
    assert tuned.is_compilers_own
    assert not step.is_compilers_own  # compiled in one of its instances
    output = page_of(analysis(stages=[tuned, step]))
    assert "steady / step" in output
    assert "benchmark" not in output
    assert "compile / benchmark" in page_of(analysis(stages=[tuned]))


def test_a_gap_of_which_nothing_is_hidden_does_not_say_so():
    shown = loop(["step"], MS, startup_gap_ns=gap(10, 90 * US, 10 * US, 20 * US, 0))
    assert "+ queue 20.0\n" in page_of(analysis(stages=[shown]))


def test_the_profilers_share_of_the_start_is_told():
    report = analysis(
        stages=[stage(["build"], [683e6], 32, startup_gap_ns=gap(1, 543 * 10**6, 0, 0, 0, profiler=367 * 10**6))]
    )
    output = table_view.render([report], Layout(), columns=100)
    assert "  the profiler's own work: 367 ms of the 543 ms before the first GPU work; 176 ms without" in output
