"""The page in a real browser: it says nothing on the console, asks for nothing, and does what a hand would want.

Needs a Chromium (``CHROMIUM`` names another one) and the package playwright; without, these tests are skipped.
"""

from __future__ import annotations

import os
import shutil

import pytest

from nsys_analyze import open_report
from nsys_analyze.views import html
from tests.view_samples import LLAMA, hostile, llama, many_stages, training, two_processes

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("no Chromium on PATH: install one, or name it in CHROMIUM", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api")

NAMES = "rows => rows.map(row => row.children[0].textContent.trim())"


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open the page about some reports; at the end, nothing was said on the console and nothing was asked for."""
    said, asked, contexts = [], [], []

    def open_page(*reports, plots=False, kernels=(), width=1400, **context):
        file = tmp_path / "report.html"
        file.write_text(html.render(reports, plots=plots, kernels=kernels), encoding="utf-8")
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **context))
        page = contexts[-1].new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert len(asked) == len(contexts)


def shown(page):
    return page.eval_on_selector_all(".tree tbody tr:not([hidden])", NAMES)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 700, 1400])
@pytest.mark.parametrize("reports", [[training()], [llama(name) for name in LLAMA], [hostile()], [two_processes()]])
def test_a_page_fits_its_window(opened, reports, width, scheme):
    page = opened(*reports, plots=width == 1400, width=width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 26)"
    )


@pytest.mark.parametrize("width", [1000, 1180, 1300])
@pytest.mark.parametrize("name", ["vit_train_eager", "llama_thunder_nvfuser", "llama_train_fsdp"])
def test_tables_fit_without_scrolling_sideways(opened, sample_report, name, width):
    page = opened(open_report(sample_report(name)).analysis(), width=width)
    sizes = "all => all.map(each => each.scrollWidth - each.clientWidth)"
    assert set(page.eval_on_selector_all(".scroll", sizes)) == {0}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_prints_whole(opened, sample_report, scheme):
    page = opened(open_report(sample_report("vit_train_eager")).analysis(), color_scheme=scheme)
    page.emulate_media(media="print", color_scheme=scheme)
    page.set_viewport_size({"width": 720, "height": 1000})  # A4 without its margins
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (
        page.evaluate("getComputedStyle(document.querySelector('tbody .name')).backgroundColor") == "rgb(255, 255, 255)"
    )
    narrowest = "all => Math.min(...all.map(each => each.offsetWidth))"
    assert page.eval_on_selector_all(".tree tbody .name", narrowest) > 90  # a word of a name fits
    page.emulate_media(media="print", color_scheme=scheme)
    assert page.pdf().startswith(b"%PDF")


@pytest.mark.parametrize("width", [400, 700, 1400])
def test_details_fit_the_window_too(opened, sample_report, width):
    report = open_report(sample_report("vit_train_eager"))
    analysis = report.analysis()
    page = opened(analysis, width=width, kernels=[report.kernel_analysis(analysis)])
    page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    narrowest = "all => Math.min(...all.map(each => each.offsetWidth))"
    assert page.eval_on_selector_all(".panel.wide tbody th", narrowest) > 150  # names of kernels stay readable


def test_rows_open_and_shut_by_hand(opened):
    page = opened(training())
    assert shown(page) == ["build", "steady", "step"]
    page.locator(".tree tr", has_text="step").last.locator(".twist").click()
    assert shown(page) == ["build", "steady", "step", "forward", "backward", "optimizer"]
    page.click("#collapse")
    assert shown(page) == ["build", "steady", "step"]
    page.click("#expand")
    assert len(shown(page)) == 6


def test_rows_open_and_shut_from_the_keyboard(opened):
    page = opened(training())
    focused = "document.activeElement.tagName + ' ' + document.activeElement.textContent.trim().slice(0, 6)"
    page.focus(".tree tbody tr")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert shown(page) == ["build", "steady", "step", "forward", "backward", "optimizer"]
    assert page.get_attribute(".tree tr:focus", "aria-expanded") == "true"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "TH step"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "TD 6"
    assert page.inner_text("#tip").startswith("how many ranges the stage has")
    for key in ("ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
    assert shown(page) == ["build", "steady", "step"]
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(focused) == "TR steady"
    page.keyboard.press("Enter")
    assert shown(page) == ["build", "steady"]
    page.keyboard.press(" ")
    assert shown(page) == ["build", "steady", "step"]
    page.keyboard.press("Home")
    assert page.evaluate(focused) == "TR build1"


def test_sorting_keeps_siblings_together(opened):
    page = opened(training())
    page.click("#expand")
    before = shown(page)
    header = page.locator(".tree th", has=page.get_by_role("button", name="wall", exact=True))
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "descending"
    assert shown(page) == ["build", "steady", "step", "backward", "forward", "optimizer"]
    header.get_by_role("button").press("Enter")
    assert header.get_attribute("aria-sort") == "ascending"
    assert shown(page) == ["steady", "step", "optimizer", "forward", "backward", "build"]
    header.get_by_role("button").press(" ")
    assert header.get_attribute("aria-sort") == "none"
    assert shown(page) == before


FOCUSED = """() => {
  const element = document.activeElement, style = getComputedStyle(element);
  return [element.id || element.tagName, element.textContent.trim().slice(0, 12), element.matches(":focus-visible"),
          style.outlineStyle, style.outlineWidth];
}"""


def focused(page):
    """What has the focus, having checked that it shows."""
    name, text, visible, style, width = page.evaluate(FOCUSED)
    assert (visible, style != "none", width != "0px") == (True, True, True), (name, text)
    return name, text


def tab_to(page, wanted, most=80):
    """Press Tab until what is wanted has the focus; every stop on the way shows."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if wanted(*focused(page)):
            return
    pytest.fail("Tab never came there")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_is_reached_by_tab_and_shows_its_focus(opened, scheme):
    page = opened(training(), color_scheme=scheme)
    page.keyboard.press("Tab")
    assert focused(page)[1] == "Skip to the "
    for wanted in ("BUTTON", "expand", "find", "TR", "SUMMARY"):
        tab_to(page, lambda name, _, wanted=wanted: name == wanted)
    page.keyboard.press("Shift+Tab")
    assert focused(page)[0] != "SUMMARY"


def test_one_sorts_and_opens_by_tab_enter_and_space_alone(opened):
    page = opened(training())
    tab_to(page, lambda name, text: name == "expand")
    page.keyboard.press("Enter")
    assert len(shown(page)) == 6
    tab_to(page, lambda name, text: text.startswith("wall"))
    header = page.locator(".tree th:has(button:focus)")
    for key, order in (("Enter", "descending"), ("Space", "ascending"), ("Enter", "none"), ("Space", "descending")):
        page.keyboard.press(key)
        assert header.get_attribute("aria-sort") == order
    assert page.locator("[aria-sort=descending], [aria-sort=ascending]").count() == 1
    assert shown(page) == ["build", "steady", "step", "backward", "forward", "optimizer"]
    tab_to(page, lambda name, text: name == "TR")
    page.keyboard.press("ArrowDown")
    shadow = "getComputedStyle(document.activeElement.children[0]).boxShadow"
    assert "inset" in page.evaluate(shadow)  # the name stays in place and would cover the outline
    row = page.locator(".tree tr:focus")
    assert row.get_attribute("aria-expanded") == "true"
    for key, state in (("Space", "false"), ("Enter", "true"), ("Enter", "false")):
        page.keyboard.press(key)
        assert row.get_attribute("aria-expanded") == state
    assert shown(page) == ["build", "steady"]
    tab_to(page, lambda name, text: name == "SUMMARY" and text.startswith("build"))
    page.keyboard.press("Space")
    assert page.locator("details.card[open]", has_text="build").count() == 1


def test_arrows_pass_over_bars_that_a_narrow_window_has_no_room_for(opened):
    page = opened(training(), width=1000)
    page.focus(".tree tbody tr")
    for key, text in (("ArrowRight", "build"), ("ArrowRight", "1"), ("ArrowLeft", "build")):
        page.keyboard.press(key)
        assert focused(page)[1] == text


def test_what_is_unknown_is_last_whichever_way_one_sorts(opened):
    page = opened(llama("eager"))
    for _ in range(2):
        page.locator(".tree").get_by_role("button", name="exposed").click()
        assert shown(page)[-1] == "import"


def test_finding_shows_what_matches_and_where_it_is(opened):
    page = opened(many_stages(300))
    before = shown(page)
    page.fill("#find", "operation_12")
    assert page.inner_text("#found") == "11 found"
    names = shown(page)
    assert names[0] == "root"
    assert sum("operation_12" in name for name in names) == 11
    page.fill("#find", "")
    assert shown(page) == before


def test_a_number_says_what_it_means_and_what_it_is_exactly(opened):
    page = opened(llama("thunder_torch"))
    page.hover("#loops tr:last-child td:nth-child(3)")
    assert page.inner_text("#tip").splitlines() == [
        "pace: 1,645,615 ns",
        "time from one instance of a loop to the next, as CUDA events around the loop would measure it",
    ]
    page.keyboard.press("Escape")
    assert page.is_hidden("#tip")


def test_a_stage_leads_to_its_details(opened):
    page = opened(llama("thunder_torch"))
    page.locator(".tree a", has_text="compile").click()
    assert page.locator("details.card[open]", has_text="compile").count() == 1


def test_opening_rows_moves_nothing_else(opened):
    page = opened(many_stages(300))
    place = "(({x, width}) => [x, width])(document.querySelector('.tree thead').getBoundingClientRect())"
    before = page.evaluate(place)
    page.click("#expand")
    assert page.evaluate(place) == before


def test_on_paper_everything_is_open_and_nothing_is_a_button(opened):
    page = opened(training())
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".tree tbody tr").evaluate_all("rows => rows.every(row => row.offsetHeight > 0)")
    assert page.locator("details:not([open])").count() == 0
    assert page.locator(".tools").is_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 0


def test_without_scripts_everything_is_there(opened):
    page = opened(training(), java_script_enabled=False)
    assert page.locator(".tree tbody tr").last.is_visible()
