"""Observations: a bundle, what was saved of it, and a table say the same of what they all have."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.comparison.arms import is_table, observe_document, observe_table, parse_arm, read_arms
from lsmlens.analyzer.comparison.client_jobs import client_samples
from lsmlens.analyzer.comparison.observations import Observation, observe_bundle
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.metrics import METRICS
from lsmlens.reports.analysis_json import to_json


def document(analysis: Analysis) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(to_json(analysis))
    return said


@pytest.fixture(scope="module")
def stock(fixtures: Path) -> Observation:
    return observe_bundle(str(fixtures / "osd-stock"))


def test_values_are_those_of_the_analysis(stock: Observation, fixtures: Path) -> None:
    osd = analyze([str(fixtures / "osd-stock")]).counted[0]
    values = stock.values
    for name in osd.statistics.__slots__:
        assert values[name] == getattr(osd.statistics, name)
    assert values["write_amplification_lsm"] == osd.total.write_amplification
    assert values["flush_bytes.p-0"] == next(family.flush_bytes for family in osd.families if family.name == "p-0")
    assert osd.counters is not None
    assert values["kv_commit_seconds"] == osd.counters.kv_commit_seconds
    assert values["client_write_bytes"] == osd.counters.client_write_bytes
    counted = osd.counters
    assert counted.bluefs_wal_bytes_written is not None
    assert counted.bluefs_sst_bytes_written is not None
    assert counted.client_write_bytes is not None
    written = counted.bluefs_wal_bytes_written + counted.bluefs_sst_bytes_written
    assert values["metadata_bytes_per_client_byte"] == written / counted.client_write_bytes
    assert values["onode_hit_share"] == osd.counters.onode_hit_share
    written = osd.total.flush_bytes + osd.total.compaction_output_bytes
    assert values["table_bytes_per_client_byte"] == written / (osd.counters.client_write_bytes or 0)
    assert stock.runs == ("osd.0",)


def test_units_of_work(stock: Observation) -> None:
    values = stock.values
    assert values["compaction_seconds_per_flushed_gib"] == pytest.approx(
        values["total_compaction_seconds"] / (values["flush_bytes"] / 2**30)
    )
    assert values["table_bytes_per_record"] == pytest.approx(values["table_bytes"] / values["flushed_records"])
    assert values["table_bytes_per_record"] == pytest.approx(
        values["flush_bytes_per_record"] + values["compaction_bytes_per_record"]
    )
    assert values["compaction_busy_share"] == pytest.approx(
        values["total_compaction_seconds"] / values["log_duration_seconds"]
    )
    assert 0 < values["flush_survival_share"] < 1


@pytest.mark.parametrize(
    "name", ["osd-stock", "osd-reef", "osd-container", "osd-crash", "rocksdb-7.8", "osd-spillover"]
)
def test_a_saved_analysis_stands_for_its_bundle(name: str, fixtures: Path) -> None:
    bundle = observe_bundle(str(fixtures / name))
    saved = observe_document("saved.json", document(analyze([str(fixtures / name)])))
    assert dict(saved.values) == pytest.approx(dict(bundle.values))
    jobs = client_samples([[saved], [bundle]])
    assert jobs[0] == jobs[1]
    assert saved.notes == bundle.notes
    assert saved.versions == bundle.versions
    assert [one.findings for one in saved.daemons] == [one.findings for one in bundle.daemons]
    assert saved.windows is not None
    assert bundle.windows is not None
    whole = {column: list(values) for column, values in bundle.windows.columns.items() if "/" not in column}
    assert {column: list(values) for column, values in saved.windows.columns.items()} == whole


def test_several_daemons_are_added_up(fixtures: Path, tmp_path: Path) -> None:
    text = gzip.decompress((fixtures / "osd-spillover/ceph-osd.0.log.gz").read_bytes())
    for number in range(3):
        named = text.replace(b"osd.0", b"osd.%d" % number).replace(b"2026-11-20T", b"2026-11-1%dT" % number)
        named = named.replace(b'"time_micros": 179', b'"time_micros": 17%d' % number)
        (tmp_path / f"ceph-osd.{number}.log").write_bytes(named)
    one, three = observe_bundle(str(fixtures / "osd-spillover")), observe_bundle(str(tmp_path))
    assert three.runs == ("osd.0", "osd.1", "osd.2")
    for name in ("table_bytes", "compaction_events", "flushed_records", "log_duration_seconds", "flush_bytes.p-0"):
        assert three.values[name] == pytest.approx(3 * one.values[name]), name
    for name in ("write_amplification_lsm", "avg_output_input_ratio", "table_bytes_per_record"):
        assert three.values[name] == pytest.approx(one.values[name]), name
    assert three.windows is not None
    assert sum(three.windows.columns["compactions"]) == three.values["compaction_events"]
    saved = observe_document("saved.json", document(analyze([str(tmp_path)])))
    assert dict(saved.values) == pytest.approx(dict(three.values))


@pytest.mark.parametrize("name", ["full-speed", "rate-limited", "rgw-4k"])
def test_a_published_table_keeps_its_digits(name: str, fixtures: Path) -> None:
    text = (fixtures / f"published/pr51821-{name}.csv").read_text()
    header, *rows = [line.split(",") for line in text.splitlines()]
    found = observe_table("table", text)
    assert [arm for arm, _ in found] == header[1:]
    for column, (_, observation) in enumerate(found, 1):
        assert list(observation.printed.values()) == [row[column] for row in rows]
        assert [observation.values[name] for name in observation.printed] == [float(row[column]) for row in rows]
        assert observation.problems == ()


def test_what_the_known_parser_prints_is_a_table(fixtures: Path) -> None:
    text = (fixtures / "osd-stock/ref_parser.txt").read_text()
    assert is_table(text)
    ((_, observation),) = observe_table("ref_parser.txt", text)
    osd = analyze([str(fixtures / "osd-stock")]).counted[0]
    assert len(observation.printed) == 12
    for name in observation.printed:
        assert observation.values[name] == pytest.approx(getattr(osd.statistics, name), rel=1e-9)


def test_rows_that_are_not_known_are_counted() -> None:
    text = "metric,a,b\nTotal Output Size: (MB),1,2\nwrite_amplification_lsm,3,\nflush_bytes.p-0,7,x\nweather,1,2\n"
    (_, first), (_, second) = observe_table("table", text)
    assert first.values == {"total_output_size_mib": 1, "write_amplification_lsm": 3, "flush_bytes.p-0": 7}
    assert second.values == {"total_output_size_mib": 2}
    assert first.problems == ("1 row with unknown labels",)


@pytest.mark.parametrize("text", ["", "\n", "a,b\n1,2\n", "2026-11-20T22:56:20.761+0000 x 0 ceph version\n", '"'])
def test_what_is_no_table(text: str) -> None:
    assert not is_table(text)


def test_results_without_logs_are_an_observation(fixtures: Path, tmp_path: Path) -> None:
    (tmp_path / "fio_B.json").write_bytes((fixtures / "osd-stock/fio_B.json").read_bytes())
    found = observe_bundle(str(tmp_path))
    assert found.values == {}
    assert [one.job for one in found.client_results] == ["randw"]


def test_every_metric_is_told_by_some_path(fixtures: Path) -> None:
    paths = ("osd-stock", "osd-spillover", "rocksdb-filter", "rocksdb-current")
    told = {name for path in paths for name in observe_bundle(str(fixtures / path)).values}
    assert {metric.name for metric in METRICS} - told <= {"write_amplification_total", "user_bytes"}


def test_arms_tell_how_far_dumps_reach(fixtures: Path) -> None:
    arms = read_arms([parse_arm(str(fixtures / "osd-stock")), parse_arm(str(fixtures / "osd-spillover"))])
    notes = [" ".join(arm.observations[0].notes) for arm in arms]
    assert "statistics dumps reach over less than half of the log" in notes[0]
    assert "statistics dumps reach" not in notes[1]
