"""Dumps as a scan collects them: those that have no family's table are dumps as well."""

import io
import re
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest
from lsmlens.analyzer.bundles.compression import DamagedStream
from lsmlens.analyzer.bundles.roles import Role
from lsmlens.analyzer.dumps.dump_collection import carrier_of
from lsmlens.analyzer.dumps.statistics_dumps import parse_dump
from lsmlens.analyzer.logs.blocks import StreamedBlocks
from lsmlens.analyzer.logs.scanner import Scanner
from lsmlens.analyzer.measures import life
from lsmlens.analyzer.measures.statistics_series import StatisticsSeries
from lsmlens.analyzer.runs.reading import read_runs
from lsmlens.analyzer.runs.run import Run

CARRIERS = {
    "syslog": "May 30 01:21:{at:02} host ceph-osd[123]: ",
    "ISO 8601": "2026-11-20T22:57:01.{at:06}+00:00 host bash[4123]: ",
    "short-iso": "2026-11-20T22:57:{at:02}+0000 host ceph-osd[123]: ",
    "short-precise": "May 30 01:21:33.{at:06} host ceph-osd[123]: ",
    "short-full": "Sat 2026-11-21 01:21:{at:02} UTC host ceph-osd[123]: ",
    "short-monotonic": "[  123.{at:06}] host ceph-osd[123]: ",
    "kubectl --timestamps": "2026-11-20T22:{minute:02}:{at:02}.{at:09}Z ",
    "compose": "osd-0  | ",
}


@pytest.fixture(scope="module")
def log(fixtures: Path) -> bytes:
    return (fixtures / "rocksdb-7.8" / "LOG").read_bytes()


def collected(text: bytes) -> list[tuple[int | None, str]]:
    scan = Scanner("LOG", Role.ROCKSDB_LOG).read(StreamedBlocks(DamagedStream(io.BytesIO(text))))
    return list(scan.dumps.get("", ()))


def without_families(log: bytes) -> bytes:
    """The log with its families' tables left out, as 8.1 leaves out those in which nothing happened."""
    line = rb"(?!\d{4}/\d\d/\d\d-)[^\n]*\n"
    return re.sub(
        rb"^\s*\*\* (?:Compaction Stats|File Read Latency)[^\n]*\n(?:" + line + rb")*", b"", log, flags=re.MULTILINE
    )


def test_only_the_database_s_table(log: bytes) -> None:
    whole, bare = collected(log), collected(without_families(log))
    assert len(whole) == log.count(b"------- DUMPING STATS -------")
    assert [millis for millis, _ in bare] == [millis for millis, _ in whole]
    for (_, before), (_, after) in zip(whole, bare, strict=True):
        assert parse_dump(before).families
        assert not parse_dump(after).families
        assert parse_dump(after).database == parse_dump(before).database
        assert not parse_dump(after).is_cut


def test_each_dump_once(log: bytes) -> None:
    """One without families between two that have them."""
    bare = without_families(log)
    assert len(collected(log + bare + log)) == 3 * len(collected(log))


def series_of(run: Run) -> StatisticsSeries:
    series = life.series_of(run)
    assert series is not None
    return series


def carried(text: bytes, prefix: str) -> bytes:
    lines = text.decode("utf-8", "replace").splitlines()
    heads = (prefix.format(at=number // 8 % 60, minute=number // 480) for number in range(len(lines)))
    return "".join(f"{head}{line}\n" for head, line in zip(heads, lines, strict=True)).encode()


def reindented(text: bytes) -> bytes:
    """As `journalctl -o short` shows messages of several lines."""
    prefix = "May 30 01:21:33 host ceph-osd[123]: "
    lines = text.decode("utf-8", "replace").splitlines()
    starts = (line.startswith("2026-") for line in lines)
    shown = (f"{prefix if start else ' ' * len(prefix)}{line}\n" for line, start in zip(lines, starts, strict=True))
    return "".join(shown).encode()


@pytest.fixture
def plain_log(log_text: Callable[[str], bytes]) -> bytes:
    return log_text("osd-spillover/ceph-osd.0.log.gz")


def read(path: Path, text: bytes) -> list[Run]:
    path.write_bytes(text)
    return read_runs([str(path)])[1]


@pytest.mark.parametrize("name", [*CARRIERS, "several lines"])
def test_dumps_are_those_of_the_plain_log(name: str, plain_log: bytes, tmp_path: Path) -> None:
    (plain,) = read(tmp_path / "plain.log", plain_log)
    text = reindented(plain_log) if name == "several lines" else carried(plain_log, CARRIERS[name])
    (run,) = read(tmp_path / "carried.log", text)
    expected, found = series_of(plain), series_of(run)
    assert run.event_counts == plain.event_counts
    assert [point._replace(millis=None) for point in found.points] == [
        point._replace(millis=None) for point in expected.points
    ]
    assert list(found.tables) == list(expected.tables)
    assert len(found.points) == 5
    assert not any(point.is_cut for point in found.points)


def test_dumps_of_two_daemons_line_by_line(plain_log: bytes, tmp_path: Path) -> None:
    """Both dump at the same moments into one journal, their lines in turn."""
    (plain,) = read(tmp_path / "plain.log", plain_log)
    first = carried(plain_log, "May 30 01:21:33 host ceph-osd[123]: ").splitlines(keepends=True)
    other = plain_log.replace(b"osd.0", b"osd.1").replace(b"ceph-0", b"ceph-1")
    second = carried(other, "May 30 01:21:33 host ceph-osd[456]: ").splitlines(keepends=True)
    runs = read(tmp_path / "messages", b"".join(chain(*zip(first, second, strict=True))))
    assert [run.name for run in runs] == ["osd.0", "osd.1"]
    for run in runs:
        assert series_of(run).points == series_of(plain).points


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"** Compaction Stats [default] **\nLevel    Files\n", None),
        (b"host a[1]: ** Compaction Stats [default] **\nhost a[1]: Level    Files\n", b"host a[1]: "),
        (b"host a[1]: ** Compaction Stats [default] **\nother\nhost a[1]: Level    Files\n", b"host a[1]: "),
        # 8.1 leaves no line between the database's last line and the first table
        (b"Write Stall (count): 0, ** Compaction Stats [default] **\nLevel    Files\n", None),
        (b"x ** Compaction Stats [default] **", None),
    ],
)
def test_what_carries_a_line_is_before_the_next_ones_too(text: bytes, expected: bytes | None) -> None:
    anchor = text.index(b"] **")
    carrier = carrier_of(memoryview(text), 0, anchor, len(text))
    assert (carrier is None) == (expected is None)
    if carrier is not None and expected is not None:
        assert carrier.fullmatch(expected)
