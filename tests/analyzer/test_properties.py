"""What must hold for any log: nothing is raised, no event is invented, and pieces and blocks make no difference."""

import gzip
import mmap
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.logs import blocks
from lsmlens.reports.analysis import compose
from lsmlens.reports.analysis_json import to_json
from lsmlens.reports.terminal import whole

from tests import run_tables

Edit = tuple[bool, int, bytes, bool]  # in an event's head or anywhere, place, bytes, written over or put in
Key = tuple[int, int | None, str, int | None]
KEY = re.compile(rb'EVENT_LOG_v1 \{"time_micros": (\d+)(?=[,}])([^\n]*)')
EVENTS_BEGIN = 20_000  # lines of the Reef log, from where its events stand close together
LINES = 300

any_log = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="session")
def lines(log_text: Callable[[str], bytes]) -> list[bytes]:
    return log_text("osd-reef/ceph-osd.0.log.gz").splitlines(keepends=True)[EVENTS_BEGIN : EVENTS_BEGIN + LINES]


class Excerpt(bytes):
    """A log that does not fill the screen when an example of its damage is shown."""

    def __repr__(self) -> str:
        return f"<{len(self)} bytes>"


@pytest.fixture(scope="session")
def log(lines: list[bytes]) -> bytes:
    text = Excerpt(b"".join(lines))
    kinds = {key[2] for key in keys_in(text)}
    assert kinds >= {"flush_started", "flush_finished", "table_file_creation", "compaction_finished"}
    return text


def keys_in(text: bytes) -> set[Key]:
    """What tells the events of a sound log apart, read without the code that is tested."""
    keys = set()
    for match in KEY.finditer(text):
        kind, job, file = (
            re.search(pattern, match[2])
            for pattern in (rb'"event": "(\w+)"', rb'"job": (\d+)', rb'"file_number": (\d+)')
        )
        assert kind is not None
        number = int(job[1]) if job and kind[1] != b"table_file_deletion" else None
        keys.add((int(match[1]), number, kind[1].decode(), int(file[1]) if file else None))
    return keys


def keys_of(analysis: Analysis) -> list[Key]:
    return [key for one in analysis.runs for key in run_tables.keys_of(one.run)]


def read(*texts: bytes, names: Iterable[str] = ("ceph-osd.0.log",)) -> Analysis | None:
    """The analysis of a folder of files; None where nothing in it could be read, which is said and not raised."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in zip(names, texts, strict=False):
            Path(folder, name).write_bytes(text)
        try:
            analysis = analyze([folder])
        except InputError as error:
            refusal: InputError | None = error
        else:
            refusal = None
        if refusal is not None:
            assert refusal.reason
            assert refusal.hint
            return None
        assert to_json(analysis)
        assert whole(compose(analysis))
        return analysis


def rotated(pieces: list[bytes]) -> Analysis | None:
    names = ["ceph-osd.0.log" + (f".{number}" if number else "") for number in reversed(range(len(pieces)))]
    return read(*pieces, names=names)


# -- any bytes ---------------------------------------------------------------------------------------------------------

WORDS = [
    b"EVENT_LOG_v1 {", b'"time_micros": 1795218220050043', b'"job": 5', b'"event": "', b"compaction_finished", b'", ',
    b"flush_finished", b"trivial_move", b"}", b"\n", b"2026-11-20T23:42:41.829+0000 7f4f456181c0  4 rocksdb: ", b"\x00",
    b"[p-0] [JOB 5] Compacting 4@0 + 1@1 files", b"] (ID 0), log number is 4", b"] compacted to: ", b"] Moved #1 files",
    b"] Level summary: files[1 2]", b"] Stalling writes because we have 4 level-0 files", b"RocksDB version: 6.8.1",
    b"2026-11-20T23:42:41.829123456Z stderr F ", b" stderr P ", b'{"log":"', b'\\n","stream":"stderr"}', b"debug ",
    b"Nov 20 23:42:41 host ceph-osd[1]: ", b"#012", b"__REALTIME_TIMESTAMP=1\n", b"MESSAGE\n\x05\0\0\0\0\0\0\0hello\n",
    b'{"MESSAGE":"', b'"_PID":"1"}', b"MESSAGE=", b"(Original Log Time 2026/11/20-23:43:40.050049) ", b"\xff\xfe",
    b"\x1f\x8b\x08", b"PK\x03\x04", b"BZh9", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"9" * 30, b"-1", b": ", b"[", b"]",
]  # fmt: skip
like_a_log = st.lists(st.one_of(st.sampled_from(WORDS), st.binary(max_size=8)), max_size=60).map(b"".join)
NAMES = ["ceph-osd.0.log", "LOG", "a.json", "messages"]


@any_log
@given(data=st.binary(max_size=2000), name=st.sampled_from(NAMES))
def test_any_bytes_are_read_or_refused(data: bytes, name: str) -> None:
    read(data, names=[name])


@settings(any_log, max_examples=250)
@given(data=like_a_log, name=st.sampled_from(NAMES), packed=st.booleans())
def test_anything_like_a_log_is_read_or_refused(data: bytes, name: str, packed: bool) -> None:
    analysis = read(gzip.compress(data, 1) if packed else data, names=[name])
    if analysis is not None:
        assert len(keys_of(analysis)) <= data.count(b"EVENT_LOG_v1 {")


# -- a log that was damaged --------------------------------------------------------------------------------------------


@any_log
@given(edges=st.tuples(st.integers(0, 1 << 20), st.integers(0, 1 << 20)))
def test_a_log_cut_anywhere_holds_no_event_that_was_not_in_it(edges: tuple[int, int], log: bytes) -> None:
    begin, end = sorted(edge % (len(log) + 1) for edge in edges)
    analysis = read(log[begin:end])
    if analysis is not None:
        found = keys_of(analysis)
        assert set(found) <= keys_in(log)
        assert len(found) == len(set(found))
        whole = keys_in(log[begin : log.rfind(b"\n", begin, end) + 1])
        assert whole <= set(found)
    else:
        assert not keys_in(log[begin : log.rfind(b"\n", begin, end) + 1])


def edits(noise: st.SearchStrategy[bytes]) -> st.SearchStrategy[list[Edit]]:
    return st.lists(st.tuples(st.booleans(), st.integers(0, 1 << 20), noise, st.booleans()), min_size=1, max_size=12)


def damaged(log: bytes, edits: list[Edit]) -> bytes:
    """The log with bytes put in or written over, some anywhere, some in the parts of events that matter."""
    heads = [match.start() for match in KEY.finditer(log)]
    text = bytearray(log)
    placed = [
        (heads[place % len(heads)] + place % 151 if in_a_head else place % len(log), noise, over)
        for in_a_head, place, noise, over in edits
    ]
    for place, noise, over in sorted(placed, reverse=True):
        text[place : place + (len(noise) if over else 0)] = noise
    return bytes(text)


# Bytes that stand in no number and no name: what such bytes do to an event can be seen.
no_text = st.lists(st.one_of(st.integers(0, 31), st.integers(127, 255)), min_size=1, max_size=40).map(bytes)


@settings(any_log, max_examples=150)
@given(harm=edits(no_text))
def test_bytes_that_are_no_text_invent_no_event(harm: list[Edit], log: bytes) -> None:
    analysis = read(damaged(log, harm))
    if analysis is not None:
        found = keys_of(analysis)
        assert set(found) <= keys_in(log)
        assert len(found) == len(set(found))
        # a place harms the event it is in; 40 bytes reach into one more
        assert len(keys_in(log)) - len(found) <= 2 * len(harm)


@settings(any_log, max_examples=150)
@given(harm=edits(st.binary(min_size=1, max_size=40)))
def test_any_damage_adds_no_event(harm: list[Edit], log: bytes) -> None:
    text = damaged(log, harm)
    analysis = read(text)
    if analysis is not None:
        found = keys_of(analysis)
        rejected = sum(one.run.quality.events_rejected for one in analysis.runs)
        assert len(found) + rejected <= text.count(b"EVENT_LOG_v1 {")
        assert len(keys_in(log) - set(found)) <= 2 * len(harm)


# -- a log in pieces ---------------------------------------------------------------------------------------------------


@cache
def sound(log: bytes) -> Analysis:
    analysis = read(log)
    assert analysis is not None
    return analysis


@any_log
@given(places=st.lists(st.integers(0, 1 << 20), max_size=12))
def test_any_pieces_come_to_the_same_as_the_whole(places: list[int], log: bytes) -> None:
    edges = [0, *sorted(place % (len(log) + 1) for place in places), len(log)]
    whole = sound(log)
    cut = rotated([log[begin:end] for begin, end in pairwise(edges)])
    assert cut is not None
    assert len(cut.runs) == 1
    assert Counter(keys_of(cut)) == Counter(keys_of(whole))
    assert set(keys_of(whole)) == keys_in(log)
    for name in ("statistics", "families", "levels"):
        assert getattr(cut.runs[0], name) == getattr(whole.runs[0], name)


def finished_line(lines: list[bytes]) -> int:
    return next(number for number, line in enumerate(lines) if b"compaction_finished" in line)


@pytest.mark.slow
def test_a_cut_at_every_byte_of_an_event(lines: list[bytes]) -> None:
    number = finished_line(lines)
    before, line, after = b"".join(lines[number - 9 : number]), lines[number], b"".join(lines[number + 1 : number + 9])
    expected = keys_in(before + line + after)
    for place in range(len(line) + 1):
        for last in (place, min(place + 1, len(line)), min(place + 9, len(line))):
            analysis = rotated([before + line[:place], line[place:last], line[last:] + after])
            assert analysis is not None
            assert set(keys_of(analysis)) == expected, (place, last)
            assert sum(one.run.quality.events_rejected for one in analysis.runs) == 0


@pytest.mark.slow
def test_a_log_that_ends_at_any_byte_of_an_event(lines: list[bytes]) -> None:
    """The live log's last line: the event counts when it is whole, and before that only if all that matters is."""
    number = finished_line(lines)
    before, line = b"".join(lines[number - 9 : number]), lines[number]
    (event,) = keys_in(line)
    seen = []
    for place in range(len(line) + 1):
        analysis = read(before + line[:place])
        assert analysis is not None
        assert set(keys_of(analysis)) - {event} == keys_in(before)
        seen.append(event in keys_of(analysis))
    assert seen == sorted(seen)
    assert seen[-1]


# -- blocks ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def whole_log(log_text: Callable[[str], bytes]) -> bytes:
    return log_text("osd-spillover/ceph-osd.0.log.gz")


def figures(analysis: Analysis | None) -> tuple[Any, ...]:
    assert analysis is not None
    (one,) = analysis.runs
    quality = one.run.quality
    return (
        one.statistics,
        one.families,
        one.levels,
        one.run.event_counts,
        keys_of(analysis),
        quality.lines,
        quality.bytes,
    )


@pytest.fixture(scope="session")
def expected(whole_log: bytes) -> tuple[Any, ...]:
    """What the whole log comes to."""
    return figures(read(whole_log))


@pytest.mark.parametrize("window", [0, 1, 1000, 5 * mmap.PAGESIZE + 17, 1 << 20])
@pytest.mark.parametrize("history", [0, 1, 5000])
def test_the_size_of_windows_makes_no_difference(
    window: int, history: int, whole_log: bytes, expected: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "WINDOW_BYTES", mmap.PAGESIZE + window)
    monkeypatch.setattr(blocks, "HISTORY_BYTES", history)
    assert figures(read(whole_log)) == expected


@pytest.mark.parametrize("buffer", [1, 7, 1000, 4096, 100_003])
@pytest.mark.parametrize("history", [0, 500])
def test_the_size_of_buffers_makes_no_difference(
    buffer: int, history: int, whole_log: bytes, expected: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BUFFER_BYTES", buffer)
    monkeypatch.setattr(blocks, "HISTORY_BYTES", history)
    assert figures(read(gzip.compress(whole_log, 1), names=["ceph-osd.0.log.gz"])) == expected


@any_log
@given(buffer=st.integers(1, 3000), history=st.integers(0, 3000), packed=st.booleans(), ended=st.booleans())
@example(buffer=1, history=3000, packed=True, ended=False)
def test_blocks_of_any_size_hold_the_same_events(
    buffer: int, history: int, packed: bool, ended: bool, log: bytes
) -> None:
    text = log if ended else log[:-1]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(blocks, "BUFFER_BYTES", buffer)
        patched.setattr(blocks, "WINDOW_BYTES", mmap.PAGESIZE + buffer)
        patched.setattr(blocks, "HISTORY_BYTES", history)
        analysis = read(gzip.compress(text, 1) if packed else text)
    assert analysis is not None
    found = keys_of(analysis)
    assert len(found) == len(set(found))
    assert set(found) == keys_in(log)
    assert analysis.runs[0].run.quality.lines == text.count(b"\n")
