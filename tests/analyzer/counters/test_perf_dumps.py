"""Counters: names over the releases, the order of dumps, differences, and what they come to on real ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.bundles.roles import Role, recognise_json
from lsmlens.analyzer.counters.counter_series import CounterDelta, compare, deltas, in_series, went_down
from lsmlens.analyzer.counters.counter_summary import summarise
from lsmlens.analyzer.counters.perf_dumps import LongRunAverage, PerfDump, read_perf_dump

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
COUNTER = st.one_of(
    ANY_JSON,
    st.integers(0, 1000),
    st.fixed_dictionaries({"avgcount": st.integers(-5, 100) | ANY_JSON, "sum": st.floats() | ANY_JSON}),
)
NAMES = {
    "bluestore": ["kv_lat", "kv_sync_lat", "bluestore_txc", "txc_count", "onode_hits", "onode_misses"],
    "bluefs": ["bytes_written_wal", "bytes_written_sst", "slow_total_bytes", "db_total_bytes", "db_used_bytes"],
    "osd": ["op_w", "op_w_in_bytes", "op_r_latency"],
    "mclock-shard-queue-0": ["mclock_client_queue_len"],
    "objecter": ["map_epoch"],
}
DUMP_LIKE = ANY_JSON | st.fixed_dictionaries(
    {},
    optional={
        section: st.fixed_dictionaries({}, optional=dict.fromkeys(names, COUNTER)) | ANY_JSON
        for section, names in NAMES.items()
    },
)

# Three real counters of a 10.2 OSD.
JEWEL = (
    """{"osd": {"op_r": 1001, "op_r_out_bytes": 4198498304, "op_r_latency": {"avgcount": 1001, "sum": 5.321547421}}}"""
)


def dump(source: str = "", epoch: int | None = None, **counters: Any) -> PerfDump:
    document: dict[str, Any] = {"osd": counters}
    if epoch is not None:
        document["objecter"] = {"map_epoch": epoch}
    return read_perf_dump(document, source)


def lat(count: int, seconds: float) -> dict[str, Any]:
    return {"avgcount": count, "sum": seconds}


@pytest.fixture(scope="module")
def stock() -> dict[str, PerfDump]:
    folder = Path(__file__).resolve().parents[3] / "fixtures" / "osd-stock"
    read = {}
    for path in folder.glob("perf_dump.*.json"):
        name = path.name.split(".")[1]
        read[name] = read_perf_dump(json.loads(path.read_text()), name)
    return read


def test_jewel_without_mean() -> None:
    read = read_perf_dump(json.loads(JEWEL))
    assert read.number("osd.op_r") == 1001
    assert read.average("osd.op_r_latency") == LongRunAverage(1001, 5.321547421)
    assert read.mean_seconds("osd.op_r_latency") == pytest.approx(0.005316, abs=5e-7)  # 5.321547421 / 1001
    assert read.average("osd.op_r") is None
    assert read.number("osd.op_r_latency") is None


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("kv_lat", "kv_sync_lat"),
        ("kv_sync_lat", "kv_sync_lat"),
        ("submit_lat", "txc_submit_lat"),
        ("txc_submit_lat", "txc_submit_lat"),
        ("commit_lat", "txc_commit_lat"),
        ("throttle_lat", "txc_throttle_lat"),
        ("bluestore_txc", "txc_count"),
        ("bluestore_onode_hits", "onode_hits"),
        ("onode_hits", "onode_hits"),
        ("bluestore_pinned_onodes", "onodes_pinned"),
        ("bluestore_write_deferred_bytes", "issued_deferred_write_bytes"),
        ("deferred_write_ops", "submitted_deferred_writes"),
        ("bluestore_fragmentation_micros", "fragmentation_micros"),
    ],
)
def test_one_name_over_the_releases(printed: str, name: str) -> None:
    assert read_perf_dump({"bluestore": {printed: 3}}).counters == {f"bluestore.{name}": 3}


@pytest.mark.parametrize("order", [("submit_lat", "txc_submit_lat"), ("txc_submit_lat", "submit_lat")])
def test_newest_name_wins_where_both_are_there(order: tuple[str, str]) -> None:
    values = {"submit_lat": 1, "txc_submit_lat": 2}
    read = read_perf_dump({"bluestore": {name: values[name] for name in order}})
    assert read.number("bluestore.txc_submit_lat") == 2


def test_names_of_other_sections_stay() -> None:
    assert read_perf_dump({"mempool": {"bluestore_txc": 1}}).counters == {"mempool.bluestore_txc": 1}


def test_average_of_no_time_is_two_numbers(stock: dict[str, PerfDump]) -> None:
    # "osd_map_cache_miss_low_avg": {"avgcount": 0, "sum": 0}: no decimal point, no avgtime
    assert stock["end"].number("osd.osd_map_cache_miss_low_avg.sum") == 0
    assert stock["end"].average("osd.osd_map_cache_miss_low_avg") is None


def test_time_rewritten_without_decimal_point_is_time() -> None:
    assert read_perf_dump({"osd": {"op_latency": {"avgcount": 2, "sum": 4}}}).mean_seconds("osd.op_latency") == 2.0
    queue = {"wait": {"avgcount": 2, "sum": 4, "avgtime": 2}}
    assert read_perf_dump({"throttle-x": queue}).mean_seconds("throttle-x.wait") == 2.0


def test_what_is_no_counter_is_left_out_and_counted() -> None:
    read = read_perf_dump(
        {"osd": {"op": 1, "a": "x", "b": None, "c": True, "d": [], "e": {"avgcount": "1", "sum": 2}}, "x": 3, "y": []}
    )
    assert read.counters == {"osd.op": 1}
    assert read.left_out == 7
    assert read_perf_dump([]).left_out == 1
    assert read_perf_dump({"osd": {"a": float("nan"), "b": 10**400, "c": float("inf")}}).left_out == 3


def test_every_counter_of_a_real_dump_is_read(stock: dict[str, PerfDump]) -> None:
    assert {name: read.left_out for name, read in stock.items()} == dict.fromkeys(stock, 0)


def test_order_of_real_dumps(stock: dict[str, PerfDump]) -> None:
    (series,) = in_series(list(stock.values()))
    # Nothing was counted between the last phase and the end: their names decide.
    expected = ["start", "A_radosbench", "B_fio", "C_omap", "D_cleanup", "E_fio", "F_omap", "end"]
    assert [one.source for one in series] == expected
    assert in_series(list(reversed(stock.values()))) == in_series(list(stock.values()))
    assert not any(delta.went_down for delta in deltas(series))


def test_real_dumps_backwards_show_what_went_down(stock: dict[str, PerfDump]) -> None:
    back = compare(stock["B_fio"], stock["A_radosbench"])
    assert back.went_down
    assert "bluestore.kv_sync_lat" in back.went_down
    assert "bluefs.bytes_written_wal" in back.went_down
    assert back.number("osd.op_w") is None
    assert back.mean_seconds("bluestore.kv_sync_lat") is None
    assert back.per_second("osd.op_w") is None
    assert summarise(back).kv_sync_seconds is None
    assert summarise(back).db_used_bytes == stock["A_radosbench"].number("bluefs.db_used_bytes")  # a gauge stays


def test_difference_of_real_dumps(stock: dict[str, PerfDump]) -> None:
    # phases.txt: phase B took 61.2 s.
    delta = compare(stock["A_radosbench"], stock["B_fio"], seconds=61.2)
    assert delta.number("osd.op_w") == 359982 - 60003
    assert delta.per_second("osd.op_w") == pytest.approx(299979 / 61.2)
    # kv_sync_lat went from (8183, 20.953999318) to (11788, 77.179857775): 56.225858457 s / 3605
    assert delta.average("bluestore.kv_sync_lat") == LongRunAverage(3605, pytest.approx(56.225858457))  # type: ignore[arg-type]
    assert delta.mean_seconds("bluestore.kv_sync_lat") == pytest.approx(0.0155966, abs=5e-8)
    assert delta.per_second("bluestore.kv_sync_lat") == pytest.approx(3605 / 61.2)
    assert compare(stock["A_radosbench"], stock["B_fio"]).per_second("osd.op_w") is None


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_time_that_is_none_gives_no_rate(seconds: float) -> None:
    assert compare(dump(op=1), dump(op=3), seconds).per_second("osd.op") is None


def test_restart_splits_the_series_and_epochs_order_them() -> None:
    first = [dump("a", 11, op=2, op_latency=lat(2, 0.5)), dump("b", 11, op=9, op_latency=lat(9, 1.5))]
    second = [dump("c", 19, op=1, op_latency=lat(1, 0.1)), dump("d", 19, op=5, op_latency=lat(5, 0.7))]
    assert in_series([second[1], first[1], first[0], second[0]]) == (tuple(first), tuple(second))


def test_restart_is_seen_by_what_is_done_once() -> None:
    # Peering after a start: as often in both lives, but not in the same time. All else grew.
    life = dump("a", op=5, initial_latency=lat(96, 0.017708143))
    next_life = dump("b", op=7, initial_latency=lat(96, 0.187448089))
    assert went_down(life, next_life) == ("osd.initial_latency",)
    assert in_series([next_life, life]) == ((life,), (next_life,))


def test_gauge_may_go_down() -> None:
    before, after = dump(op=5, numpg=96), dump(op=6, numpg=64)
    assert not compare(before, after).went_down
    assert compare(before, after).number("osd.numpg") == -32


def test_counter_in_one_dump_only_has_no_difference() -> None:
    delta = compare(dump(op=5), dump(op=6, op_w=3, op_latency=lat(1, 1.0)))
    assert delta.number("osd.op_w") is None
    assert delta.average("osd.op_latency") is None


def test_summary_of_a_real_life(stock: dict[str, PerfDump]) -> None:
    summary = summarise(stock["end"])
    assert (summary.bluefs_wal_bytes_written, summary.bluefs_sst_bytes_written) == (7192866816, 4095897600)
    assert (summary.client_writes, summary.client_write_bytes, summary.client_reads) == (859708, 2703360051, 57)
    assert summary.onode_hit_share == pytest.approx(0.890014, abs=5e-7)  # 2033532 / (2033532 + 251300)
    # As Ceph's own avgtime, which it rounds down to nanoseconds:
    assert summary.kv_sync_seconds == pytest.approx(0.004852949, abs=1e-9)
    assert summary.kv_flush_seconds == pytest.approx(0.000236736, abs=1e-9)
    assert summary.kv_commit_seconds == pytest.approx(0.004616213, abs=1e-9)
    assert summary.transaction_commit_seconds == pytest.approx(0.020812595, abs=1e-9)
    assert summary.rocksdb_submit_sync_seconds == pytest.approx(0.003188539, abs=1e-9)
    assert (summary.slow_used_bytes, summary.db_used_share) == (0, None)  # one device: no share of its own
    assert summary.mclock_queue_lengths == {}
    assert summary.manual_compactions_completed is None  # not counted before 17.2.9
    assert summary.rocksdb_write_delay_sum_seconds is None  # rocksdb_perf is off


def test_client_bytes_of_phases_are_those_of_the_work(stock: dict[str, PerfDump]) -> None:
    (series,) = in_series(list(stock.values()))
    client_bytes = [summarise(delta).client_write_bytes for delta in deltas(series)]
    # 60,000 objects of 4 KiB and bench's own of 24 bytes; 300,000 writes of 4 KiB; omap and removals count nothing.
    assert client_bytes == [60_000 * 4096 + 24, 300_000 * 4096, 0, 0, 300_000 * 4096, 0, 0]
    omap = summarise(compare(stock["B_fio"], stock["C_omap"]))
    assert omap.bluefs_wal_bytes_written


def test_spillover_of_a_real_bundle(fixtures: Path) -> None:
    document = json.loads((fixtures / "osd-spillover" / "perf_dump.end.json").read_text())
    summary = summarise(read_perf_dump(document))
    assert summary.slow_used_bytes == 221_577_216
    assert (summary.db_used_bytes, summary.db_total_bytes) == (1_571_815_424, 2_147_475_456)
    assert summary.db_used_share == pytest.approx(0.731936, abs=5e-7)
    assert summary.slow_peak_bytes == 1_033_633_792  # max_bytes_slow: it has been worse
    # A dump of the same life: "slow_used_bytes": 738328576 and "max_bytes_slow": 443023360
    late = read_perf_dump({"bluefs": {"slow_used_bytes": 738328576, "max_bytes_slow": 443023360}})
    assert summarise(late).slow_peak_bytes == 738_328_576


def test_mclock_queues_add_up_over_shards() -> None:
    shards = {f"mclock-shard-queue-{shard}": {"mclock_client_queue_len": 3 + shard} for shard in range(2)}
    assert summarise(read_perf_dump({**shards, "osd": {"mclock_client_queue_len": 9}})).mclock_queue_lengths == {
        "client": 7
    }


def test_nothing_counted_is_none() -> None:
    summary = summarise(read_perf_dump({}))
    shares = (summary.onode_hit_share, summary.db_used_share)
    assert shares == (None, None)
    assert summary.kv_syncs is None


@given(st.lists(DUMP_LIKE, min_size=2, max_size=4))
def test_any_json_is_read_ordered_and_summed_up(documents: list[Any]) -> None:
    dumps = [read_perf_dump(document, str(number)) for number, document in enumerate(documents)]
    series = in_series(dumps)
    assert sorted(one.source for part in series for one in part) == sorted(one.source for one in dumps)
    pairs = [delta for part in series for delta in deltas(part)]
    everything: list[PerfDump | CounterDelta] = [*dumps, *pairs, compare(dumps[0], dumps[1], 3.0)]
    for counted in everything:
        summary = summarise(counted)
        _ = summary.onode_hit_share, summary.db_used_share
    assert not any(delta.went_down for delta in pairs)


@pytest.mark.parametrize("as_list", [False, True], ids=["one set of labels", "several"])
def test_counter_dump_is_read_as_perf_dump(as_list: bool, fixtures: Path) -> None:
    """A real perf dump, put into the form that `counter dump` gives the same counters."""
    document = json.loads((fixtures / "osd-stock" / "perf_dump.end.json").read_text())
    labelled = {"labels": {"id": "client.4"}, "counters": {"kv_sync_lat": {"avgcount": 1, "sum": 9.0}}}

    def form(section: object) -> object:
        plain = {"labels": {}, "counters": section}
        return [labelled, plain] if as_list else plain

    dumped = {name: form(section) for name, section in document.items()}
    assert read_perf_dump(dumped).counters == read_perf_dump(document).counters
    assert recognise_json(dumped) is Role.PERF_DUMP
