r"""Programs that hold RocksDB and write its messages into their own logs, and tools that print lines with more before.

Each line is turned back into one of RocksDB's LOG, `2022/04/17-18:25:22.934506 8370 [WARN] message`, in the program's
local time, so that all that reads a LOG reads these as well: options, dumps and events alike.

    TiKV          [2022/04/17 18:25:22.934 +00:00] [INFO] [logger.rs:12] ["message, as a JSON string"] [thread_id=0x5]
    CockroachDB   I220417 18:25:22.934506 8370 storage/engine/rocksdb.go:103  message
    ArangoDB      2022-04-17T18:25:22Z [8370] INFO [a1b2c] {rocksdb} rocksdb: message
    FoundationDB  <Event … DateTime="2022-04-17T18:25:22Z" Type="RocksDBLog" Message="message" ThreadID="8370" … />
    logback       2022-04-17 18:25:22,934 INFO  [thread] o.rocksdb.Logger - message     [2022-04-17 18:25:22,934] INFO …
    Spring        2022-04-17 18:25:22.934  INFO 1 --- [thread] o.rocksdb.Logger : message
    JSON lines    {"ts":"2022-04-17T18:25:22.934Z","level":"info","msg":"message"}
    bare events   {"time_micros": 1650219922934506, "job": 3, "event": "flush_started", …}
    grep -n       1080:2022/04/17-18:25:22.934506 8370 message              LOG:1080:…  LOG-1081-…
"""

import html
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from lsmlens.analyzer.logs.events import ANCHOR
from lsmlens.analyzer.logs.stamps import STAMP

_TIKV = re.compile(
    rb"^\[(\d{4}/\d\d/\d\d) (\d\d:\d\d:\d\d\.\d{3}) [+-]\d\d:\d\d\] ?\[(\w+)\] ?\[[^\]\n]*\] ?"
    rb'\[("(?:[^"\\\n]|\\.)*"|[^\]\n]*)\][^\n]*',
    re.MULTILINE,
)
_COCKROACH = re.compile(
    rb"^([IWEF])(\d\d)(\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d{6}) (\d+) [^\s:]+:\d+ +"
    rb"(?:\xe2\x8b\xae )?(?:\[n[^\]\n]*\] +)?(?:\d+ +)?",
    re.MULTILINE,
)
_ARANGO = re.compile(
    rb"^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z? \[(\d+)[^\]\n]*\] (\w+)"
    rb"(?: \[\w+\])? \{rocksdb\} (?:rocksdb: )?",
    re.MULTILINE,
)
_FOUNDATION = re.compile(rb'<Event((?:\s+\w+="[^"]*")*)\s*/>\s*')
_ATTRIBUTE = re.compile(rb'(\w+)="([^"]*)"')
_LOGBACK = re.compile(
    rb"^\[?(\d{4})-(\d\d)-(\d\d)[ T](\d\d:\d\d:\d\d)(?:,(\d{3})\]?|\.(\d{3})(?= +[A-Z]{4,5} \d+ --- ))"
    rb"(?:[^\n]{0,200}? (?:-|:) |[^\n]{0,40}?\b(?:INFO|WARN|ERROR|DEBUG) +)",
    re.MULTILINE,
)
_JSON_LINE = re.compile(rb"^\{[^\n]*\}[ \t\r]*(?:\n|\Z)", re.MULTILINE)
_BARE_EVENT = re.compile(rb'^(?=\{"time_micros": ?\d)', re.MULTILINE)
_GREPPED = re.compile(rb"^(?:[^\s:]+[:-])?(\d{1,12})[:-]", re.MULTILINE)

_LEVELS = {b"W": b"[WARN] ", b"E": b"[ERROR] ", b"F": b"[FATAL] "}
_MESSAGES, _TIMES = ("message", "msg", "@message", "text"), ("ts", "time", "timestamp", "@timestamp")
_DATE_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,6}))?")
LINES_LOOKED_AT = 20
# What stands for the thread where a program does not log it; no thread of a system has that number.
NO_THREAD = b"0"

# Takes a block and whether it is the last; gives the lines in it, and what belongs to the next block.
Unwrap = Callable[[bytes, bool], tuple[bytes, bytes]]


class Embedder(NamedTuple):
    """A form: its name, whether the first bytes of a file are of it, and what turns it into a LOG's lines."""

    name: str
    holds: Callable[[bytes], bool]
    unwrap: Unwrap


def embedder_of(head: bytes) -> Embedder | None:
    """The form whose lines `head` holds; None for any other, RocksDB's own LOG and Ceph's among them."""
    if STAMP.match(head) and not _LOGBACK.match(head):
        return None
    return next((one for one in EMBEDDERS if one.holds(head)), None)


def _native(date: bytes, clock: bytes, thread: bytes, level: bytes) -> bytes:
    """What stands before a message in a LOG; clocks are padded to microseconds."""
    whole, _, fraction = clock.partition(b".")
    return b"%s-%s.%s %s %s" % (
        date,
        whole,
        fraction[:6].ljust(6, b"0"),
        thread or NO_THREAD,
        _LEVELS.get(level[:1], b""),
    )


def _by_lines(pattern: re.Pattern[bytes], native: Callable[[re.Match[bytes]], bytes]) -> Unwrap:
    def unwrap(block: bytes, last: bool) -> tuple[bytes, bytes]:
        cut = len(block) if last else block.rfind(b"\n") + 1
        return pattern.sub(native, block[:cut]), block[cut:]

    return unwrap


def _tikv(match: re.Match[bytes]) -> bytes:
    message = match[4]
    if message[:1] == b'"':
        message = _unquoted(message)
    return _native(match[1], match[2], b"", match[3]) + message


def _unquoted(literal: bytes) -> bytes:
    import json

    try:
        text = json.loads(literal.decode("utf-8", "replace"), strict=False)
    except ValueError:
        return literal.strip(b'"')
    return str(text).encode("utf-8", "replace")


def _cockroach(match: re.Match[bytes]) -> bytes:
    date = b"20%s/%s/%s" % (match[2], match[3], match[4])
    return _native(date, match[5], match[6], match[1])


def _dashed(match: re.Match[bytes], clock: bytes, thread: bytes, level: bytes) -> bytes:
    return _native(b"%s/%s/%s" % (match[1], match[2], match[3]), clock, thread, level)


def _arango(match: re.Match[bytes]) -> bytes:
    return _dashed(match, match[4] + b"." + (match[5] or b""), match[6], match[7])


def _logback(match: re.Match[bytes]) -> bytes:
    said = match[0]
    level = next((name for name in (b"WARN", b"ERROR") if name in said), b"")
    return _dashed(match, match[4] + b"." + (match[5] or match[6]), b"", level)


def _foundation(block: bytes, last: bool) -> tuple[bytes, bytes]:
    cut = len(block) if last else block.rfind(b"/>") + 2 if b"/>" in block else 0
    return b"".join(_foundation_lines(block[:cut])), block[cut:]


def _foundation_lines(text: bytes) -> Iterator[bytes]:
    for event in _FOUNDATION.finditer(text):
        said = dict(_ATTRIBUTE.findall(event[1]))
        moment = _DATE_TIME.match(said.get(b"DateTime", b"").decode("ascii", "replace"))
        if b"Message" in said and moment is not None:
            level = {b"20": b"W", b"30": b"W", b"40": b"E"}.get(said.get(b"Severity", b""), b"")
            message = html.unescape(said[b"Message"].decode("utf-8", "replace")).encode("utf-8", "replace")
            yield _moment(moment, said.get(b"ThreadID", b""), level) + message.rstrip(b"\n") + b"\n"


def _moment(moment: re.Match[str], thread: bytes, level: bytes) -> bytes:
    year, month, day, clock, fraction = (part or "" for part in moment.groups())
    return _native(f"{year}/{month}/{day}".encode(), f"{clock}.{fraction}".encode(), thread, level)


def _json_line(match: re.Match[bytes]) -> bytes:
    found = _json_message(match[0])
    if found is None:
        return match[0]
    message, time, level = found
    moment = _DATE_TIME.match(time)
    before = b"" if moment is None else _moment(moment, b"", level[:1].upper().encode())
    return before + message.rstrip("\n").encode("utf-8", "replace") + b"\n"


def _json_message(line: bytes) -> tuple[str, str, str] | None:
    """The message, the time and the level that a line of JSON holds; None without the first two."""
    import orjson

    try:
        said = orjson.loads(line)
    except ValueError:
        return None
    message = next((said[name] for name in _MESSAGES if isinstance(said.get(name), str)), None)
    time = next((said[name] for name in _TIMES if isinstance(said.get(name), str)), None)
    level = said.get("level", said.get("severity", ""))
    return None if message is None or time is None else (message, time, level if isinstance(level, str) else "")


def _is_json_lines(head: bytes) -> bool:
    lines = [line for line in head.split(b"\n")[:2] if line]
    return bool(lines) and all(line.startswith(b"{") and _json_message(line) is not None for line in lines)


def _is_bare_events(head: bytes) -> bool:
    return _BARE_EVENT.match(head) is not None


def _is_grepped(head: bytes) -> bool:
    """Numbers that rise before each of the first lines, and behind the first of them what is a log's line."""
    lines = head.split(b"\n")[:LINES_LOOKED_AT]
    found = [_GREPPED.match(line) for line in (lines if len(lines) == 1 else lines[:-1])]
    first = found[0]
    if first is None or not all(found):
        return False
    numbers = [int(one[1]) for one in found if one is not None]
    rest = lines[0][first.end() :]
    is_log = STAMP.match(rest) or ANCHOR in rest or embedder_of(rest) is not None
    return bool(is_log) and all(one < other for one, other in pairwise(numbers))


EMBEDDERS = (
    Embedder("TiKV", lambda head: _TIKV.match(head) is not None, _by_lines(_TIKV, _tikv)),
    Embedder("CockroachDB", lambda head: _COCKROACH.match(head) is not None, _by_lines(_COCKROACH, _cockroach)),
    Embedder("ArangoDB", lambda head: _ARANGO.search(head) is not None, _by_lines(_ARANGO, _arango)),
    Embedder("FoundationDB", lambda head: _FOUNDATION.search(head, 0, 4096) is not None, _foundation),
    Embedder("logback", lambda head: _LOGBACK.match(head) is not None, _by_lines(_LOGBACK, _logback)),
    Embedder("bare events", _is_bare_events, _by_lines(_BARE_EVENT, lambda _: ANCHOR[:-1])),
    Embedder("JSON lines", _is_json_lines, _by_lines(_JSON_LINE, _json_line)),
    Embedder("grep -n", _is_grepped, _by_lines(_GREPPED, lambda _: b"")),
)
