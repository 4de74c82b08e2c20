from __future__ import annotations

import dataclasses
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nsys_analyze
from nsys_analyze import ReportError, UsageError, compare
from nsys_analyze.metrics.results import Process
from nsys_analyze.verdict.comparison import Setting
from nsys_analyze.verdict.quantities import QUANTITIES, UNPROFILED
from nsys_analyze.views import compare_page, compare_words, table_view
from tests.view_samples import (
    LLAMA,
    MS,
    PID,
    US,
    analysis,
    gap,
    llama,
    loop,
    report,
    stage,
    two_processes,
    without_nvtx,
)
from tests.view_samples_parts import host

# an author's own table: wall and kernel time of a step in ms, kernels; then CPU overhead and us for each kernel
AUTHORS = {
    "thunder_nvfuser": (1.281, 0.297, 32, 0.984, 30.7),
    "thunder_torch": (1.232, 0.413, 77, 0.819, 10.5),
    "torch_compile": (0.455, 0.292, 24, 0.163, 6.8),
    "eager": (1.014, 0.398, 65, 0.616, 9.4),
}


def author(name):
    wall, kernel_time, kernels, _, _ = AUTHORS[name]
    return analysis(f"{name}.sqlite", [loop(["steady", "step"], wall * MS, 10, kernels, int(kernel_time * MS))])


def test_the_profilers_own_time_is_a_part_of_a_difference():
    sides = [
        loop(["step"], pace, 10, 5, 300 * US, host_ns=host(profiler=10 * own, code=5 * MS), cpu_overhead_ns=float(rest))
        for pace, own, rest in ((MS, 100 * US, 600 * US), (2 * MS, 900 * US, 800 * US))
    ]
    (compared,) = compare(*(analysis(f"{n}.sqlite", [side]) for n, side in enumerate(sides))).stages
    (reading,) = compared.readings
    assert (reading.cpu_overhead_ns, reading.profiler_ns, reading.gpu_active_ns) == (200 * US, 800 * US, 0)
    assert reading.difference_ns == reading.cpu_overhead_ns + reading.gpu_active_ns + reading.profiler_ns
    (words, *_) = compare_words.readings(compared, "0", ())
    assert "200 us more CPU overhead, 800 us more of the profiler's own work" in words


def test_an_authors_table_comes_out_as_its_author_wrote_it():
    sides = ["eager", "thunder_nvfuser", "thunder_torch", "torch_compile"]
    comparison = compare(*map(author, sides))
    (compared,) = comparison.stages
    for row, name in zip(compared.rows, sides, strict=True):
        wall, kernel_time, kernels, overhead, per_kernel = AUTHORS[name]
        values = {quantity: figure.value for quantity, figure in row.figures.items()}
        assert values["pace"] == pytest.approx(wall * MS)
        assert values["kernel_time"] == pytest.approx(kernel_time * MS)
        assert values["kernels"] == kernels
        assert values["cpu_overhead"] == pytest.approx(overhead * MS, abs=0.5 * US)
        assert values["overhead_per_kernel"] == pytest.approx(per_kernel * US, abs=150)
    torch = compared.readings[1]
    assert (torch.side, torch.cause) == ("thunder_torch", "cpu_overhead")
    assert torch.difference_ns == pytest.approx(218 * US, abs=1)
    assert torch.difference_ns == pytest.approx(torch.cpu_overhead_ns + torch.gpu_active_ns)


def step(pace, **given):
    return analysis(stages=[loop(["steady", "step"], pace, **given)])


def numbers(low=1):
    return st.lists(st.integers(low, 10**10), min_size=1, max_size=5)


@given(sides=st.lists(numbers(), min_size=1, max_size=4))
def test_figures_are_medians_and_ratios_of_medians(sides):
    comparison = compare(*([step(float(pace), active=0, kernels=3) for pace in side] for side in sides))
    rows = comparison.stages[0].rows
    middle = []
    for side in sides:
        ordered = sorted(side)
        half = len(ordered) // 2
        middle.append(ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2)
    for row, side, value in zip(rows, sides, middle, strict=True):
        figure = row.figures["pace"]
        assert (figure.value, figure.least, figure.most) == (value, min(side), max(side))
        assert figure.ratio == pytest.approx(value / middle[0])
        assert figure.difference == pytest.approx(value - middle[0])
    for reading, side in zip(comparison.stages[0].readings, sides[1:], strict=True):
        above = min(side) > max(sides[0]) or min(sides[0]) > max(side)
        assert reading.clear == (None if len(side) == len(sides[0]) == 1 else above)
        assert reading.as_long == (abs(median(side) / middle[0] - 1) < 0.05)


def test_a_number_that_is_missing_or_0_has_no_ratio():
    without = analysis(stages=[loop(["step"], MS, startup_gap_ns=None)])
    nothing = analysis(stages=[loop(["step"], MS, startup_gap_ns=gap(10, 0, 0, 0, 0))])
    some = analysis(stages=[loop(["step"], MS)])
    for first, other in ((without, some), (some, without), (nothing, some)):
        figure = compare(first, other).stages[0].rows[1].figures["startup_gap_exposed"]
        assert figure.ratio is None
    assert compare(some, without).stages[0].rows[1].figures["startup_gap_exposed"].value is None


@pytest.mark.parametrize("name", ["llama_eager", "llama_cudagraphs"])
def test_a_report_does_not_differ_from_itself(sample_report, name):
    comparison = compare(sample_report(name), sample_report(name))
    assert [side.label for side in comparison.sides] == [f"{name} (1)", f"{name} (2)"]
    assert comparison.changed == []
    for compared in comparison.stages:
        assert all(figure.ratio in (1.0, None) for figure in compared.rows[1].figures.values())
        assert not any(figure.difference for figure in compared.rows[1].figures.values())
        (reading,) = compared.readings
        assert reading.identical
        assert (reading.same_work, reading.as_long, reading.cause) == (True, True, None)
        assert compared.kernels[0].changes == []


def test_executors_of_one_step(sample_report):
    comparison = compare(*(sample_report(f"llama_{name}") for name in LLAMA))
    assert [side.label for side in comparison.sides] == list(LLAMA)
    (compared,) = comparison.stages
    assert compared.path == ["steady", "step"]
    exposed = [row.figures["startup_gap_exposed"].value for row in compared.rows]
    assert exposed == [1152.0, 135872.0, 16416.0, 156849.0, 374528.5]
    readings = {reading.side: reading for reading in compared.readings}
    assert readings["thunder_torch"].cause == "startup_gap_exposed"
    assert readings["thunder_torch"].same_work
    assert readings["inductor"].cause == "cpu_overhead"
    kernels = {side.side: {change.name: change for change in side.changes} for side in compared.kernels}
    attention = [(change.count_first, change.count) for change in kernels["thunder_torch"].values()]
    assert attention == [(0.0, 1.0), (1.0, 0.0)]
    assert all(side.compile_from == "stage" for side in comparison.sides)
    assert comparison.sides[1].compile_ns.value == 8407467873


def test_kernels_that_changed_their_count(builder, tmp_path):
    for name, launches in (("old", ["a", "a", "b"]), ("new", ["a", "c", "c"])):
        export = type(builder)()
        thread = export.process(100).thread()
        for number in range(2):
            start = 1000 * number
            thread.push_pop(f"step {number}", start, start + 900)
            for place, kernel in enumerate(launches):
                call = thread.call("cudaLaunchKernel_v7000", start + 10 * place, start + 10 * place + 5)
                call.kernel(kernel, start + 100 * place + 100, start + 100 * place + 150)
        export.write(tmp_path / f"{name}.sqlite")
    comparison = compare(tmp_path / "old.sqlite", tmp_path / "new.sqlite")
    changes = comparison.stages[0].kernels[0].changes
    found = {
        change.name: (change.count_first, change.count, change.time_first_ns, change.time_ns) for change in changes
    }
    assert found == {"a": (2.0, 1.0, 100.0, 50.0), "b": (1.0, 0.0, 50.0, 0.0), "c": (0.0, 2.0, 0.0, 100.0)}


def test_a_stage_that_a_side_lacks_is_absent():
    other = analysis("other.sqlite", [loop(["steady", "iteration"], MS)])
    comparison = compare(step(MS), other, step(2 * MS), stages="step")
    (compared,) = comparison.stages
    assert [row.absent for row in compared.rows] == [False, True, False]
    assert compared.rows[1].figures == {}
    assert [reading.side for reading in compared.readings] == [comparison.sides[2].label]


def test_only_what_is_shared_is_compared_unless_nothing_is():
    both = analysis(stages=[loop(["a"], MS), loop(["b"], MS)])
    one = analysis(stages=[loop(["b"], MS), loop(["c"], MS)])
    other = analysis(stages=[loop(["d"], MS)])
    assert [compared.path for compared in compare(both, one).stages] == [["b"]]
    assert [compared.path for compared in compare(both, other).stages] == [["a"], ["b"], ["d"]]
    assert [compared.path for compared in compare(other, both, one).stages] == [["b"]]


def test_reports_without_loops_are_compared_by_their_top_level():
    sides = [analysis(stages=[stage(["build"], [MS * n], 2, US), stage(["idle"], [MS])]) for n in (1, 2)]
    (compared,) = compare(*sides).stages
    assert (compared.path, compared.readings[0].of, compared.readings[0].ratio) == (["build"], "elapsed", 2.0)


def test_domains_tell_stages_apart():
    sides = [analysis(stages=[loop(["step"], MS, domains=[domain])]) for domain in ("", "mine")]
    assert [[row.absent for row in compared.rows] for compared in compare(*sides).stages] == [
        [False, True],
        [True, False],
    ]
    (compared,) = compare(*sides, renamings="step=step@default").stages
    assert not any(row.absent for row in compared.rows)


@pytest.mark.parametrize(
    ("path", "asked", "expected"),
    [
        (["train", "iteration"], ["train/iteration=steady/step"], ["steady", "step"]),
        (["train", "iteration"], ["train=steady", "iteration=step"], ["steady", "step"]),
        (["run", "train", "iteration"], ["run/train=steady", "iteration=step"], ["steady", "step"]),
        (["step"], ["step=steady/step"], ["steady", "step"]),
    ],
)
def test_stages_that_others_call_differently(path, asked, expected):
    other = analysis("other.sqlite", [loop(path, 2 * MS)])
    (compared,) = compare(step(MS), other, renamings=asked).stages
    assert compared.path == expected
    assert compared.rows[1].figures["pace"].ratio == 2.0


@pytest.mark.parametrize("text", ["", "=", "a=", "=b", "ab", "a=b=c"])
def test_a_renaming_that_is_none(text):
    with pytest.raises(UsageError, match="old=new"):
        compare(step(MS), step(MS), renamings=[text])


def test_processes_are_matched_by_rank_whatever_their_order():
    one, other = two_processes(), two_processes()
    swapped = [
        Process(pid=PID, name="python3", rank=1, gpus=[1]),
        Process(pid=PID + 1, name="python3", rank=0, gpus=[0]),
    ]
    other = dataclasses.replace(other, report=dataclasses.replace(other.report, processes=swapped))
    comparison = compare(one, other)
    assert len({compared.place for compared in comparison.stages}) == 2
    paces = {place.place: [row.figures["pace"].value for row in place.rows] for place in comparison.stages}
    assert paces[0] == paces[1][::-1]


def test_a_rank_alone_is_compared_with_whatever_is_alone():
    sides = []
    for rank in (0, 3):
        processes = [Process(pid=PID, name="python3", rank=rank, gpus=[0])]
        sides.append(dataclasses.replace(step(MS), report=report(f"{rank}.sqlite", processes=processes)))
    (compared,) = compare(*sides).stages
    assert (compared.place, compared.rows[1].absent) == (None, False)


def test_a_rank_that_one_side_lacks_is_absent():
    both = two_processes()
    alone = dataclasses.replace(both, stages=[s for s in both.stages if s.process == PID])
    comparison = compare(both, alone, stages="step")
    assert [[row.absent for row in compared.rows] for compared in comparison.stages] == [[False, False], [False, True]]


def test_where_the_compile_time_comes_from():
    walls = analysis(stages=[loop(["step"], MS), stage(["compile"], [3 * MS])])
    programs = [dataclasses.replace(program, compile_ns=5 * MS) for program in walls.programs]
    whole = dataclasses.replace(analysis(stages=[loop(["step"], MS)]), programs=programs)
    sides = compare(walls, walls, whole).sides
    assert [(side.compile_from, side.compile_ns.value) for side in sides] == [
        ("stage", 3 * MS),
        ("stage", 3 * MS),
        ("report", 5 * MS),
    ]
    assert [side.compile_ns.ratio for side in sides] == [1.0, 1.0, None]


def around(**given):
    return dataclasses.replace(step(MS), report=report("a.sqlite", **given))


def test_what_changed_around_them():
    one = around(environment={"CUDA_VERSION": "13", "NVFUSER_DISABLE": "fma", "NCCL_X": None})
    other = around(driver="575.1", capture={"trace": "nvtx,cuda", "cuda_graph": "graph"}, environment={"NCCL_X": None})
    changed = {(fact.kind, fact.name): fact.settings for fact in compare(one, other).changed}
    assert changed == {
        ("version", "driver"): [Setting(state="value", value="580.159"), Setting(state="value", value="575.1")],
        ("capture", "cuda_graph"): [Setting(state="value", value="node"), Setting(state="value", value="graph")],
        ("environment", "CUDA_VERSION"): [Setting(state="value", value="13"), Setting(state="absent")],
        ("environment", "NVFUSER_DISABLE"): [Setting(state="value", value="fma"), Setting(state="absent")],
    }


def test_what_is_not_known_is_no_change():
    comparison = compare(around(environment={"CUDA_VERSION": "13"}, driver=None), around(cpu=None))
    assert comparison.changed == []
    assert comparison.without_environment == [comparison.sides[1].label]


def test_runs_of_a_side_that_differ_around():
    runs = [around(environment={"CUDA_VERSION": "13"}), around(environment={})]
    (fact,) = compare(runs, runs[0]).changed
    assert [setting.value for setting in fact.settings] == ["13; not set", "13"]


def test_a_stage_in_some_runs_only():
    runs = [step(MS), analysis(stages=[loop(["other"], MS)])]
    row = compare(step(MS), runs).stages[0].rows[1]
    assert (row.runs, row.absent) == (1, False)


def test_saved_results_and_open_reports_are_sides_as_well(sample_report, tmp_path):
    from nsys_analyze.views import json_view

    eager = nsys_analyze.open_report(sample_report("llama_eager"))
    saved = tmp_path / "eager.json"
    saved.write_text(json_view.render([eager.analysis()]), encoding="utf-8")
    comparison = compare(eager, saved, eager.analysis())
    assert all(reading.identical for reading in comparison.stages[0].readings)
    assert [side.changes for side in comparison.stages[0].kernels] == [None, None]


def test_folders_are_runs_of_one_side(sample_report, tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("llama_eager", "llama_thunder_torch"):
        (folder / f"{name}.sqlite").symlink_to(sample_report(name))
    (folder / "llama_eager.json").write_text("{}")
    (folder / "llama_eager.nsys-rep").write_text("the same in another form")
    (folder / "notes.txt").write_text("not a report")
    comparison = compare(folder, sample_report("llama_eager"))
    assert comparison.sides[0].files == ["llama_eager.sqlite", "llama_thunder_torch.sqlite"]
    assert comparison.sides[0].label == "runs"
    pace = comparison.stages[0].rows[0].figures["pace"]
    assert pace.value == (pace.least + pace.most) / 2
    assert pace.least < pace.most


@pytest.mark.parametrize("files", [{}, {"a.txt": "x", "b.json": "{}", "c.json": ""}])
def test_a_folder_without_reports(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ReportError, match="a folder without reports"):
        compare(tmp_path)


def test_twelve_sides():
    comparison = compare(*(step(MS * number) for number in range(1, 13)))
    assert [row.figures["pace"].ratio for row in comparison.stages[0].rows] == pytest.approx(range(1, 13))
    assert len({side.label for side in comparison.sides}) == 12


TWO = analysis(stages=[stage(["build"], [MS]), loop(["warmup"], MS)])


@pytest.mark.parametrize(
    ("sides", "options", "message"),
    [
        ([], {}, "name at least one"),
        ([[]], {}, "a side without reports"),
        ([without_nvtx()], {}, "no NVTX range"),
        ([analysis(stages=[stage(["a"], [MS])])], {}, "no stage has GPU work"),
        ([step(MS)], {"labels": ["a", "b"]}, "2 labels for 1"),
        ([step(MS), step(MS)], {"labels": ["a", "a"]}, "labels a, a: each side needs its own"),
        ([step(MS), step(MS)], {"renamings": "nope=step"}, "--map nope=step: matches no stage of the other sides"),
        ([step(MS), step(MS)], {"renamings": "step=*"}, r"--map step=\*: takes names"),
        ([TWO, TWO], {"renamings": "warmup=build"}, "--map warmup=build: .* has both build and warmup"),
        ([step(MS)], {"stages": "stpe"}, "matches no stage .nearest: step"),
        ([dataclasses.replace(step(MS), by="name")], {}, "results by name"),
    ],
)
def test_what_cannot_be_compared(sides, options, message):
    with pytest.raises(UsageError, match=message):
        compare(*sides, **options)


def test_many_stages_are_counted_rather_than_compared():
    many = analysis(stages=[loop([f"part{chr(97 + n)}"], MS) for n in range(25)])
    comparison = compare(many, many, stages="part*")
    assert (len(comparison.stages), comparison.stages_left_out) == (20, 5)
    assert set(comparison.stages[0].rows[0].figures) == {*QUANTITIES, *(quantity.name for quantity in UNPROFILED)}


def test_llama_samples_made_by_hand_read_as_the_real_ones():
    comparison = compare(*map(llama, LLAMA))
    causes = {reading.side: reading.cause for reading in comparison.stages[-1].readings}
    assert causes["inductor"] == "cpu_overhead"
    assert causes["thunder_torch"] == "startup_gap_exposed"


def test_captures_made_in_another_way_are_told_before_the_words(sample_report):
    compared = nsys_analyze.compare(sample_report("llama_eager"), sample_report("inductor_compile_phases"))
    (caution,) = compared.cautions
    assert (caution.side, caution.kind, caution.of) == ("inductor_compile_phases", "capture", "all")
    assert (caution.what, caution.first, caution.here) == ("CUDA graph tracing", "node", "graph")
    text = table_view.draw(compare_page.compose(compared), 200, colour=False)
    assert "not like with like, see below" in text.splitlines()[0]
    assert "Not like with like: CUDA graph tracing: graph in inductor_compile_phases, node in llama_eager." in text
    assert "As captured, not alike: inductor_compile_phases takes 1.34 ms less for each step" in text


def test_ranges_that_cost_time_are_told(sample_report):
    compared = nsys_analyze.compare(sample_report("llama_eager"), sample_report("llama_thunder_nvfuser"))
    (caution,) = compared.cautions
    assert (caution.kind, caution.of, caution.first, caution.here) == ("ranges", "times", "none", "88 (up to 70.4 us)")
    text = table_view.draw(compare_page.compose(compared), 200, colour=False)
    assert "Recording costs time: ranges inside each step: 88 (up to 70.4 us) in thunder_nvfuser, none in eager" in text
    assert "like with like" not in text


def test_the_same_captures_need_no_caution(sample_report):
    assert nsys_analyze.compare(sample_report("llama_eager"), sample_report("llama_thunder_torch")).cautions == []


@pytest.mark.parametrize(("columns", "missing"), [(80, "GPU active, kernel time, startup gap"), (160, "")])
def test_columns_without_room_are_named(sample_report, columns, missing):
    compared = nsys_analyze.compare(sample_report("llama_eager"), sample_report("llama_inductor"))
    text = " ".join(table_view.draw(compare_page.compose(compared), columns, colour=False).split())
    assert (f"No room at {columns} columns for {missing}; a wider terminal" in text) == bool(missing)
    assert missing or "No room" not in text
