"""Late stalls and the cost of ranges: which instances, and what filled them."""

from __future__ import annotations

from nsys_analyze import open_report


def stalls_of(builder, tmp_path, lengths, *, compiling=()):
    thread, start = builder.process(100).thread(), 0
    for number, length in enumerate(lengths):
        thread.push_pop(f"step {number}", start, start + length)
        if number in compiling:
            thread.call("cuModuleLoadData", start + 5, start + length - 10)
        start += 10_000
    (stage,) = open_report(builder.write(tmp_path / "report.sqlite")).analysis().stages
    return stage.stalls


def test_a_step_that_compiles_late_is_named_with_its_cause(builder, tmp_path):
    (stall,) = stalls_of(builder, tmp_path, [100, 101, 99, 102, 98, 100, 900, 101], compiling={6})
    assert (stall.index, stall.start_ns, stall.elapsed_ns, stall.excess_ns) == (6, 60_000, 900, 799.5)
    assert stall.filled_ns == {"compile": 885.0}


def test_the_first_instance_is_a_cold_start_and_no_stall(builder, tmp_path):
    assert stalls_of(builder, tmp_path, [900, 101, 99, 102, 98, 100, 100, 101]) == []


def test_where_most_instances_are_alike_twice_the_median_counts(builder, tmp_path):
    found = stalls_of(builder, tmp_path, [100] * 6 + [200, 201])
    assert [stall.index for stall in found] == [7]


def test_few_instances_say_nothing(builder, tmp_path):
    assert stalls_of(builder, tmp_path, [100, 100, 100, 100, 900]) == []


def test_the_worst_come_first_and_are_bounded(builder, tmp_path):
    lengths = [100 + number % 3 for number in range(100)] + [1000 + number for number in range(30)]
    found = stalls_of(builder, tmp_path, lengths)
    assert [stall.elapsed_ns for stall in found] == [1029 - number for number in range(20)]


def test_gpu_work_after_the_end_is_a_cause(builder, tmp_path):
    thread = builder.process(100).thread()
    for number in range(8):
        start = 10_000 * number
        thread.push_pop(f"step {number}", start, start + 100)
        call = thread.call("cudaLaunchKernel_v7000", start + 10, start + 15)
        call.kernel("gemm", start + 50, start + (5000 if number == 5 else 200))
    (stage,) = open_report(builder.write(tmp_path / "report.sqlite")).analysis().stages
    assert [(stall.index, stall.filled_ns) for stall in stage.stalls] == [(5, {"gpu_after_end": 4800.0})]


# --- ranges inside


def test_ranges_inside_are_counted_across_threads(builder, tmp_path):
    process = builder.process(100)
    main, helper = process.thread(), process.thread(101)
    for number in range(2):
        start = 100_000 * number
        main.push_pop(f"step {number}", start, start + 50_000)
        main.push_pop("outer", start + 10, start + 20_000)
        main.push_pop("inner", start + 20, start + 1_000)
        helper.push_pop("compile", start + 30_000, start + 40_000)
    stages = {s.name: s.markers for s in open_report(builder.write(tmp_path / "r.sqlite")).analysis().stages}
    step = stages["step"]
    assert (step.ranges, step.short, step.cost_low_ns, step.cost_high_ns) == (6, 2, 1800, 4800)
    assert (stages["outer"].ranges, stages["outer"].short, stages["inner"].ranges) == (2, 2, 0)
