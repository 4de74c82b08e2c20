from __future__ import annotations

import csv
import dataclasses
import io

from nsys_analyze.metrics import flat
from nsys_analyze.metrics.results import Instance, Stage
from nsys_analyze.views import csv_view
from nsys_analyze.views.flat_rows import flat_rows
from tests.view_samples import HOSTILE, LLAMA, analysis, hostile, instances, llama, two_processes

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def rows(*analyses, **options):
    return list(csv.DictReader(io.StringIO(csv_view.render(flat_rows(analyses, **options)))))


def test_one_row_a_stage_with_the_totals_as_they_are():
    report = llama("thunder_torch")
    read = rows(report)
    assert [row["path"] for row in read] == [" / ".join(stage.path) for stage in report.stages]
    step = read[-1]
    assert step["pace_ns"] == "1645615.0"
    assert step["startup_gap_exposed_median_ns"] == "156800.0"
    assert int(step["wall_total_ns"]) == report.stages[-1].wall_ns.total
    assert step["kernels_per_instance_median"] == "60.0"


def test_a_missing_number_is_an_empty_cell():
    step = rows(llama("eager"))[0]
    assert step["startup_gap_exposed_median_ns"] == ""
    assert step["startup_gap_total_ns"] == ""
    assert step["pace_ns"] == ""
    assert step["kernels"] == "0"


def test_names_of_columns_are_flat_unique_and_say_the_unit():
    for kind in (Stage, Instance):
        header = flat.header(kind)
        assert len(header) == len(set(header))
        assert all(name.isidentifier() and name == name.lower() for name in header)
    header = flat.header(Stage)
    for name in (
        "startup_gap_exposed_median_ns",
        "wall_total_ns",
        "launch_call_count",
        "launch_call_first_count",
        "launch_call_first_total_ns",
        "queue_delay_p95_ns",
        "self_kernel_ns",
        "self_gpu_ops",
        "compile_total_ns",
        "compile_modules",
        "host_code_ns",
    ):
        assert name in header
    assert not [name for name in header if name.startswith(("series", "gpu_window", "compile_phases"))]


def test_rows_are_as_wide_as_the_header():
    for reports in ([llama("eager")], [llama(executor) for executor in LLAMA], [hostile()]):
        widths = {len(row) for row in csv.reader(io.StringIO(csv_view.render(flat_rows(reports))))}
        assert len(widths) == 1


def test_several_reports_come_with_a_first_column_that_tells_them_apart():
    read = rows(*(llama(executor) for executor in LLAMA))
    assert next(iter(read[0])) == "report"
    assert list(dict.fromkeys(row["report"] for row in read)) == [f"llama_{name}.sqlite" for name in LLAMA]
    assert "report" not in rows(llama("eager"))[0]


def test_no_stages_leave_a_header():
    assert csv_view.render(flat_rows([analysis()])).count("\n") == 1


def test_instances():
    read = rows(analysis(instances=instances()), instances=True)
    assert len(read) == 30
    assert read[3]["name"] == "step 3"
    assert (read[0]["exposed_ns"], read[1]["exposed_ns"]) == ("", "156801")
    assert read[0]["finished"] == "true"


def test_no_cell_is_a_formula():
    for row in csv.reader(io.StringIO(csv_view.render(flat_rows([hostile(), two_processes()])))):
        assert not [cell for cell in row if cell.startswith(FORMULA)]
    read = [row["name"] for row in rows(hostile())[: len(HOSTILE)]]
    assert read[5:9] == ["'=cmd|' /C calc'!A0", "'@SUM(1)", "'-1+1", r"\tlater"]


def test_numbers_below_zero_stay_numbers():
    negative = dataclasses.replace(llama("eager").stages[-1], cold_start_ns=-5.0)
    assert rows(analysis(stages=[negative]))[0]["cold_start_ns"] == "-5.0"


def test_every_line_is_printable():
    output = csv_view.render(flat_rows([hostile()]))
    assert all(line.isprintable() for line in output.split("\n"))
    assert output.count("\n") == 1 + len(hostile().stages)
    output.encode("utf-8")
