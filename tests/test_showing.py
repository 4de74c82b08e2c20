"""What notebooks show: pages as Markdown, figures as pictures; and sides that are already open."""

from __future__ import annotations

import contextlib
import io
from dataclasses import replace

import pytest

import nsys_analyze
from nsys_analyze import UsageError, cli, open_report, show


@pytest.fixture(scope="module")
def eager(sample_report):
    return open_report(sample_report("llama_eager"))


@pytest.fixture(scope="module")
def thunder(sample_report):
    return open_report(sample_report("llama_thunder_torch"))


def printed(*arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        cli.main([*map(str, arguments), "--format", "md"])
    return out.getvalue()


def test_a_page_is_what_the_command_prints(eager, thunder):
    assert show(eager) == printed(eager.path)
    assert show(eager.analysis(), thunder) == printed(eager.path, thunder.path)
    assert show(eager, breakdown=True) == printed(eager.path, "--breakdown")
    assert show(nsys_analyze.compare(eager, thunder)) == printed("compare", eager.path, thunder.path)
    verdict = nsys_analyze.check(thunder, baseline=eager)
    assert show(verdict) == printed("check", thunder.path, "--baseline", eager.path)


def test_a_notebook_draws_a_page(eager):
    page = show(eager)
    assert page._repr_markdown_() == page
    assert type(page._repr_markdown_()) is str


@pytest.mark.parametrize("more", [{}, {"breakdown": True}])
def test_a_comparison_is_shown_alone(eager, more):
    comparison = nsys_analyze.compare(eager, eager)
    for results in ((eager, comparison), (comparison, eager), (comparison,) if more else ()):
        with pytest.raises(UsageError, match=r"shown alone|nothing to show"):
            show(*results, **more)


def test_a_notebook_draws_a_figure(eager):
    picture, how = nsys_analyze.plots.startup(eager, size=(5, 3))._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert how == {"width": 500, "height": 300}


def test_stages_that_match(eager):
    assert eager.stages(stage="steady/step").path.tolist() == [("steady", "step")]
    assert eager.stages("name", stage="st*").name.tolist() == ["steady", "step"]
    with pytest.raises(UsageError, match="'stedy': matches no stage"):
        eager.stages(stage="stedy")


def test_sides_of_a_check_may_be_open(eager, thunder):
    from_files = nsys_analyze.check([str(thunder.path)], baseline=eager.path)
    assert nsys_analyze.check(thunder, baseline=[eager]) == from_files
    assert nsys_analyze.check([thunder.analysis()], baseline=eager.analysis()) == from_files
    with pytest.raises(UsageError, match="by name; save them by path"):
        nsys_analyze.check(thunder, baseline=eager.analysis("name"))


def test_a_check_may_be_configured_in_python(thunder, tmp_path):
    budget = {"stage": "steady/step", "startup_gap_exposed": "50 us", "kernels": 60}
    verdict = nsys_analyze.check(thunder, config={"budget": [budget], "warmup": 2})
    (tmp_path / "nsys-analyze.toml").write_text(
        '[check]\nwarmup = 2\n[[check.budget]]\nstage = "steady/step"\nstartup_gap_exposed = "50 us"\nkernels = 60\n'
    )
    from_file = nsys_analyze.check(thunder, config=tmp_path / "nsys-analyze.toml")
    assert verdict.headline == from_file.headline
    placeless = [[replace(each, place=None) for each in those.checks] for those in (verdict, from_file)]
    assert placeless[0] == placeless[1]
    with pytest.raises(UsageError, match="config: startup_gap_exposed is 50; it takes a duration"):
        nsys_analyze.check(thunder, config={"budget": [{"stage": "step", "startup_gap_exposed": 50}]})
