"""Time stamps: every form, the range a log covers, and clocks that were set."""

import random
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from lsmlens.analyzer.logs.blocks import BUFFER_BYTES
from lsmlens.analyzer.logs.stamps import (
    EDGE_BYTES,
    LINE_STAMP,
    STAMP,
    StampRange,
    parse_time,
    stamp_millis,
    zone_seconds,
)
from lsmlens.analyzer.runs.reading import read_runs
from lsmlens.analyzer.runs.run import Run

MILLIS = 1795215380761  # 2026-11-20T22:56:20.761
FORMS = {
    "Octopus": (b"2026-11-20T22:56:20.761+0000 7f9fa51141c0  0 ceph version", 0),
    "Octopus, a zone ahead": (b"2026-11-20T22:56:20.761+0530 7f9fa51141c0  0 ceph version", 19800),
    "Octopus, a zone behind": (b"2026-11-20T22:56:20.761-0330 7f9fa51141c0  0 ceph version", -12600),
    "Octopus, fine": (b"2026-11-20T22:56:20.761999+0100 7f9fa51141c0  0 ceph version", 3600),
    "Nautilus": (b"2026-11-20 22:56:20.761 7fd60f4198c0  4 rocksdb: ", None),
    "Luminous": (b"2026-11-20 22:56:20.761553 7fd60f4198c0 -1 WARNING: ", None),
    "RocksDB": (b"2026/11/20-22:56:20.761456 8370 [db/db_impl.cc:1] ", None),
    "RocksDB, hexadecimal thread": (b"2026/11/20-22:56:20.761456 7f9fa51141c0 ", None),
    "container": (b"debug 2026-11-20T22:56:20.761+0000 7f9fa51141c0  0 ", 0),
    "container without a space": (b"debug2026-11-20T22:56:20.761+0000 7f9fa51141c0  0 ", 0),
}


def stamp(millis: int, form: str = "%Y-%m-%dT%H:%M:%S") -> bytes:
    moment = datetime(1970, 1, 1) + timedelta(milliseconds=millis)
    return f"{moment:{form}}.{millis % 1000:03d}".encode()


def line(
    millis: int, text: bytes = b"7f9fa51141c0  4 rocksdb: [x] something of about the length that lines have"
) -> bytes:
    return stamp(millis) + b"+0000 " + text + b"\n"


def observed(blocks: list[bytes]) -> StampRange:
    """The range that a scanner comes to which is given these blocks."""
    found = StampRange()
    for block in blocks:
        found.observe(memoryview(block), 0, len(block))
    found.finish(b"".join(block[-EDGE_BYTES:] for block in blocks[-2:]))
    return found


def reference(text: bytes) -> tuple[int, int]:
    """First and last as the published parser has them: the least and the greatest of all lines' stamps."""
    moments = [
        (datetime.strptime(text.decode(), "%Y-%m-%dT%H:%M:%S.%f") - datetime(1970, 1, 1)) // timedelta(milliseconds=1)
        for text in re.findall(rb"^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}", text, re.MULTILINE)
    ]
    return min(moments), max(moments)


def in_blocks(text: bytes, size: int) -> Iterator[bytes]:
    begin = 0
    while begin < len(text):
        end = text.find(b"\n", begin + size) + 1 or len(text)
        yield text[begin:end]
        begin = end


@pytest.mark.parametrize(("text", "zone"), FORMS.values(), ids=FORMS)
def test_every_form_is_read_to_the_millisecond(text: bytes, zone: int | None) -> None:
    match = LINE_STAMP.match(text)
    assert match
    assert stamp_millis(match) == MILLIS
    assert zone_seconds(match) == zone


@pytest.mark.parametrize(
    "text",
    [
        b"  -161> 2026-11-20T22:56:20.761+0000 7f9fa51141c0  4 rocksdb: ",
        b" 2026-11-20T22:56:20.761+0000 7f9fa51141c0",
        b"2026-11-20",
        b"20261120T225620.761",
        b"2026-11-20T22:56:20 7f9",
        b"(Original Log Time 2026/11/20-22:56:20.761456)",
        b"",
    ],
)
def test_continuations_have_no_stamp(text: bytes) -> None:
    assert not LINE_STAMP.search(text)
    found = StampRange()
    found.observe_every_line(text)
    assert found == StampRange()


@pytest.mark.parametrize("day", [b"2026-02-30", b"2026-13-01", b"2026-00-10", b"0000-01-01"])
def test_a_day_that_is_none_is_no_stamp(day: bytes) -> None:
    match = STAMP.match(day + b"T00:00:00.000")
    assert match
    assert stamp_millis(match) is None


@pytest.mark.parametrize("time", [b"24:00:00", b"23:60:00", b"23:59:61"])
def test_a_time_that_is_none_is_no_stamp(time: bytes) -> None:
    match = STAMP.match(b"2026-02-03T" + time + b".000")
    assert match
    assert stamp_millis(match) is None


def test_no_stamps_no_duration() -> None:
    found = observed([b"nothing\nof\nthe kind\n"])
    assert found.seconds is None
    assert (found.first, found.last, found.zone, found.steps) == (None, None, None, 0)


def test_one_stamp_lasts_no_time() -> None:
    assert observed([line(MILLIS)]).seconds == 0.0


def test_the_duration_is_the_greatest_minus_the_least_stamp() -> None:
    text = line(MILLIS + 5) + line(MILLIS) + b"a continuation\n" + line(MILLIS + 1999) + line(MILLIS + 1500)
    found = observed([text])
    assert (found.first, found.last, found.seconds) == (MILLIS, MILLIS + 1999, 1.999)
    assert found.steps == 0


def test_microseconds_are_cut_not_rounded() -> None:
    found = observed([b"2026/11/20-22:56:20.761999 1 a\n2026/11/20-22:56:21.761000 1 b\n"])
    assert found.seconds == 1.0


def test_the_zone_is_the_first_that_is_told() -> None:
    found = observed([line(MILLIS, b"a").replace(b"+0000", b"+0100") + line(MILLIS, b"b")])
    assert found.zone == 3600


def shuffled_log(size: int, seed: int = 1) -> bytes:
    """Lines whose threads overtake each other by up to 100 ms, with continuations among them."""
    rnd = random.Random(seed)
    parts: list[bytes] = []
    millis, length = MILLIS, 0
    while length < size:
        millis += rnd.randrange(0, 20)
        part = line(millis + rnd.randrange(-100, 101))
        if rnd.random() < 0.05:
            part += b"\n** Compaction Stats [default] **\n  L0  1/0  12.3 KB\n" * rnd.randrange(1, 10)
        if rnd.random() < 0.02:
            part += b"  -161> " + line(millis - 10_000_000)
        parts.append(part)
        length += len(part)
    return b"".join(parts)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [EDGE_BYTES // 2, EDGE_BYTES + 1, 300_000])
def test_reading_edges_is_like_reading_every_line(seed: int, size: int) -> None:
    text = shuffled_log(1_500_000, seed)
    found = observed(list(in_blocks(text, size)))
    assert (found.first, found.last) == reference(text)
    assert found.steps == 0


@pytest.mark.parametrize("name", ["ceph-osd.0.log", "ceph-osd.0.log.gz"])
def test_a_log_of_several_blocks_has_the_duration_of_all_its_lines(tmp_path: Path, name: str) -> None:
    import gzip

    text = shuffled_log(5 * BUFFER_BYTES, 7)
    text = line(MILLIS, b"7f9fa51141c0  0 ceph version 16.2.15 (618f44) pacific (stable), process ceph-osd") + text
    file = tmp_path / name
    file.write_bytes(gzip.compress(text, 1) if name.endswith("gz") else text)
    (run,) = read_runs([str(file)])[1]
    assert (run.stamps.first, run.stamps.last) == reference(text)
    assert run.quality.lines == text.count(b"\n")


FIRST = [line(MILLIS + 10 * at) for at in range(4000)]
HOUR = 3_600_000


@pytest.mark.parametrize("size", [20_000, EDGE_BYTES, 100_000, 250_000, 10**9])
@pytest.mark.parametrize("at", [1, 7, 500, 1999, 3990, 3999])
def test_a_step_back_is_counted_once(size: int, at: int) -> None:
    lines = FIRST[:at] + [line(MILLIS - HOUR + 10 * index) for index in range(at, 4000)]
    text = b"".join(lines)
    found = observed(list(in_blocks(text, size)))
    assert found.steps == 1
    assert found.largest_step_millis == HOUR - 10
    assert (found.first, found.last) == reference(text)


@pytest.mark.parametrize("size", [20_000, 100_000, 10**9])
def test_two_steps_back_are_two(size: int) -> None:
    lines = [line(MILLIS + 10 * at - (at // 1500) * HOUR) for at in range(4500)]
    found = observed(list(in_blocks(b"".join(lines), size)))
    assert (found.steps, found.largest_step_millis) == (2, HOUR - 10)


@pytest.mark.parametrize("size", [20_000, 10**9])
@pytest.mark.parametrize("back", [0, 500, 1000])
def test_threads_that_overtake_each_other_are_no_step(size: int, back: int) -> None:
    lines = [line(MILLIS + 20 * at - (back if at % 7 == 0 else 0)) for at in range(4000)]
    assert observed(list(in_blocks(b"".join(lines), size))).steps == 0


def test_a_step_forward_is_no_step_back() -> None:
    lines = FIRST[:2000] + [line(MILLIS + HOUR + 10 * at) for at in range(2000, 4000)]
    found = observed(list(in_blocks(b"".join(lines), 50_000)))
    assert found.steps == 0
    assert found.seconds == 3600 + 39.99


def test_the_latest_stamp_may_stand_before_a_step() -> None:
    # A day's work, the clock set back by six hours, and two more hours: the end is not the latest.
    half = [line(MILLIS + 10_000 * at) for at in range(8640)]
    later = [line(MILLIS + 10_000 * at - 6 * HOUR) for at in range(8640, 9360)]
    text = b"".join(half + later)
    for size in (100_000, 10**9):
        found = observed(list(in_blocks(text, size)))
        assert (found.first, found.last) == reference(text)


def test_ranges_of_pieces_are_merged() -> None:
    whole, piece = observed([line(MILLIS) + line(MILLIS + 100)]), observed([line(MILLIS - 50) + line(MILLIS + 20)])
    piece.steps, piece.largest_step_millis = 2, 5000
    whole.merge(piece)
    whole.merge(StampRange())
    assert (whole.first, whole.last, whole.steps, whole.largest_step_millis) == (MILLIS - 50, MILLIS + 100, 2, 5000)
    empty = StampRange()
    empty.merge(whole)
    assert (empty.first, empty.last, empty.zone) == (MILLIS - 50, MILLIS + 100, 0)


def test_a_log_without_stamps_lasts_from_its_first_event_to_its_last(run_of: Callable[..., Run]) -> None:
    move = b'EVENT_LOG_v1 {"time_micros": %d, "job": %d, "event": "trivial_move", "destination_level": 1, "files": 1,'
    move += b' "total_files_size": 5}'
    run = run_of([move % (1000 * MILLIS, 1), move % (1000 * MILLIS + 2_500_000, 2)])
    assert run.stamps.seconds == 2.5


EXPECTED = datetime(2026, 11, 20, 22, 56, tzinfo=UTC).timestamp() * 1e6


@pytest.mark.parametrize(
    ("text", "offset", "shift_seconds"),
    [
        ("2026-11-20T22:56", 0, 0),
        ("2026-11-20 22:56", 0, 0),
        ("2026-11-20T22:56:00.5", 0, 0.5),
        ("2026-11-20T22:56:00.000001", 0, 1e-6),
        ("2026/11/20 22:56", 0, 0),
        (" 2026-11-20T22:56\n", 0, 0),
        ("2026-11-20T22:56", 7200, -7200),
        ("2026-11-20T22:56", -12600, 12600),
        ("2026-11-20T22:56Z", 7200, 0),
        ("2026-11-20T22:56:00+00:00", 7200, 0),
        ("2026-11-20T22:56+0200", -3600, -7200),
        ("2026-11-20", 0, -(22 * 3600 + 56 * 60)),
        ("1795215360", 7200, 0),
        ("1795215360.25", 0, 0.25),
    ],
)
def test_a_typed_time(text: str, offset: int, shift_seconds: float) -> None:
    assert parse_time(text, offset) == round(EXPECTED + shift_seconds * 1e6)


@pytest.mark.parametrize(
    "text", ["", "yesterday", "22:56", "2026-13-01", "2026-11-20T25:00", "nan", "inf", "-inf", "1e999"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_time(text)
