"""Metrics for Prometheus: what real parsers make of them, names and units, and the dashboard that uses them."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.metrics import METRICS
from lsmlens.reports.openmetrics import UNITS, exported_name, names, to_history, to_openmetrics
from lsmlens.reports.watch import COUNTED
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

ROOT = Path(__file__).resolve().parents[2]
NAME = re.compile(r"\blsmlens_[a-z0-9_]+")
LABELS = {"run", "column_family", "code", "severity", "ceph_version", "rocksdb_version"}


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyze([str(ROOT / "fixtures/osd-stock")])


def test_both_parsers_read_the_same(analysis: Analysis) -> None:
    text = to_openmetrics(analysis)
    assert text.endswith("\n# EOF\n")
    found = {
        parse.__module__: {
            (sample.name, *sorted(sample.labels.items())): sample.value
            for family in parse(text)
            for sample in family.samples
        }
        for parse in (open_metrics, prometheus)
    }
    first, second = found.values()
    assert first == second
    run = next(one for one in analysis.runs if one.run.name == "osd.0")
    label = ("run", "osd.0")
    assert first["lsmlens_write_amplification_lsm_ratio", label] == run.total.write_amplification
    assert first["lsmlens_total_output_size_bytes", label] == 1480097824
    assert first["lsmlens_kv_commit_seconds", label] == pytest.approx(0.004616213)
    assert first["lsmlens_flush_bytes", label] == sum(
        value for (name, *labels), value in first.items()
        if name == "lsmlens_column_family_flush_bytes" and label in labels
    )  # fmt: skip
    assert first["lsmlens_log_end_timestamp_seconds", label] == pytest.approx(1795215667.681)


def test_findings(analysis: Analysis) -> None:
    samples = [sample for family in open_metrics(to_openmetrics(analysis)) for sample in family.samples]
    of_osd = [sample for sample in samples if sample.labels["run"] == "osd.0"]
    codes = {sample.labels["code"] for sample in of_osd if sample.name == "lsmlens_finding_info"}
    run = next(one for one in analysis.runs if one.run.name == "osd.0")
    assert codes == {one.code for one in run.findings}
    assert sum(sample.value for sample in of_osd if sample.name == "lsmlens_findings") == len(run.findings)


def test_names_follow_the_conventions(analysis: Analysis) -> None:
    for name in names():
        assert re.fullmatch(r"lsmlens_[a-z0-9]+(_[a-z0-9]+)*", name)
        assert not re.search(r"mib|gib|micros|millis|share", name), name
        assert not name.endswith(("_total", "_count", "_sum", "_bucket")), name
        assert not any(f"_{unit}_" in name for unit in UNITS) or "_per_" in name or "timestamp" in name, name
    exported = [exported_name(metric)[0] for metric in METRICS]
    assert len(exported) == len(set(exported))
    used = {sample.name for family in open_metrics(to_openmetrics(analysis)) for sample in family.samples}
    assert used <= names()
    labels = {
        name for family in open_metrics(to_openmetrics(analysis)) for one in family.samples for name in one.labels
    }
    assert labels <= LABELS


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb", "ö{}"])
def test_any_name_of_a_run_is_read_back(analysis: Analysis, name: str) -> None:
    one = analysis.runs[0]
    before = one.run.name
    one.run.name = name
    try:
        text = to_openmetrics(replace(analysis, runs=(one,)))
    finally:
        one.run.name = before
    assert {sample.labels["run"] for family in open_metrics(text) for sample in family.samples} == {name}


def test_the_dashboard_uses_names_that_there_are() -> None:
    dashboard = json.loads((ROOT / "docs/grafana-dashboard.json").read_text())
    used = set(NAME.findall(json.dumps([*dashboard["panels"], *dashboard["templating"]["list"]])))
    assert len(used) >= 15
    assert used <= names()
    places = [panel["gridPos"] for panel in dashboard["panels"]]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    assert len({(place["x"], place["y"]) for place in places}) == len(places)
    grouped = re.findall(r"by \(([^)]*)\)|\{\{(\w+)\}\}", json.dumps(dashboard))
    assert {label for pair in grouped for said in pair if said for label in said.split(", ")} <= LABELS


def test_names_in_the_documentation_are_names_that_there_are() -> None:
    text = (ROOT / "docs/monitoring.md").read_text()
    said = {name for name in NAME.findall(text) if not name.endswith("_")}
    watched = {f"lsmlens_watched_{name}_total" for name in COUNTED}
    assert len(said) >= 5
    assert said <= names() | watched
    assert said & watched
    (rules,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert len(yaml.safe_load(rules)["groups"][0]["rules"]) == 3


def test_history_is_by_hour_and_adds_up_to_the_log() -> None:
    analysis = analyze([str(ROOT / "fixtures/osd-stock"), str(ROOT / "fixtures/osd-reef")])
    text = to_history(analysis)
    samples = [one for family in open_metrics(text) for one in family.samples]
    several = 0
    for run in analysis.runs:
        hours = [
            (float(one.timestamp), one.value)
            for one in samples
            if one.name == "lsmlens_compaction_events" and one.labels == {"run": run.run.name}
        ]
        moments = [moment for moment, _ in hours]
        assert moments == sorted(set(moments))
        assert sum(value for _, value in hours) == run.statistics.compaction_events
        several += len(hours) > 1
    assert several  # a log that goes on into the next hour
    assert {one.name for one in samples} <= names()
