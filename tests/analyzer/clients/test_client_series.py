"""What load generators measured over time: fio's logs put together and placed by its JSON, rados bench's seconds."""

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.bundles.companions import Companion
from lsmlens.analyzer.bundles.roles import Role
from lsmlens.analyzer.clients.client_series import ClientSeries, client_series, latencies
from lsmlens.analyzer.clients.fio_logs import Measure, read_fio_log
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.units import MICROS

Place = Callable[..., tuple[ClientSeries, ...]]


@pytest.fixture(scope="module")
def osd(fixtures: Path) -> RunAnalysis:
    (run,) = analyze([str(fixtures / "osd-small-db")]).runs
    return run


@pytest.fixture(scope="module")
def document(fixtures: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress((fixtures / "osd-small-db/fio_averaged.json.gz").read_bytes()))
    return found


@pytest.fixture
def placed(fixtures: Path) -> Place:
    """Real logs beside the documents given."""

    def place(*documents: dict[str, Any], names: tuple[str, ...] = ("averaged_lat.1.log",)) -> tuple[ClientSeries, ...]:
        files = [fixtures / "osd-small-db" / name for name in names]
        logs = [
            Companion(f"d/{one.name}", "d", Role.FIO_LOG, read_fio_log([one.read_bytes()], one.name)) for one in files
        ]
        beside = [Companion(f"d/{at}.json", "d", Role.FIO_RESULT, one) for at, one in enumerate(documents)]
        return client_series(logs, [*beside, Companion("e/0.json", "e", Role.FIO_RESULT, {"jobs": [{}]})])

    return place


def of(osd: RunAnalysis, name: str) -> ClientSeries:
    (one,) = (one for one in osd.beside.client_series if one.source.endswith(f"/{name}"))
    return one


def test_processes_that_ran_at_once_are_one_series(osd: RunAnalysis, fixtures: Path) -> None:
    """fio's own summary is held against: the mean latency, and the bytes per second of both."""
    results = [one for one in osd.beside.client_results if one.job == "averaged"]
    bandwidth = of(osd, "averaged_bw.1.log")
    assert (bandwidth.logs, bandwidth.operation, bandwidth.measure) == (2, "write", Measure.BANDWIDTH)
    mean = sum(bandwidth.values) / len(bandwidth.values)
    assert mean == pytest.approx(sum(one.bytes_per_second or 0.0 for one in results), rel=0.02)
    iops = of(osd, "averaged_iops.1.log")
    assert sum(iops.values) / len(iops.values) == pytest.approx(sum(one.iops or 0.0 for one in results), rel=0.02)
    latency = of(osd, "averaged_clat.1.log")
    by_rate = sum(a * b for a, b in zip(latency.values, iops.values, strict=True)) / sum(iops.values)
    weighted = sum((one.latency_mean_seconds or 0.0) * (one.operations or 0) for one in results)
    assert by_rate == pytest.approx(weighted / sum(one.operations or 0 for one in results), rel=0.1)


def test_placed_by_the_document(osd: RunAnalysis) -> None:
    """The log with times since 1970 was begun in the same second, and tells how far off the others may be."""
    true = of(osd, "epoch_lat.log")
    assert true.placement == "log_unix_epoch"
    assert true.began_micros == 1795268441_000_000  # its first window ends at …441.534, and lasted 0.5 s
    for name in ("averaged_lat.1.log", "single_lat.1.log"):
        one = of(osd, name)
        assert one.placement == "timestamp_ms less runtime of its fio JSON"
        assert one.began_micros == pytest.approx(1795268441_034_000, abs=100_000)
        assert one.steps()[0][:2] == (one.began_micros, (one.began_micros or 0) + MICROS)


def test_job_start_is_believed_first(placed: Place, document: dict[str, Any]) -> None:
    """fio 3.36 and later print it, per job; it holds for jobs that ran one after another as well."""
    jobs = [
        {**job, "job_start": 1_700_000_000_000 + 90_000 * at, "groupid": at} for at, job in enumerate(document["jobs"])
    ]
    late, early = placed({**document, "jobs": jobs[::-1]}, names=("averaged_lat.1.log", "averaged_lat.2.log"))
    assert (early.began_micros, late.began_micros) == (1_700_000_000_000_000, 1_700_000_090_000_000)
    assert early.placement == "job_start of its fio JSON"


def test_not_placed_in_time(placed: Place, document: dict[str, Any]) -> None:
    after_another = [{**job, "groupid": at} for at, job in enumerate(document["jobs"])]
    no_stamp = {name: value for name, value in document.items() if name != "timestamp_ms"}
    for documents, reason in (
        ((), "no fio JSON stands beside it"),
        ((document, document), "several fio results stand beside it"),
        (({**document, "jobs": after_another},), "its fio JSON has jobs that ran one after another, and no job_start"),
        ((no_stamp,), "its fio JSON has no timestamp_ms"),
    ):
        (one,) = placed(*documents)
        assert (one.began_micros, one.placement, one.steps()) == (None, reason, [])
        assert len(one.values) == 75
        assert latencies([one]) == []


def test_the_job_that_names_the_log_is_its_own(placed: Place, document: dict[str, Any]) -> None:
    renamed = [
        {**job, "jobname": "other", "job options": {**job["job options"], "write_lat_log": "/x/averaged"}}
        for job in document["jobs"]
    ]
    other = {**document, "timestamp_ms": 1, "jobs": [{"jobname": "other", "groupid": 0}]}
    (one,) = placed({**document, "jobs": renamed}, other)
    longest = max(job["write"]["runtime"] for job in document["jobs"])
    assert one.began_micros == (document["timestamp_ms"] - longest) * 1000


def test_latencies_without_a_unit_have_no_values() -> None:
    log = Companion("d/x_lat.1.log", "d", Role.FIO_LOG, read_fio_log([b"3, 14, 1, 4096\n"], "x_lat.1.log"))
    (one,) = client_series([log], [])
    assert one.values == ()
    assert "microseconds as in fio 2" in one.placement
    old = Companion("d/x.json", "d", Role.FIO_RESULT, {"fio version": "fio-2.2.10", "jobs": [{"jobname": "x"}]})
    (one,) = client_series([log], [old])
    assert one.values == (14e-6,)


def test_whole_latencies_before_their_parts(osd: RunAnalysis) -> None:
    names = [Path(one.source).name for one in latencies(osd.beside.client_series)]
    assert names == ["averaged_lat.1.log", "epoch_lat.log", "single_lat.1.log"]
    parts = [one for one in osd.beside.client_series if one.measure is not Measure.LATENCY]
    assert [one.measure for one in latencies(parts)] == [Measure.COMPLETION_LATENCY]


def test_rados_bench_has_its_seconds(fixtures: Path) -> None:
    osd = next(one for one in analyze([str(fixtures / "osd-stock")]).runs if not one.run.is_monitor)
    (series,) = osd.beside.client_series
    (bench,) = (one for one in osd.beside.client_results if one.latency_by_second)
    assert [(end, value) for _, end, value in series.steps()] == list(bench.latency_by_second)
    assert series.placement == "its own stamps"


def test_slow_seconds_are_held_against_jobs(osd: RunAnalysis) -> None:
    """Omap bursts of a few seconds are flushed and compacted, and the writes of fio wait with them."""
    found = {(one.what.rsplit("/", 1)[-1], one.during): one for one in osd.coincidences}
    slow = found["averaged_lat.1.log", "compactions"]
    assert slow.had_any
    assert slow.overlap.operations == 3
    assert slow.overlap.overlapping == 2
    assert slow.overlap.ratio is not None
    assert slow.overlap.ratio > 1.5
    assert slow.overlap.interval is not None
    assert slow.overlap.interval[0] == pytest.approx(1, abs=0.01)  # three seconds are too few to be sure of it


def test_without_its_json_a_log_is_no_coincidence(fixtures: Path, tmp_path: Path) -> None:
    for name in ("ceph-osd.0.log.gz", "averaged_lat.1.log"):
        shutil.copy(fixtures / "osd-small-db" / name, tmp_path)
    (run,) = analyze([str(tmp_path)]).runs
    assert [one.began_micros for one in run.beside.client_series] == [None]
    assert run.coincidences == ()
