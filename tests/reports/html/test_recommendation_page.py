"""The page of a whole search in a real browser: charts drawn, nothing on the console or the network, a phone."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAM = (sys.executable, "-c", "import sys; from lsmlens.cli import main; sys.exit(main())")
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
TITLES = ("What candidates cost", "The search's course", "Written so far", "Bytes by column family")


WORKLOAD = """\
schema: lsmlens.workload/1
name: small
seconds: 60
column_families:
- name: default
  keys: {length: 24, order: scattered}
  values: 100
  components:
  - {kind: overwrite, rate: 2500, working_sets: [{keys: 20000}]}
"""
SMALL = "small=write_buffer_size=262144,max_bytes_for_level_base=1048576,target_file_size_base=262144"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a search on the log of a real database, whose buffers are far too small for its work."""
    folder = tmp_path_factory.mktemp("search")
    (folder / "small.yaml").write_text(WORKLOAD)
    engine = ("--engine", "rocksdict", "--no-download", "--quiet")
    replay = ("replay", str(folder / "small.yaml"), "--options", SMALL, "--keep-logs", str(folder / "kept"))
    search = (
        *("tune", str(folder / "kept" / "1-1"), "--objective", "wear", "--trials", "2", "--memory", "64M"),
        *("--freeze", "compression", "--freeze", "ttl", "--freeze", "max_background_jobs"),
        *("--study", str(folder / "s.db"), "-o", str(folder / "page.html")),
    )
    for command in (replay, search):
        subprocess.run([*PROGRAM, *command, *engine], check=True, stdout=subprocess.DEVNULL)
    return folder / "page.html"


@pytest.mark.parametrize(("viewport", "scheme"), [(DESK, "light"), (DESK, "dark"), (PHONE, "light")])
def test_the_page_of_a_search_is_drawn(viewport: dict[str, int], scheme: str, browser: Any, file: Path) -> None:
    seen: list[str] = []
    context = browser.new_context(viewport=viewport, color_scheme=scheme)
    page = context.new_page()
    page.on("console", lambda message: seen.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: seen.append(f"error: {error}"))
    page.on("request", lambda request: seen.append(request.url) if not request.url.startswith("file:") else None)
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-charts=drawn]", state="attached", timeout=60_000)
    text = page.inner_text("main")
    for title in TITLES:
        assert title in text
    for chart in page.query_selector_all("[data-chart]"):
        svg = chart.query_selector("svg")
        assert svg, chart.inner_text()
        box = svg.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= viewport["width"] + 1
        assert len(chart.query_selector_all("svg path, svg line")) >= 4
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    # how bytes grow is drawn for the current settings and for the finalist
    lines = page.locator("figure", has_text="Written so far").first.locator(".mark-line path")
    assert lines.count() == 2
    context.close()
    assert seen == []
