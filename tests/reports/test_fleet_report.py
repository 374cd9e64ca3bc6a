"""The fleet's report: what stands on the first screen, and what behind it."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pytest
from jsonschema import Draft202012Validator
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.fleet.dataset import DataSet
from lsmlens.analyzer.fleet.overview import Overview, overview
from lsmlens.analyzer.fleet.rows import AnalysedRuns
from lsmlens.analyzer.runs.selection import Selection
from lsmlens.reports import markdown, terminal
from lsmlens.reports.analysis import AnalysisReport
from lsmlens.reports.fleet_json import to_json
from lsmlens.reports.fleet_report import FleetReport, document
from lsmlens.reports.html import page
from lsmlens.reports.json_form import json_schema
from lsmlens.reports.outputs import ANALYSIS

from tests.fleets import Planted, put, write_bundle
from tests.jobs import compaction, flush

SCREEN_LINES = 50


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Overview:
    """Sixty OSDs on twelve hosts over two days; two outliers, twelve rules that fired."""
    fleet = DataSet.made_at(tmp_path_factory.mktemp("fleet") / "fleet")
    for number in range(60):
        odd = number in (17, 42)
        findings = [
            (f"R{code:02}", Severity.WARNING, f"{number} of them") for code in range(12) if number % (code + 1) == 0
        ]
        for day in (20, 21) if number < 30 else (21,):
            put(
                fleet,
                f"osd.{number}",
                [flush(1000), compaction((4 if odd else 1) * (900 + number % 7), finished_at=day)],
                host=f"h{number // 5:02}",
                device_class="ssd" if number % 2 else "hdd",
                options={"compression": "snappy" if odd else "none"},
                findings=findings,
                day=date(2026, 11, day),
            )
    return overview(fleet)


@pytest.mark.parametrize("by", ["class", "host", "version", "day"])
def test_one_screen_shows_what_matters(found: Overview, by: str) -> None:
    screen = terminal.render(document(found, "lab", by), width=100)
    assert len(screen.splitlines()) <= SCREEN_LINES
    assert max(map(len, screen.splitlines())) <= 100
    assert "OSDs 60 · hosts 12" in screen
    for said in ("osd.17", "osd.42", "R00", "60 of 60", "osd.0–59", "6 more findings", "snappy", "12 warnings"):  # noqa: RUF001
        assert said in screen, said


@pytest.mark.parametrize("width", [80, 120])
def test_first_screens(width: int, found: Overview, golden: Callable[[str, str], None]) -> None:
    text = terminal.render(document(found, "lab"), width=width)
    assert all(len(line) <= width for line in text.splitlines())
    golden(f"fleet-{width}.txt", text)


def test_each_finding_stands_once(found: Overview) -> None:
    full = terminal.render(document(found, "lab"), full=True)
    assert full.count("title of R11") == 1
    assert "osd.0, osd.12, osd.24, osd.36, osd.48" in full


def test_groups_of_choice_come_first(found: Overview) -> None:
    screen = terminal.render(document(found, "lab", "host"), width=100)
    assert "h00" in screen
    assert "h11" not in screen
    assert "6 more" in screen.split("Side by side")[1]
    assert "h11" in terminal.render(document(found, "lab", "host"), full=True)


def test_the_heat_table_has_every_osd_and_marks_what_is_far_off(found: Overview) -> None:
    (heat,) = next(one.blocks for one in document(found, "lab").sections if one.anchor == "osds")
    table = heat.table  # type: ignore[union-attr]
    assert [row[0] for row in table.rows][:3] == ["osd.0", "osd.1", "osd.10"]
    assert len(table.rows) == 60
    assert {table.rows[row][0] for row, _ in table.tones} == {"osd.17", "osd.42"}


def test_page_and_markdown_hold_all_of_it(found: Overview) -> None:
    for text in (page.render(document(found, "lab")), markdown.render(document(found, "lab"), None)):
        for said in ("osd.17", "R11", "snappy", "h11"):
            assert said in text, said


def test_the_document_holds_all_of_it(found: Overview) -> None:
    said = json.loads(to_json(FleetReport(found, "lab")))
    Draft202012Validator(json_schema("lsmlens.fleet/1")).validate(said)
    assert [one["osd"] for one in said["osds"]][:3] == ["osd.0", "osd.1", "osd.10"]
    outliers = {one["osd"]: one for one in said["outliers"]}
    assert set(outliers) == {"osd.17", "osd.42"}
    worst = outliers["osd.17"]["deviations"][0]
    (of_osd,) = [one for one in said["osds"] if one["osd"] == "osd.17"]
    assert of_osd["figures"][worst["metric"]] == worst["value"]
    assert of_osd["scores"][worst["metric"]] == worst["score"] > said["outlying_score"]
    assert {by: sum(one["osds"] for one in some) for by, some in said["groups"].items() if by != "day"} == {
        "host": 60, "class": 60, "version": 60,
    }  # fmt: skip
    (drift,) = said["drift"]
    assert [len(one["osds"]) for one in drift["values"]] == [58, 2]
    assert len(next(one for one in said["findings"] if one["code"] == "R11")["osds"]) == 5


def test_the_course_over_days(found: Overview) -> None:
    screen = terminal.render(document(found, "lab"), width=100)
    assert "write amplification (LSM) by day: " in screen


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """Twenty-one OSDs of three releases, one of which is unlike its peers."""
    folder = tmp_path_factory.mktemp("many")
    for number in range(21):
        write_bundle(folder, number, Planted() if number == 6 else None)
    return analyze([str(folder)])


def test_the_analysis_of_many_is_one_screen_with_what_is_unlike(many: Analysis) -> None:
    screen = ANALYSIS.screen(AnalysisReport(many), width=120)
    lines = screen.splitlines()
    assert len(lines) < 60
    codes = [line.split()[0] for line in lines if re.match(r"[RQ]\d\d ", line)]
    assert len(codes) == len(set(codes)) >= 3  # each finding once
    assert any(re.match(r"R05 .*21 of 21 +osd\.0\N{EN DASH}20", line) for line in lines)
    (outlier,) = [line for line in lines if line.startswith("osd.6 ")]
    assert "level0_file_num_compaction_trigger" in outlier
    assert "OSDs 21 · hosts 2 · " in screen


def test_the_analysis_of_many_has_all_the_rest_behind_it(many: Analysis) -> None:
    whole = ANALYSIS.screen(AnalysisReport(many), full=True, width=120)
    assert len(whole.splitlines()) > 500
    assert "osd.6: " in whole.split("Compaction statistics", 1)[1]
    few = replace(many, runs=many.runs[:8])
    assert "Outliers" not in ANALYSIS.screen(AnalysisReport(few), width=120)


def test_what_was_selected_is_what_is_looked_over(many: Analysis) -> None:
    chosen = overview(AnalysedRuns(replace(many, selection=Selection(column_families=frozenset(["O-0"])))))
    everything = overview(AnalysedRuns(many))
    jobs = sum(one.run.jobs.filter(column_family="O-0", kind="compaction").height for one in many.runs)
    assert chosen.daemons["compactions"].sum() == jobs < everything.daemons["compactions"].sum()
