"""Where a statistics dump ends in a log: every host's prefix, other threads between and within, no tables at all."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.dumps.dump_text import DUMP_BYTES, MARKER, dump_end
from lsmlens.analyzer.dumps.statistics_dumps import parse_dump

CEPH = b"2026-11-21T07:28:38.131+0000 7f3d867f46c0  4 rocksdb: [db_impl/db_impl.cc:849] "
FOREIGN = b"2026-11-21T07:28:38.131+0000 7f3db4c551c0  4 rocksdb: [version_set.cc:3825] Creating manifest 6\n\n"
OWN = b"2026-11-21T07:28:48.131+0000 7f3d867f46c0  4 rocksdb: [db_impl/db_impl.cc:500] Shutdown complete\n"
STATISTICS = CEPH + b"STATISTICS:\n rocksdb.block.cache.miss COUNT : 61\nrocksdb.block.cache.hit COUNT : 0\n"
TABLES = (
    CEPH
    + b"\n** DB Stats **\n"
    + b"Uptime(secs): 7833.6 total, 1262.5 interval\n"
    + b"Interval stall: 00:00:0.000 H:M:S, 0.0 percent\n"
)


def dumps(log: bytes) -> Iterator[bytes]:
    """The text after each marker of a log, as far as it belongs to the dump."""
    place = log.find(MARKER)
    while place >= 0:
        start = place + len(MARKER)
        yield log[start : dump_end(memoryview(log), start, len(log))]
        place = log.find(MARKER, start)


def test_the_next_entry_ends_a_dump() -> None:
    assert list(dumps(CEPH + MARKER + b"\n" + TABLES + FOREIGN)) == [b"\n" + TABLES]
    assert list(dumps(CEPH + MARKER + b"\n" + TABLES + OWN)) == [b"\n" + TABLES]


def test_a_logs_end_ends_a_dump() -> None:
    assert list(dumps(CEPH + MARKER + b"\n" + TABLES + b"** Compaction St")) == [b"\n" + TABLES + b"** Compaction St"]


def test_another_thread_writes_between_the_marker_and_the_tables() -> None:
    assert list(dumps(CEPH + MARKER + b"\n" + FOREIGN * 9 + TABLES + FOREIGN)) == [b"\n" + FOREIGN * 9 + TABLES]


def test_another_thread_writes_before_the_statistics() -> None:
    (dump,) = dumps(CEPH + MARKER + b"\n" + TABLES + FOREIGN + STATISTICS + FOREIGN + OWN + STATISTICS)
    assert dump == b"\n" + TABLES + FOREIGN + STATISTICS


def test_another_thread_writes_within_the_tables() -> None:
    line = b"Cumulative stall: 00:00:0.000 H:M:S, 0.0 percent\n"
    (dump,) = dumps(CEPH + MARKER + b"\n" + TABLES + FOREIGN.rstrip() + b"\n" + line + FOREIGN)
    assert dump.endswith(line)


def test_a_dump_without_tables_is_its_markers_line() -> None:
    assert list(dumps(CEPH + MARKER + b"\n" + FOREIGN * 9)) == [b"\n"]
    assert list(dumps(CEPH + MARKER + b"\n" + FOREIGN + OWN + TABLES)) == [b"\n"]
    assert list(dumps(CEPH + MARKER)) == [b""]


def test_two_dumps_do_not_run_together() -> None:
    assert list(dumps((CEPH + MARKER + b"\n" + TABLES) * 2)) == [b"\n" + TABLES] * 2


def test_a_dump_is_bounded() -> None:
    (dump,) = dumps(CEPH + MARKER + b"\n" + TABLES + b"malloc says\n" * 100_000)
    assert dump.endswith(b"malloc says\n")
    assert DUMP_BYTES - 20 < len(dump) <= DUMP_BYTES


@pytest.mark.parametrize(
    "prefix",
    [b"debug ", b"debug", b"  -161> ", b"ceph-osd[4711]: ", b"Nov 21 07:28:38 host ceph-osd[4711]: "],
    ids=["container", "container without a space", "crash dump", "journal", "syslog"],
)
def test_hosts_prefixes(prefix: bytes) -> None:
    log = b"".join(prefix + entry for entry in (CEPH + MARKER + b"\n", FOREIGN, TABLES, STATISTICS, FOREIGN, OWN))
    (dump,) = dumps(log)
    assert dump == b"\n" + prefix + FOREIGN + prefix + TABLES + prefix + STATISTICS


# How many dumps a log holds, and how many families each has.
LOGS = {
    "rocksdb-7.8/LOG": [3, 3],
    "rocksdb-7.8/LOG.old.1795246382011859.gz": [3] * 5,
    "rocksdb-current/LOG.old.1795246417137627.gz": [3, 3],
    "osd-reef/ceph-osd.0.log.gz": [1, 12],
    "osd-stock/ceph-osd.0.log.gz": [1, 12, 12],
    "osd-stock/ceph-mon.a.log.gz": [1, 1],
    "osd-container/osd.0.stderr.log.gz": [12],
    "osd-spillover/ceph-osd.0.log.gz": [1, 12, 12, 12, 12],
    "osd-crash/ceph-osd.0.log.gz": [1, 12, 12, 12, 12],
}


@pytest.mark.parametrize("name", LOGS)
def test_every_dump_of_a_real_log_is_whole(name: str, log_text: Callable[[str], bytes]) -> None:
    read = [parse_dump(dump.decode()) for dump in dumps(log_text(name))]
    assert [len(dump.families) for dump in read] == LOGS[name]
    assert not any(dump.is_cut for dump in read)


@given(
    st.binary(max_size=200), st.lists(st.sampled_from([MARKER + b"\n", TABLES, FOREIGN, OWN, STATISTICS, b"\xff\n"]))
)
def test_any_text_has_an_end(text: bytes, entries: list[bytes]) -> None:
    log = text + CEPH + MARKER + b"".join(entries) + text
    for start in (0, len(text) + len(CEPH + MARKER), len(log)):
        end = dump_end(memoryview(log), start, len(log))
        assert start <= end <= len(log)
        assert end == len(log) or log[end - 1 : end] == b"\n"
