from __future__ import annotations

from datetime import date

import pytest

from nsys_analyze.errors import UsageError
from nsys_analyze.verdict.config import Config
from nsys_analyze.verdict.config_file import find_config, read_config
from nsys_analyze.verdict.config_text import as_toml
from nsys_analyze.verdict.toml_lines import key_lines, line_of

EXAMPLE = """\
[project]
name = "x"

[tool.nsys-analyze.check]
baseline = "base.json"        # beside this file
max_increase = "12.5%"
ignore_below = "20 us"
warmup = 2

[[tool.nsys-analyze.check.budget]]
stage = "steady/step"
startup_gap_exposed = "50 us"
kernels = 60

[[tool.nsys-analyze.check.budget]]
stage = "compile"
max_increase = "20%"
compile_time = { max = "5 s", level = "warn" }

[[tool.nsys-analyze.check.accept]]
stage = "steady/*"
metric = "kernels"
up_to = 70
reason = "a fused kernel was split"
expires = 2026-12-31
"""


def written(tmp_path, text, name="pyproject.toml"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / name


def check_table(body):
    return f"[tool.nsys-analyze.check]\n{body}\n"


def budget(body):
    return f'[[tool.nsys-analyze.check.budget]]\nstage = "step"\n{body}\n'


def accept(body):
    return f'[[tool.nsys-analyze.check.accept]]\nstage = "step"\n{body}\n'


def test_an_example_means_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = find_config(written(tmp_path, EXAMPLE).parent)
    assert (config.increase, config.ignore_below, config.warmup) == (0.125, 20_000, 2)
    assert config.baseline == str(tmp_path / "base.json")
    named = {(one.stage, one.metric): one for one in config.budgets if one.named}
    assert named["steady/step", "startup_gap_exposed"].maximum == 50_000
    assert named["steady/step", "kernels"].maximum == 60
    assert str(named["steady/step", "kernels"].place) == "pyproject.toml:13"
    compiling = named["compile", "compile_time"]
    assert (compiling.maximum, compiling.increase, compiling.level) == (5_000_000_000, 0.2, "warn")
    assert {one.increase for one in config.budgets if one.stage == "compile"} == {0.2}
    (accepted,) = config.accepts
    assert (accepted.up_to, accepted.expires, accepted.place.line) == (70, date(2026, 12, 31), 23)


def test_the_nearest_folder_with_a_configuration_decides(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    written(tmp_path, check_table('max_increase = "30%"'))
    assert find_config(inner).increase == 0.3
    written(tmp_path / "a", "[project]\n")  # says nothing about checks
    assert find_config(inner).increase == 0.3
    written(tmp_path / "a", '[check]\nmax_increase = "40%"\n', "nsys-analyze.toml")
    assert find_config(inner).increase == 0.4
    assert find_config(inner).place.file == str(tmp_path / "a" / "nsys-analyze.toml")


def test_what_is_dumped_reads_as_the_same(tmp_path):
    first = read_config(written(tmp_path, EXAMPLE))
    again = read_config(written(tmp_path, as_toml(first), "nsys-analyze.toml"))
    named, margins = (
        [
            [
                (one.stage, one.metric, one.maximum, one.increase, one.level)
                for one in config.budgets
                if one.named is named
            ]
            for config in (first, again)
        ]
        for named in (True, False)
    )
    assert named[0] == named[1]
    assert margins[0]
    assert set(margins[0]) <= set(margins[1])
    assert (first.increase, first.ignore_below, first.baseline) == (again.increase, again.ignore_below, again.baseline)
    assert first.accepts[0].up_to == again.accepts[0].up_to
    assert as_toml(Config()).startswith("[check]  # no configuration found")


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        (check_table("max_increas = 1"), 2, "max_increas is not known here; there are: baseline, "),
        (check_table("max_increase = 10"), 2, 'max_increase is 10; it takes a percentage, such as "10%"'),
        (check_table('max_increase = "-1%"'), 2, "it takes a percentage"),
        (check_table('max_increase = "nan%"'), 2, "it takes a percentage"),
        (check_table('max_increase = "1000000%"'), 2, "allows anything"),
        (check_table('ignore_below = "20"'), 2, "has no unit"),
        (check_table('\nignore_below = "-5 us"'), 3, "is no duration"),
        (check_table("ignore_below = 20"), 2, "it takes a duration with its unit"),
        (check_table("warmup = -1"), 2, "warmup is -1"),
        (check_table("warmup = true"), 2, "warmup is True"),
        (check_table('strict = "yes"'), 2, "true or false"),
        (check_table('metrics = ["pase"]'), 2, "'pase', which is no metric; there are: wall, "),
        (check_table('stages = "step"'), 2, "takes a list of texts"),
        (check_table("baseline = 1"), 2, "takes a text"),
        (check_table("budget = 1"), 2, "takes tables"),
        (budget("pace = nan"), 3, "pace is nan; it takes a duration"),
        (budget("pace = 1.5"), 3, "it takes a duration with its unit"),
        (budget('pace = "inf s"'), 3, "is no duration"),
        (budget('pace = "2 days"'), 3, "has the unit 'days'"),
        (budget('pace = "100000 s"'), 3, "longer than a day"),
        (budget("kernels = -1"), 3, "kernels is -1; it takes a whole number"),
        (budget("kernels = 1.5"), 3, "whole number"),
        (budget("kernels = nan"), 3, "whole number"),
        (budget("kernels = true"), 3, "whole number"),
        (budget("kernels = 99999999999"), 3, "whole number"),
        (budget("kernels = {}"), 3, "needs max or max_increase"),
        (budget("kernels = { maximum = 5 }"), 3, "maximum is not known here"),
        (budget('kernels = { max = 5, level = "loud" }'), 3, 'it takes "fail" or "warn"'),
        (budget('level = "warn"'), 1, "needs a limit"),
        ("[[tool.nsys-analyze.check.budget]]\nkernels = 5\n", 1, "needs the key stage"),
        (accept('metric = "kernels"\nreason = "x"'), 1, "needs the key up_to"),
        (accept('metric = "kernels"\nup_to = 5'), 1, "needs the key reason"),
        (accept('metric = "kernels"\nup_to = 5\nreason = "x"\nexpires = "2026-01-01"'), 6, "takes a day"),
        (accept('metric = "pace"\nup_to = 5\nreason = "x"'), 4, "it takes a duration"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_line(tmp_path, text, line, told):
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as error:
        read_config(path)
    assert str(error.value).startswith(f"{path}:{line}: ")
    assert told in str(error.value)
    assert "\n" not in str(error.value)


OWN = "write [check], [[check.budget]] and [[check.accept]]"
TOOLS = "write [tool.nsys-analyze.check], [[tool.nsys-analyze.check.budget]] and [[tool.nsys-analyze.check.accept]]"


@pytest.mark.parametrize("before", ["", "check.strict = true\n"])
@pytest.mark.parametrize(
    ("name", "table", "told"),
    [
        ("nsys-analyze.toml", "chek.budget", f"chek is not known here; {OWN}"),
        ("nsys-analyze.toml", "budget", f"budget is not known here; {OWN}"),
        ("nsys-analyze.toml", "tool.nsys-analyze.check.budget", f"tool is not known here; {OWN}"),
        ("pyproject.toml", "tool.nsys-analyze.budget", f"tool.nsys-analyze.budget is not known here; {TOOLS}"),
        ("pyproject.toml", "tool.nsys_analyze.check.budget", f"tool.nsys_analyze is not known here; {TOOLS}"),
        ("pyproject.toml", "tool.nsys-analyse.check.budget", f"tool.nsys-analyse is not known here; {TOOLS}"),
    ],
)
def test_a_misspelt_table_is_refused_with_its_line(tmp_path, name, table, told, before):
    before = before if name == "nsys-analyze.toml" else f"[tool.ruff]\nline-length = 120\n[tool.other]\n{before}"
    path = written(tmp_path, f'{before}\n[[{table}]]\nstage = "step"\nkernels = 1\n', name)
    line = before.count("\n") + 2
    for read, file in ((lambda: read_config(path), path), (lambda: find_config(tmp_path), name)):
        with pytest.raises(UsageError) as error:
            read()
        assert str(error.value) == f"{file}:{line}: {told}"


@pytest.mark.parametrize("text", ["[tool.nsys-analyze.check", "[tool.nsys-analyze]\ncheck = 1\n", "\x00"])
def test_a_broken_file_is_refused(tmp_path, text):
    with pytest.raises(UsageError, match=r"pyproject\.toml"):
        read_config(written(tmp_path, text))


def test_a_named_file_must_say_something(tmp_path):
    with pytest.raises(UsageError, match=r"no table \[check\]"):
        read_config(written(tmp_path, "# nothing\n", "mine.toml"))
    with pytest.raises(UsageError, match="cannot be read"):
        read_config(tmp_path / "absent.toml")


def test_lines_of_keys():
    lines = key_lines('[a."b c"]\nx.y = 1\n[[a.list]]\nk = 1\n[[a.list]]\n\nk = 2\n[a.list.deep]\nz = "]"\n')
    assert lines["a", "b c", "x", "y"] == 2
    assert (lines["a", "list", 0, "k"], lines["a", "list", 1, "k"]) == (4, 7)
    assert lines["a", "list", 1, "deep", "z"] == 9
    assert line_of(("a", "list", 1, "unknown"), lines) == 5
    assert line_of(("elsewhere",), lines) is None
