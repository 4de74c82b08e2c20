from __future__ import annotations

import json

import pytest

from nsys_analyze import ReportError, open_report
from nsys_analyze.metrics.results.saved import is_saved, read_saved
from nsys_analyze.views import json_view
from tests.samples import SAMPLES
from tests.view_samples import LLAMA, hostile, llama, two_processes, without_nvtx


@pytest.mark.parametrize("name", SAMPLES)
def test_what_was_saved_comes_back(sample_report, tmp_path, name):
    saved, path = open_report(sample_report(name)).analysis(), tmp_path / "saved.json"
    path.write_text(json_view.render([saved]), encoding="utf-8")
    assert read_saved(path) == [saved]
    assert is_saved(path)


@pytest.mark.parametrize("analyses", [[llama(name) for name in LLAMA], [hostile(), two_processes(), without_nvtx()]])
def test_several_reports_come_back(tmp_path, analyses):
    path = tmp_path / "saved.json"
    path.write_text(json_view.render(analyses), encoding="utf-8")
    assert read_saved(path) == analyses


def changed(tmp_path, change):
    document = json_view.document(llama("eager"))
    change(document)
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_fields_of_a_later_version_are_ignored_and_those_of_an_earlier_one_take_defaults(tmp_path):
    def change(document):
        document["new"] = 1
        document["stages"][0]["new"] = {"a": 1}
        del document["report"]["environment"], document["stages"][0]["cold_first_ns"]

    (analysis,) = read_saved(changed(tmp_path, change))
    assert analysis == llama("eager")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(schema_version=2), "schema version 2, not 1"),
        (lambda d: d.update(tool={"name": "other"}), "not results of nsys-analyze"),
        (lambda d: d.pop("coverage"), "the document lacks 'coverage'"),
        (lambda d: d.update(stages={}), r"stages is \{\}, not list"),
        (lambda d: d["stages"][0].update(kernels="many"), 'stages.kernels is "many", not int'),
        (lambda d: d["stages"][0].update(kernels=True), "stages.kernels is true, not int"),
        (lambda d: d["stages"][0].update(path=["a", 1]), "stages.path is 1, not str"),
        (lambda d: d["stages"][0].pop("wall_ns"), "stages lacks 'wall_ns'"),
        (lambda d: d.update(sides=[]), "a saved comparison"),
        (lambda d: d.update(checks=[]), "a saved verdict; give the reports"),
        (lambda d: d.update(runs=[]), "a saved history"),
        (lambda d: d.update(points=[]), "a saved trend"),
        (lambda d: d.update(facts=[]), "a saved diagnosis"),
        (lambda d: d.update(reports=3), "reports is 3, not list"),
    ],
)
def test_what_does_not_fit_is_told_in_a_line(tmp_path, change, message):
    with pytest.raises(ReportError, match=message) as error:
        read_saved(changed(tmp_path, change))
    assert "\n" not in str(error.value)


def loop(document):
    return next(stage for stage in document["stages"] if stage["series"] and stage["instances"] > 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.update(instances=0), "stages.instances is 0, not at least 1"),
        (lambda s: s.update(pace_ns=float("inf")), "stages.pace_ns is inf, not a finite number"),
        (lambda s: s.update(pace_ns=float("nan")), "stages.pace_ns is nan, not a finite number"),
        (lambda s: s.update(kernel_ns=10**400), r"stages.kernel_ns is 10+, beyond 64 bits"),
        (lambda s: s["wall_ns"].update(total=-(10**30)), r"stages.wall_ns.total is -10+, beyond 64 bits"),
        (lambda s: s.update(unfinished=99), "stages.unfinished is 99, more than the"),
        (lambda s: s.update(domains=[]), "stages.domains has 0 entries"),
        (lambda s: s["series"]["gap_ns"].__setitem__(1, -5), "stages.series.gap_ns is -5, less than 0"),
        (lambda s: s["series"]["exposed_ns"].__setitem__(1, -5), "stages.series.exposed_ns is -5, less than 0"),
        (lambda s: s["series"]["prelude_ns"].__setitem__(1, -5), "stages.series.prelude_ns is -5, less than 0"),
        (lambda s: s["series"]["calls_ns"].__setitem__(1, -5), "stages.series.calls_ns is -5, less than 0"),
        (lambda s: s["series"]["calls_ns"].pop(), r"stages.series.calls_ns has \d+ entries for \d+ instances"),
        (lambda s: s["series"]["start_ns"].reverse(), "stages.series.start_ns is not in order"),
    ],
)
def test_numbers_that_no_report_has_are_told_in_a_line(tmp_path, change, message):
    path = changed(tmp_path, lambda document: change(loop(document)))
    with pytest.raises(ReportError, match=message) as error:
        read_saved(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_instants_and_the_cold_start_may_be_negative(tmp_path):
    def change(document):
        stage = loop(document)
        stage["series"]["start_ns"][0] = stage["cold_start_ns"] = -5

    (analysis,) = read_saved(changed(tmp_path, change))
    assert -5 in [stage.cold_start_ns for stage in analysis.stages]


@pytest.mark.parametrize("text", ["", "[]", "{", "1", "null", '{"a": NaN}', "[" * 100_000])
def test_what_is_no_result(tmp_path, text):
    path = tmp_path / "saved.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReportError):
        read_saved(path)
