"""The page's frame: one file, escaped, reachable by keyboard and screen reader, the same bytes for the same input."""

import base64
import gzip
import hashlib
import json
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.reports.analysis import RUNS_SIDE_BY_SIDE, RUNS_WITH_SECTIONS, compose
from lsmlens.reports.document import Document, Paragraphs, Section
from lsmlens.reports.html.charts import CONFIG
from lsmlens.reports.html.page import render
from lsmlens.reports.html.palette import LIGHT_AND_DARK, css, in_light

from tests.pages import every_block

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}<!--\u2028&amp;"


class Reader(HTMLParser):
    """What a page has: its elements with their attributes, in order, and the text outside scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._raw = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._raw = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._raw = False

    def handle_data(self, data: str) -> None:
        if not self._raw:
            self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def html(fixtures: Path) -> str:
    return render(compose(analyze([str(fixtures / "osd-stock")])))


@pytest.fixture(scope="module")
def page(html: str) -> Reader:
    return Reader(html)


def test_hostile_text_stays_text() -> None:
    html = render(every_block(HOSTILE))
    reader = Reader(html)
    assert not reader.all("img")
    assert len(reader.all("script")) == 3  # data, the bundle, the page's own
    assert "alert(1)" in "".join(reader.text)
    assert "{{ 7 * 7 }}" in "".join(reader.text)
    assert all(name in ("type", "id") for attributes in reader.all("script") for name in attributes)


def test_hostile_data_does_not_end_its_element() -> None:
    html = render(every_block(HOSTILE))
    match = re.search(r'<script type="application/json" id="lsmlens-data">(.*?)</script>', html, re.DOTALL)
    assert match is not None
    data = json.loads(match[1])
    assert data["datasets"][HOSTILE]["rows"] == [[HOSTILE]]
    assert "<" not in match[1]


def test_scripts_are_those_that_the_policy_names(html: str) -> None:
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert re.findall(r"'sha256-([^']*)'", policy[1]) == hashes
    assert "default-src 'none'" in policy[1]
    assert "unsafe-inline' 'unsafe-eval" not in policy[1]


def test_nothing_is_asked_of_the_network(page: Reader) -> None:
    for tag, attributes in page.elements:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            value = attributes.get(name)
            assert value is None or value.startswith("#"), (tag, attributes)


def test_anchors_are_unique_and_there(page: Reader) -> None:
    ids = Counter(attributes["id"] for _, attributes in page.elements if "id" in attributes)
    assert [name for name, count in ids.items() if count > 1] == []
    wanted = {str(attributes["href"])[1:] for attributes in page.all("a")}
    wanted |= {str(attributes["aria-labelledby"]) for _, attributes in page.elements if "aria-labelledby" in attributes}
    assert wanted <= ids.keys()


def test_headings_follow_each_other(page: Reader) -> None:
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_a_screen_reader_finds_its_way(page: Reader) -> None:
    assert page.all("html")[0]["lang"] == "en"
    for landmark in ("header", "nav", "main", "footer"):
        assert len(page.all(landmark)) == 1
    assert page.elements[[tag for tag, _ in page.elements].index("body") + 1][0] == "a"  # skips to the content
    for attributes in page.all("th"):
        assert attributes.get("scope") in ("col", "row")
    regions = [attributes for _, attributes in page.elements if attributes.get("role") == "region"]
    assert regions
    assert all(attributes.get("aria-label") and attributes.get("tabindex") == "0" for attributes in regions)


def test_every_chart_has_its_words_and_its_table(html: str) -> None:
    figures = re.findall(r"<figure.*?</figure>", html, re.DOTALL)
    assert len(figures) == 9
    for number, figure in enumerate(figures):
        assert f'data-chart="{number}"' in figure
        assert re.search(r'role="img" aria-label="[^"]{20,}"', figure)
        assert "<figcaption>" in figure
        assert "<table>" in figure


def test_the_order_is_verdict_findings_time_quality_method(html: str) -> None:
    places = [html.index(f">{title}</h") for title in ("Verdict", "Findings", "Over time", "Data quality",
                                                        "How each number is computed")]  # fmt: skip
    assert places == sorted(places)


def test_the_same_input_makes_the_same_bytes(html: str, fixtures: Path) -> None:
    assert render(compose(analyze([str(fixtures / "osd-stock")]))) == html


def test_the_bundle_is_there_once_and_the_page_is_small(html: str) -> None:
    assert html.count("window.vegaEmbed=") == 1
    assert len(html.encode()) < 1_200_000


@pytest.mark.slow
def test_many_runs_have_a_table_and_the_gravest_their_charts(fixtures: Path, tmp_path: Path) -> None:
    count = RUNS_WITH_SECTIONS + 2
    text = gzip.decompress((fixtures / "osd-spillover" / "ceph-osd.0.log.gz").read_bytes())
    for number in range(count):
        day = b"2026-%02d-%02dT" % (1 + number % 12, 10 + number // 12)
        micros = b'"time_micros": 1%03d' % (700 + number)
        (tmp_path / f"host-{number}").mkdir()
        changed = re.sub(rb'"time_micros": 1\d\d\d', micros, text.replace(b"2026-11-20T", day))
        (tmp_path / f"host-{number}" / "ceph-osd.0.log").write_bytes(changed)
    analysis = analyze([str(tmp_path)])
    assert len(analysis.runs) == count
    html = render(compose(analysis))
    reader = Reader(html)
    sections = [attributes["id"] for attributes in reader.all("section")]
    assert len([anchor for anchor in sections if re.fullmatch(r"run-\d+", str(anchor))]) == RUNS_WITH_SECTIONS
    assert len([anchor for anchor in sections if str(anchor).endswith("-time")]) == RUNS_SIDE_BY_SIDE
    assert f"host-{count - 1}/osd.0</th>" in html
    assert len(html.encode()) < 3_000_000
    assert len({attributes["id"] for _, attributes in reader.elements if "id" in attributes}) == len(
        [1 for _, attributes in reader.elements if "id" in attributes]
    )


def test_a_page_without_charts_has_no_bundle() -> None:
    html = render(Document("t", "s", (), (Section("a", "A", (Paragraphs(("p",)),)),)))
    assert len(html) < 30_000
    assert "vegaEmbed=" not in html


def test_themes_define_every_colour_used(html: str) -> None:
    used = set(re.findall(r"var\(--([a-z0-9-]+)\)", html))
    assert used <= LIGHT_AND_DARK.keys()
    for name in ("flush", "paper"):
        assert html.count(f"--{name}: {LIGHT_AND_DARK[name][0]}") == 2  # light, and printed
        assert html.count(f"--{name}: {LIGHT_AND_DARK[name][1]}") == 2  # by the system, and by the button


def contrast(one: str, other: str) -> float:
    """The contrast of two colours by WCAG 2."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("name", ["ink", "faint-ink", "link", "critical", "warning", "info", "good"])
def test_words_can_be_read(name: str, theme: int) -> None:
    for ground in ("paper", "panel"):
        assert contrast(LIGHT_AND_DARK[name][theme], LIGHT_AND_DARK[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("name", ["flush", "compaction", "stop", *(f"series-{n}" for n in range(1, 8))])
def test_marks_can_be_seen(name: str, theme: int) -> None:
    assert contrast(LIGHT_AND_DARK[name][theme], LIGHT_AND_DARK["paper"][theme]) >= 2.5


def test_pictures_have_colours_and_no_names_of_them() -> None:
    assert in_light(json.dumps(CONFIG)).count("var(") == 0
    assert in_light(css("flush")) == LIGHT_AND_DARK["flush"][0]
    with pytest.raises(KeyError):
        css("no such colour")
