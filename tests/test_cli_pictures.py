"""Pictures from the command line: what is written, what is refused, what is loaded."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

from nsys_analyze import cli
from nsys_analyze.cli.pictures import KINDS, SUFFIXES
from tests.conftest import REPORTS

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
EAGER = str(REPORTS / "llama_eager.sqlite.xz")
TORCH = str(REPORTS / "llama_thunder_torch.sqlite.xz")


@pytest.fixture
def run(capsys):
    def run(*arguments):
        code = cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def fail(run, *arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    return err.removeprefix("Error: ").rstrip("\n")


@pytest.mark.parametrize(("suffix", "kind"), SUFFIXES.items())
def test_the_suffix_picks_the_format_and_twice_gives_the_same_bytes(run, tmp_path, suffix, kind):
    targets = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for target in targets:
        assert run(EAGER, "-o", target) == (0, "", "")
    assert targets[0].read_bytes().startswith(MAGIC[kind])
    assert targets[0].read_bytes() == targets[1].read_bytes()
    assert sorted(tmp_path.iterdir()) == targets


def test_a_suffix_may_be_in_capitals(run, tmp_path):
    assert run(EAGER, "-o", tmp_path / "X.PNG", "--stage", "steady") == (0, "", "")
    assert (tmp_path / "X.PNG").read_bytes().startswith(MAGIC["png"])
    assert run("trace", EAGER, "-o", tmp_path / "T.PFTRACE.GZ", "--stage", "steady") == (0, "", "")
    assert (tmp_path / "T.PFTRACE.GZ").read_bytes().startswith(b"\x1f\x8b")


@pytest.mark.parametrize("plot", [kind for kind in KINDS if kind != "sweep"])
def test_every_plot_is_written(run, tmp_path, plot):
    target = tmp_path / "out.png"
    assert run(EAGER, "-o", target, "--plot", plot, "--stage", "steady/step") == (0, "", "")
    assert target.read_bytes().startswith(MAGIC["png"])


def test_a_sweep_is_told_from_file_names(run, tmp_path, sample_report):
    names = {
        "eager_batch=1": "llama_eager",
        "eager_batch=4": "vit_train_eager",
        "thunder_batch=1": "llama_thunder_torch",
    }
    paths = [tmp_path / f"{name}.sqlite" for name in names]
    for path, sample in zip(paths, names.values(), strict=True):
        path.symlink_to(sample_report(sample))
    assert run(*paths, "-o", tmp_path / "sweep.svg", "--plot", "sweep") == (0, "", "")
    assert "multiple of eager's" in (tmp_path / "sweep.svg").read_text("utf-8")
    assert "names such as eager_batch=4.sqlite" in fail(run, EAGER, "-o", tmp_path / "x.png", "--plot", "sweep")
    twice = tmp_path / "eager-batch=1.sqlite"
    twice.symlink_to(paths[0])
    assert "two files have this name" in fail(run, paths[0], twice, "-o", tmp_path / "x.png", "--plot", "sweep")


def test_an_instance_is_picked(run, tmp_path):
    target = tmp_path / "out.svg"
    assert run(EAGER, "-o", target, "--plot", "timeline", "--stage", "step", "--instance", 3) == (0, "", "")
    assert "instance 3 (of 0 to 9)" in target.read_text("utf-8")
    message = fail(run, EAGER, "-o", target, "--plot", "timeline", "--stage", "steady/step", "--instance", "10")
    assert message == "instance 10: there are 0 to 9"


def test_an_unknown_plot_lists_those_there_are(run, tmp_path):
    message = fail(run, "r.sqlite", "-o", tmp_path / "x.png", "--plot", "pie")
    assert message == f"--plot pie: no such plot; there are: {', '.join(KINDS)}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--plot", "startup"], "--plot is for pictures"),
        (["--instance", "1", "-o", "x.json"], "--instance is for pictures"),
        (["-o", "x.png", "--instance", "1"], "--instance is for --plot timeline"),
        (["-o", "x.png", "--plot", "timeline", "b.sqlite"], "of one report"),
        (["-o", "x.png", "--plot", "series", "--depth", "2"], "does not go with --depth"),
        (["-o", "x.png", "--stage", "a", "--stage", "b"], "one --stage"),
        (["-o", "x.png", "--breakdown"], "--plot breakdown"),
        (["-o", "x.png", "--by", "name"], "--by is for tables"),
        (["-o", "x.png", "--sort", "gap"], "--sort is for tables"),
        (["-o", "x.png", "--top", "3"], "--top is for tables"),
        (["-o", "x.png", "--merge-ranks"], "--merge-ranks is for tables"),
        (["-o", "x.png", "--unprofiled", "step=1ms"], "--unprofiled is for tables"),
    ],
)
def test_options_that_do_not_fit_together(run, options, message):
    assert message in fail(run, "a.sqlite", *options)


def test_a_terminal_gets_no_picture(run, monkeypatch):
    monkeypatch.setattr("nsys_analyze.cli.output.is_terminal", lambda stream: stream is sys.stdout)
    assert "a terminal cannot show a png file" in fail(run, "a.sqlite", "--format", "png")


def test_a_picture_goes_down_a_pipe():
    command = [sys.executable, "-m", "nsys_analyze", EAGER, "--format", "pdf", "-o", "-"]
    assert subprocess.run(command, capture_output=True, check=True).stdout.startswith(MAGIC["pdf"])


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [
        ([EAGER, "-o", os.devnull, "--format", "png"], True),
        ([EAGER, "--stage", "step"], False),
        ([EAGER, "--format", "json"], False),
        (["report", "--help"], False),
    ],
)
def test_matplotlib_is_loaded_for_pictures_only_and_pyplot_never(arguments, loaded):
    code = (
        "import sys; from nsys_analyze.cli import main; main(sys.argv[1:]);"
        "print('matplotlib' in sys.modules, 'matplotlib.pyplot' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert done.stderr.split() == [str(loaded), "False"]


def test_the_package_offers_plots_without_loading_matplotlib():
    code = "import sys, nsys_analyze; nsys_analyze.plots.series; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_a_picture_takes_little_more_than_starting_does():
    """Processor time, since other work on a machine draws out any other; at rest, it is about what a clock says."""

    def taken(*arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "nsys_analyze", *arguments], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    starting = min(taken("report", "--help") for _ in range(3))
    assert min(taken(EAGER, "-o", os.devnull, "--format", "png") for _ in range(2)) < 20 * starting
