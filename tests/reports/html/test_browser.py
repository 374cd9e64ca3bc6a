"""The page in a real browser: charts drawn, nothing on the console or the network, tooltips, themes, a phone."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.comparison.arms import parse_arm, read_arms
from lsmlens.analyzer.comparison.comparison import compare
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.reports.analysis import compose
from lsmlens.reports.comparison import ComparisonReport
from lsmlens.reports.comparison import compose as compose_comparison
from lsmlens.reports.document import Document as Report
from lsmlens.reports.html.page import render
from lsmlens.reports.prediction import compose as compose_prediction
from lsmlens.reports.prediction_tables import PredictionReport
from lsmlens.tuners.predictions.prediction import Prediction

from tests.pages import every_block

pytestmark = pytest.mark.slow

PHONE = {"width": 390, "height": 844}

Open = Callable[..., Any]


def comparison_report(fixtures: Path) -> Report:
    arms = read_arms([parse_arm(f"{name}={fixtures / f'osd-{name}'}") for name in ("stock", "reef")])
    return compose_comparison(ComparisonReport(compare(arms)))


@pytest.fixture(scope="module")
def files(
    fixtures: Path, tmp_path_factory: pytest.TempPathFactory, predicting: Callable[..., Prediction]
) -> dict[str, Path]:
    """Pages of an OSD, of one that stalled, of a comparison, of a prediction, of hostile names and of endless ones."""
    folder = tmp_path_factory.mktemp("pages")
    hostile = folder / "<img src=x onerror=alert(1)>&\"'"
    hostile.mkdir()
    shutil.copy(fixtures / "rocksdb-current" / "LOG", hostile / "LOG")
    log = (hostile / "LOG").read_text().replace("[default]", "[</script><b onclick=x>]")
    (hostile / "LOG").write_text(log.replace('"cf_name": "default"', '"cf_name": "</script><b onclick=x>"'))
    pages = {
        "stock": compose(analyze([str(fixtures / "osd-stock")])),
        "backlog": compose(analyze([str(fixtures / "rocksdb-backlog")])),
        "comparison": comparison_report(fixtures),
        "prediction": compose_prediction(PredictionReport("a", predicting(half=0.5, twice=2.0), (None, None))),
        "hostile": compose(analyze([str(hostile)])),
        "endless": every_block("level0_file_num_compaction_trigger_" * 3),
    }
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(render(page), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in pages}


@pytest.fixture
def opened(browser: Any, files: dict[str, Path]) -> Iterator[Open]:
    """Open a page and wait until its charts are drawn; whatever the console or the network sees fails the test."""
    contexts = []
    seen: list[str] = []

    def open_page(name: str, **context: Any) -> Any:
        contexts.append(browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context}))
        page = contexts[-1].new_page()
        page.on("console", lambda message: seen.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: seen.append(f"error: {error}"))
        page.on("request", lambda request: seen.append(request.url) if not request.url.startswith("file:") else None)
        page.goto(files[name].as_uri())
        page.wait_for_selector("html[data-charts=drawn]", state="attached", timeout=60_000)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert seen == []


@pytest.mark.parametrize("name", ["stock", "backlog", "comparison", "prediction", "hostile"])
def test_every_chart_is_drawn(name: str, opened: Open) -> None:
    page = opened(name)
    charts = page.query_selector_all("[data-chart]")
    assert charts
    for chart in charts:
        assert chart.query_selector("svg"), chart.inner_text()
        marks = chart.query_selector_all("svg .mark-rect path, svg .mark-symbol path, svg .mark-line path,"
                                         " svg .mark-rule line, svg .mark-bar path")  # fmt: skip
        assert len(marks) >= 2


def test_only_what_was_written_is_in_the_page(opened: Open) -> None:
    page = opened("hostile")
    assert page.query_selector("main img, main b, main [onclick]") is None
    assert "onerror=alert(1)" in page.inner_text("main") + page.content()
    told = []
    bars = page.locator("figure", has_text="Bytes written by column family").locator(".mark-rect path")
    for mark in [bar for bar in bars.all() if (bar.bounding_box() or {"width": 0})["width"] > 3]:
        mark.hover(force=True)
        tooltip = page.wait_for_selector("#vg-tooltip-element.visible")
        told.append(tooltip.inner_text())
        assert tooltip.query_selector("b") is None
    assert any("</script><b onclick=x>" in text for text in told)


def colour_of(page: Any, selector: str) -> str:
    colour: str = page.evaluate("(selector) => getComputedStyle(document.querySelector(selector)).fill", selector)
    return colour


@pytest.mark.parametrize("system", ["light", "dark"])
def test_the_theme_follows_the_system_and_the_button(system: str, opened: Open) -> None:
    page = opened("stock", color_scheme=system)
    mark = "[data-chart='0'] .mark-rect path"
    ground = "getComputedStyle(document.body).backgroundColor"
    before, drawn = page.evaluate(ground), colour_of(page, mark)
    assert before == ("rgb(255, 255, 255)" if system == "light" else "rgb(20, 23, 28)")
    button = page.get_by_role("button", name="Dark theme" if system == "light" else "Light theme")
    assert button.get_attribute("aria-pressed") == str(system == "dark").lower()
    button.press("Enter")
    assert page.evaluate(ground) != before
    assert colour_of(page, mark) != drawn
    page.reload()
    page.wait_for_selector("html[data-charts=drawn]", state="attached")
    assert page.evaluate(ground) != before


def test_print_is_light_and_open(opened: Open) -> None:
    page = opened("stock", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')").strip() == "#ffffff"
    assert page.query_selector("main details:not([open])") is None
    assert not page.is_visible("nav")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.query_selector("main details:not([open])") is not None


def test_a_mark_tells_its_figures(opened: Open) -> None:
    page = opened("stock", timezone_id="America/New_York")
    mark = page.locator("[data-chart='0'] .mark-rect path").nth(3)
    mark.scroll_into_view_if_needed()
    mark.hover(force=True)
    tooltip = page.wait_for_selector("#vg-tooltip-element.visible")
    text = tooltip.inner_text()
    for word in ("column family", "seconds of jobs", "MiB written"):
        assert word in text
    assert "2026-11-20 22:5" in text  # UTC, whatever the reader's zone
    assert page.evaluate("getComputedStyle(document.querySelector('#vg-tooltip-element')).position") == "fixed"


@pytest.mark.parametrize("name", ["stock", "comparison", "prediction", "hostile", "endless"])
def test_a_phone_scrolls_tables_and_not_the_page(name: str, opened: Open) -> None:
    page = opened(name, viewport=PHONE)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    wide = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth).length"
    )
    assert wide
    for chart in page.query_selector_all("[data-chart] svg"):
        box = chart.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= PHONE["width"] + 1


def test_the_keyboard_reaches_everything(opened: Open) -> None:
    page = opened("stock")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#verdict"
    names = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        names.add(page.evaluate("document.activeElement.tagName"))
    assert {"SUMMARY", "DIV"} <= names  # findings open, tables scroll


def test_a_window_that_shrinks_keeps_its_charts_inside(opened: Open) -> None:
    page = opened("stock")
    page.set_viewport_size({"width": 700, "height": 900})
    page.wait_for_function(
        "[...document.querySelectorAll('[data-chart] svg')].every((svg) => svg.getBoundingClientRect().right <= 701)"
    )
