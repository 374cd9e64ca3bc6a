"""One LOG behind the prefixes of other programs and tools: read as the LOG itself."""

import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.bundles.embedders import EMBEDDERS, embedder_of
from lsmlens.analyzer.diagnosis import analyze

ENTRY = re.compile(r"^(\d{4})/(\d\d)/(\d\d)-(\d\d:\d\d:\d\d)\.(\d{6}) (\w+) (\[WARN\] )?", re.MULTILINE)
Message = tuple[re.Match[str], str]


def messages(log: str) -> list[Message]:
    """Each entry's beginning and its message, of one line or more."""
    starts = list(ENTRY.finditer(log))
    ends = [one.start() for one in starts[1:]] + [len(log)]
    return [(one, log[one.end() : end].rstrip("\n")) for one, end in zip(starts, ends, strict=True)]


def level(start: re.Match[str], *words: str) -> str:
    return words[1 if start[7] else 0]


def date(start: re.Match[str], mark: str) -> str:
    return mark.join(start.groups()[:3])


def cut(start: re.Match[str]) -> str:
    return start[5][:3]


FORMS: dict[str, Callable[[re.Match[str], str, int], str]] = {
    "TiKV": lambda at, text, _: (
        f"[{date(at, '/')} {at[4]}.{cut(at)} +00:00] [{level(at, 'INFO', 'WARN')}] [logger.rs:12]"
        f" [{json.dumps(text)}] [thread_id=0x5]"
    ),
    "CockroachDB": lambda at, text, _: (
        f"{level(at, 'I', 'W')}{at[1][2:]}{at[2]}{at[3]} {at[4]}.{at[5]} 8370 storage/engine/rocksdb.go:103  {text}"
    ),
    "ArangoDB": lambda at, text, _: (
        f"{date(at, '-')}T{at[4]}Z [8370] {level(at, 'INFO', 'WARNING')} [a1b2c] {{rocksdb}} rocksdb: {text}"
    ),
    "FoundationDB": lambda at, text, _: (
        f'<Event Severity="{level(at, "10", "20")}" Time="1629167133.040469"'
        f' DateTime="{date(at, "-")}T{at[4]}Z" Type="RocksDBLog" Message="{html.escape(text)}" ThreadID="8370" />'
    ),
    "logback": lambda at, text, _: (
        f"{date(at, '-')} {at[4]},{cut(at)} {level(at, 'INFO', 'WARN')}  [stream-1] org.rocksdb.Logger - {text}"
    ),
    "Spring": lambda at, text, _: (
        f"{date(at, '-')} {at[4]}.{cut(at)}  {level(at, 'INFO', 'WARN')} 1 --- [stream-1] org.rocksdb.Logger : {text}"
    ),
    "JSON lines": lambda at, text, _: json.dumps(
        {"ts": f"{date(at, '-')}T{at[4]}.{cut(at)}Z", "level": level(at, "info", "warn"), "msg": text}
    ),
}


@pytest.fixture(scope="module")
def log(fixtures: Path) -> str:
    return (fixtures / "rocksdb-7.8" / "LOG").read_text(errors="replace")


@pytest.fixture(scope="module")
def native(log: str, tmp_path_factory: pytest.TempPathFactory) -> RunAnalysis:
    return read(tmp_path_factory.mktemp("native"), log.encode())


def read(folder: Path, content: bytes) -> RunAnalysis:
    (folder / "LOG").write_bytes(content)
    (run,) = analyze([str(folder / "LOG")]).runs
    return run


def same(one: RunAnalysis, other: RunAnalysis) -> None:
    assert one.run.event_counts == other.run.event_counts
    assert one.options == other.options
    assert one.families == other.families
    assert one.flushes == other.flushes
    assert one.series is not None
    assert other.series is not None
    assert [point._replace(millis=None) for point in one.series.points] == [
        point._replace(millis=None) for point in other.series.points
    ]
    assert one.run.stall_lines.keys() == other.run.stall_lines.keys()  # stamps of whole seconds make repeats of some
    assert one.run.rocksdb_version == other.run.rocksdb_version
    assert len(one.run.sessions) == len(other.run.sessions)


@pytest.mark.parametrize("form", FORMS)
def test_all_of_a_log_is_read_behind_a_programs_prefix(
    form: str, log: str, native: RunAnalysis, tmp_path: Path
) -> None:
    lines = [FORMS[form](start, text, number) for number, (start, text) in enumerate(messages(log), 1)]
    same(read(tmp_path, ("\n".join(lines) + "\n").encode()), native)


def test_what_grep_numbered(log: str, native: RunAnalysis, tmp_path: Path) -> None:
    lines = [f"{number}:{line}" for number, line in enumerate(log.splitlines(), 1)]
    same(read(tmp_path, ("\n".join(lines) + "\n").encode()), native)


@pytest.mark.parametrize("code", ["utf-16", "utf-16-be"])
def test_utf_16(code: str, log: str, native: RunAnalysis, tmp_path: Path) -> None:
    text = ("\ufeff" if code != "utf-16" else "") + log.replace("\n", "\r\n")
    same(read(tmp_path, text.encode(code)), native)


def test_bare_events(log: str, native: RunAnalysis, tmp_path: Path) -> None:
    events = re.findall(r"EVENT_LOG_v1 (\{.*\})$", log, re.MULTILINE)
    run = read(tmp_path, ("\n".join(events) + "\n").encode())
    assert run.run.event_counts == native.run.event_counts


def test_every_form_is_tried() -> None:
    assert {one.name for one in EMBEDDERS} <= {*FORMS, "grep -n", "bare events"}


@pytest.mark.parametrize(
    "line",
    [
        b"2026-11-20T22:56:20.761+0000 7f9fa51141c0  4 rocksdb: RocksDB version: 6.8.1",
        b"2019-08-23 23:32:03.553 7fd60f4198c0  4 rocksdb: RocksDB version: 5.17.2",
        b"2026/11/21-07:33:02.040964 10094 [WARN] [db/x.cc:1] message - of its own : kind",
        b"debug 2026-11-20T22:56:20.761+0000 7f9fa51141c0  4 rocksdb: x",
        b"** Compaction Stats [default] **",
        b'{"rocksdb": {"get_latency": {"avgcount": 1}}}',
        b"",
    ],
)
def test_other_logs_are_left_as_they_are(line: bytes) -> None:
    assert embedder_of(line + b"\n" + line + b"\n") is None


@pytest.mark.parametrize("at", [1, 7, 100, 4000])
def test_a_line_may_be_cut_at_any_byte(at: int, log: str) -> None:
    text = "".join(FORMS["FoundationDB"](*one, 0) + "\n" for one in messages(log)[:60]).encode()
    form = embedder_of(text)
    assert form is not None
    whole, rest = form.unwrap(text, True)
    assert rest == b""
    first, rest = form.unwrap(text[:at], False)
    assert first + form.unwrap(rest + text[at:], True)[0] == whole
