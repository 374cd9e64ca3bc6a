"""Damaged logs and bundles: what is good is reported, what is not is counted and named, and nothing is raised."""

import bz2
import gzip
import io
import json
import lzma
import os
import random
import re
import socket
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.analysis import Analysis
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.logs import blocks
from lsmlens.reports.analysis import AnalysisReport, compose
from lsmlens.reports.analysis_json import to_json
from lsmlens.reports.outputs import ANALYSIS
from lsmlens.reports.terminal import whole

from tests.archives import tarred, zipped
from tests.run_tables import events_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FINISHED = re.compile(rb'EVENT_LOG_v1 (\{[^\n]*"event": "compaction_finished"[^\n]*)\n')
STAMPED = re.compile(rb"\d{4}-\d\d-\d\dT")
INT64_MAX = (1 << 63) - 1
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")  # all that is no text, but newlines
DRAWN = (".html", ".svg", ".png")  # tests/reports/html/test_damaged_logs.py
NTH = 6  # the compaction whose end is damaged

Figures = Callable[[dict[str, Any]], dict[str, Any]]
Command = Callable[..., subprocess.CompletedProcess[bytes]]


def document(analysis: Analysis) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(to_json(analysis))
    return said


@pytest.fixture(scope="session")
def whole_log(log_text: Callable[[str], bytes]) -> bytes:
    return log_text("osd-spillover/ceph-osd.0.log.gz")


@pytest.fixture(scope="session")
def log(whole_log: bytes) -> bytes:
    """The log without options and statistics: to read these hundreds of times takes longer than all the rest."""
    lines = whole_log.splitlines(True)
    return b"".join(line for line in lines if STAMPED.match(line) and b" Options." not in line)


@pytest.fixture(scope="session")
def monitor_log(log_text: Callable[[str], bytes]) -> bytes:
    return log_text("osd-stock/ceph-mon.a.log.gz")


@pytest.fixture(scope="session")
def payload(log: bytes) -> bytes:
    return list(FINISHED.finditer(log))[NTH][1]


@pytest.fixture(scope="session")
def line(log: bytes, payload: bytes) -> bytes:
    """The whole line of the event to be damaged."""
    start = log.index(payload)
    return log[log.rindex(b"\n", 0, start) + 1 : start + len(payload) + 1]


@pytest.fixture(scope="session")
def read(figures: Figures, tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], Any]:
    """The figures of a log and the quality of its data; of those that many are held against, once."""
    file = tmp_path_factory.mktemp("damage") / "ceph-osd.0.log"

    @lru_cache(maxsize=32)
    def read_one(text: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
        file.write_bytes(text)
        (run,) = document(analyze([str(file)]))["runs"]
        return figures(run), run["data_quality"]

    return read_one


def said_of(*paths: Path) -> dict[str, Any]:
    return document(analyze([str(path) for path in paths]))


def said_or_reason(path: Path) -> dict[str, Any] | str:
    """What was read from a path, or why nothing was."""
    try:
        return said_of(path)
    except InputError as error:
        return error.reason


def problems(said: dict[str, Any]) -> dict[str, str]:
    return {member["path"]: member["problem"] for member in said["members"] if member["problem"]}


def changed(payload: bytes, **values: Any) -> bytes:
    """The event with some of its fields as they should not be; a field set to ... is left out."""
    event = {**json.loads(payload), **values}
    return json.dumps({name: value for name, value in event.items() if value is not ...}).encode()


def assert_input_error(done: subprocess.CompletedProcess[bytes], *named: str) -> None:
    text = done.stderr.decode()
    assert done.returncode == 2
    assert done.stdout == b""
    assert re.fullmatch(r"error: [^\n]+\nhint: [^\n]+\n", text), text
    for name in named:
        assert name in text.splitlines()[0]


# -- events that are lost ----------------------------------------------------------------------------------------------

REQUIRED = (
    "time_micros",
    "job",
    "compaction_time_micros",
    "output_level",
    "num_output_files",
    "total_output_size",
    "num_input_records",
    "num_output_records",
)
WRONG: list[Any] = [
    ..., None, True, "29", "", 1.5, [], [1], {}, 1 << 63, -(1 << 63), 1 << 64, 10**30, float("inf"), float("nan"),
]  # fmt: skip
LOST: dict[str, Callable[[bytes], bytes]] = {
    "nothing but a brace": lambda _: b"{",
    "empty object": lambda _: b"{}",
    "no value": lambda _: b'{"time_micros": 1795218220050043, "job": }',
    "no kind": lambda payload: changed(payload, event=...),
    "kind is a number": lambda payload: changed(payload, event=3),
    "kind is a list": lambda payload: changed(payload, event=["compaction_finished"]),
    "kind is empty braces": lambda payload: changed(payload, event={}),
    "time zero": lambda payload: changed(payload, time_micros=0),
    "time before 1970": lambda payload: changed(payload, time_micros=-5),
    "thousands of digits": lambda payload: payload.replace(b'"job": ', b'"job": ' + b"9" * 5000),
    "thousands of digits after a cut": lambda payload: payload[:-1].replace(b'"job": ', b'"job": ' + b"9" * 5000),
    "inf": lambda payload: re.sub(rb'("compaction_time_micros": )\d+', rb"\1inf", payload),
    "nan": lambda payload: re.sub(rb'("num_input_records": )\d+', rb"\1-nan", payload),
    "exponent": lambda payload: re.sub(rb'("total_output_size": )\d+', rb"\g<1>1e+06", payload),
    "nested too deep": lambda payload: b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b", " + payload[1:],
    "nested too deep in braces": lambda payload: b'{"a": ' * 100_000 + payload,
    "cut in the first number": lambda payload: payload[:22],
    "cut after the kind": lambda payload: payload[: payload.index(b"compaction_finished") + 20],
    "cut in a number": lambda payload: payload[: payload.index(b'"total_output_size": ') + 24],
    "cut before the last that matters": lambda payload: payload[: payload.index(b', "num_output_records"')],
    "cut in the last that matters": lambda payload: payload[: payload.index(b', "num_subcompactions"') - 1],
    "cut right after the last number that matters": lambda payload: payload[: payload.index(b', "num_subcompac')],
    "a sector of NULs": lambda payload: payload[:100] + bytes(120) + payload[220:],
    "a NUL in a number": lambda payload: re.sub(rb'("total_output_size": \d\d)', rb"\1" + b"\0", payload),
    "bytes that are no text in a number": lambda payload: re.sub(rb'("job": )', rb"\1" + b"\xff\xfe", payload),
    "a newline in a number": lambda payload: re.sub(rb'("total_output_size": \d\d)', rb"\1" + b"\n", payload),
    "a NUL in the kind": lambda payload: payload.replace(b"compaction_finished", b"compaction\0finished"),
    "an escape sequence in the kind": lambda payload: payload.replace(b"compaction_finished", b"\x1b[2Jfinished"),
    "no text in the kind": lambda payload: payload.replace(b"compaction_finished", b"compaction\xfffinished"),
    "another line torn into it": lambda payload: (
        payload[:90] + b"2026-11-20T23:43:40.049+0000 7fa33a7fc6c0  4 rocksdb: [p-0] [JOB 7] Generated table #56"
    ),
}


@pytest.mark.parametrize("how", LOST)
def test_events_beyond_use_are_named_and_not_counted(
    how: str, log: bytes, payload: bytes, line: bytes, read: Callable[[bytes], Any]
) -> None:
    without, _ = read(log.replace(line, b""))
    found, quality = read(log.replace(payload, LOST[how](payload)))
    assert found == without
    assert (quality["events_rejected"], quality["events_cut"]) == (1, 0)
    (named,) = quality["not_understood"]
    assert named["line"] == log[: log.index(payload)].count(b"\n") + 1
    assert named["member"].endswith("ceph-osd.0.log")
    assert named["reason"]
    assert named["text"].startswith("{")
    assert named["text"].isprintable()
    assert any("damaged beyond use" in note for note in quality["notes"])


@pytest.mark.parametrize("name", REQUIRED)
def test_a_required_field_that_is_no_integer_of_64_bits(
    name: str, log: bytes, payload: bytes, line: bytes, read: Callable[[bytes], Any]
) -> None:
    without, _ = read(log.replace(line, b""))
    for value in WRONG:
        found, quality = read(log.replace(payload, changed(payload, **{name: value})))
        assert found == without, value
        assert quality["events_rejected"] == 1, value
        assert name in quality["not_understood"][0]["reason"], value


def test_no_more_than_a_few_are_quoted_but_all_are_counted(log: bytes, read: Callable[[bytes], Any]) -> None:
    found, quality = read(log.replace(b'"event": "compaction_finished", "compaction_time', b'"event": "compaction_fin'))
    assert "compaction_finished" not in found["events"]
    assert quality["events_rejected"] == 14
    assert 1 <= len(quality["not_understood"]) <= 5
    assert len({sample["line"] for sample in quality["not_understood"]}) == len(quality["not_understood"])


def test_a_cut_at_every_byte_counts_whole_fields_or_nothing(
    log: bytes, payload: bytes, line: bytes, run_of: Callable[..., Any]
) -> None:
    """No number is ever believed that may go on after the cut."""
    event = json.loads(payload)
    places = [payload.index(word) for word in (b'"event"', b', "num_single_delete_mism')]
    at = log.index(line)
    around = log[log.rindex(b"\n", 0, at - 5_000) + 1 : log.index(b"\n", at + 5_000) + 1]
    outcomes = set()
    for place in range(places[0], places[1]):
        run = run_of(around.replace(payload, payload[:place]), "ceph-osd.0.log")
        ends = [
            said for said in events_of(run) if said["event"] == "compaction_finished" and said["job"] == event["job"]
        ]
        outcomes.add((len(ends), run.quality.events_rejected, run.quality.events_cut))
        for said in ends:
            for name in REQUIRED:
                assert said[name] == event[name]
    assert outcomes == {(0, 1, 0), (1, 0, 1)}


# -- events that can still be used -------------------------------------------------------------------------------------

SALVAGED: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
    "text after it": (0, lambda payload: payload + b' and "more" {[ of it'),
    "a second closing brace": (0, lambda payload: payload + b"}"),
    "NULs after it": (0, lambda payload: payload + bytes(300)),
    "NULs after it and text": (0, lambda payload: payload + bytes(300) + b"x"),
    "no text after it": (0, lambda payload: payload + b"\xff\xfe\x80"),
    "a carriage return after it": (0, lambda payload: payload + b"\r"),
    "a tag after it": (0, lambda payload: payload + b'" />'),
    "no text in a string": (0, lambda payload: payload.replace(b"NoCompression", b"No\xff\xfeCompression")),
    "a NUL in a string": (0, lambda payload: payload.replace(b"NoCompression", b"No\0Compression")),
    "a tab in a string": (0, lambda payload: payload.replace(b"NoCompression", b"No\tCompression")),
    "XML": (0, lambda payload: payload.replace(b'"', b"&quot;") + b'" />'),
    "JSON in JSON": (0, lambda payload: payload.replace(b'"', b'\\"') + b'\\n", "stream": "stderr"}'),
    "a field that is not known": (0, lambda payload: payload[:-1] + b', "news": {"of": [1, 2.5, "it"]}}'),
    "a field mistyped": (0, lambda payload: changed(payload, output_compression=3, num_subcompactions="one")),
    "a list that is none": (0, lambda payload: changed(payload, lsm_state="none")),
    "a list of no numbers": (0, lambda payload: changed(payload, lsm_state=["x", None, {}, [1]])),
    "a field over 64 bits": (0, lambda payload: changed(payload, num_subcompactions=10**25)),
    "inf": (0, lambda payload: payload[:-1] + b', "score": inf, "other": -nan}'),
    "not a number, as Python has it": (0, lambda payload: payload[:-1] + b', "score": NaN, "other": -Infinity}'),
    "an empty name": (0, lambda payload: payload[:-1] + b', "": 0}'),
    "a field twice": (0, lambda payload: payload[:-1] + b', "num_subcompactions": 1}'),
    "a closing brace missing": (1, lambda payload: payload[:-1]),
    "cut in a list": (1, lambda payload: payload[:-12]),
    "cut in a string": (1, lambda payload: payload[: payload.index(b"NoCompression") + 4]),
    "a quote in a string": (1, lambda payload: payload.replace(b"NoCompression", b'No"Compression')),
    "an enumeration without quotes": (1, lambda payload: payload.replace(b'"NoCompression"', b"kNoCompression")),
    "another line torn into its end": (
        1,
        lambda payload: payload[:-30] + b"2026-11-20T23:43:40.049+0000 7fa33a7fc6c0  4 rocksdb: [db_impl.cc:1] x",
    ),
    "NULs to its end": (1, lambda payload: payload[:-30] + bytes(200)),
}


IMPOSSIBLE = {
    "a field mistyped": ["compaction_finished: num_subcompactions, output_compression cannot be"],
    "a list that is none": ["compaction_finished: lsm_state cannot be"],
    "a list of no numbers": ["compaction_finished: lsm_state cannot be"],
    "a field over 64 bits": ["compaction_finished: num_subcompactions cannot be"],
}


@pytest.mark.parametrize("how", SALVAGED)
def test_events_with_whole_fields_are_used(how: str, log: bytes, payload: bytes, read: Callable[[bytes], Any]) -> None:
    plain, _ = read(log)
    cut, damage = SALVAGED[how]
    assert damage(payload) != payload
    found, quality = read(log.replace(payload, damage(payload)))
    assert found == plain
    assert (quality["events_rejected"], quality["events_cut"]) == (0, cut)
    assert [sample["reason"] for sample in quality["not_understood"]] == IMPOSSIBLE.get(how, [])
    assert any("values that cannot be" in note for note in quality["notes"]) == (how in IMPOSSIBLE)
    assert any("cut short or malformed" in note for note in quality["notes"]) == bool(cut)


@pytest.mark.parametrize("before", [bytes(4096), b"\xff\xfe\x80\xc3", b"{", b'{"a": 1} ', b"\x1b[31m", b"<13>"])
def test_anything_may_stand_before_an_event(before: bytes, log: bytes, read: Callable[[bytes], Any]) -> None:
    plain, _ = read(log)
    found, quality = read(log.replace(b"EVENT_LOG_v1 {", before + b"EVENT_LOG_v1 {"))
    assert found == plain
    assert quality["events_rejected"] == quality["events_cut"] == 0


@pytest.mark.parametrize("between", [b"", b" ", b"2026-11-20T23:43:40.049+0000 7fa33a7fc6c0  4 rocksdb: "])
def test_two_events_torn_onto_one_line(
    between: bytes, log: bytes, payload: bytes, line: bytes, read: Callable[[bytes], Any]
) -> None:
    plain, _ = read(log)
    other = next(match for match in FINISHED.finditer(log) if match[1] != payload)
    text = log.replace(other[0], b"\n").replace(payload, payload + between + other[0][:-1])
    assert log.count(b"EVENT_LOG_v1") == text.count(b"EVENT_LOG_v1")
    found, quality = read(text)
    assert found["events"] == plain["events"]
    assert found["compaction_statistics"] == plain["compaction_statistics"]
    assert quality["events_rejected"] == quality["events_cut"] == 0
    # half of the first
    half, quality = read(text.replace(payload, payload[:120]))
    without, _ = read(log.replace(line, b""))
    assert half["events"] == without["events"]
    assert half["compaction_statistics"] == without["compaction_statistics"]
    assert (quality["events_rejected"], quality["events_cut"]) == (1, 0)


def test_unknown_kinds_and_fields_are_kept_and_counted(log: bytes, read: Callable[[bytes], Any]) -> None:
    plain, quality = read(log)
    assert quality["unknown_events"] == quality["unknown_fields"] == {}
    stamp = b'2026-11-20T23:45:00.000+0000 7fa33a7fc6c0  4 rocksdb: EVENT_LOG_v1 {"time_micros": 1795218300000000, '
    text = log.replace(b'"num_subcompactions"', b'"num_sub_new"') + b"".join(
        stamp + rest + b"\n"
        for rest in (
            b'"job": 3, "event": "mutant_made", "limbs": [1, 2]}',
            b'"job": 4, "event": "mutant_made", "limbs": []}',
            b'"event": "ingested_by_moonlight"}',
            b'"job": [1, 2], "file_number": {"a": 1}, "event": "mutant_gone"}',
        )
    )
    found, quality = read(text)
    news = {"mutant_made": 2, "ingested_by_moonlight": 1, "mutant_gone": 1}
    assert quality["unknown_events"] == news
    assert found["events"] == plain["events"] | news
    assert quality["unknown_fields"] == {"compaction_finished.num_sub_new": 14}
    assert quality["events_rejected"] == 0
    assert found["levels"] == plain["levels"]
    assert any("mutant_made (2)" in note for note in quality["notes"])


@pytest.mark.parametrize("kind", ["flush_finished", "table_file_deletion", "recovery_finished", "compaction_started"])
def test_fields_that_identify_an_event_may_be_of_any_type(kind: str, log: bytes, read: Callable[[bytes], Any]) -> None:
    """Not one of these may end the program, whether it is kept or not."""
    plain, _ = read(log)
    word = b'"event": "%b"' % kind.encode()
    for value in (b"[1]", b"{}", b'"x"', b"null", b"1.5", b"-1", b"18446744073709551615"):
        found, quality = read(log.replace(word, word + b', "file_number": ' + value, 1))
        lost = plain["events"][kind] - found["events"].get(kind, 0)
        assert lost == quality["events_rejected"] <= 1


# -- numbers and names that are legal but absurd -----------------------------------------------------------------------


@pytest.fixture
def absurd(log: bytes, payload: bytes, tmp_path: Path) -> Callable[..., Path]:
    """The log with fields of all its finished compactions set to a value."""

    def write_log(**values: Any) -> Path:
        file = tmp_path / "ceph-osd.0.log"
        file.write_bytes(FINISHED.sub(lambda match: b"EVENT_LOG_v1 %b\n" % changed(match[1], **values), log))
        return file

    return write_log


def assert_every_report_can_be_written(file: Path, folder: Path) -> None:
    analysis = analyze([str(file)])
    assert json.loads(to_json(analysis))["runs"]
    for suffix in (one for one in ANALYSIS.suffixes if one not in DRAWN):
        for output in ANALYSIS.outputs([str(folder / f"out{suffix}")]):
            ANALYSIS.write(output, AnalysisReport(analysis))
        assert (folder / f"out{suffix}").stat().st_size
    text = whole(compose(analysis))
    assert not re.search(CONTROL, text), text


@pytest.mark.parametrize(
    "values",
    [
        {"total_output_size": INT64_MAX},
        {"num_input_records": INT64_MAX, "num_output_records": INT64_MAX},
        {"compaction_time_micros": INT64_MAX},
        {"compaction_time_micros": 0},
        {"num_input_records": 0},
        {"output_level": INT64_MAX},
        {"output_level": -1},
        {"total_blob_output_size": (1 << 64) - 1},
        {"lsm_state": [10**30, -1]},
        {"time_micros": INT64_MAX},
        {"time_micros": 1},
        {"job": INT64_MAX},
        {"job": -INT64_MAX},
        {"news": (1 << 64) - 1, "more": [10**30], "nested": {"a": [{}]}},
        {"news": "\N{SNOWMAN}\u001b[2J\u0000\ud800"},
        {"output_compression": "\ud800"},
    ],
    ids=str,
)
def test_absurd_values_can_be_reported(values: dict[str, Any], absurd: Callable[..., Path], tmp_path: Path) -> None:
    assert_every_report_can_be_written(absurd(**values), tmp_path)


@pytest.mark.parametrize("place", ["first event", "every event", "last event"])
@pytest.mark.parametrize("micros", [1, 4_000_000_000_000_000, INT64_MAX])
def test_absurd_times_can_be_reported(place: str, micros: int, log: bytes, tmp_path: Path) -> None:
    times = list(re.finditer(rb'"time_micros": (\d+)', log))
    chosen = {"first event": times[:1], "every event": times, "last event": times[-1:]}[place]
    text = log
    for match in reversed(chosen):
        text = text[: match.start(1)] + b"%d" % micros + text[match.end(1) :]
    (tmp_path / "ceph-osd.0.log").write_bytes(text)
    assert_every_report_can_be_written(tmp_path / "ceph-osd.0.log", tmp_path)


@pytest.mark.parametrize(
    "name",
    [b"\x1b[2J\x1b[31m", b"a\xff\xfeb", b"\\ud800", b"a b", b"a]b", b"[a]", b"a'; b", b"\xe2\x98\x83", b"", b"x" * 400],
)
def test_any_name_of_a_column_family_can_be_reported(name: bytes, log: bytes, tmp_path: Path) -> None:
    text = log.replace(b'"cf_name": "p-0"', b'"cf_name": "%b"' % name).replace(b"[p-0]", b"[%b]" % name)
    (tmp_path / "ceph-osd.0.log").write_bytes(text)
    assert_every_report_can_be_written(tmp_path / "ceph-osd.0.log", tmp_path)
    (run,) = said_of(tmp_path / "ceph-osd.0.log")["runs"]
    assert run["events"]["compaction_finished"] == 14


@pytest.mark.parametrize("name", [b"\xff\xfe.log", b"a\x1b[2Jb\nc.log", "\N{SNOWMAN}.log".encode(), b"a b'\"!.log"])
def test_any_name_of_a_file_can_be_reported(name: bytes, log: bytes, tmp_path: Path, lsmlens: Command) -> None:
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / os.fsdecode(name)).write_bytes(log)
    assert_every_report_can_be_written(folder, tmp_path)
    done = lsmlens("analyze", folder, "--format", "json")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["runs"]


# -- lines without end -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [bytes, lambda data: gzip.compress(data, 1)], ids=["plain", "gzip"])
@pytest.mark.parametrize("end", [b"\n", b" "], ids=["a line of their own", "at the start of an event's line"])
def test_fifty_megabytes_without_a_line_end(
    pack: Callable[[bytes], bytes],
    end: bytes,
    log: bytes,
    read: Callable[[bytes], Any],
    figures: Figures,
    tmp_path: Path,
) -> None:
    plain, _ = read(log)
    begin = log.rindex(b"\n", 0, log.index(b"EVENT_LOG_v1")) + 1
    file = tmp_path / "ceph-osd.0.log"
    file.write_bytes(pack(log[:begin] + b"x" * 50_000_000 + end + log[begin:]))
    (run,) = said_of(file)["runs"]
    assert figures(run) == plain
    assert not any("overlong" in note for note in run["data_quality"]["notes"])


SMALL_BLOCKS = {
    "WINDOW_BYTES": 1 << 16,
    "BUFFER_BYTES": 1 << 16,
    "HISTORY_BYTES": 1 << 12,
    "LINE_LIMIT_BYTES": 1 << 18,
}


@pytest.mark.parametrize("pack", [bytes, lambda data: gzip.compress(data, 1)], ids=["plain", "gzip"])
def test_overlong_lines_are_cut_and_counted(
    pack: Callable[[bytes], bytes],
    log: bytes,
    read: Callable[[bytes], Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain, quality = read(log)
    assert not any("overlong" in note for note in quality["notes"])
    for name, value in SMALL_BLOCKS.items():
        monkeypatch.setattr(blocks, name, value)
    begin = log.rindex(b"\n", 0, log.index(b"EVENT_LOG_v1")) + 1
    file = tmp_path / "ceph-osd.0.log"
    file.write_bytes(pack(log[:begin] + b"x" * 3_000_000 + b"\n" + log[begin:]))
    (run,) = said_of(file)["runs"]
    assert run["events"] == plain["events"]
    assert any("overlong line" in note for note in run["data_quality"]["notes"])


@pytest.mark.slow
def test_a_bomb_is_read_in_bounded_memory(log: bytes, command: list[str], tmp_path: Path) -> None:
    import resource

    file = tmp_path / "ceph-osd.0.log.gz"
    with gzip.open(file, "wb", 1) as out:
        for _ in range(500):
            out.write(bytes(1 << 20))
        out.write(b"\n" + log)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (600 << 20, 600 << 20))

    done = subprocess.run(
        [*command, "analyze", str(file), "--format", "json"],
        capture_output=True,
        timeout=60,
        preexec_fn=limit,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    (run,) = json.loads(done.stdout)["runs"]
    assert run["events"]["compaction_finished"] == 14


# -- compressed files and archives -------------------------------------------------------------------------------------

COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 1),
    "xz": lambda data: lzma.compress(data, preset=0),
    "bz2": bz2.compress,
    "zst": lambda data: zstd.compress(data),
}


@pytest.mark.parametrize("share", [0.3, 0.7, 0.99])
@pytest.mark.parametrize("suffix", COMPRESSED)
def test_truncated_streams_give_what_comes_before(
    suffix: str, share: float, log: bytes, read: Callable[[bytes], Any], figures: Figures, tmp_path: Path
) -> None:
    """Up to some byte the log is read as if it had been cut there."""
    # Small blocks, that there is something before the cut; chance bytes do not compress.
    noise = random.Random(1).randbytes(200_000)
    data = COMPRESSED[suffix](log + b"\n" + noise)
    file = tmp_path / f"ceph-osd.0.log.{suffix}"
    file.write_bytes(data[: int(len(data) * share)])
    said = said_or_reason(file)
    if isinstance(said, str):
        assert suffix != "gz"  # the others' first block may be the whole log
        assert "ends before its end mark" in said
        return
    assert "ends before its end mark" in problems(said)[str(file)]
    (run,) = said["runs"]
    length = run["data_quality"]["bytes"]
    if length <= len(log):
        assert figures(run) == read(log[:length])[0]
    else:
        assert run["events"] == read(log)[0]["events"]


@pytest.mark.parametrize("suffix", ["gz", "xz", "bz2"])
@pytest.mark.parametrize("seed", range(12))
def test_flipped_bits_are_noticed(
    suffix: str, seed: int, log: bytes, read: Callable[[bytes], Any], figures: Figures, tmp_path: Path
) -> None:
    plain, _ = read(log)
    data = bytearray(COMPRESSED[suffix](log))
    place = random.Random(seed).randrange(12, len(data))
    data[place] ^= 1 << seed % 8
    file = tmp_path / f"ceph-osd.0.log.{suffix}"
    file.write_bytes(data)
    said = said_or_reason(file)
    if isinstance(said, str):
        assert said
        return
    assert problems(said) or figures(said["runs"][0]) == plain


@pytest.fixture(scope="session")
def bundled(log: bytes, monitor_log: bytes) -> Callable[[str], bytes]:
    """An archive of two logs, of a kind."""
    files = {"a/ceph-osd.0.log": log, "a/ceph-mon.a.log": monitor_log}
    packed = {
        "zip": lambda: zipped(files),
        "stored.zip": lambda: zipped(files, zipfile.ZIP_STORED),
        "tar": lambda: tarred(files),
        "tar.gz": lambda: gzip.compress(tarred(files), 1),
    }
    return cache(lambda kind: packed[kind]())


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", ["zip", "tar.gz", "tar", "stored.zip"])
def test_flipped_bits_in_archives_are_noticed(
    kind: str,
    seed: int,
    log: bytes,
    bundled: Callable[[str], bytes],
    read: Callable[[bytes], Any],
    figures: Figures,
    tmp_path: Path,
) -> None:
    """Never a traceback; and where an archive has checksums, never wrong figures without a word."""
    data = bundled(kind)
    chance, damaged = random.Random(seed), bytearray(data)
    for _ in range(1 + seed % 3):
        damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file = tmp_path / f"bundle.{kind}"
    file.write_bytes(damaged)
    said = said_or_reason(file)
    if isinstance(said, str):
        assert said
        return
    if kind in ("zip", "tar.gz", "stored.zip") and not problems(said):
        osds = [figures(run) for run in said["runs"] if not run["monitor"]]
        assert osds == [read(log)[0]]


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("compress", [bytes, lambda data: gzip.compress(data, 1)], ids=["tar", "tar.gz"])
def test_a_truncated_tar_gives_what_comes_before(
    compress: Callable[[bytes], bytes],
    share: float,
    whole_log: bytes,
    monitor_log: bytes,
    read: Callable[[bytes], Any],
    figures: Figures,
    tmp_path: Path,
) -> None:
    data = compress(tarred({"a/ceph-mon.a.log": monitor_log, "a/ceph-osd.0.log": whole_log}))
    file = tmp_path / "bundle.tar"
    file.write_bytes(data[: int(len(data) * share)])
    said = said_of(file)
    assert problems(said)
    assert any("a/ceph-osd.0.log" in path for path in problems(said))
    osd, monitor = said["runs"]
    assert monitor["events"]["recovery_finished"] == 1
    assert figures(osd) == read(whole_log[: osd["data_quality"]["bytes"]])[0]


def test_a_tar_whose_second_header_is_damaged(log: bytes, monitor_log: bytes, tmp_path: Path) -> None:
    data = bytearray(tarred({"ceph-osd.0.log": log, "ceph-mon.a.log": monitor_log}))
    header = data.index(b"ceph-mon.a.log")
    data[header + 150] ^= 0xFF
    (tmp_path / "bundle.tar").write_bytes(data)
    said = said_of(tmp_path / "bundle.tar")
    assert said["runs"][0]["events"]["compaction_finished"] == 14
    assert any("damaged" in problem for problem in problems(said).values())


def test_members_of_a_zip_that_cannot_be_opened_are_named(log: bytes, tmp_path: Path) -> None:
    data = bytearray(zipped({"good.log": log, "secret.log": log[:5000], "strange.log": log[:5000]}))
    for name, offset, value in ((b"secret.log", 6, 1), (b"strange.log", 8, 99)):
        local = data.index(name) - 30
        central = data.rindex(name) - 46
        data[local + offset] = value
        data[central + offset + 2] = value
    (tmp_path / "bundle.zip").write_bytes(data)
    said = said_of(tmp_path / "bundle.zip")
    named = {path.rpartition("!")[2]: problem for path, problem in problems(said).items()}
    assert set(named) == {"secret.log", "strange.log"}
    assert "encrypted" in named["secret.log"]
    assert [run["events"]["compaction_finished"] for run in said["runs"]] == [14]


def test_one_bad_file_costs_no_other(
    log: bytes, read: Callable[[bytes], Any], figures: Figures, tmp_path: Path
) -> None:
    plain, _ = read(log)
    (tmp_path / "ceph-osd.0.log").write_bytes(log)
    packed = gzip.compress(log)
    bad = {
        "cut.tar.gz": gzip.compress(tarred({"x.json": b"{}" * 90_000}))[:200],
        "header-only.gz": packed[:10],
        "magic-only.gz": packed[:3],
        "not-really.xz": b"\xfd7zXZ\x00" + b"nonsense" * 99,
        "not-really.zst": b"\x28\xb5\x2f\xfd" + b"\xff" * 99,
        "not-really.bz2": b"BZh9" + b"nonsense" * 99,
        "not-really.zip": b"PK\x03\x04" + b"nonsense" * 99,
        "cut.zip": zipped({"x.json": b"{}" * 90_000})[:-30],
    }
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "empty.log").write_bytes(b"")
    (tmp_path / "noise.bin").write_bytes(random.Random(2).randbytes(100_000))
    said = said_of(tmp_path)
    (run,) = said["runs"]
    assert figures(run) == plain
    assert {Path(path.partition("!")[0]).name for path in problems(said)} == set(bad)
    assert len({member["path"] for member in said["members"]}) >= len(bad) + 3


def test_nested_too_deep(log: bytes, lsmlens: Command, tmp_path: Path) -> None:
    data = log
    for _ in range(30):
        data = gzip.compress(data, 1)
    (tmp_path / "deep.gz").write_bytes(data)
    assert_input_error(lsmlens("analyze", tmp_path / "deep.gz"), "deep.gz", "nested deeper")
    (tmp_path / "ceph-osd.0.log").write_bytes(log)
    said = said_of(tmp_path)
    assert len(said["runs"]) == 1
    assert "nested deeper" in problems(said)[str(tmp_path / "deep.gz")]


def test_names_in_an_archive_are_only_shown(log: bytes, lsmlens: Command, tmp_path: Path) -> None:
    work = tmp_path / "a" / "b" / "c"
    work.mkdir(parents=True)
    out = io.BytesIO()
    names = ["../../escaped.log", f"{tmp_path}/absolute.log", "..\\..\\escaped.log", "evil\x1b[2J\nname.log"]
    with tarfile.open(fileobj=out, mode="w") as archive:
        for number, name in enumerate(names):
            entry = tarfile.TarInfo(name)
            entry.size = len(log)
            archive.addfile(entry, io.BytesIO(log))
            link = tarfile.TarInfo(f"link-{number}.log")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(link)
        for kind in (tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.LNKTYPE):
            special = tarfile.TarInfo("special.log")
            special.type, special.linkname = kind, "/etc/passwd"
            archive.addfile(special)
    (work / "bundle.tar").write_bytes(out.getvalue())
    (work / "bundle.zip").write_bytes(zipped({f"zip/{name}": log for name in names[:3]}))
    before = sorted(tmp_path.rglob("*"))
    done = lsmlens("analyze", "bundle.tar", "bundle.zip", "--format", "json", cwd=work)
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(tmp_path.rglob("*")) == before
    paths = [member["path"] for member in json.loads(done.stdout)["members"]]
    assert paths[:2] == ["bundle.tar!../../escaped.log", f"bundle.tar!{tmp_path}/absolute.log"]
    assert len(paths) == 7
    assert all(path.isprintable() for path in paths)
    text = lsmlens("analyze", "bundle.tar", cwd=work).stdout.decode()
    assert "\x1b" not in text


# -- files that cannot be read -----------------------------------------------------------------------------------------


def test_unreadable_files_are_named(log: bytes, read: Callable[[bytes], Any], figures: Figures, tmp_path: Path) -> None:
    plain, _ = read(log)
    (tmp_path / "ceph-osd.0.log").write_bytes(log)
    (tmp_path / "dangling.log").symlink_to(tmp_path / "gone")
    (tmp_path / "circle.log").symlink_to(tmp_path / "circle.log")
    (tmp_path / "loop").symlink_to(tmp_path)
    bad = {"dangling.log", "circle.log"}
    if Path("/proc/self/mem").exists():
        (tmp_path / "failing.log").symlink_to("/proc/self/mem")  # opens, but its first byte cannot be read
        bad.add("failing.log")
    if os.geteuid():
        (tmp_path / "forbidden.log").write_bytes(log)
        (tmp_path / "forbidden.log").chmod(0)
        bad.add("forbidden.log")
    said = said_of(tmp_path)
    assert {Path(path).name for path in problems(said)} == bad
    assert figures(said["runs"][0]) == plain
    assert len(said["runs"]) == 1


def test_pipes_and_sockets_in_a_folder_are_passed_by(log: bytes, command: list[str], tmp_path: Path) -> None:
    (tmp_path / "ceph-osd.0.log").write_bytes(log)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link-to-pipe").symlink_to("pipe")
    (tmp_path / "link-to-device").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(tmp_path / "admin.asok"))
        (tmp_path / "link-to-socket").symlink_to("admin.asok")
        done = subprocess.run(
            [*command, "analyze", str(tmp_path), "--format", "json"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["runs"][0]["events"]["compaction_finished"] == 14


def test_a_socket_given_by_name_is_an_input_error(lsmlens: Command, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(tmp_path / "admin.asok"))
        assert_input_error(lsmlens("analyze", tmp_path / "admin.asok"), "admin.asok")


def test_a_named_pipe_given_by_name_is_read(log: bytes, command: list[str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.log")
    with subprocess.Popen(
        [*command, "analyze", str(tmp_path / "pipe.log"), "--format", "json"], stdout=subprocess.PIPE
    ) as process:
        (tmp_path / "pipe.log").write_bytes(log)
        said, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert json.loads(said)["runs"][0]["events"]["compaction_finished"] == 14


# -- nothing that could be read ----------------------------------------------------------------------------------------

NOTHING: dict[str, bytes] = {
    "empty.log": b"",
    "newlines.log": b"\n" * 1000,
    "zeros.log": bytes(100_000),
    "noise.bin": random.Random(3).randbytes(100_000),
    "document.json": b'{"ops": []}\n',
    "prose.txt": b"EVENT_LOG_v1 is the word to look for.\n",
    "header-only.log.gz": gzip.compress(b"x")[:10],
    "empty.log.gz": gzip.compress(b""),
    "not-really.zip": b"PK\x03\x04nonsense",
    "not-really.xz": b"\xfd7zXZ\x00nonsense",
    "empty.zip": zipped({}),
    "empty.tar": tarred({}),
    "no-logs.tar.gz": gzip.compress(tarred({"a.json": b"{}", "b.txt": b"hello\n"})),
    "cut.tar": tarred({"a.json": b"{}" * 5000})[:700],
}


@pytest.mark.parametrize("name", NOTHING)
def test_a_file_with_nothing_to_read(name: str, lsmlens: Command, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(NOTHING[name])
    assert_input_error(lsmlens("analyze", tmp_path / name), name)


@pytest.mark.parametrize("data", [b"", gzip.compress(b"hello\n"), bytes(5000)], ids=["empty", "gzip", "zeros"])
def test_standard_input_with_nothing_to_read(data: bytes, lsmlens: Command) -> None:
    assert_input_error(lsmlens("analyze", "-", stdin=data), "standard input")


def test_folders_with_nothing_to_read(lsmlens: Command, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert_input_error(lsmlens("analyze", empty), "empty", "folder")
    (empty / "deeper").mkdir()
    assert_input_error(lsmlens("analyze", empty), "empty")
    without = tmp_path / "without"
    without.mkdir()
    (without / "notes.json").write_bytes(b'{"ticket": 1}')
    (without / "ceph.conf").write_bytes(b"[global]\nfsid = 1\n")
    assert_input_error(lsmlens("analyze", without), "without", "no line of RocksDB")
    assert_input_error(lsmlens("analyze", empty, without), "no line of RocksDB")
    (without / "perf_dump.json").write_bytes(b'{"bluefs": {"db_used_bytes": 1}}')
    counters = lsmlens("analyze", without)
    assert counters.returncode == 0
    assert b"No log: only counters" in counters.stdout
    dangling = tmp_path / "dangling"
    dangling.mkdir()
    (dangling / "ceph-osd.0.log").symlink_to("gone")
    assert_input_error(lsmlens("analyze", dangling), "ceph-osd.0.log")


@pytest.mark.parametrize("name", ["gone.log", "ceph-osd.0.log/below", "circle", "n" * 300, "", "dangling", "\0"])
def test_paths_that_are_not_there(name: str, log: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ceph-osd.0.log").write_bytes(log)
    Path("circle").symlink_to("circle")
    Path("dangling").symlink_to("gone")
    for paths in ([name], ["ceph-osd.0.log", name]):
        with pytest.raises(InputError) as raised:
            analyze(paths)
        assert raised.value.path == name
        assert raised.value.reason
        assert raised.value.hint


def test_a_path_that_is_not_there_is_said_in_two_lines(log: bytes, lsmlens: Command, tmp_path: Path) -> None:
    (tmp_path / "ceph-osd.0.log").write_bytes(log)
    assert_input_error(lsmlens("analyze", tmp_path / "gone.log"), "gone.log", "no such file")
    assert_input_error(lsmlens("analyze", tmp_path / "ceph-osd.0.log", tmp_path / "gone.log"), "gone.log")
    assert_input_error(lsmlens("analyze", tmp_path / "new\nline\x1b[2J.log"))


def test_a_log_without_events_is_no_error(log: bytes, lsmlens: Command, tmp_path: Path) -> None:
    """debug_rocksdb was lowered: the log can be read, and the report says why there is nothing in it."""
    lines = [line for line in log.splitlines(keepends=True) if b" rocksdb: " not in line and line.startswith(b"2026")]
    (tmp_path / "ceph-osd.0.log").write_bytes(b"".join(lines))
    done = lsmlens("analyze", tmp_path / "ceph-osd.0.log")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"debug_rocksdb" in done.stdout
