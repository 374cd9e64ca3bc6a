"""Operations: every age of dump, what their stages add up to, and where the time of real ones went."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.clients.operations import (
    OperationClass,
    OperationsDump,
    classify,
    read_operations,
    slowest,
    unique,
)
from lsmlens.analyzer.clients.stage_times import durations_of, measure_stages
from lsmlens.analyzer.clients.stages import IN_FLIGHT, StageGroup, stage_group

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
TIME = st.sampled_from(
    ["2026-11-20T22:57:01.826894+0000", "2026-11-20 22:57:01.9", "0.000000", "2026-02-31T00:00:00.0Z", ""]
)
EVENT = ANY_JSON | st.fixed_dictionaries({"event": st.sampled_from(["started", "done"]) | ANY_JSON, "time": TIME})
OP_LIKE = ANY_JSON | st.fixed_dictionaries(
    {"description": st.text(max_size=8) | ANY_JSON},
    optional={
        "initiated_at": TIME | ANY_JSON,
        "age": st.floats() | ANY_JSON,
        "duration": st.floats() | ANY_JSON,
        "type_data": st.fixed_dictionaries({"events": st.lists(EVENT) | ANY_JSON}) | st.lists(st.lists(EVENT)),
    },
)

# One operation of a 10.2 OSD: a read of 4 MiB.
JEWEL = """{"ops": [{
  "description": "osd_op(client.4508.0:869 2.797e510b 2598/object_0 [] snapc 0=[] ack+read+known_if_redirected e213)",
  "initiated_at": "2016-04-26 08:54:38.938585", "age": 34.420012, "duration": 0.007323,
  "type_data": ["started", {"client": "client.4508", "tid": 869}, [
   {"time": "2016-04-26 08:54:38.938585", "event": "initiated"},
   {"time": "2016-04-26 08:54:38.938632", "event": "queued_for_pg"},
   {"time": "2016-04-26 08:54:38.938662", "event": "reached_pg"},
   {"time": "2016-04-26 08:54:38.938754", "event": "started"},
   {"time": "2016-04-26 08:54:38.945907", "event": "done"}]]}]}"""
WRITE = "osd_op(client.1.0:2 2.1a 2:59446de1:::a.b:head [write 0~4096] snapc 0=[] ondisk+write+known_if_redirected e12)"


def operation(*events: tuple[str, float], **more: Any) -> dict[str, Any]:
    """An operation at the given seconds after 10:00."""
    listed = [{"event": name, "time": f"2026-01-02T10:00:{second:09.6f}+0000"} for name, second in events]
    type_data = {"flag_point": "x", "events": listed}
    return {"description": WRITE, "initiated_at": "2026-01-02T10:00:00.000000+0000", "type_data": type_data, **more}


def read(*entries: Any) -> OperationsDump:
    return read_operations({"ops": list(entries)})


@pytest.fixture
def stock(fixtures: Path) -> OperationsDump:
    return read_operations(json.loads((fixtures / "osd-stock" / "dump_historic_ops.json").read_text()), "historic")


def test_jewel_events_in_a_list() -> None:
    dumped = read_operations(json.loads(JEWEL))
    (only,) = dumped.operations
    assert only.operation_class is OperationClass.CLIENT_READ
    assert only.flag_point == "started"
    assert (only.initiated_micros, only.has_zone) == (1461660878938585, False)
    assert (only.age_seconds, only.duration_seconds, only.is_in_flight) == (34.420012, 0.007323, False)
    # .938585, .938632, .938662, .938754, .945907
    assert [(stage.until, stage.group.value, round(stage.seconds * 1e6)) for stage in only.stages] == [
        ("queued_for_pg", "receive", 47),
        ("reached_pg", "queue", 30),
        ("started", "pg", 92),
        ("done", "device", 7153),
    ]
    assert [round(stage.start_seconds * 1e6) for stage in only.stages] == [0, 47, 77, 169]
    assert (dumped.operations_left_out, dumped.events_left_out, dumped.clock_steps) == (0, 0, 0)


def test_real_operations(stock: OperationsDump) -> None:
    assert (len(stock.operations), stock.operations_left_out, stock.events_left_out, stock.clock_steps) == (20, 0, 0, 0)
    assert {one.operation_class for one in stock.operations} == {OperationClass.CLIENT_WRITE}
    assert not any(one.is_in_flight for one in stock.operations)
    first = stock.operations[0]
    # 2026-11-20T22:57:01.826894+0000
    assert (first.initiated_micros, first.has_zone, first.source) == (1795215421826894, True, "historic")
    assert first.duration_seconds == 0.390520779
    by_pair = {(stage.since, stage.until): stage for stage in first.stages}
    assert len(first.stages) == 10
    # 01.826897 to 01.850752, and 01.850755 to 02.217405
    assert by_pair["queued_for_pg", "reached_pg"].seconds == pytest.approx(0.023855)
    assert by_pair["started", "op_commit"].seconds == pytest.approx(0.366650)
    assert by_pair["started", "op_commit"].group is StageGroup.KV_COMMIT
    for one in stock.operations:  # the stages leave no gap; stamps are to the microsecond
        assert sum(stage.seconds for stage in one.stages) == pytest.approx(one.duration_seconds, abs=2e-6)


def test_stage_times_of_real_operations(stock: OperationsDump) -> None:
    (times,) = measure_stages(stock.operations)
    assert (times.operation_class, times.operations) == (OperationClass.CLIENT_WRITE, 20)
    assert times.whole is not None
    # The printed durations add up to 7.808997318; the longest is 0.390548209.
    assert times.whole.total_seconds == pytest.approx(7.808997318)
    assert times.whole.mean_seconds == pytest.approx(7.808997318 / 20)
    assert times.whole.max_seconds == times.whole.p99_seconds == 0.390548209
    longest = times.longest_stage
    assert longest is not None
    assert (longest.since, longest.until, longest.durations.count) == ("started", "op_commit", 20)
    # Of the file itself, with the durations Ceph prints for `started`: they add up to 7.264108.
    assert longest.durations.total_seconds == pytest.approx(7.264108, abs=2e-5)
    assert times.longest_group is not None
    assert times.longest_group.group is StageGroup.KV_COMMIT
    assert times.longest_group.share == pytest.approx(7.264108 / 7.808997318, abs=1e-5)
    assert sum(group.share or 0 for group in times.groups) == pytest.approx(1)


def test_printed_durations_agree_with_the_stamps(fixtures: Path, stock: OperationsDump) -> None:
    # 16.2: an event's duration is the time to the next. "throttled" has 4294967296 for a little less than 0.
    document = json.loads((fixtures / "osd-stock" / "dump_historic_ops.json").read_text())
    for entry, one in zip(document["ops"], stock.operations, strict=True):
        events = entry["type_data"]["events"][:-1]
        printed = {event["event"]: event["duration"] for event in events if event["duration"] < 1000}
        for stage in one.stages[4:]:  # the messenger's are not listed in the order of time
            if stage.since in printed:
                assert stage.seconds == pytest.approx(printed[stage.since], abs=2e-6)


def test_slow_operations_of_a_real_bundle_are_none(fixtures: Path) -> None:
    # {"num to keep": 20, "threshold to keep": 10, "Ops": []}
    document = json.loads((fixtures / "osd-stock" / "dump_historic_slow_ops.json").read_text())
    assert read_operations(document) == OperationsDump()


def test_slowest_first(stock: OperationsDump) -> None:
    three = slowest(stock.operations, 3)
    assert [one.duration_seconds for one in three] == sorted(
        (one.duration_seconds for one in stock.operations if one.duration_seconds), reverse=True
    )[:3]
    assert slowest(stock.operations, 0) == slowest(stock.operations, -1) == ()


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        (WRITE, OperationClass.CLIENT_WRITE),
        (
            "osd_op(client.1.0:2 2.1 2.5 (undecoded) ondisk+retry+read+known_if_redirected e7)",
            OperationClass.CLIENT_READ,
        ),
        (
            "osd_op(client.1.0:2 2.1 a [call x.y] snapc 0=[] ondisk+read+write+rwordered e7)",
            OperationClass.CLIENT_WRITE,
        ),
        ("osd_repop(client.4.0:7 2.1a e12/11 2:59446de1:::a:head v 12'5)", OperationClass.SUBOP),
        ("osd_repop_reply(client.4.0:7 2.1a e12/11)", OperationClass.SUBOP),
        ("osd_sub_op(client.4.0:7 2.1a 2/1 [] v 12'5 snapset=0=[]:[])", OperationClass.SUBOP),
        ("MOSDECSubOpWrite(3.1s1 12/11 ECSubWrite(tid=1))", OperationClass.SUBOP),
        ("pg_scan(digest 2.1 ...)", OperationClass.OTHER),
        ("osd_op(torn", OperationClass.OTHER),
        ("", OperationClass.OTHER),
    ],
)
def test_class_by_description(description: str, expected: OperationClass) -> None:
    assert classify(description) is expected


def test_replicated_write_over_a_journal() -> None:
    dumped = read(
        operation(
            ("initiated", 0.0),
            ("queued_for_pg", 0.01),
            ("reached_pg", 0.03),
            ("started", 0.04),
            ("waiting for subops from 41,95", 0.06),
            ("commit_queued_for_journal_write", 0.1),
            ("write_thread_in_journal_buffer", 0.2),
            ("journaled_completion_queued", 0.4),
            ("op_commit", 0.5),
            ("op_applied", 0.6),
            ("sub_op_commit_rec from 41", 0.8),
            ("sub_op_commit_rec from 95", 1.1),
            ("commit_sent", 1.2),
            ("done", 1.25),
            duration=1.25,
        )
    )
    (times,) = measure_stages(dumped.operations)
    assert {group.group.value: round(group.durations.total_seconds, 6) for group in times.groups} == {
        "receive": 0.01,
        "queue": 0.02,
        "pg": 0.03,
        "device": 0.44,  # 0.06 to 0.4, and op_commit to op_applied
        "kv commit": 0.1,
        "replication": 0.5,
        "reply": 0.15,
    }
    assert times.longest_group is not None
    assert times.longest_group.group is StageGroup.REPLICATION
    names = [(stage.since, stage.until) for stage in dumped.operations[0].stages]
    assert ("waiting for subops", "commit_queued_for_journal_write") in names
    assert ("sub_op_commit_rec", "sub_op_commit_rec") in names


def test_operation_in_flight_waits_in_its_last_stage() -> None:
    dumped = read(operation(("initiated", 0.0), ("queued_for_pg", 0.5), duration=4.0, age=4.0))
    (only,) = dumped.operations
    assert only.is_in_flight
    last = only.stages[-1]
    assert (last.since, last.until, last.group) == ("queued_for_pg", IN_FLIGHT, StageGroup.QUEUE)
    assert (last.start_seconds, last.seconds) == (0.5, 3.5)


@pytest.mark.parametrize(
    ("since", "until", "reads", "group"),
    [
        ("waiting for rw locks", "reached_pg", False, StageGroup.BLOCKED),
        ("waiting for degraded object", IN_FLIGHT, False, StageGroup.BLOCKED),
        ("reached_pg", "waiting for rw locks", False, StageGroup.PG),
        ("started", "commit_sent", False, StageGroup.KV_COMMIT),
        ("waiting for subops", "sub_op_commit_rec", False, StageGroup.REPLICATION),
        ("waiting for subops", "op_commit", False, StageGroup.KV_COMMIT),
        ("started", IN_FLIGHT, False, StageGroup.KV_COMMIT),
        ("started", IN_FLIGHT, True, StageGroup.DEVICE),
        ("all_read", IN_FLIGHT, False, StageGroup.RECEIVE),
        ("op_commit", "something new", False, StageGroup.OTHER),
    ],
)
def test_groups(since: str, until: str, reads: bool, group: StageGroup) -> None:
    assert stage_group(since, until, reads=reads) is group


def test_events_without_a_stamp_are_counted() -> None:
    entry = operation(("initiated", 0.0), ("started", 1.0), ("done", 2.0))
    entry["type_data"]["events"][1]["time"] = "0.000000"
    entry["type_data"]["events"].append({"event": "late"})
    dumped = read(entry)
    assert dumped.events_left_out == 2
    assert [(stage.until, stage.seconds) for stage in dumped.operations[0].stages] == [("done", 2.0)]
    assert dumped.operations[0].duration_seconds == 2.0  # none printed: first event to last


def test_messenger_events_may_be_listed_late() -> None:
    dumped = read(
        operation(("initiated", 0.0), ("throttled", 5.0), ("header_read", 0.1), ("all_read", 5.2), ("done", 6))
    )
    assert dumped.clock_steps == 0
    assert [stage.until for stage in dumped.operations[0].stages] == ["header_read", "throttled", "all_read", "done"]


def test_clock_set_back_during_an_operation_is_said() -> None:
    assert read(operation(("initiated", 0.0), ("started", 5.0), ("op_commit", 3.0))).clock_steps == 1


@pytest.mark.parametrize("zone", ["+0200", "+02:00"])
def test_zone(zone: str) -> None:
    dumped = read(
        operation(initiated_at=f"2026-01-02T12:00:00.5{zone}"), operation(initiated_at="2026-01-02T10:00:00.5Z")
    )
    first, second = dumped.operations
    assert first.initiated_micros == second.initiated_micros == 1767348000_500000
    assert first.has_zone
    assert second.has_zone


def test_operation_in_several_dumps_counts_once() -> None:
    running = read(operation(("initiated", 0.0), ("started", 0.5), duration=1.0)).operations
    finished = read(operation(("initiated", 0.0), ("started", 0.5), ("done", 2.0), duration=2.0)).operations
    assert unique([*running, *finished]) == unique([*finished, *running]) == finished


def test_percentiles_are_durations_that_occurred() -> None:
    durations = durations_of([float(number) for number in range(200, 0, -1)])
    assert durations is not None
    assert (durations.p50_seconds, durations.p95_seconds, durations.p99_seconds) == (100.0, 190.0, 198.0)
    assert (durations.count, durations.mean_seconds, durations.max_seconds) == (200, 100.5, 200.0)
    assert durations_of([]) is None


@pytest.mark.parametrize("document", [None, [], {}, {"ops": 3}, {"ops": "x"}, {"Ops": None}, 7])
def test_no_dump(document: Any) -> None:
    assert read_operations(document) == OperationsDump(operations_left_out=1)


def test_entries_that_are_no_operations_are_counted() -> None:
    assert read(operation(), 5, {"description": 5}, None).operations_left_out == 3


@given(ANY_JSON | st.fixed_dictionaries({"ops": st.lists(OP_LIKE)}))
def test_any_json_is_read_and_measured(document: Any) -> None:
    dumped = read_operations(document)
    for times in measure_stages(unique(dumped.operations)):
        assert times.operations > 0
    assert len(slowest(dumped.operations, 3)) <= 3
