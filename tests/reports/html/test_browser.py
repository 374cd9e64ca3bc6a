"""The page in a real browser: charts drawn, nothing on the console or the network, tooltips, themes, a phone."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.comparison.arms import parse_arm, read_arms
from lsmlens.analyzer.comparison.comparison import compare
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.fleet.dataset import DataSet
from lsmlens.analyzer.fleet.overview import overview
from lsmlens.reports.analysis import compose
from lsmlens.reports.comparison import ComparisonReport
from lsmlens.reports.comparison import compose as compose_comparison
from lsmlens.reports.document import Document as Report
from lsmlens.reports.fleet_report import document as compose_fleet
from lsmlens.reports.html.page import render
from lsmlens.reports.prediction import compose as compose_prediction
from lsmlens.reports.prediction_tables import PredictionReport
from lsmlens.tuners.predictions.prediction import Prediction

from tests.fleets import put
from tests.jobs import compaction, flush
from tests.pages import every_block
from tests.reports.html.conftest import ARGUMENTS

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
    """Pages of an OSD, of one that stalled, of a comparison, a prediction, a fleet, of hostile and of endless names."""
    folder = tmp_path_factory.mktemp("pages")
    fleet = DataSet.made_at(folder / "fleet")
    for number in range(12):
        jobs = [flush(1000), compaction(1000 * (1 + number * 7 % 12))] if number else []
        put(fleet, f"osd.{number}", jobs, host=f"h{number // 4}")
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
        "fleet": compose_fleet(overview(fleet)),
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


def times_shown(page: Any) -> list[list[str]]:
    """The labels of each chart's axis of time: those that are times of day."""
    labels = """(charts) => charts.map((chart) => [...chart.querySelectorAll('svg .role-axis-label text')]
                .map((label) => label.textContent).filter((text) => /^\\d\\d:\\d\\d/.test(text)))"""
    shown: list[list[str]] = page.eval_on_selector_all("[data-chart].time", labels)
    return [sorted(one) for one in shown]


def test_a_drag_zooms_every_chart_of_the_run_and_a_double_click_resets(opened: Open) -> None:
    page = opened("stock")
    whole = times_shown(page)
    assert len(whole) >= 4
    chart = page.locator("[data-chart].time svg").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    x, y = box["x"] + 0.4 * box["width"], box["y"] + 0.5 * box["height"]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 0.2 * box["width"], y, steps=4)
    assert page.locator(".band").first.is_visible()
    page.mouse.up()
    page.wait_for_timeout(300)
    zoomed = times_shown(page)
    assert all(
        min(before) < min(after) <= max(after) < max(before) for before, after in zip(whole, zoomed, strict=True)
    )
    assert all(after == zoomed[0] for after in zoomed)
    page.mouse.dblclick(x, y)
    page.wait_for_timeout(300)
    assert times_shown(page) == whole


def test_runs_of_a_page_are_zoomed_apart(opened: Open) -> None:
    page = opened("comparison")
    runs = page.eval_on_selector_all("[data-chart].time", "(charts) => charts.map((one) => one.closest('section').id)")
    assert len(set(runs)) == 2
    whole = times_shown(page)
    chart = page.locator("[data-chart].time svg").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 50)
    page.mouse.up()
    page.wait_for_timeout(300)
    changed = [before != after for before, after in zip(whole, times_shown(page), strict=True)]
    assert changed == [run == runs[0] for run in runs]


def test_commands_are_copied_by_a_button(opened: Open) -> None:
    page = opened("stock", permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    block = page.locator("pre.commands").first
    page.get_by_role("button", name="Copy").first.click()
    page.wait_for_selector("button:text('Copied'), button:text('Selected')")
    taken = page.evaluate("async () => String(getSelection()) || await navigator.clipboard.readText()")
    assert taken.strip() == block.inner_text().strip()


@pytest.mark.parametrize("name", ["stock", "comparison", "prediction"])
def test_legends_are_whole_on_a_phone(name: str, opened: Open) -> None:
    page = opened(name, viewport=PHONE)
    labels = page.query_selector_all("[data-chart] svg .role-legend-label text")
    assert labels
    for label in labels:
        box = label.bounding_box()
        assert box is None or box["x"] + box["width"] <= PHONE["width"], label.text_content()
        assert "…" not in (label.text_content() or "")


@pytest.fixture
def print_page(chromium: str, tmp_path: Path) -> Callable[[Path], bytes]:
    """The PDF that a program gets of a page, without waiting for anything but that it is loaded."""

    def printed(page: Path) -> bytes:
        pdf = tmp_path / "page.pdf"
        options = ("--headless", "--no-pdf-header-footer", f"--print-to-pdf={pdf}", *ARGUMENTS)
        subprocess.run([chromium, *options, page.as_uri()], check=True, capture_output=True, timeout=120)
        return pdf.read_bytes()

    return printed


def test_what_a_program_prints_has_all_charts_on_few_pages(
    files: dict[str, Path], print_page: Callable[[Path], bytes]
) -> None:
    pdf = print_page(files["stock"])
    assert 4 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 8
    undrawn = files["stock"].with_name("undrawn.html")
    undrawn.write_text(files["stock"].read_text().replace("await draw(place);", ""))
    assert len(pdf) > 1.2 * len(print_page(undrawn))  # marks of charts are paths in it


def test_print_is_light_and_open(opened: Open) -> None:
    page = opened("stock", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')").strip() == "#ffffff"
    assert page.query_selector("main details:not([open], .figures)") is None
    assert page.query_selector("main details.figures:not([open])") is not None  # charts show what is in them
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


def test_a_heading_sorts_its_table(opened: Open) -> None:
    page = opened("fleet")
    table = page.locator("#osds table")
    shown = "(body) => [...body.rows].map((row) => row.cells[%d].textContent)"

    def column(number: int) -> list[str]:
        return list(table.locator("tbody").evaluate(shown % number))

    names = column(0)
    table.get_by_role("button", name="write amplification").click()
    figures = column(4)
    assert figures[-1] == "-"  # of the OSD without a flush
    assert [float(one) for one in figures[:-1]] == sorted(map(float, figures[:-1]), reverse=True)
    assert table.locator("[aria-sort]").get_attribute("aria-sort") == "descending"
    table.get_by_role("button", name="write amplification").press("Enter")
    assert column(4) == [*reversed(figures[:-1]), "-"]
    table.get_by_role("button", name="OSD", exact=True).click()
    assert column(0) == [f"osd.{number}" for number in range(12)] != names


@pytest.mark.parametrize("name", ["stock", "comparison", "prediction", "fleet", "hostile", "endless"])
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
