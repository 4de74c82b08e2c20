from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from nsys_analyze import open_report
from nsys_analyze.metrics.breakdown import Kind
from nsys_analyze.metrics.ranks import merge_ranks
from nsys_analyze.metrics.results import HostTime, Stall
from nsys_analyze.views import html
from nsys_analyze.views.columns import STAGE
from nsys_analyze.views.glossary import TERMS
from nsys_analyze.views.html import bars, page
from nsys_analyze.views.plots.style import GAP, GPU, HOST
from nsys_analyze.views.tables import labelled
from tests.view_samples import (
    LLAMA,
    MS,
    US,
    analysis,
    hostile,
    llama,
    loop,
    many_stages,
    stage,
    training,
    two_processes,
    without_nvtx,
)

GOLDEN = Path(__file__).parent / "data" / "html_page.json"
VOID = {"meta", "input", "wbr"}


class Reader(HTMLParser):
    """Tags with their attributes, what is open at the end, and the text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.words = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.words.append(text)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def content(*analyses, top=None, ranks=()):
    kept = page.bounded(analyses, top)
    return page.compose(labelled(kept), total=sum(len(each.stages) for each in analyses), ranks=ranks)


def host(**parts):
    return HostTime(**{field.name: parts.get(field.name, 0) for field in dataclasses.fields(HostTime)})


def test_what_the_template_is_given():
    given = json.loads(json.dumps(dataclasses.asdict(content(llama("thunder_torch")))))
    given["settings"] = given["settings"][1:]  # the version
    if not GOLDEN.exists():  # how to renew it: delete it, run this, look at the difference
        GOLDEN.write_text(json.dumps(given, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        pytest.fail(f"{GOLDEN} was missing and is written anew: look at it")
    assert given == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_every_stage_has_a_row_below_its_parent():
    report = training()
    rows = content(report).tree.rows
    assert [(row.name, row.level) for row in rows] == [(each.name, len(each.path)) for each in report.stages]
    assert [row.name for row in rows if row.hidden] == ["forward", "backward", "optimizer"]
    assert [(row.parent, row.shut) for row in rows[:3]] == [(False, False), (True, False), (True, True)]


def test_reports_and_processes_are_rows_of_the_tree_where_there_are_several():
    rows = content(two_processes(), llama("eager")).tree.rows
    assert [(row.name, row.level) for row in rows if row.heading] == [
        ("two_ranks.sqlite", 1),
        ("rank 0", 2),
        ("rank 1", 2),
        ("llama_eager.sqlite", 1),
    ]
    assert max(row.level for row in rows) == 4


def test_cells_hold_the_numbers_to_sort_by():
    report = llama("thunder_torch")
    tree = content(report).tree
    titles = [header.title for header in tree.headers]
    assert len(titles) == len(set(titles))
    by_title = {measure.title: measure for measure in (STAGE[name] for name in ("pace", "gap", "exposed", "kernels"))}
    for row, each in zip(tree.rows, report.stages, strict=True):
        for title, measure in by_title.items():
            value = measure.get(each)
            cell = row.cells[titles.index(title)]
            assert (float(cell.value) if cell.value else None) == (None if value is None else pytest.approx(value))
            assert (cell.text == "-") == (value is None)


def test_bars_show_the_parts_to_scale():
    split = stage(["a"], [10 * MS], host_ns=host(code=4 * MS, launch=6 * MS))
    (bar,) = content(analysis(stages=[split])).tree.rows[0].bars
    assert [(each.look, each.start, each.length) for each in bar.segments] == [
        ("host-launch", 0.0, 600.0),
        ("host-code", 600.0, 400.0),
    ]
    assert bar.words == "host 10.0 ms\nlaunches 6.00 ms (60.0%)\nhost code 4.00 ms (40.0%)"


def test_every_look_is_in_the_style():
    style = html._asset("page.css")
    looks = {look for kind in (Kind.HOST, Kind.GPU) for look, _ in bars.looks(kind)}
    for look in looks | {f"gap-{name}" for name in ("prelude", "launch", "queue", "exposed", "hidden")}:
        assert f".{look} " in style or f".{look}," in style, look


def test_a_card_tells_all_about_a_stage():
    stall = Stall(index=7, start_ns=2 * MS, elapsed_ns=9 * MS, excess_ns=7.0 * MS, filled_ns={"compile": 6.0 * MS})
    step = loop(["steady", "step"], 2 * MS, host_ns=host(code=20 * MS), stalls=[stall])
    (card,) = content(analysis(stages=[step])).cards
    panels = {panel.title: panel for panel in card.panels}
    assert set(panels) == {"startup gap", "host", "launches", "instances", "stalls"}
    assert panels["stalls"].lines[0].name == "instance 7: compiling and loading +6.00 ms"
    assert panels["launches"].lines[0].numbers == ["600", "5.20 us", "9.10 us", "80.0 us"]
    assert [line.name for line in panels["startup gap"].lines][:6] == [
        *("in all", "prelude", "launch", "queue", "exposed", "hidden")
    ]


def test_a_card_lists_the_kernels_of_its_stage(sample_report):
    report = open_report(sample_report("llama_thunder_torch"))
    analyses = [report.analysis()]
    kernels = [report.kernel_analysis(each) for each in page.detailed(analyses, None)]
    cards = page.compose(labelled(page.bounded(analyses, None)), total=6, kernels=kernels).cards
    (step,) = [card for card in cards if card.name == "steady / step"]
    (panel,) = [panel for panel in step.panels if panel.title.startswith("kernels")]
    (rows,) = [stage.rows for stage in kernels[0].stages if stage.path == ["steady", "step"]]
    assert panel.lines[0].name == rows[0].title
    assert [line.numbers[0] for line in panel.lines] == [f"{row.count:,}" for row in rows[:10]]
    assert panel.footer == f"{len(rows) - 10} more: nsys-analyze kernels lists them"


def test_loops_of_several_reports_stand_in_one_table():
    table = content(*(llama(executor) for executor in LLAMA)).loops
    assert table.texts == ["report"]
    ((_, rows),) = table.groups
    assert [(row.texts[0], row.name) for row in rows if row.name == "steady / step"] == [
        (f"llama_{executor}.sqlite", "steady / step") for executor in LLAMA
    ]


def test_ranks_have_a_table():
    report = two_processes()
    assert next(table.title for table in content(report, ranks=merge_ranks([report])).tables) == "Ranks"


def test_the_largest_stages_are_listed_and_the_rest_is_counted():
    report = many_stages(5_000)
    shown = content(report)
    assert len(shown.tree.rows) == 1_000
    assert shown.tree.footer == ["4,000 more stages: the largest are listed; --top 0 lists all, --stage PATTERN some"]
    assert len(content(report, top=10).tree.rows) == 10
    assert len(content(report, top=0).tree.rows) == 5_000
    assert len(shown.cards) <= 60


@pytest.mark.parametrize(("stages", "most"), [(100, 1.5e6), (100_000, 5e6)])
def test_a_page_is_bounded(stages, most):
    assert len(html.render([many_stages(stages)]).encode()) < most


def rendered(builder, path):
    """The page about an export, with all that the command line puts on it."""
    report = open_report(builder.write(path))
    analyses = [report.analysis()]
    kernels = [report.kernel_analysis(each) for each in page.detailed(analyses, None)]
    return html.render(analyses, ranks=merge_ranks(analyses), kernels=kernels)


def test_a_page_of_22_000_kernels_in_a_hundred_stages_is_small(builder, tmp_path):
    thread = builder.process(pid=100).thread()
    for number in range(22_000):
        at = number * 20 * US
        call = thread.call("cudaLaunchKernel_v7000", at, at + 5 * US)
        call.kernel(f"void ns::kernel_{number % 397}<float, {number % 30}>(float*, int)", at + 6 * US, at + 15 * US)
    for number in range(100):
        start = number * 4_400 * US
        thread.push_pop(f"stage_{number // 10}", start, start + 4_390 * US)
        thread.push_pop(f"part_{number % 10}", start + US, start + 4_380 * US)
    assert len(rendered(builder, tmp_path / "report.sqlite").encode()) < 1.5e6


def test_long_names_of_everything_make_no_long_page(builder, tmp_path):
    builder.gpu(0, "g" * 10_000)
    for pid in (100, 200, 300):
        thread = builder.process(pid=pid, name="p" * 10_000).thread()
        for step in range(3):
            start = step * 10 * MS
            for depth in range(12):
                thread.push_pop(f"{'n' * 10_000}{depth:x}", start + depth * US, start + 9 * MS - depth * US)
            for number in range(20):
                at = start + 100 * US + number * 50 * US
                call = thread.call("cudaLaunchKernel_v7000", at, at + 5 * US)
                call.kernel(f"{'k' * 10_000}{number}", at + 6 * US, at + 15 * US)
            thread.push_pop("e" * 10_000, start + 9 * MS, None)
    assert len(rendered(builder, tmp_path / ("r" * 200 + ".sqlite")).encode()) < 1.5e6


def test_columns_say_which_number_of_several_they_are():
    report = llama("eager")
    for table in (content(report).loops, content(report).tree):
        of = {header.title: header.of for header in table.headers}
        assert (of["startup gap"], of["exposed"], of["GPU active"], of["pace"]) == ("median", "median", "mean", "")
    assert "<small>median</small>" in html.render([report], plots=False)


def test_names_that_are_long_make_no_long_page():
    rows = [stage([f"{number}{'&' * 10_000}"], [MS], host_ns=host(code=MS)) for number in range(1_000)]
    assert len(html.render([analysis(stages=rows)], plots=False).encode()) < 5e6


@pytest.mark.parametrize("plots", [False, True])
def test_names_are_harmless(plots):
    text = html.render([hostile()], plots=plots)
    assert all(ch.isprintable() or ch in "\n\u2007\u2008" for ch in text)
    read = Reader(text)
    assert read.open == []
    assert len(read.all("script")) == 1
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on") or name == "style"]
    assert any(word.startswith("<script>alert(1)</script>") for word in read.words)


@pytest.mark.parametrize("report", [llama("eager"), without_nvtx(), training(), two_processes(), analysis()])
def test_a_page_is_well_formed_and_asks_for_nothing_from_outside(report):
    text = html.render([report])
    read = Reader(text)
    assert read.open == []
    (policy,) = [meta["content"] for meta in read.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for _, attributes in read.tags:
        for name in ("src", "href", "action", "xlink:href"):
            assert attributes.get(name, "#").startswith("#")
    assert not re.search(r"url\((?!#)|@import|//(?!www\.w3\.org/2000/svg)[a-z]", re.sub(r"// ----.*", "", text))
    ids = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {attributes["href"][1:] for attributes in read.all("a")} | set(re.findall(r"url\(#([^)]+)\)", text))
    assert links <= set(ids)


def test_the_readme_says_the_same_of_the_numbers():
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", text, re.MULTILINE))
    shared = set(rows) & set(TERMS)
    assert {"pace", "CPU overhead", "us/kernel", "startup gap", "exposed", "compile", "cold start"} <= shared
    assert {term: rows[term] for term in shared} == {term: TERMS[term] for term in shared}


def test_every_column_is_explained():
    tree = content(*(llama(executor) for executor in LLAMA)).tree
    assert [header.title for header in tree.headers if not header.meaning] == []


def test_colours_mean_the_same_in_bars_and_in_plots_in_the_dark():
    """Plots are darkened by a filter; a bar of the same part must not take the colour of another part there."""
    style = html._asset("page.css")
    light, dark = style.split("@media screen and (prefers-color-scheme: dark)")
    assert "filter: invert(.91) hue-rotate(180deg)" in light
    looks = {"host-launch": HOST["launch"], "host-sync": HOST["sync"], "host-compile": HOST["compile"]}
    looks |= {"gpu-own": GPU["own"], "gpu-idle-startup": GPU["idle_startup"]}
    looks |= {f"gap-{name}": GAP[name] for name in ("prelude", "launch", "queue", "exposed")}
    for name, look in looks.items():
        assert _fill(light, name) == look.fill.lower()
        assert to_rgb(_fill(dark, name)) == pytest.approx(_darkened(to_rgb(look.fill)), abs=0.01), name


def _fill(style, look):
    return re.findall(rf"\.{look}\b[^{{}}]*{{ fill: (#\w+); }}", style)[0]


def _darkened(colour):
    """What CSS's invert(.91) hue-rotate(180deg) makes of a colour (Filter Effects, section 13)."""
    rotation = np.array([[-0.574, 1.43, 0.144], [0.426, 0.43, 0.144], [0.426, 1.43, -0.856]])
    return np.clip(rotation @ (0.91 - 0.82 * np.array(colour)), 0, 1)
