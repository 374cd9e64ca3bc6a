"""A look over a fleet: outliers among peers, findings once, drift, groups, and what `--where` leaves."""

from datetime import date
from pathlib import Path

import pytest
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.fleet.dataset import DataSet
from lsmlens.analyzer.fleet.overview import in_ranges, overview

from tests.fleets import put
from tests.jobs import compaction, flush

TRIGGER = "level0_file_num_compaction_trigger"


@pytest.fixture
def fleet(tmp_path: Path) -> DataSet:
    """Nine OSDs of one class and release; osd.4 writes three times as much, with another option, under more load."""
    made = DataSet.made_at(tmp_path / "fleet")
    for number in range(9):
        odd = number == 4
        jobs = [
            flush(1000, finished_at=5, input_records=300 if odd else 100),
            compaction((3 if odd else 1) * (900 + number), finished_at=6),
        ]
        findings = [("R05", Severity.WARNING, f"leak 0.{number + 1}")] if number != 3 else []
        options = {TRIGGER: "8" if odd else "4", "wal_dir": f"/var/lib/ceph-{number}"}
        put(made, f"osd.{number}", jobs, host=f"h{number // 5}", options=options, findings=findings)
    return made


def test_the_outlier_stands_out_with_what_differs(fleet: DataSet) -> None:
    (outlier,) = overview(fleet).outliers
    assert (outlier.daemon, outlier.host, outlier.peers) == ("osd.4", "h0", 9)
    amplification = next(one for one in outlier.deviations if one.metric.name == "write_amplification_lsm")
    assert amplification.value == pytest.approx(1 + 3 * 0.904)
    assert amplification.median == pytest.approx(1.905)
    # |x - median| of the nine: 0.000, 0.001 (twice), 0.002, 0.003 (three times), 0.005 …: their median is 0.003
    deviations = sorted(abs(1 + (0.9 + n / 1000) * (3 if n == 4 else 1) - 1.905) for n in range(9))
    assert amplification.score == pytest.approx(0.6745 * (amplification.value - 1.905) / deviations[4])
    assert outlier.differs == (f"{TRIGGER} of default 8, not 4", "takes 3 times their records")


def test_peers_are_of_one_class_and_release(fleet: DataSet) -> None:
    for number in range(10, 14):
        put(fleet, f"osd.{number}", [flush(1000), compaction(9000)], device_class="ssd")
    found = overview(fleet)
    assert [one.daemon for one in found.outliers] == ["osd.4"]
    assert found.unjudged == 4


def test_a_trifle_is_no_outlier(tmp_path: Path) -> None:
    fleet = DataSet.made_at(tmp_path / "alike")
    for number in range(9):
        put(fleet, f"osd.{number}", [flush(1000), compaction(1050 if number == 4 else 1000)])
    assert overview(fleet).outliers == ()


def test_most_being_alike_one_still_stands_out(tmp_path: Path) -> None:
    fleet = DataSet.made_at(tmp_path / "alike")
    for number in range(9):
        put(fleet, f"osd.{number}", [flush(1000), compaction(9000 if number == 4 else 1000)])
    assert [one.daemon for one in overview(fleet).outliers] == ["osd.4"]


def test_findings_stand_once_with_their_range(fleet: DataSet) -> None:
    (finding,) = overview(fleet).findings
    assert finding.code == "R05"
    assert in_ranges(finding.daemons) == "osd.0–2, osd.4–8"  # noqa: RUF001
    assert (finding.least, finding.greatest) == ("leak 0.1", "leak 0.9")


def test_drift_says_who_has_what_and_leaves_out_what_is_each_ones_own(fleet: DataSet) -> None:
    (drift,) = overview(fleet).drift
    assert drift.name == TRIGGER
    assert [(one.value, in_ranges(one.daemons)) for one in drift.values] == [("4", "osd.0–3, osd.5–8"), ("8", "osd.4")]  # noqa: RUF001


def test_groups_add_up_sums_not_ratios(fleet: DataSet) -> None:
    hosts = overview(fleet).groups["host"]
    assert hosts["host"].to_list() == ["h0", "h1"]
    assert hosts["daemons"].to_list() == [5, 4]
    written = 5000 + sum((900 + n) * (3 if n == 4 else 1) for n in range(5))
    assert hosts["write_amplification_lsm"][0] == pytest.approx(written / 5000)
    assert hosts["compaction_busy_share"][0] == pytest.approx(5 * 0.5 / (5 * 3600))


def test_days_and_repeated_readings(fleet: DataSet) -> None:
    put(fleet, "osd.0", [flush(1000), compaction(5000)], day=date(2026, 11, 21), options={TRIGGER: "4"})
    found = overview(fleet)
    assert found.days == (date(2026, 11, 20), date(2026, 11, 21))
    assert found.groups["day"]["daemons"].to_list() == [9, 1]
    assert found.daemons.filter(daemon="osd.0")["write_amplification_lsm"].item() == pytest.approx((2000 + 5900) / 2000)


def test_client_bytes_count_only_where_they_cover_all(tmp_path: Path) -> None:
    fleet = DataSet.made_at(tmp_path / "clients")
    put(fleet, "osd.0", [flush(1000)], client_bytes=500.0)
    put(fleet, "osd.1", [flush(1000)], host="h1")
    groups = overview(fleet).groups
    assert groups["host"]["table_bytes_per_client_byte"].to_list() == [2.0, None]
    assert groups["class"]["table_bytes_per_client_byte"].to_list() == [None]


@pytest.mark.parametrize(
    ("where", "daemons"), [("host = 'h1'", 4), ("daemon in ('osd.1', 'osd.4')", 2), ("day >= '2026-11-20'", 9)]
)
def test_where(fleet: DataSet, where: str, daemons: int) -> None:
    assert overview(fleet, where).daemons.height == daemons


@pytest.mark.parametrize(
    ("where", "said"),
    [("hots = 'h1'", "hots"), ("host = ", "--where"), ("host = 'h9'", "nothing to look over"), ("host", "--where")],
)
def test_where_that_cannot_be(fleet: DataSet, where: str, said: str) -> None:
    with pytest.raises(LsmlensError, match=said):
        overview(fleet, where)


def test_monitors_are_no_osds(fleet: DataSet) -> None:
    put(fleet, "mon.a", [flush(1)])
    assert "mon.a" not in overview(fleet).daemons["daemon"]


def test_an_empty_data_set_is_said(tmp_path: Path) -> None:
    with pytest.raises(LsmlensError, match="nothing to look over"):
        overview(DataSet.made_at(tmp_path / "empty"))


def test_the_same_number_in_two_clusters_is_two_osds(fleet: DataSet) -> None:
    put(fleet, "osd.3", [flush(1000)], cluster="b", findings=[("R05", Severity.WARNING, "leak 0.5")])
    found = overview(fleet)
    assert found.daemons.height == 10
    assert in_ranges(found.findings[0].daemons) == "b/osd.3, ceph/osd.0–2, ceph/osd.4–8"  # noqa: RUF001
