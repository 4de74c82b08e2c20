from __future__ import annotations

import json

import pytest

from nsys_analyze import cli
from nsys_analyze.cli.compare import SUFFIXES, compare


@pytest.fixture
def run(capsys, monkeypatch):
    """Runs the verb; returns exit code, standard output and standard error."""
    monkeypatch.setenv("COLUMNS", "160")

    def run_verb(*arguments):
        code = cli.main(["compare", *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return run_verb


def environment_export(builder, path, *variables):
    export = type(builder)()
    export.capture(10_000, [("PROCESS_0:ENVIRONMENT_VARIABLE", variable) for variable in variables])
    thread = export.process(100).thread()
    for number in range(3):
        thread.push_pop(f"step {number}", 1000 * number, 1000 * number + 900)
        call = thread.call("cudaLaunchKernel_v7000", 1000 * number + 100, 1000 * number + 150)
        call.kernel("gemm", 1000 * number + 200, 1000 * number + 500)
    return export.write(path)


def test_two_reports(run, sample_report):
    code, out, err = run(sample_report("llama_eager"), sample_report("llama_inductor"))
    assert (code, err) == (0, "")
    assert "inductor takes 674 us less for each step than eager (0.60x)" in out


@pytest.mark.parametrize("kind", SUFFIXES.values())
def test_every_format(run, sample_report, tmp_path, kind):
    sides = [sample_report("llama_eager"), sample_report("llama_inductor")]
    code, out, _ = run(*sides, "--format", kind)
    suffix = next(suffix for suffix, name in SUFFIXES.items() if name == kind)
    assert (code, run(*sides, "-o", tmp_path / f"out{suffix}")) == (0, (0, "", ""))
    assert (tmp_path / f"out{suffix}").read_text(encoding="utf-8") == out


def test_a_forgotten_switch_is_seen(run, builder, tmp_path):
    one = environment_export(builder, tmp_path / "one.sqlite", 'CUDA_VERSION="13.0"', 'API_TOKEN="abc"')
    two = environment_export(
        builder, tmp_path / "two.sqlite", 'CUDA_VERSION="13.0"', 'PYTORCH_NVFUSER_DISABLE="fma"', 'MYAPP_LEVEL="-O0"'
    )
    code, out, _ = run(one, two)
    assert code == 0
    assert "Changed around them: PYTORCH_NVFUSER_DISABLE not set (one), fma (two)." in out
    assert "no difference from one." in out
    assert "MYAPP_LEVEL not set (one), set (two)" in run(one, two, "--env", "MYAPP_")[1]
    assert "MYAPP_LEVEL not set (one), -O0 (two)" in run(one, two, "--env", "MYAPP_LEVEL")[1]
    assert "abc" not in run(one, two, "--env", "API_TOKEN", "--format", "json")[1]


def test_labels_stages_and_renamings(run, sample_report):
    sides = [sample_report("llama_eager"), sample_report("vit_train_eager")]
    asked = ["--label", "A", "--label", "B", "--stage", "steady/step"]
    code, out, _ = run(*sides, *asked, "--map", "steady/step=steady@stages/step@stages", "--format", "json")
    (stage,) = json.loads(out)["stages"]
    assert [(row["side"], row["runs"]) for row in stage["rows"]] == [("A", 1), ("B", 1)]
    assert code == 0


def test_options_of_reading_reach_the_reports(run, sample_report):
    code, out, _ = run(sample_report("llama_eager"), "--domain", "stages", "--no-fold", "--format", "json")
    facts = {fact["name"]: fact["settings"][0]["value"] for fact in json.loads(out)["facts"]}
    assert (code, facts["domain"], facts["folding"]) == (0, "stages", "none")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument"),
        (["absent.sqlite"], "no such file"),
        (["absent.sqlite", "--map", "x"], "old=new"),
        (["absent.sqlite", "--label", "a", "--label", "b"], "2 labels for 1 sides"),
        (["a", "-o", "x.png"], "no format has the suffix"),
    ],
)
def test_errors_are_a_line(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_foreign_file_among_the_sides(run, sample_report, tmp_path):
    foreign = tmp_path / "notes.txt"
    foreign.write_text("hello")
    code, _, err = run(sample_report("llama_eager"), foreign)
    assert code == 2
    assert "notes.txt: not an Nsight Systems export; it looks like text" in err


def test_the_output_is_none_of_the_sides(run, sample_report):
    path = sample_report("llama_eager")
    assert run(path, "-o", path, "--format", "json")[0] == 2


def test_every_option_is_explained():
    assert all(option.help for option in compare.params if option.param_type_name == "option")
