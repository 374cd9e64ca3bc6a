"""The published table: its arithmetic by hand, and against what the published parser printed."""

from collections.abc import Callable
from dataclasses import astuple, fields
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import measure
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.measures.compaction_statistics import CompactionStatistics, statistics_of
from lsmlens.analyzer.metrics import LABELS, sums_of
from lsmlens.analyzer.runs.jobs import Job
from lsmlens.analyzer.runs.selection import Selection

from tests import jobs

MIB = 1048576


def compaction(micros: int, size: int, records_in: int, records_out: int, **more: int) -> Job:
    return jobs.compaction(size, micros=micros, input_records=records_in, output_records=records_out, **more)


def sums_of_rows(*rows: Job) -> dict[str, float]:
    return sums_of(jobs.jobs(*rows)).row(0, named=True)


def statistics(*rows: Job, duration: float | None = 10.0) -> CompactionStatistics:
    return statistics_of(sums_of_rows(*rows), duration)


def test_the_labels_are_the_published_ones_in_their_order() -> None:
    assert list(LABELS.values())[:12] == [
        "Total OSD Log Duration (seconds)",
        "Number of Compaction Events",
        "Avg Compaction Time (seconds)",
        "Total Compaction Time (seconds)",
        "Avg Output Size: (MB)",
        "Total Output Size: (MB)",
        "Total Input Records",
        "Total Output Records",
        "Avg Output Throughput (MB/s)",
        "Avg Input Records/second",
        "Avg Output Records/second",
        "Avg Output/Input Ratio",
    ]
    assert list(LABELS) == [field.name for field in fields(CompactionStatistics)]


def test_one_compaction() -> None:
    # half a second, 3 MiB: 6 MiB/s; 1000 records in: 2000/s; 250 out: 500/s, a quarter
    assert statistics(compaction(500_000, 3 * MIB, 1000, 250)) == CompactionStatistics(
        10.0, 1, 0.5, 0.5, 3.0, 3.0, 1000, 250, 6.0, 2000.0, 500.0, 0.25, 0.25
    )


def test_means_are_of_compactions_not_of_sums() -> None:
    # 1 s, 2 MiB, 100 -> 50: 2 MiB/s, 100/s, 50/s, 0.5.  4 s, 4 MiB, 400 -> 400: 1 MiB/s, 100/s, 100/s, 1.0.
    said = statistics(compaction(1_000_000, 2 * MIB, 100, 50), compaction(4_000_000, 4 * MIB, 400, 400), duration=None)
    assert said == CompactionStatistics(None, 2, 2.5, 5.0, 3.0, 6.0, 500, 450, 1.5, 100.0, 75.0, 0.75, 0.9)


def test_nothing_has_no_means() -> None:
    assert statistics() == CompactionStatistics(10.0, 0, None, 0.0, None, 0.0, 0, 0, None, None, None, None, None)


def test_a_compaction_of_no_time_is_left_out_of_the_rates_alone() -> None:
    said = statistics(compaction(0, MIB, 100, 50), compaction(1_000_000, 2 * MIB, 100, 100))
    assert said == CompactionStatistics(10.0, 2, 0.5, 1.0, 1.5, 3.0, 200, 150, 2.0, 100.0, 100.0, 0.75, 0.75)


def test_a_compaction_without_records_is_left_out_of_the_ratio_alone() -> None:
    said = statistics(compaction(1_000_000, 2 * MIB, 0, 0), compaction(1_000_000, 4 * MIB, 100, 100))
    assert said == CompactionStatistics(10.0, 2, 1.0, 2.0, 3.0, 6.0, 100, 100, 3.0, 50.0, 50.0, 1.0, 1.0)


def test_only_such_compactions_have_no_means() -> None:
    said = statistics(compaction(0, 0, 0, 0))
    assert (said.avg_compaction_seconds, said.avg_output_size_mib) == (0.0, 0.0)
    assert said.avg_output_throughput_mib_per_second is None
    assert said.avg_input_records_per_second is None
    assert said.avg_output_records_per_second is None
    assert said.avg_output_input_ratio is None
    assert said.output_input_ratio_of_sums is None


def test_what_was_left_out_is_counted_and_said() -> None:
    measured = measure(jobs.run_of(compaction(0, MIB, 100, 50), compaction(10, MIB, 0, 0)), Selection())
    assert (measured.sums["timed_compactions"], measured.sums["weighed_compactions"]) == (1, 1)
    assert any("1 compaction of 0 µs" in note for note in measured.notes)
    assert any("1 compaction without input records" in note for note in measured.notes)


def test_bytes_apart_are_not_in_the_published_size() -> None:
    said = statistics(compaction(1_000_000, MIB, 1, 1, blobs=MIB, proximal=MIB))
    assert said.total_output_size_mib == 1.0


def test_sums_of_logs_are_the_sums_of_their_compactions() -> None:
    rows = [compaction(1_000 * at, 7_000 * at, 30 * at, 20 * at) for at in range(20)]
    first, second, whole = sums_of_rows(*rows[:7]), sums_of_rows(*rows[7:]), sums_of_rows(*rows)
    merged = statistics_of({name: first[name] + second[name] for name in first}, 1.0)
    assert merged.compaction_events == 20
    for one, expected in zip(astuple(merged), astuple(statistics_of(whole, 1.0)), strict=True):
        assert one == pytest.approx(expected, rel=1e-12)


def published(text: str) -> dict[str, float]:
    rows = [line.split("\t") for line in text.splitlines()[1:13]]
    return {label: float(value) for label, value in rows}


@pytest.mark.parametrize("name", ["osd-stock", "osd-spillover", "osd-reef"])
def test_the_published_parser_says_the_same(name: str, fixtures: Path) -> None:
    expected = published((fixtures / name / "ref_parser.txt").read_text())
    assert len(expected) == 12
    (one,) = analyze([str(fixtures / name / "ceph-osd.0.log.gz")]).runs
    for field, label in LABELS.items():
        if label in expected:
            assert getattr(one.statistics, field) == pytest.approx(expected[label], rel=1e-12), label


def test_a_level_is_chosen_as_the_published_parser_does(fixtures: Path) -> None:
    path = str(fixtures / "rocksdb-7.8")
    levels = {
        level: analyze([path], Selection(level=level)).runs[0].statistics.compaction_events for level in (0, 1, 2, 3)
    }
    assert levels == {0: 0, 1: 14, 2: 21, 3: 0}


def test_a_bundle_of_several_osds_is_added_up_without_monitors(
    tmp_path: Path, log_text: Callable[[str], bytes]
) -> None:
    for name, source in (("ceph-osd.0.log", "osd-stock/ceph-osd.0"), ("ceph-osd.1.log", "osd-spillover/ceph-osd.0")):
        text = log_text(f"{source}.log.gz")
        (tmp_path / name).write_bytes(text if name == "ceph-osd.0.log" else text.replace(b"osd.0", b"osd.1"))
    (tmp_path / "ceph-mon.a.log").write_bytes(log_text("osd-stock/ceph-mon.a.log.gz"))
    analysis = analyze([str(tmp_path)])
    assert analysis.counted_in_total == ("osd.0", "osd.1")
    total = analysis.total_statistics
    assert total is not None
    assert total.compaction_events == 32
    assert total.log_duration_seconds == pytest.approx(286.92 + 149.08)
    assert total.avg_output_input_ratio == pytest.approx((18 * 0.2781560200049379 + 14 * 0.23297688813723538) / 32)


def test_one_run_has_no_total(fixtures: Path) -> None:
    analysis = analyze([str(fixtures / "osd-reef" / "ceph-osd.0.log.gz")])
    assert (analysis.total, analysis.total_statistics, analysis.counted_in_total) == (None, None, ())


def test_monitors_alone_are_added_up(tmp_path: Path, log_text: Callable[[str], bytes]) -> None:
    text = log_text("osd-stock/ceph-mon.a.log.gz")
    (tmp_path / "ceph-mon.a.log").write_bytes(text)
    other = log_text("osd-container/ceph-mon.a.log.gz").replace(b"mon.a", b"mon.b")
    (tmp_path / "ceph-mon.b.log").write_bytes(other)
    assert analyze([str(tmp_path)]).counted_in_total == ("mon.a", "mon.b")
