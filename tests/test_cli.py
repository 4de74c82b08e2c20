from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import nsys_analyze
from nsys_analyze import cli
from nsys_analyze.cli.report import SUFFIXES
from nsys_analyze.errors import ReportError
from nsys_analyze.metrics.results import KernelAnalysis
from tests.view_samples import HOSTILE, analysis, hostile, instances, llama, training
from tests.view_samples_parts import thunder

ENTRY = "import sys; from nsys_analyze.cli import main; sys.exit(main())"


class FakeReport:
    def __init__(self, path, options):
        self.path, self.options = Path(path), options

    def analysis(self, by="path", *, instances=False, digest=False):
        if self.path.name == "absent.sqlite":
            raise ReportError("absent.sqlite: no such file")
        if self.path.name == "broken.sqlite":
            raise ZeroDivisionError("a\nbug")
        return {"training": training, "hostile": hostile, "thunder": thunder}.get(
            self.path.stem, lambda: with_instances(instances)
        )()

    def kernel_analysis(self, analysis):
        return KernelAnalysis(
            settings=analysis.settings,
            report=analysis.report,
            coverage=analysis.coverage,
            warnings=[],
            by="name",
            stages=[],
        )


def with_instances(wanted):
    report = llama("eager")
    return analysis(stages=report.stages, instances=instances() if wanted else [], warnings=report.warnings)


@pytest.fixture
def opened(monkeypatch):
    """What ``open_report`` was asked for; its reports are samples chosen by the file's name."""
    calls = []

    def open_report(path, **options):
        calls.append((path, options))
        return FakeReport(path, options)

    monkeypatch.setitem(vars(nsys_analyze), "open_report", open_report)
    monkeypatch.setenv("COLUMNS", "160")
    return calls


@pytest.fixture
def run(opened, capsys):
    """Runs the command; returns exit code, standard output and standard error."""

    def run(*arguments):
        code = cli.main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def succeed(run, *arguments):
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    return out


def fail(run, *arguments):
    """The one line that a failure prints, without its ``Error: ``."""
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("Error: ")
    assert err.endswith("\n")
    assert len(err.splitlines()) == 1
    assert err[:-1].isprintable()
    return err.removeprefix("Error: ").rstrip("\n")


def test_the_verb_may_be_left_out(run):
    assert succeed(run, "r.sqlite") == succeed(run, "report", "r.sqlite")
    assert succeed(run, "--top", "3", "r.sqlite") == succeed(run, "r.sqlite", "--top", "3")


def test_help_lists_verbs_and_examples(run):
    out = succeed(run, "--help")
    assert "report*" in out
    assert "nsys-analyze report.sqlite --stage" in out
    out = succeed(run, "report", "--help")
    for option in (
        "--format",
        "--stage",
        "--by",
        "--depth",
        "--top",
        "--sort",
        "--domain",
        "--attribution",
        "--no-fold",
        "--compile-rules",
        "--breakdown",
    ):
        assert option in out
    assert "every way to split" in " ".join(out.split())


def test_version(run):
    assert succeed(run, "--version") == f"nsys-analyze {nsys_analyze.__version__}\n"


def test_without_arguments_the_help_goes_to_standard_error(run):
    code, out, err = run()
    assert (code, out) == (2, "")
    assert "Usage: nsys-analyze" in err


def test_options_reach_the_api(run, opened):
    succeed(run, "r.sqlite", "--attribution", "thread", "--domain", "a", "--domain", "b", "--fold", "x+")
    succeed(run, "r.sqlite", "--no-fold", "--compile-rules", "rules.toml")
    thread = {"attribution": "thread", "fold": True, "fold_patterns": ("x+",), "domains": ("a", "b"), "environment": ()}
    process = {"attribution": "process", "fold": False, "fold_patterns": (), "domains": None, "environment": ()}
    assert opened == [
        ("r.sqlite", {**thread, "compile_rules": None}),
        ("r.sqlite", {**process, "compile_rules": "rules.toml"}),
    ]


def test_formats(run):
    assert succeed(run, "r.sqlite").startswith("report.sqlite ·")
    assert "| Loops |" in succeed(run, "r.sqlite", "--format", "md")
    assert json.loads(succeed(run, "r.sqlite", "--format", "json"))["schema_version"] == 1
    assert next(csv.reader(io.StringIO(succeed(run, "r.sqlite", "--format", "csv"))))[0] == "key"


@pytest.mark.parametrize(("suffix", "kind"), [(suffix, kind) for suffix, kind in SUFFIXES.items() if kind != "parquet"])
def test_the_suffix_of_the_output_picks_the_format(run, tmp_path, suffix, kind):
    target = tmp_path / f"out{suffix}"
    assert succeed(run, "r.sqlite", "-o", str(target)) == ""
    assert target.read_text(encoding="utf-8") == succeed(run, "r.sqlite", "--format", kind)


def test_a_format_that_is_named_wins_over_the_suffix(run, tmp_path):
    target = tmp_path / "out.txt"
    succeed(run, "r.sqlite", "-o", str(target), "--format", "json")
    assert json.loads(target.read_text())["stages"]


@pytest.mark.parametrize("name", ["out.JSON", "out.Json"])
def test_a_suffix_may_be_in_capitals(run, tmp_path, name):
    succeed(run, "r.sqlite", "-o", str(tmp_path / name))
    assert json.loads((tmp_path / name).read_text())["stages"]


@pytest.mark.parametrize("name", ["out.csv", "out.CSV"])
def test_a_format_and_a_suffix_that_contradict_each_other_are_refused(run, tmp_path, name):
    target = tmp_path / name
    suffix = target.suffix
    message = f"{target}: --format md contradicts the suffix {suffix}, which is csv; leave one out"
    assert message in fail(run, "r.sqlite", "-o", str(target), "--format", "md")
    assert not target.exists()


def test_a_dash_is_standard_output(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert succeed(run, "r.sqlite", "-o", "-").startswith("report.sqlite ·")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["out.htm", "out", "out.JSON.gz"])
def test_an_unknown_suffix_lists_those_there_are(run, tmp_path, name):
    message = fail(run, "r.sqlite", "-o", str(tmp_path / name))
    assert ".txt, .json, .csv, .md" in message
    assert not list(tmp_path.iterdir())


def test_what_goes_wrong_is_one_line(run):
    assert fail(run, "absent.sqlite") == "absent.sqlite: no such file"
    assert "No such option" in fail(run, "r.sqlite", "--nonsense")
    assert "xml" in fail(run, "r.sqlite", "--format", "xml")
    assert "Missing argument" in fail(run, "report")
    assert "--top" in fail(run, "r.sqlite", "--top", "-1")
    assert "--depth" in fail(run, "r.sqlite", "--depth", "0")
    assert fail(run, "r.sqlite", "--fold", "(").startswith("--fold (: not a regular expression")
    assert "exclude each other" in fail(run, "r.sqlite", "--fold", "x", "--no-fold")
    assert "--depth" in fail(run, "r.sqlite", "--by", "name", "--depth", "2")
    assert "no such column" in fail(run, "r.sqlite", "--sort", "speed")
    assert "matches no stage (nearest: steady" in fail(run, "r.sqlite", "--stage", "stedy")


def test_control_characters_in_an_error_are_shown_not_sent(run):
    assert r"\x1b[31m" in fail(run, "r.sqlite", "--stage", "\x1b[31mred")


def test_a_bug_says_that_it_is_one(run):
    message = fail(run, "broken.sqlite")
    assert message.startswith("this is a bug in nsys-analyze, please report it: ZeroDivisionError: a bug")
    code, out, err = run("broken.sqlite", "--debug")
    assert (code, out) == (2, "")
    assert "Traceback" in err
    assert err.splitlines()[-1] == f"Error: {message}"


def test_one_bad_report_among_several_leaves_no_half_result(run, tmp_path):
    target = tmp_path / "out.json"
    target.write_text("old")
    fail(run, "r.sqlite", "absent.sqlite", "-o", str(target))
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_an_interruption_exits_130(run, monkeypatch):
    def interrupt(path, **options):
        raise KeyboardInterrupt

    monkeypatch.setitem(vars(nsys_analyze), "open_report", interrupt)
    assert run("r.sqlite") == (130, "", "")


def test_stages_and_depth_list_a_tree(run):
    out = succeed(run, "training.sqlite", "--stage", "step")
    assert [line.split()[0] for line in out.splitlines() if line.startswith(("steady", "  "))][:1] == ["steady"]
    assert "Stages" in out
    assert "Loops" not in out
    assert "forward" not in succeed(run, "training.sqlite", "--depth", "2")


def test_by_name_lists_names(run):
    assert "\nNames " in succeed(run, "r.sqlite", "--by", "name")


def test_by_instance_lists_ranges(run):
    out = succeed(run, "r.sqlite", "--by", "instance", "--stage", "step", "--sort", "gap", "--top", "5")
    assert "\nInstances " in out
    assert out.count("steady / step") == 5
    document = json.loads(succeed(run, "r.sqlite", "--by", "instance", "--format", "json", "--top", "7"))
    assert len(document["instances"]) == 7
    assert len(succeed(run, "r.sqlite", "--by", "instance", "--format", "csv").splitlines()) == 31


def test_data_formats_leave_nothing_out_unless_told_to(run):
    assert len(json.loads(succeed(run, "hostile.sqlite", "--format", "json"))["stages"]) == 2 * len(HOSTILE)
    assert len(json.loads(succeed(run, "hostile.sqlite", "--format", "json", "--top", "3"))["stages"]) == 3


def test_several_reports(run):
    assert succeed(run, "r.sqlite", "training.sqlite").count("\nLoops ") == 1
    assert len(json.loads(succeed(run, "r.sqlite", "training.sqlite", "--format", "json"))["reports"]) == 2


@pytest.mark.parametrize(
    ("options", "title"),
    [((), "Loops"), (("--stage", "compile"), "Stages"), (("--by", "name"), "Names"), (("--depth", "1"), "Stages")],
)
def test_a_breakdown_follows_the_stages_that_are_listed(run, options, title):
    out = succeed(run, "thunder.sqlite", "--breakdown", *options)
    assert out.index(f"\n{title} ") < out.index("\nBreakdown ") < out.index("\nCovered")
    assert out.replace(out[out.index("\nBreakdown ") : out.index("\nCovered")], "") == succeed(
        run, "thunder.sqlite", *options
    )
    assert "\n| Breakdown |" in succeed(run, "thunder.sqlite", "--breakdown", "--format", "md", *options)


def test_a_breakdown_is_of_stages_and_for_people(run):
    for kind in ("json", "csv"):
        assert "--breakdown is for table and md" in fail(run, "r.sqlite", "--breakdown", "--format", kind)
    assert "--by instance" in fail(run, "r.sqlite", "--breakdown", "--by", "instance")


def test_no_option_names_a_column_that_is_not_there(run):
    for column in ("exposed", "gap", "wall"):
        succeed(run, "r.sqlite", "--sort", column)
        succeed(run, "r.sqlite", "--sort", column, "--by", "instance")


# What only a process of its own can show.


def start(*arguments, **options):
    environment = {**os.environ, "COLUMNS": "100", **options.pop("env", {})}
    return subprocess.run([sys.executable, "-c", ENTRY, *arguments], env=environment, **options, check=False)


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nbefore = set(sys.modules)\n"
        "from nsys_analyze.cli import main\nmain(['--help'])\nmain(['report', '--help'])\n"
        "print(sorted({name.split('.')[0] for name in set(sys.modules) - before}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name in ("numpy", "pandas", "pyarrow", "rich", "sqlite3"):
        assert f"'{name}'" not in done.stderr


def test_a_reader_that_leaves_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    done = start("--help", stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.returncode == 0
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line():
    with Path("/dev/full").open("wb") as full:
        done = start("--help", stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("Error: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("closed", [1, 2])
def test_a_closed_stream_is_no_bug(closed, tmp_path):
    """What a shell's ``>&-`` or ``2>&-`` leaves: no standard output, no standard error."""
    done = start("missing.sqlite", preexec_fn=lambda: os.close(closed), stderr=None if closed == 2 else subprocess.PIPE)
    assert done.returncode == 2
    assert b"bug" not in (done.stderr or b"")


def test_ctrl_c_ends_a_process_with_130(tmp_path):
    code = (
        "import sys, time, nsys_analyze\nfrom nsys_analyze.cli import main\n"
        "def wait(*a, **k):\n    print('waiting', flush=True)\n    time.sleep(30)\n"
        "nsys_analyze.open_report = wait\nsys.exit(main(['x.sqlite']))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"waiting\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"")
