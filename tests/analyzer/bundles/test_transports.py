"""Transports: the daemon's own lines out of what carried them, wherever the reads happen to end."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.bundles.compression import DamagedStream
from lsmlens.analyzer.bundles.transports import Transport, UnwrappedStream, transport_of, unwrapping
from lsmlens.analyzer.logs.blocks import BUFFER_BYTES, StreamedBlocks
from lsmlens.analyzer.runs.reading import read_runs
from lsmlens.analyzer.runs.run import Run

STAMP = "2023-05-30T01:21:33.123+0000 7f9fa51141c0  4 rocksdb: "
LINES = [
    STAMP + "[flush_job.cc:318] [O-2] [JOB 25] Flushing memtable with next log file: 103",
    STAMP + '[version_set.cc:1] a "quoted" word, a \\ and a\ttab',
    "** Compaction Stats [default] **",
    "",
    STAMP + 'EVENT_LOG_v1 {"time_micros": 1, "job": 12, "event": "trivial_move"}',
    STAMP + "Größe",
]
PLAIN = "".join(line + "\n" for line in LINES).encode()
TIME = "2023-05-30T01:21:33.123456789Z"


def cri(lines: list[str]) -> bytes:
    """Kubernetes: each line marked whole (F), or in parts (P, the last F)."""
    said: list[str] = []
    for at, line in enumerate(lines):
        if at % 2 == 0:
            said.append(f"{TIME} stderr F {line}\n")
        else:
            middle = len(line) // 2
            said += [f"{TIME} stdout P {line[:middle]}\n", f"{TIME} stdout F {line[middle:]}\n"]
    return "".join(said).encode()


def docker(lines: list[str]) -> bytes:
    """Docker's json-file: compact JSON, a long line in several entries of which only the last ends the line."""
    said: list[str] = []
    for at, line in enumerate(lines):
        parts = [line + "\n"] if at % 2 == 0 else [line[: len(line) // 2], line[len(line) // 2 :] + "\n"]
        said += [
            json.dumps({"log": part, "stream": "stderr", "time": TIME}, separators=(",", ":"), ensure_ascii=at == 5)
            + "\n"
            for part in parts
        ]
    return "".join(said).encode()


def journal_json(lines: list[str]) -> bytes:
    said: list[str] = []
    for at, line in enumerate(lines):
        message: object = list(line.encode()) if at == 5 else line
        entry = {"__REALTIME_TIMESTAMP": "1685409693123456", "_PID": "123", "MESSAGE": message, "PRIORITY": "6"}
        said.append(json.dumps({**entry, "SYSLOG_IDENTIFIER": "ceph-osd"}) + "\n")
    return "".join(said).encode()


def journal_export(lines: list[str]) -> bytes:
    said = b""
    for at, line in enumerate(lines):
        said += b"__CURSOR=s=1;i=%d\n__REALTIME_TIMESTAMP=1685409693123456\n_PID=123\n" % at
        text = line.encode()
        if at % 2:
            said += b"MESSAGE\n" + len(text).to_bytes(8, "little") + text + b"\n"
        else:
            said += b"MESSAGE=" + text + b"\n"
        said += b"SYSLOG_IDENTIFIER=ceph-osd\n\n"
    return said


def syslog(lines: list[str]) -> bytes:
    return "".join(f"May 30 01:21:33 host ceph-osd[123]: {line}\n".replace("\t", "#011") for line in lines).encode()


def with_source(lines: list[str]) -> bytes:
    return "".join(f"ceph-osd[123]: {line}\n" for line in lines).encode()


SYSLOG_PLAIN = b"".join(b"May 30 01:21:33 host " + line + b"\n" for line in with_source(LINES).splitlines())
CARRIED: dict[Transport, tuple[Callable[[list[str]], bytes], bytes]] = {
    Transport.CRI: (cri, PLAIN),
    Transport.DOCKER: (docker, PLAIN),
    Transport.JOURNAL_JSON: (journal_json, with_source(LINES)),
    Transport.JOURNAL_EXPORT: (journal_export, with_source(LINES)),
    Transport.SYSLOG: (syslog, SYSLOG_PLAIN),
}


class InParts(io.RawIOBase):
    """Gives these parts one by one, whole or in as many reads as it takes."""

    def __init__(self, *parts: bytes) -> None:
        super().__init__()
        self._parts = [part for part in parts if part]

    def read(self, size: int = -1, /) -> bytes:
        if not self._parts:
            return b""
        part = self._parts[0]
        given, rest = part[:size], part[size:]
        self._parts[:1] = [rest] if rest else []
        return given


def unwrapped(transport: Transport, *parts: bytes, size: int = 1 << 18) -> bytes:
    unwrap = unwrapping(CARRIED[transport][0](LINES))
    assert unwrap is not None
    stream = UnwrappedStream(DamagedStream(InParts(*parts)), unwrap)
    said: list[bytes] = []
    while data := stream.take(size):
        said.append(data)
    assert stream.damage is None
    return b"".join(said)


@pytest.fixture(params=CARRIED)
def transport(request: pytest.FixtureRequest) -> Transport:
    kind: Transport = request.param
    return kind


def test_every_transport_is_tried() -> None:
    assert set(CARRIED) == set(Transport) - {Transport.NONE}


def test_a_transport_is_told_by_its_first_lines(transport: Transport) -> None:
    wrapped = CARRIED[transport][0](LINES)
    assert transport_of(wrapped) is transport
    second = wrapped.index(b"\n") - 5
    assert transport_of(wrapped[second:]) is transport


@pytest.mark.parametrize(
    "head",
    [
        PLAIN,
        b"",
        b"debug " + PLAIN,
        b"2023/05/30-01:21:33.123456 8370 [db/db_impl.cc:1] x\n",
        b"2026-11-20 22:56:20.761553 7fd60f4198c0 -1 WARNING: \n",
        b'{"time_micros": 1}\n',
        b'{"log": {"a": 1}}',
        b"**  23 May 30\n",
    ],
)
def test_a_log_of_its_own_has_no_transport(head: bytes) -> None:
    assert transport_of(head) is Transport.NONE


def test_lines_come_out_as_the_daemon_wrote_them(transport: Transport) -> None:
    wrap, plain = CARRIED[transport]
    assert unwrapped(transport, wrap(LINES)) == plain


def test_reads_may_end_at_every_byte(transport: Transport) -> None:
    wrap, plain = CARRIED[transport]
    wrapped = wrap(LINES)
    for cut in range(1, len(wrapped)):
        assert unwrapped(transport, wrapped[:cut], wrapped[cut:]) == plain, cut


def test_reads_may_be_of_one_byte(transport: Transport) -> None:
    wrap, plain = CARRIED[transport]
    wrapped = wrap(LINES)
    assert unwrapped(transport, *(wrapped[at : at + 1] for at in range(len(wrapped)))) == plain


@pytest.mark.parametrize("size", [1, 10, 1000])
def test_no_more_is_given_than_was_asked_for(transport: Transport, size: int) -> None:
    wrap, plain = CARRIED[transport]
    unwrap = unwrapping(wrap(LINES))
    assert unwrap is not None
    stream = UnwrappedStream(DamagedStream(InParts(wrap(LINES))), unwrap)
    parts: list[bytes] = []
    while data := stream.take(size):
        assert len(data) <= size
        parts.append(data)
    assert b"".join(parts) == plain


def test_more_than_a_buffer_goes_through(transport: Transport) -> None:
    wrap, plain = CARRIED[transport]
    repeats = 2 * BUFFER_BYTES // len(plain)
    unwrap = unwrapping(wrap(LINES))
    assert unwrap is not None
    stream = UnwrappedStream(DamagedStream(io.BytesIO(wrap(LINES) * repeats)), unwrap)
    read = StreamedBlocks(stream)
    assert b"".join(bytes(block.view[block.begin : block.end]) for block in read) == plain * repeats
    assert read.lines == (plain * repeats).count(b"\n")


def test_a_last_line_without_an_end_is_kept(transport: Transport) -> None:
    wrapped = CARRIED[transport][0](LINES)
    assert unwrapped(transport, wrapped.rstrip(b"\n")).rstrip(b"\n").endswith(LINES[-1].encode())


def test_lines_of_no_transport_pass_as_they_are() -> None:
    strange = b"-- Logs begin at Tue 2023-05-30 --\nanother\n"
    for kind in (Transport.CRI, Transport.DOCKER, Transport.JOURNAL_JSON):
        wrap, plain = CARRIED[kind]
        assert unwrapped(kind, strange + wrap(LINES) + strange) == strange + plain + strange


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        (["P a", "P b", "F c"], "abc"),
        (["P a", "F"], "a"),
        (["P a", "F "], "a"),
        (["F"], ""),
        (["F "], ""),
        (["F  two spaces"], " two spaces"),
        (["P ", "F x"], "x"),
    ],
)
def test_partial_lines_of_containers_are_joined(parts: list[str], whole: str) -> None:
    wrapped = "".join(f"{TIME} stderr {part}\n" for part in parts).encode()
    for cut in range(1, len(wrapped)):
        assert unwrapped(Transport.CRI, wrapped[:cut], wrapped[cut:]) == whole.encode() + b"\n"


@pytest.mark.parametrize("time", ["2023-05-30T01:21:33.123456789+02:00", "2023-05-30T01:21:33Z"])
def test_times_of_container_lines_may_have_a_zone(time: str) -> None:
    assert unwrapped(Transport.CRI, f"{time} stdout F hello\n".encode()) == b"hello\n"


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        (r'"a\"b\\c\/d\te\u00df\ud83d\ude00\n"', 'a"b\\c/d\teß\N{GRINNING FACE}\n'),
        (r'"\u0000\u001b[0m\n"', "\x00\x1b[0m\n"),
        (r'""', ""),
    ],
)
def test_escapes_of_docker(literal: str, text: str) -> None:
    assert unwrapped(Transport.DOCKER, f'{{"log":{literal},"stream":"stderr"}}\n'.encode()) == text.encode()


def test_a_lone_surrogate_of_docker_costs_one_character() -> None:
    said = unwrapped(Transport.DOCKER, rb'{"log":"a\ud83db\n","stream":"stderr"}' + b"\n")
    assert said.startswith(b"a")
    assert said.endswith(b"b\n")


def test_a_cut_entry_passes_as_it_is() -> None:
    cut = b'{"log":"a line that en\n'
    assert unwrapped(Transport.DOCKER, docker(LINES) + cut) == PLAIN + cut
    assert unwrapped(Transport.JOURNAL_JSON, journal_json(LINES)[:-9]).startswith(with_source(LINES[:-1]))


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ({"MESSAGE": "x"}, b"x\n"),
        ({"MESSAGE": "x", "_COMM": "ceph-osd", "_PID": "7"}, b"ceph-osd[7]: x\n"),
        ({"MESSAGE": "two\nlines", "SYSLOG_IDENTIFIER": "a", "_COMM": "b", "_PID": "7"}, b"a[7]: two\nlines\n"),
        ({"MESSAGE": [255, 104, 105]}, "\N{REPLACEMENT CHARACTER}hi\n".encode()),
    ],
)
def test_entries_of_the_journal(entry: dict[str, object], line: bytes) -> None:
    assert unwrapped(Transport.JOURNAL_JSON, json.dumps(entry).encode() + b"\n") == line


@pytest.mark.parametrize("message", [None, [1, "x"], [300], {"a": 1}])
def test_a_message_that_is_no_text_passes_as_it_is(message: object) -> None:
    entry = json.dumps({"MESSAGE": message}).encode() + b"\n"
    assert unwrapped(Transport.JOURNAL_JSON, entry) == entry


def test_a_binary_field_may_hold_anything() -> None:
    text = b"a\n\nMESSAGE=false\n__CURSOR=x\n"
    entry = b"__CURSOR=1\n_COREDUMP\n" + len(text).to_bytes(8, "little") + text + b"\nMESSAGE=true\n\n"
    for cut in range(1, len(entry)):
        assert unwrapped(Transport.JOURNAL_EXPORT, entry[:cut], entry[cut:]) == b"true\n"


def test_a_binary_field_of_an_impossible_length_ends_the_log() -> None:
    broken = b"__CURSOR=1\nMESSAGE\n" + b"\xff" * 8 + b"text\n\n"
    assert unwrapped(Transport.JOURNAL_EXPORT, journal_export(LINES) + broken) == with_source(LINES)


@pytest.mark.parametrize("head", ["<14>May 30 01:21:33", "May  3 01:21:33", "2023-05-30T01:21:33.123456+02:00"])
def test_forms_of_syslog(head: str) -> None:
    line = f"{head} host ceph-osd[123]: {LINES[0]}#012{LINES[2]}#012#011x\n".encode()
    assert transport_of(line) is Transport.SYSLOG
    expected = f"{head} host ceph-osd[123]: {LINES[0]}\n{LINES[2]}\n\tx\n".encode()
    for cut in range(1, len(line)):
        assert unwrapped(Transport.SYSLOG, line[:cut], line[cut:]) == expected


def move(job: int) -> str:
    return (
        f'EVENT_LOG_v1 {{"time_micros": {1795215642085694 + job}, "job": {job}, "event": "trivial_move",'
        ' "destination_level": 2, "files": 1, "total_files_size": 4277740}'
    )


def test_daemons_that_share_a_stream_are_told_apart(tmp_path: Path) -> None:
    stamp = "2026-11-20T23:00:42.085+0000 7f5e6e7fc6c0  4 rocksdb: "
    lines = [f"Nov 20 23:00:42 host ceph-osd[{100 + at % 2}]: {stamp}{move(at)}\n" for at in range(11)]
    (tmp_path / "messages").write_text("".join(lines))
    entries = [{"MESSAGE": stamp + move(at), "SYSLOG_IDENTIFIER": "ceph-osd", "_PID": 100 + at % 2} for at in range(11)]
    (tmp_path / "journal.json").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    for name in ("messages", "journal.json"):
        runs = read_runs([str(tmp_path / name)])[1]
        assert sorted(run.event_counts["trivial_move"] for run in runs) == [5, 6], name


def in_containers(text: bytes, wrap: Callable[[bytes], bytes]) -> bytes:
    return b"".join(wrap(line) for line in text.splitlines())


WRAPS: dict[str, Callable[[bytes], bytes]] = {
    "cri": lambda line: TIME.encode() + b" stderr F " + line + b"\n",
    "docker": lambda line: b'{"log":' + json.dumps(line.decode() + "\n").encode() + b',"stream":"stderr"}\n',
    "journald json": lambda line: (
        json.dumps({"MESSAGE": line.decode(), "_COMM": "ceph-osd", "_PID": "5"}).encode() + b"\n"
    ),
    "journald export": lambda line: b"__CURSOR=1\n_COMM=ceph-osd\n_PID=5\nMESSAGE=" + line + b"\n\n",
    "syslog": lambda line: b"Nov 20 22:56:20 lab ceph-osd[5]: " + line + b"\n",
}


@pytest.mark.parametrize("name", WRAPS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_whole_log_says_the_same_however_it_was_carried(
    name: str, pack: Callable[[bytes], bytes], run_of: Callable[..., Run], log_text: Callable[[str], bytes]
) -> None:
    text = log_text("osd-stock/ceph-osd.0.log.gz")
    plain, carried = run_of(text, "ceph-osd.0.log"), run_of(pack(in_containers(text, WRAPS[name])), "carried")
    assert carried.name == plain.name == "osd.0"
    assert carried.event_counts == plain.event_counts
    assert carried.quality.attributed_by == plain.quality.attributed_by
    assert len(carried.sessions) == len(plain.sessions)
    assert carried.jobs.equals(plain.jobs)
    assert carried.tables.equals(plain.tables)
