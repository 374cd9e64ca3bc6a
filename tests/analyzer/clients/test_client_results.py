"""Results of load programs: fio's JSON, rados bench as text (whole and cut) and as JSON."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.clients.client_results import ClientResults, ResultKind, parse_size, read_fio
from lsmlens.analyzer.clients.rados_bench import read_rados_bench, read_rados_bench_json

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
NUMBER = st.integers() | st.floats() | st.text(max_size=4) | ANY_JSON
FIGURES = ANY_JSON | st.fixed_dictionaries(
    {"total_ios": NUMBER},
    optional={
        **dict.fromkeys(("iops", "bw", "bw_bytes", "io_bytes", "runtime"), NUMBER),
        "clat_ns": ANY_JSON | st.fixed_dictionaries({"mean": NUMBER, "percentile": st.dictionaries(st.text(), NUMBER)}),
    },
)
FIO_LIKE = ANY_JSON | st.fixed_dictionaries(
    {"jobs": ANY_JSON | st.lists(ANY_JSON | st.fixed_dictionaries({"write": FIGURES, "job options": ANY_JSON}))}
)
BENCH_NAMES = ("concurrent_ios", "total_time_run", "total_writes_made", "write_size", "bandwidth", "average_latency")
BENCH_LIKE = ANY_JSON | st.fixed_dictionaries(
    {}, optional={**dict.fromkeys(BENCH_NAMES, NUMBER), "datas": st.lists(st.dictionaries(st.text(), NUMBER))}
)


@pytest.fixture
def bench(fixtures: Path) -> str:
    return (fixtures / "osd-stock" / "A_radosbench.out").read_text()


def fio(*jobs: Any, **more: Any) -> ClientResults:
    return read_fio({"fio version": "fio-3.33", "jobs": list(jobs), **more})


def test_real_fio(fixtures: Path) -> None:
    read = read_fio(json.loads((fixtures / "osd-stock" / "fio_B.json").read_text()), "fio_B.json")
    (only,) = read.results  # read and trim did nothing
    assert (only.kind, only.source, only.operation, only.job) == (ResultKind.FIO, "fio_B.json", "write", "randw")
    assert (only.operations, only.total_bytes, only.runtime_seconds) == (300_000, 300_000 * 4096, 60.634)
    assert (only.iops, only.iops_min, only.iops_max, only.iops_stddev) == (4947.719101, 1886, 7866, 1004.584387)
    assert only.bytes_per_second == 20265857
    assert only.iops == pytest.approx(300_000 / 60.634, abs=1e-5)
    assert (only.block_bytes, only.depth, only.processes, only.errors) == (4096, 32, None, 0)
    assert only.latency_mean_seconds == pytest.approx(0.006463393866607)  # "mean" : 6463393.866607 ns
    assert (only.latency_min_seconds, only.latency_max_seconds) == (4.8572e-05, 0.463924807)
    assert only.latency_percentiles_seconds[99.0] == 0.056885248
    assert only.latency_percentiles_seconds[99.99] == 0.379584512
    assert len(only.latency_percentiles_seconds) == 17
    assert (only.is_complete, read.left_out) == (True, 0)


def test_fio_jobs_and_directions_are_results_of_their_own() -> None:
    job = {
        "jobname": "mixed",
        "read": {"total_ios": 5, "iops": 2.5},
        "write": {"total_ios": 3},
        "trim": {"total_ios": 0},
    }
    other = {"jobname": "b", "error": 5, "job options": {"bs": "1M"}, "write": {"iops": 7.0}}
    shared = {"global options": {"bs": "4k,64k", "iodepth": "8", "numjobs": "2"}}
    results = fio(job, other, **shared).results
    assert [(one.job, one.operation, one.block_bytes) for one in results] == [
        ("mixed", "read", 4096),
        ("mixed", "write", 65536),
        ("b", "write", 1 << 20),
    ]
    assert [(one.depth, one.processes, one.errors) for one in results] == [(8, 2, 0), (8, 2, 0), (8, 2, 5)]


def test_fio_2_units() -> None:
    clat = {"min": 10, "max": 2000, "mean": 250.5, "percentile": {"50.000000": 200, "0.00": 0}}
    figures = {"io_bytes": 40, "bw": 20, "iops": 5.0, "runtime": 2000, "total_ios": 10, "clat": clat}
    (only,) = fio({"jobname": "a", "read": figures}).results
    assert (only.total_bytes, only.bytes_per_second, only.runtime_seconds) == (40960, 20480, 2.0)
    assert only.latency_mean_seconds == pytest.approx(0.0002505)
    assert only.latency_max_seconds == 0.002
    assert only.latency_percentiles_seconds == {50.0: 0.0002}


def test_fio_sum_over_clients_is_left_out() -> None:
    stats = [{"jobname": name, "write": {"total_ios": 1}} for name in ("a", "a", "All clients")]
    assert [one.job for one in read_fio({"client_stats": stats}).results] == ["a", "a"]


def test_fio_jobs_not_understood_are_counted() -> None:
    assert fio(3, {"jobname": "x"}, None).left_out == 3
    assert read_fio([]).left_out == read_fio({"jobs": 4}).left_out == 1


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4k", 4096),
        ("4096", 4096),
        ("1M", 1 << 20),
        ("4KiB", 4096),
        ("2g", 2 << 30),
        ("4q", None),
        ("", None),
        (4, None),
    ],
)
def test_sizes(text: object, size: int | None) -> None:
    assert parse_size(text) == size


def test_real_rados_bench(bench: str) -> None:
    (only,) = read_rados_bench(bench, "A_radosbench.out").results
    assert (only.kind, only.operation, only.is_complete) == (ResultKind.RADOS_BENCH, "write", True)
    assert (only.operations, only.total_bytes, only.runtime_seconds) == (60_000, 60_000 * 4096, 21.4173)
    assert (only.iops, only.iops_stddev, only.iops_max, only.iops_min) == (2801, 556.297, 3803, 1689)
    # 60000 * 4096 bytes / 21.4173 s / 2^20 = 10.9433, as printed
    assert only.bytes_per_second == 10.9433 * 2**20
    assert only.bytes_per_second == pytest.approx(60_000 * 4096 / 21.4173, rel=1e-5)
    assert (only.block_bytes, only.object_bytes, only.depth) == (4096, 4096, 16)
    assert (only.latency_mean_seconds, only.latency_stddev_seconds) == (0.00571014, 0.0063564)
    assert (only.latency_max_seconds, only.latency_min_seconds) == (0.180205, 0.00104472)


def test_rados_bench_cut_before_its_summary(bench: str) -> None:
    (only,) = read_rados_bench(bench[: bench.index("Total time run")]).results
    #    21      16     58730     58714   10.9197   6.59766   0.0362281  0.00571768
    assert not only.is_complete
    assert (only.operation, only.operations, only.runtime_seconds) == ("write", 58714, 21)
    assert only.iops == pytest.approx(58714 / 21)
    assert only.bytes_per_second == 10.9197 * 2**20
    assert only.total_bytes == 58714 * 4096
    assert only.latency_mean_seconds == 0.00571768
    # 2026-11-20T22:56:56.809190+0000 min lat: 0.00104472 max lat: 0.180205 avg lat: 0.00560962
    assert (only.latency_min_seconds, only.latency_max_seconds) == (0.00104472, 0.180205)
    assert (only.iops_stddev, only.latency_stddev_seconds) == (None, None)


def test_rados_bench_torn_within_a_line(bench: str) -> None:
    torn = bench[: bench.index("0.00571768") + 4]  # "   21 … 0.00": not a mean of 0
    (only,) = read_rados_bench(torn).results
    assert (only.operations, only.latency_mean_seconds) == (57025, 0.00560962)


def test_rados_bench_cut_within_its_summary(bench: str) -> None:
    (only,) = read_rados_bench(bench[: bench.index("Average IOPS")]).results
    assert (only.is_complete, only.operations, only.block_bytes) == (False, 58714, 4096)


def test_rados_bench_cut_after_its_first_line(bench: str) -> None:
    (only,) = read_rados_bench(bench[: bench.index("Object prefix")]).results
    assert (only.is_complete, only.depth, only.block_bytes, only.operations) == (False, 16, 4096, None)


def test_every_cut_of_a_real_rados_bench_is_read(bench: str) -> None:
    for length in range(len(bench)):
        for only in read_rados_bench(bench[:length]).results:
            assert only.operations is None or only.operations <= 60_000


def test_write_and_read_runs_in_one_text(bench: str) -> None:
    read = "hints = 1\n" + bench[bench.index("  sec Cur ops") :].replace("writes made", "reads made").replace(
        "Write size", "Read size"
    ).replace("Average IOPS:           2801", "Average IOPS:           9000")
    results = read_rados_bench(bench + read + bench).results
    assert [(one.operation, one.iops, one.block_bytes) for one in results] == [
        ("write", 2801, 4096),
        ("read", 9000, 4096),
        ("write", 2801, 4096),
    ]


def test_older_latency_names() -> None:
    text = (
        "Total time run:         10.5\nTotal reads made:      100\nRead size:    4194304\nAverage Latency:       0.25\n"
    )
    (only,) = read_rados_bench(text).results
    assert (only.operation, only.latency_mean_seconds, only.total_bytes) == ("read", 0.25, 100 << 22)


def test_rados_bench_json_has_numbers_in_quotes() -> None:
    document = {
        "concurrent_ios": "16",
        "object_size": "4096",
        "op_size": "4096",
        "datas": [{"sec": "1", "finished": "90", "avg_bw": "0.351562", "avg_lat": "0.010000"}],
        "total_time_run": "2.000000",
        "total_writes_made": "200",
        "write_size": "4096",
        "bandwidth": "0.390625",
        "average_iops": "100",
        "average_latency": "0.020000",
    }
    (only,) = read_rados_bench_json(document).results
    assert (only.operation, only.is_complete, only.operations, only.depth) == ("write", True, 200, 16)
    assert (only.bytes_per_second, only.latency_mean_seconds) == (200 * 4096 / 2, 0.02)
    cut = {name: value for name, value in document.items() if not name.startswith(("total", "average", "bandwidth"))}
    (only,) = read_rados_bench_json(cut).results
    assert (only.is_complete, only.operations, only.iops, only.latency_mean_seconds) == (False, 90, 90, 0.01)
    assert read_rados_bench_json({"a": 1}).left_out == read_rados_bench_json(3).left_out == 1


def test_text_that_is_no_result() -> None:
    assert read_rados_bench("") == read_rados_bench("Removed 60000 objects\n") == ClientResults()


@given(FIO_LIKE, BENCH_LIKE)
def test_any_json_is_read(fio_like: Any, bench_like: Any) -> None:
    for document in (fio_like, bench_like):
        for one in (*read_fio(document).results, *read_rados_bench_json(document).results):
            assert one.operations is None or one.operations >= 0


@given(st.text() | st.lists(st.from_regex(r"(Total|Max|Min|Average) [a-zL]{1,8}(\(s\))?: [\d.e-]{1,6}\n")).map("".join))
def test_any_text_is_read(text: str) -> None:
    read_rados_bench(text)


def test_fio_tells_when_it_ended(fixtures: Path) -> None:
    (only,) = read_fio(json.loads((fixtures / "osd-stock" / "fio_B.json").read_text())).results
    assert only.ended_micros == 1_795_215_480_212_000  # "timestamp_ms" : 1795215480212


def test_jobs_of_several_groups_ended_at_unknown_times() -> None:
    write = {"total_ios": 1, "iops": 1.0}
    read = fio({"jobname": "a", "groupid": 0, "write": write}, {"jobname": "b", "groupid": 1, "write": write},
               timestamp_ms=1_795_215_480_212)  # fmt: skip
    assert [result.ended_micros for result in read.results] == [None, None]


def test_rados_bench_tells_each_second(bench: str) -> None:
    (result,) = read_rados_bench(bench).results
    assert len(result.latency_by_second) == 21
    # 2026-11-20T22:56:56.809190+0000 min lat: … stands before the row of second 20
    moments = [moment for moment, _ in result.latency_by_second]
    assert moments[19] == 1_795_215_416_809_190
    assert {after - before for before, after in pairwise(moments)} == {1_000_000}
    finished = [2436, 5021, 8149]
    averages = [0.00654587, 0.00636337, 0.00588622]
    second = (averages[1] * finished[1] - averages[0] * finished[0]) / (finished[1] - finished[0])
    assert result.latency_by_second[1][1] == pytest.approx(second)
    assert result.ended_micros == moments[19] - 20_000_000 + 21_417_300


def test_rados_bench_without_a_zone_is_of_no_known_time(bench: str) -> None:
    (result,) = read_rados_bench(bench.replace("T22:56:56.809190+0000", " 22:56:56.809190")).results
    assert result.latency_by_second == ()
    assert result.ended_micros is None
