"""Stitching: families, pairs, sessions and repeats, on real logs and on small made ones."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from lsmlens.analyzer.runs.run import Run

from tests.run_tables import events_of, keys_of

RunOf = Callable[..., Run]
LogText = Callable[[str], bytes]

FIRST_MICROS = 1795215380000000
STAMP = b"2026-11-20T22:56:20.821+0000 7f9fa51141c0  4 rocksdb: "
JOBS = ("flush_finished", "compaction_finished", "trivial_move")


class Log:
    """A small log, written line by line, a millisecond between events."""

    def __init__(self) -> None:
        self.lines: list[bytes] = [b"the first line"]
        self.micros = FIRST_MICROS

    def say(self, text: str) -> "Log":
        self.lines.append(STAMP + text.encode())
        return self

    def event(self, kind: str, job: int, **fields: Any) -> "Log":
        self.micros += 1000
        payload = {"time_micros": self.micros, "job": job, "event": kind, **fields}
        return self.say("EVENT_LOG_v1 " + json.dumps(payload))

    def open(self, thread: str = "7f9fa51141c0", minute: int = 0) -> "Log":
        stamp = f"2026-11-20T23:{minute:02d}:20.821+0000 {thread}  4 rocksdb: "
        self.lines.append(stamp.encode() + b"[version_set.cc:4574] Column family [default] (ID 0), log number is 4")
        return self

    def job_line(self, family: str, job: int, text: str = "Compacting 1@0 files to L1, score 1.00") -> "Log":
        return self.say(f"[compaction_job.cc:1] [{family}] [JOB {job}] {text}")

    def flushing(self, family: str, job: int) -> "Log":
        return self.job_line(family, job, "Flushing memtable with next log file: 103")

    def flush_started(self, job: int, **fields: Any) -> "Log":
        return self.event("flush_started", job, num_memtables=1, num_entries=10, num_deletes=2, **fields)

    def flush_finished(self, job: int, *state: int) -> "Log":
        return self.event("flush_finished", job, lsm_state=list(state), immutable_memtables=0)

    def table(self, family: str | None, job: int, number: int, size: int = 100, **properties: Any) -> "Log":
        named = {} if family is None else {"cf_name": family}
        properties = {"num_entries": 7, "num_deletions": 1, **properties}
        return self.event(
            "table_file_creation", job, **named, file_number=number, file_size=size, table_properties=properties
        )

    def compaction_started(self, job: int, inputs: Iterable[int] = (), **fields: Any) -> "Log":
        return self.event("compaction_started", job, files_L0=list(inputs), files_L1=[], input_data_size=500, **fields)

    def compaction_finished(self, job: int, level: int = 1, files: int = 1, state: Iterable[int] = (0, 1)) -> "Log":
        return self.event(
            "compaction_finished",
            job,
            compaction_time_micros=5,
            output_level=level,
            num_output_files=files,
            total_output_size=100,
            num_input_records=9,
            num_output_records=7,
            lsm_state=list(state),
        )

    def move(self, job: int, size: int = 4277740, level: int = 2) -> "Log":
        return self.event("trivial_move", job, destination_level=level, files=1, total_files_size=size)

    def moved(self, family: str, size: int = 4277740, level: int = 2) -> "Log":
        return self.say(f"[db_impl.cc:2704] [{family}] Moved #1 files to level-{level} {size} bytes OK: files[0 5 1]")


def of_kind(run: Run, *kinds: str) -> list[dict[str, Any]]:
    return [event for event in events_of(run) if event["event"] in kinds]


def families(run: Run) -> dict[tuple[int, int, str], str | None]:
    """The family of every finished job, by what does not change when lines are taken out of a log."""
    return {
        (event["time_micros"], event["job"], event["event"]): event["column_family"] for event in of_kind(run, *JOBS)
    }


def routes(run: Run, kind: str) -> set[str | None]:
    return {event.get("attributed_by") for event in of_kind(run, kind)}


# ---- the five ways to a column family, each made the only one by taking the others out of a real log

JOB_LINES = re.compile(rb"\] \[JOB \d+\] ")
NEIGHBOURS = re.compile(rb"\] (?:compacted to|Level summary): |\] Moved #")
TABLES = re.compile(rb'"event": "table_file_creation"')
PAYLOAD = re.compile(rb"EVENT_LOG_v1 (\{.*\})")
REAL = ["osd-stock/ceph-osd.0.log.gz", "osd-reef/ceph-osd.0.log.gz", "rocksdb-7.8/LOG", "rocksdb-current/LOG"]


def without(text: bytes, *patterns: re.Pattern[bytes]) -> bytes:
    lines = text.split(b"\n")
    return b"\n".join(line for line in lines if not any(pattern.search(line) for pattern in patterns))


def edited(text: bytes, edit: Callable[[dict[str, Any]], None]) -> bytes:
    """The log with every event changed in place."""

    def change(match: re.Match[bytes]) -> bytes:
        event = json.loads(match[1])
        edit(event)
        return b"EVENT_LOG_v1 " + json.dumps(event).encode()

    return PAYLOAD.sub(change, text)


def no_inputs(event: dict[str, Any]) -> None:
    for name in event:
        if name.startswith("files_L"):
            event[name] = []


@pytest.fixture(params=REAL, ids=lambda name: name.split("/")[0])
def text(request: pytest.FixtureRequest, log_text: LogText) -> bytes:
    return log_text(request.param)


@pytest.fixture
def expected(text: bytes, run_of: RunOf) -> dict[tuple[int, int, str], str | None]:
    found = families(run_of(text))
    assert len(found) > 10
    assert None not in found.values()
    return found


def test_job_lines_say_the_family_of_flushes_and_compactions(
    text: bytes, expected: dict[Any, Any], run_of: RunOf
) -> None:
    run = run_of(edited(without(text, NEIGHBOURS, TABLES), no_inputs))
    assert routes(run, "flush_finished") == {"job line"}
    assert routes(run, "compaction_finished") == {"job line"}
    found = families(run)
    for event, family in expected.items():
        assert event[2] == "trivial_move" or found[event] == family


def test_events_say_the_family_of_compactions(text: bytes, expected: dict[Any, Any], run_of: RunOf) -> None:
    finishes = sorted((micros, job, family) for (micros, job, kind), family in expected.items() if kind == JOBS[1])

    def name(event: dict[str, Any]) -> None:
        no_inputs(event)
        if event["event"] == "compaction_started":
            event["cf_name"] = next(
                (family for micros, job, family in finishes if job == event["job"] and micros > event["time_micros"]),
                "?",
            )

    run = run_of(edited(without(text, NEIGHBOURS, TABLES, JOB_LINES), name))
    assert routes(run, "compaction_finished") == {"event"}
    found = families(run)
    assert {event: found[event] for event in expected if event[2] == JOBS[1]} == {
        event: family for event, family in expected.items() if event[2] == JOBS[1]
    }


def test_created_tables_say_the_family_of_flushes_and_compactions(
    text: bytes, expected: dict[Any, Any], run_of: RunOf
) -> None:
    run = run_of(edited(without(text, NEIGHBOURS, JOB_LINES), no_inputs))
    assert routes(run, "flush_finished") | routes(run, "compaction_finished") <= {"created table", None}
    known = 0
    for event in of_kind(run, "flush_finished", "compaction_finished"):
        if event["created_files"]:
            known += 1
            assert event["column_family"] == expected[(event["time_micros"], event["job"], event["event"])]
        else:
            assert event["column_family"] is None
    assert known > len(expected) / 2


def test_input_tables_say_the_family_of_compactions(text: bytes, expected: dict[Any, Any], run_of: RunOf) -> None:
    compactions = {job for _, job, kind in expected if kind == "compaction_finished"}
    flushes = {job for _, job, kind in expected if kind == "flush_finished"}

    def detach(event: dict[str, Any]) -> None:  # tables of compactions seem made by jobs that never were
        if event["event"] == "table_file_creation" and event["job"] in compactions - flushes:
            event["job"] += 100_000

    run = run_of(edited(without(text, NEIGHBOURS, JOB_LINES), detach))
    found = Counter(event.get("attributed_by") for event in of_kind(run, "compaction_finished"))
    assert found["input table"] > sum(found.values()) / 2
    for event in of_kind(run, "compaction_finished"):
        if event.get("attributed_by") == "input table":
            assert event["column_family"] == expected[(event["time_micros"], event["job"], event["event"])]


def test_neighbouring_lines_say_the_family_of_all(text: bytes, expected: dict[Any, Any], run_of: RunOf) -> None:
    run = run_of(edited(without(text, TABLES, JOB_LINES), no_inputs))
    assert {event.get("attributed_by") for event in of_kind(run, *JOBS)} == {"neighbouring line"}
    assert families(run) == expected


def test_with_all_of_them_gone_no_family_is_made_up(text: bytes, expected: dict[Any, Any], run_of: RunOf) -> None:
    run = run_of(edited(without(text, TABLES, JOB_LINES, NEIGHBOURS), no_inputs))
    assert set(families(run).values()) == {None}
    kinds = Counter(event[2] for event in expected)
    missing = {"flush": kinds[JOBS[0]], "compaction": kinds[JOBS[1]], "move": kinds[JOBS[2]]}
    assert run.quality.without_column_family == Counter(missing)
    assert run.quality.attributed_by == Counter()


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("osd-stock/ceph-osd.0.log.gz", {"flush_finished": 55, "compaction_finished": 18, "table_file_deletion": 62}),
        ("osd-crash/ceph-osd.0.log.gz", {"flush_finished": 59, "compaction_finished": 66, "trivial_move": 26}),
        ("osd-container/osd.0.stderr.log.gz", {"flush_started": 175, "compaction_finished": 219, "trivial_move": 27}),
        ("rocksdb-7.8/LOG", {"flush_started": 16, "table_file_creation": 53, "recovery_finished": 1}),
    ],
)
def test_every_event_is_kept_once(name: str, counts: dict[str, int], run_of: RunOf, log_text: LogText) -> None:
    run = run_of(log_text(name), "ceph-osd.0.log")
    kept = Counter(event["event"] for event in events_of(run))
    assert kept == run.event_counts
    assert counts.items() <= kept.items()
    keys = keys_of(run)
    assert len(set(keys)) == len(keys)


def test_of_an_osd_all_is_paired_and_named(run_of: RunOf, log_text: LogText) -> None:
    quality = run_of(log_text("osd-stock/ceph-osd.0.log.gz")).quality
    assert not quality.without_start
    assert not quality.without_finish
    assert not quality.without_column_family


def test_what_was_cut_off_has_a_start_and_no_finish(run_of: RunOf, log_text: LogText) -> None:
    assert run_of(log_text("osd-reef/ceph-osd.0.log.gz")).quality.without_finish == {"compaction": 1}
    crash = run_of(log_text("osd-crash/ceph-osd.0.log.gz"))
    assert crash.quality.without_finish == {"compaction": 1, "flush": 1}
    assert crash.quality.duplicates_removed == 581


# ---- flushes and their tables


def test_flushes_of_one_job_are_told_apart_in_a_real_log(run_of: RunOf, log_text: LogText) -> None:
    run = run_of(log_text("osd-stock/ceph-osd.0.log.gz"))
    last = run.sessions[-1].number
    flushes = [e for e in of_kind(run, "flush_finished") if e["job"] == 44 and e["session"] == last]
    assert [(e["column_family"], e["created_bytes"], e["created_files"]) for e in flushes] == [
        ("O-0", 28406, 1),
        ("O-1", 26035, 1),
        ("O-2", 24796, 1),
        ("P", 5942418, 1),
    ]
    assert [(e["num_entries"], e["created_records"], e["flush_reason"]) for e in flushes[:2]] == [
        (9471, 69, "Write Buffer Manager"),
        (8450, 63, "Write Buffer Manager"),
    ]


def test_a_flush_has_what_its_start_said(run_of: RunOf) -> None:
    log = Log().flushing("p-0", 3).flush_started(3, flush_reason="Shut down").table("p-0", 3, 8, 1234)
    run = run_of(log.flush_finished(3, 1, 0).lines)
    (flush,) = of_kind(run, "flush_finished")
    assert (flush["started_micros"], flush["time_micros"]) == (FIRST_MICROS + 1000, FIRST_MICROS + 3000)
    assert (flush["num_entries"], flush["num_deletes"], flush["flush_reason"]) == (10, 2, "Shut down")
    assert (flush["created_files"], flush["created_bytes"], flush["created_records"]) == (1, 1234, 7)
    assert (flush["column_family"], flush["attributed_by"]) == ("p-0", "job line")
    (start,) = of_kind(run, "flush_started")
    assert start["column_family"] == "p-0"


def test_flushes_that_run_together_in_one_job_are_paired_in_order(run_of: RunOf) -> None:
    log = Log().flushing("a", 3).flush_started(3).flushing("b", 3).flush_started(3)
    log.table("a", 3, 8, 100).table("b", 3, 9, 200).flush_finished(3, 1).flush_finished(3, 2)
    run = run_of(log.lines)
    found = [(e["column_family"], e["created_bytes"], e["started_micros"]) for e in of_kind(run, "flush_finished")]
    assert found == [("a", 100, FIRST_MICROS + 1000), ("b", 200, FIRST_MICROS + 2000)]


def test_a_flush_that_writes_nothing_takes_no_other_flushes_table(run_of: RunOf) -> None:
    log = Log().flushing("a", 3).flush_started(3).flushing("b", 3).flush_started(3)
    log.table("b", 3, 9, 200).flush_finished(3, 0).flush_finished(3, 1)
    run = run_of(log.lines)
    found = [(e["column_family"], e["created_files"], e["created_bytes"]) for e in of_kind(run, "flush_finished")]
    assert found == [("a", 0, 0), ("b", 1, 200)]


def test_a_flush_in_the_job_after_an_empty_one(run_of: RunOf) -> None:
    log = Log().flushing("a", 3).flush_started(3).flush_finished(3, 0)
    log.flushing("b", 3).flush_started(3).table("b", 3, 9, 200).flush_finished(3, 1)
    found = [(e["column_family"], e["created_bytes"]) for e in of_kind(run_of(log.lines), "flush_finished")]
    assert found == [("a", 0), ("b", 200)]


def test_a_flush_without_its_start_has_its_table_and_is_counted(run_of: RunOf) -> None:
    log = Log().table("a", 3, 8, 100).flush_finished(3, 1).flushing("b", 3).flush_started(3).table("b", 3, 9, 200)
    run = run_of(log.flush_finished(3, 1).lines)
    found = [(e["column_family"], e["created_bytes"]) for e in of_kind(run, "flush_finished")]
    assert found == [("a", 100), ("b", 200)]
    assert run.quality.without_start == {"flush": 1}
    assert not run.quality.without_finish


def test_what_a_recovery_writes_is_no_flushs(run_of: RunOf) -> None:
    log = Log().open().event("recovery_started", 1, wal_files=[3]).table("a", 1, 8, 9999)
    log.event("recovery_finished", 1).flushing("a", 1).flush_started(1).table("a", 1, 9, 5).flush_finished(1, 1)
    (flush,) = of_kind(run_of(log.lines), "flush_finished")
    assert (flush["created_files"], flush["created_bytes"]) == (1, 5)


# ---- compactions and moves


def test_a_compaction_has_what_its_start_and_tables_said(run_of: RunOf) -> None:
    log = Log().job_line("p-0", 7).compaction_started(7, [1, 2, 3], compaction_reason="LevelL0FilesNum", score=1.5)
    log.table("p-0", 7, 8, 60).table("p-0", 7, 9, 40).compaction_finished(7, files=2)
    run = run_of(log.lines)
    (finished,) = of_kind(run, "compaction_finished")
    assert finished["started_micros"] == FIRST_MICROS + 1000
    assert (finished["input_files"], finished["input_levels"], finished["input_data_size"]) == (3, [0, 1], 500)
    assert (finished["compaction_reason"], finished["score"]) == ("LevelL0FilesNum", 1.5)
    assert (finished["created_files"], finished["created_bytes"], finished["created_records"]) == (2, 100, 14)
    assert (finished["column_family"], finished["attributed_by"]) == ("p-0", "job line")
    (started,) = of_kind(run, "compaction_started")
    assert started["column_family"] == "p-0"


def test_compactions_that_run_together_are_told_apart(run_of: RunOf) -> None:
    log = Log().job_line("a", 7).compaction_started(7).job_line("b", 8).compaction_started(8)
    log.table("b", 8, 11, 22).table("a", 7, 10, 11).compaction_finished(8).compaction_finished(7)
    found = [(e["job"], e["column_family"], e["created_bytes"]) for e in of_kind(run_of(log.lines), JOBS[1])]
    assert found == [(8, "b", 22), (7, "a", 11)]


def test_a_compaction_of_tables_of_two_families_is_not_guessed(run_of: RunOf) -> None:
    log = Log().table("a", 1, 10).table("b", 2, 11).compaction_started(7, [10, 11]).compaction_finished(7)
    run = run_of(log.lines)
    assert [e["column_family"] for e in of_kind(run, JOBS[1])] == [None]
    assert run.quality.without_column_family == {"compaction": 1}


def test_the_line_about_another_compaction_is_no_neighbour(run_of: RunOf) -> None:
    line = (
        "[c.cc:1] [{}] compacted to: files[0 4] max score 0.95, MB/sec: 1.0 rd, 1.0 wr, level 1, files in(3, 3) out({})"
    )
    log = Log().say(line.format("a", 2)).compaction_finished(7, files=3, state=[0, 4])
    assert [e["column_family"] for e in of_kind(run_of(log.lines), JOBS[1])] == [None]
    log = Log().say(line.format("a", 3)).compaction_finished(7, files=3, state=[0, 4])
    assert [e["column_family"] for e in of_kind(run_of(log.lines), JOBS[1])] == ["a"]


def test_one_line_answers_for_one_compaction(run_of: RunOf) -> None:
    line = (
        "[c.cc:1] [a] compacted to: files[0 4] max score 0.95, MB/sec: 1.0 rd, 1.0 wr, level 1, files in(3, 3) out(3)"
    )
    log = Log().say(line).compaction_finished(7, files=3).compaction_finished(8, files=3)
    assert [e["column_family"] for e in of_kind(run_of(log.lines), JOBS[1])] == ["a", None]


def test_moves_wait_for_the_line_with_their_numbers(run_of: RunOf) -> None:
    log = Log().move(3, 10).move(4, 20).moved("b", 20).moved("a", 10).moved("c", 30).move(5, 40)
    run = run_of(log.lines)
    assert {e["job"]: e["column_family"] for e in of_kind(run, "trivial_move")} == {3: "a", 4: "b", 5: None}
    assert run.quality.without_column_family == {"move": 1}


def test_moves_of_equal_numbers_are_answered_in_order(run_of: RunOf) -> None:
    log = Log().move(3).moved("a").move(4).moved("b")
    assert [e["column_family"] for e in of_kind(run_of(log.lines), "trivial_move")] == ["a", "b"]


def test_a_deleted_table_is_of_the_family_that_made_it(run_of: RunOf) -> None:
    log = Log().table("a", 1, 10).table("b", 1, 11)
    log.event("table_file_deletion", 2, file_number=11).event("table_file_deletion", 2, file_number=12)
    assert [e["column_family"] for e in of_kind(run_of(log.lines), "table_file_deletion")] == ["b", None]


def test_unknown_kinds_are_counted_and_kept(run_of: RunOf) -> None:
    run = run_of(Log().event("mutant", 4, extra=1).event("mutant", 5).move(3).lines)
    assert run.quality.unknown_events == {"mutant": 2}
    assert [(e["job"], e.get("extra")) for e in of_kind(run, "mutant")] == [(4, 1), (5, None)]


@pytest.mark.parametrize(
    ("oldest", "newest", "right"),
    [(200, 100, (100, 200)), (100, 200, (100, 200)), (5, 5, (5, 5)), (0, 9, (0, 9))],
)
def test_key_times_are_put_right(oldest: int, newest: int, right: tuple[int, int], run_of: RunOf) -> None:
    run = run_of(Log().table("a", 1, 10, oldest_key_time=oldest, newest_key_time=newest).lines)
    (table,) = of_kind(run, "table_file_creation")
    properties = table["table_properties"]
    assert (properties["oldest_key_time"], properties["newest_key_time"]) == right


def test_a_single_key_time_stays(run_of: RunOf) -> None:
    (table,) = of_kind(run_of(Log().table("a", 1, 10, oldest_key_time=7).lines), "table_file_creation")
    assert table["table_properties"]["oldest_key_time"] == 7
    assert "newest_key_time" not in table["table_properties"]


# ---- why flushes were forced

WAL = "[db_impl_write.cc:1230] Flushing all column families with data in WAL number 103. Total log size is 67"
BUFFER = "[db_impl_write.cc:1033] Flushing column family with oldest memtable entry. Write buffers are using 5"


@pytest.mark.parametrize(
    ("line", "reason", "true"),
    [
        (WAL, "Write Buffer Manager", "WAL Full"),
        (WAL, "Write Buffer Full", "Write Buffer Full"),
        (WAL, "WAL Full", "WAL Full"),
        (BUFFER, "Write Buffer Manager", "Write Buffer Manager"),
        ("nothing", "Write Buffer Manager", "Write Buffer Manager"),
    ],
)
def test_the_true_reason_of_a_flush(line: str, reason: str, true: str, run_of: RunOf) -> None:
    log = Log().say(line).flushing("a", 3).flush_started(3, flush_reason=reason).flush_finished(3, 1)
    (flush,) = of_kind(run_of(log.lines), "flush_finished")
    assert (flush["flush_reason"], flush["true_flush_reason"]) == (reason, true)


# ---- sessions and repeats


def test_job_ids_start_again_at_each_open(run_of: RunOf) -> None:
    log = Log().open(minute=1).job_line("a", 3).compaction_started(3, compaction_reason="Ttl")
    log.open(minute=2).compaction_finished(3)
    run = run_of(log.lines)
    (finished,) = of_kind(run, "compaction_finished")
    assert len(run.sessions) == 2
    assert (finished["session"], finished["column_family"]) == (1, None)
    assert "compaction_reason" not in finished
    assert run.quality.without_start == {"compaction": 1}
    assert run.quality.without_finish == {"compaction": 1}


def test_a_log_may_begin_inside_a_session(run_of: RunOf) -> None:
    run = run_of(Log().move(3).open().move(4).lines)
    assert [session.opened_at_millis is None for session in run.sessions] == [True, False]
    assert [e["session"] for e in of_kind(run, "trivial_move")] == [0, 1]


def test_a_session_ends_with_its_last_event(run_of: RunOf) -> None:
    run = run_of(Log().open(minute=1).move(3).move(4).open(minute=2).move(3).lines)
    assert [session.last_event_micros for session in run.sessions] == [FIRST_MICROS + 2000, FIRST_MICROS + 3000]
    assert [session.number for session in run.sessions] == [0, 1]


def crash_dump(lines: list[bytes]) -> list[bytes]:
    numbered = [b"%6d> " % (at - len(lines)) + line for at, line in enumerate(lines, 1)]
    return [b"--- begin dump of recent events ---", *numbered, b"--- end dump of recent events ---"]


def test_a_crash_dump_tells_nothing_twice(run_of: RunOf) -> None:
    log = Log().open(minute=1).move(3).moved("a").open("7f0000000001", 2).job_line("b", 3).compaction_started(3)
    log.table("b", 3, 8, 11)
    log.lines += crash_dump(log.lines[1:])
    log.open("7f0000000002", 3).job_line("c", 3).compaction_started(3).table("c", 3, 9, 22).compaction_finished(3)
    run = run_of(log.lines)
    assert len(run.sessions) == 3
    assert run.quality.duplicates_removed == 3
    assert run.event_counts == {
        "trivial_move": 1,
        "compaction_started": 2,
        "table_file_creation": 2,
        "compaction_finished": 1,
    }
    (finished,) = of_kind(run, "compaction_finished")
    assert (finished["session"], finished["column_family"], finished["created_bytes"]) == (2, "c", 22)
    assert run.quality.without_finish == {"compaction": 1}
    assert [e["column_family"] for e in of_kind(run, "compaction_started")] == ["c", "b"]


def test_work_after_a_crash_dump_goes_on_in_its_session(run_of: RunOf) -> None:
    log = Log().open(minute=1).open("7f0000000001", 2).job_line("b", 3).compaction_started(3)
    log.lines += crash_dump(log.lines[1:])
    run = run_of(log.compaction_finished(3).lines)
    (finished,) = of_kind(run, "compaction_finished")
    assert (finished["session"], finished["column_family"]) == (1, "b")
    assert not run.quality.without_finish


def test_what_only_the_dump_tells_is_taken(run_of: RunOf) -> None:
    log = Log().open(minute=1).move(3).moved("a")
    more = Log()
    more.micros = log.micros
    log.lines += crash_dump(log.lines[1:] + more.move(4).moved("b").lines[1:])
    assert [e["column_family"] for e in of_kind(run_of(log.lines), "trivial_move")] == ["a", "b"]


def test_stalls_told_by_a_dump_are_counted_once(run_of: RunOf) -> None:
    log = Log().open(minute=1)
    log.say("[column_family.cc:799] [a] Stalling writes because we have 4 level-0 files rate 39886").move(3).moved("a")
    log.lines += crash_dump(log.lines[1:])
    assert run_of(log.lines).stall_lines == {("a", "slowdown", "level0_files"): 1}


def test_events_of_one_microsecond_are_told_apart_by_their_file(run_of: RunOf) -> None:
    log = Log()
    for number in (8, 9, 8):
        log.event("table_file_deletion", 3, file_number=number)
        log.micros -= 1000
    run = run_of(log.lines)
    assert [e["file_number"] for e in of_kind(run, "table_file_deletion")] == [8, 9]
    assert run.quality.duplicates_removed == 1
