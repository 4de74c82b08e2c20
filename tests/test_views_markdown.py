from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from nsys_analyze.views import markdown_view
from nsys_analyze.views.page import Layout
from nsys_analyze.views.text import path_text, shorten
from tests.view_samples import (
    HOSTILE,
    LLAMA,
    analysis,
    hostile,
    llama,
    many_stages,
    training,
    two_processes,
    without_nvtx,
)

RENDERER = MarkdownIt("commonmark").enable("table")

LOOPS = """\
| Loops | n | pace | CPU overhead | GPU active | kernels | us/kernel | startup gap | exposed |
| :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| `warmup / step` | 3 | 1.810 ms | 1.532 ms | 0.279 ms | 60 | 25.5 | 120.0 us | 90.0 us |
| `steady / step` | 10 | 1.646 ms | 1.367 ms | 0.279 ms | 60 | 22.8 | 234.3 us | 156.8 us |

- `warmup / step`: mean gap 120.0 us = prelude 90.0 + launch 10.0 + queue 20.0; hidden behind earlier work: 30.0 us
- `steady / step`: mean gap 236.3 us = prelude 224.2 + launch 10.7 + queue 1.4; hidden behind earlier work: 70.8 us
"""


def tables(tokens):
    """Number of cells in each row of each table."""
    found, row = [], None
    for token in tokens:
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            row = 0
        elif token.type in ("td_open", "th_open"):
            row += 1
        elif token.type == "tr_close":
            found[-1].append(row)
    return found


def code_spans(tokens):
    return [child.content for token in tokens for child in token.children or [] if child.type == "code_inline"]


def test_one_report_looks_like_this():
    assert LOOPS in markdown_view.render([llama("thunder_torch")], Layout())


@pytest.mark.parametrize("layout", [Layout(), Layout(listing=True), Layout(listing=True, ordered=True)])
@pytest.mark.parametrize(
    "reports",
    [
        [llama("eager")],
        [llama(executor) for executor in LLAMA],
        [hostile()],
        [hostile(), hostile()],
        [two_processes()],
        [training()],
        [without_nvtx()],
        [many_stages()],
    ],
)
def test_tables_are_whole_whatever_the_names(reports, layout):
    output = markdown_view.render(reports, layout)
    found = tables(RENDERER.parse(output))
    assert len(found) == len(re.findall(r"^\| :---", output, re.MULTILINE))
    for rows in found:
        assert len(set(rows)) == 1
        assert len(rows) > 1


def test_names_read_as_they_are():
    spans = code_spans(RENDERER.parse(markdown_view.render([hostile()], Layout(listing=True, top=0))))
    for name in HOSTILE:
        assert shorten(path_text([name]), 80) in spans


def test_names_bring_no_markup():
    output = markdown_view.render([hostile()], Layout())
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(output)
    for tag in ("<script", "<a ", "<img", "<em>"):
        assert tag not in html
    assert "**bold**" in html


@pytest.mark.parametrize(
    "text", ["<b>x</b>", "a | b", "`code`", "*x* _y_ ~~z~~", "[x](http://y)", "&lt;", "\\*", "$x$"]
)
def test_running_text_is_escaped(text):
    tokens = RENDERER.parse(f"| a |\n| --- |\n| {markdown_view.plain(text)} |")
    inline = [token for token in tokens if token.type == "inline"][-1]
    assert [child.type for child in inline.children] == ["text"] * len(inline.children)
    assert "".join(child.content for child in inline.children) == text


def test_names_in_findings_are_code():
    output = markdown_view.render([llama("eager")], Layout())
    assert "- **note** `profiler-init`: CUDA profiling initialisation took 382 ms inside `import`; it is" in output


def test_nobody_is_mentioned():
    assert not re.search(r"@\w", re.sub("`+.*?`+", "", markdown_view.render([hostile()], Layout())))


def test_output_is_printable_and_ends_with_one_newline():
    output = markdown_view.render([hostile()], Layout())
    assert all(line.isprintable() for line in output.splitlines())
    assert output.endswith("\n")
    assert not output.endswith("\n\n")


def test_a_missing_number_is_a_dash():
    assert "| `import` | 1 | 3.86 s | - | - | - |" in markdown_view.render([llama("eager")], Layout())


def test_an_empty_report():
    assert "Covered" in markdown_view.render([analysis()], Layout())
