"""A comparison's pages and artefacts: verdicts, gates and warnings in each, in the form its readers expect."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import xmlschema
from lsmlens.analyzer.comparison.arms import parse_arm, read_arms
from lsmlens.analyzer.comparison.comparison import compare
from lsmlens.analyzer.comparison.gates import judge_gates, parse_gate
from lsmlens.analyzer.comparison.verdicts import Verdict
from lsmlens.reports import github, markdown
from lsmlens.reports.benchmark import of_comparison as to_benchmark
from lsmlens.reports.comparison import ComparisonReport, charts_called, compose
from lsmlens.reports.html.page import render
from lsmlens.reports.junit import of_comparison as to_junit
from lsmlens.reports.outputs import COMPARISON
from lsmlens.reports.tables import as_text

SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "junit.xsd")


@pytest.fixture(scope="module")
def report(fixtures: Path) -> ComparisonReport:
    arms = read_arms([parse_arm(f"{name}={fixtures / f'osd-{name}'}") for name in ("stock", "rotated")])
    comparison = compare(arms)
    gates = [parse_gate(text) for text in ("write_amp:+100000%", "flush_bytes:>0")]
    return ComparisonReport(comparison, judge_gates(gates, comparison))


def test_every_output_is_written_the_same_twice(report: ComparisonReport, tmp_path: Path) -> None:
    asked = [f"out{suffix}" for suffix in COMPARISON.suffixes if suffix not in (".svg", ".png")] + [
        "changes.svg",
        "written.png",
    ]
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for output in COMPARISON.outputs([str(tmp_path / folder / name) for name in asked]):
            COMPARISON.write(output, report)
    for name in asked:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_warnings_and_failed_gates_come_before_verdicts(report: ComparisonReport) -> None:
    for text in (render(compose(report)), markdown.render(compose(report))):
        failed = next(one.reason for one in report.gates if one.is_failed).split(" of ")[0]
        sentence = report.comparison.sentences[0].split(":")[0]
        assert text.index(failed) < text.rindex(sentence)
    page = compose(report)
    assert [section.title for section in page.sections][:3] == ["Verdict", "What changed", "Compaction statistics"]


def test_gates_alone_fail_where_there_are_gates(report: ComparisonReport) -> None:
    text = to_junit(report)
    SCHEMA.validate(text)
    root = ET.fromstring(text.encode())
    failing = [case for case in root.iter("testcase") if case.find("failure") is not None]
    assert {case.get("classname") for case in failing} == {"lsmlens.gates"}
    assert len(failing) == sum(one.is_failed for one in report.gates) == 1
    assert len([case for case in root.iter("testcase") if case.get("classname") == "lsmlens.gates"]) == 2


def test_without_gates_what_became_worse_fails(report: ComparisonReport) -> None:
    comparison = report.comparison
    text = to_junit(ComparisonReport(comparison))
    SCHEMA.validate(text)
    worse = {
        f"lsmlens.{row.metric.name}"
        for row in comparison.rows
        if row.judgements[1] is not None and row.judgements[1].verdict is Verdict.WORSE
    }
    root = ET.fromstring(text.encode())
    assert {case.get("classname") for case in root.iter("testcase") if case.find("failure") is not None} == worse


def test_a_row_for_each_metric_and_arm(report: ComparisonReport, tmp_path: Path) -> None:
    (output,) = COMPARISON.outputs([str(tmp_path / "out.parquet")])
    COMPARISON.write(output, report)
    rows = pq.read_table(output.path).to_pylist()
    known = sum(figure is not None for row in report.comparison.rows for figure in row.figures)
    assert len(rows) == known
    first = next(row for row in rows if row["metric"] == "write_amplification_lsm" and row["arm"] == "rotated")
    row = report.comparison.row("write_amplification_lsm")
    assert row is not None
    assert first["value"] == row.values[1]
    assert first["verdict"] == str(row.judgements[1].verdict if row.judgements[1] else None)


def test_dashboards_follow_what_should_be_small(report: ComparisonReport) -> None:
    found = json.loads(to_benchmark(report.comparison))
    names = [one["name"] for one in found]
    assert len(set(names)) == len(names)
    assert "stock/write amplification (LSM)" in names
    assert not any("IOPS" in name for name in names)


def test_failed_gates_are_errors(report: ComparisonReport) -> None:
    made = github.of_comparison(report)
    assert made[0].level == "error"
    assert made[0].title == "Gate flush_bytes:>0"
    assert {one.level for one in made} <= {"error", "warning", "notice"}


def test_markdown_fits_a_comment(report: ComparisonReport) -> None:
    text = markdown.render(compose(report))
    assert len(text) < 65_536
    assert "🛑 Gate failed: " in text
    assert "Gate passed: " in text
    assert text.count("<details>") == text.count("</details>")
    assert len(markdown.render(compose(report), 4000)) <= 4000


@pytest.mark.parametrize("name", COMPARISON.charts.names if COMPARISON.charts else ())
def test_charts_are_there_by_their_names(name: str, report: ComparisonReport) -> None:
    charts = charts_called(report.comparison, name)
    assert bool(charts) == (name != "kvthread")  # of which no line tells in these logs
    assert all(chart.name == name for _, chart in charts)
    if name in ("timeline", "levels"):
        assert [arm for arm, _ in charts] == ["stock", "rotated"]


def test_published_tables_have_a_page(fixtures: Path) -> None:
    tables = sorted((fixtures / "published").glob("*.csv"))
    if not tables:
        pytest.skip("there are no published tables among the fixtures")
    report = ComparisonReport(compare(read_arms([parse_arm(str(tables[0]))])))
    html = render(compose(report))
    assert "Compaction statistics" in html
    assert json.dumps(report.comparison.names[0])[1:-1] in html


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("@x", "'@x"),
        ("-x", "'-x"),
        ("-1.5", "-1.5"),
        ("+2e-3", "+2e-3"),
        ("a=b", "a=b"),
        (-1.5, -1.5),
    ],
)
def test_no_cell_is_a_formula(value: object, cell: object) -> None:
    assert as_text(value) == cell
