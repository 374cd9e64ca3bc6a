r"""What carried a log before it became a file: container runtimes, syslog, the journal.

Each transport turns its lines back into those the daemon wrote, block by block, before anything looks for
RocksDB in them. Lines it does not recognise pass as they are.

    CRI              2023-05-30T01:21:33.123456789Z stderr F debug 2023-05-30T…     P instead of F: to be joined
    docker json-file {"log":"debug 2023-05-30T… rocksdb: …\n","stream":"stderr","time":"…"}
    journald json    {"MESSAGE":"2023-05-30T… rocksdb: …","_PID":"123","SYSLOG_IDENTIFIER":"ceph-osd", …}
    journald export  __CURSOR=…, _PID=123, MESSAGE=2023-…; entries end with an empty line, binary fields by length
    syslog           May 30 01:21:33 host ceph-osd[123]: 2023-05-30T… rocksdb: …#012

One may carry another, and the lines of a program that holds RocksDB (see `embedders`); UTF-16 is taken off first.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from enum import StrEnum

from lsmlens.analyzer.bundles.compression import DamagedStream
from lsmlens.analyzer.bundles.embedders import Unwrap, embedder_of

CRI_LINE = re.compile(
    rb"^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (stdout|stderr) ([FP])(?: ([^\n]*))?(?:\n|\Z)", re.MULTILINE
)
DOCKER_LINE = re.compile(rb'^\{"log": ?"((?:[^"\\\n]|\\.)*)"(?:, ?"stream": ?"(\w*)")?[^\n]*(?:\n|\Z)', re.MULTILINE)
JOURNAL_JSON_LINE = re.compile(rb'^\{[^\n]*"MESSAGE"\s*:[^\n]*\n?', re.MULTILINE)
# How syslog, and journalctl in its short forms, say when:
#   May 30 01:21:33    May 30 01:21:33.123456    2023-05-30T01:21:33.123456+02:00    Tue 2023-05-30 01:21:33 UTC
#   1685409693.123456    [  123.456789]
SYSLOG_STAMP = (
    rb"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,9})?|\d{4}-\d\d-\d\dT[\d:.,]{8,19}(?:Z|[+-]\d\d:?\d\d)"
    rb"|[A-Z][a-z]{2} \d{4}-\d\d-\d\d [\d:.]{8,18} [\w+-]{1,9}|\d{9,11}\.\d{6}|\[ *\d{1,9}\.\d{6}\])"
)
# May 30 01:21:33 host ceph-osd[123]: …    <14>May 30 …
SYSLOG_LINE = re.compile(rb"^(?:<\d{1,3}>)?" + SYSLOG_STAMP + rb" (\S+) ([\w.@/-]+)\[(\d+)\]:", re.MULTILINE)
# What the source of a line of a shared stream looks like once the transport is off: `ceph-osd[123]: `.
SOURCE_LINE = re.compile(rb"^[^\n\[]{0,200}?([\w.@/-]+\[\d+\]): ?", re.MULTILINE)
SOURCE = re.compile(rb"(?:^|[ >])([\w.@/-]+\[\d+\]): ?")


UTF16 = (b"\xff\xfe", b"\xfe\xff")
PARTS_LIMIT_BYTES = 16 << 20
# UTF-16 around a container's log of a program that holds RocksDB, and one more.
LAYERS = 4


class Transport(StrEnum):
    """How the daemon's lines were carried."""

    NONE = "none"
    CRI = "CRI"
    DOCKER = "docker json-file"
    JOURNAL_JSON = "journald json"
    JOURNAL_EXPORT = "journald export"
    SYSLOG = "syslog"

    @property
    def is_shared(self) -> bool:
        """Whether several daemons may write through it into one file."""
        return self in (Transport.SYSLOG, Transport.JOURNAL_JSON, Transport.JOURNAL_EXPORT)


def transport_of(head: bytes) -> Transport:
    """The transport whose lines `head` (up to 64 KiB) holds; a cut first line does not matter."""
    if head.startswith((b"__CURSOR=", b"__REALTIME_TIMESTAMP=")) or b"\n__REALTIME_TIMESTAMP=" in head:
        return Transport.JOURNAL_EXPORT
    if CRI_LINE.search(head):
        return Transport.CRI
    if DOCKER_LINE.search(head):
        return Transport.DOCKER
    if JOURNAL_JSON_LINE.search(head):
        return Transport.JOURNAL_JSON
    if SYSLOG_LINE.search(head):
        return Transport.SYSLOG
    return Transport.NONE


def unwrapping(head: bytes, begun: dict[bytes, bytes] | None = None) -> Unwrap | None:
    """What turns a stream that begins with `head` one step back into a daemon's own lines; None where it is these.

    `begun` holds what came of lines in parts, by stream: keep it to go on with the rest of the same log later.
    """
    if head.startswith(UTF16):
        return _utf16()
    transport = transport_of(head)
    if transport is not Transport.NONE:
        return _UNWRAP[transport]({} if begun is None else begun)
    embedder = embedder_of(head)
    return None if embedder is None else embedder.unwrap


def layers(head: bytes) -> Iterator[bytes]:
    """The beginning of a stream as it is, and without each of what carries its lines."""
    yield head
    for _ in range(LAYERS):
        unwrap = unwrapping(head)
        if unwrap is None:
            return
        head = unwrap(head, True)[0]
        yield head


class UnwrappedStream(DamagedStream):
    """The daemon's own lines out of a stream that something wrapped."""

    def __init__(self, source: DamagedStream, unwrap: Unwrap) -> None:
        super().__init__(source)
        self._unwrap = unwrap
        self._partial = b""

    def _read(self, size: int) -> bytes:
        while True:
            data = self._source.read(size) or b""
            block = self._partial + data
            if not data:
                self._partial = b""
                return self._unwrap(block, True)[0] if block else b""
            text, self._partial = self._unwrap(block, False)
            if text:
                return text


def _utf16() -> Unwrap:
    """As some consoles of Windows write what they are told to put into a file; the first two bytes say the order."""
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    return lambda block, last: (decoder.decode(block, last).encode("utf-8", "replace"), b"")


def _whole_lines(block: bytes, last: bool) -> tuple[bytes, bytes]:
    cut = len(block) if last else block.rfind(b"\n") + 1
    return block[:cut], block[cut:]


class _Parts:
    """Long lines come in parts, those of one stream with lines of the other between."""

    def __init__(self, begun: dict[bytes, bytes]) -> None:
        self._begun = begun

    def add(self, stream: bytes, text: bytes, is_whole: bool) -> bytes:
        """What can be given on once `text` has come: the whole line, or nothing yet."""
        text = self._begun.pop(stream, b"") + text
        if is_whole or len(text) > PARTS_LIMIT_BYTES:
            return text
        self._begun[stream] = text
        return b""

    def rest(self) -> bytes:
        """What never became whole."""
        rest = b"".join(text + b"\n" for text in self._begun.values())
        self._begun.clear()
        return rest


def _cri(begun: dict[bytes, bytes]) -> Unwrap:
    parts = _Parts(begun)

    def content(match: re.Match[bytes]) -> bytes:
        is_whole = match[2] == b"F"
        return parts.add(match[1], (match[3] or b"") + (b"\n" if is_whole else b""), is_whole)

    def unwrap(block: bytes, last: bool) -> tuple[bytes, bytes]:
        lines, rest = _whole_lines(block, last)
        return CRI_LINE.sub(content, lines) + (parts.rest() if last else b""), rest

    return unwrap


def _docker(begun: dict[bytes, bytes]) -> Unwrap:
    parts = _Parts(begun)

    def content(match: re.Match[bytes]) -> bytes:
        text = _json_text(b'"' + match[1] + b'"')
        return parts.add(match[2] or b"", text, text.endswith(b"\n"))

    def unwrap(block: bytes, last: bool) -> tuple[bytes, bytes]:
        lines, rest = _whole_lines(block, last)
        return DOCKER_LINE.sub(content, lines) + (parts.rest() if last else b""), rest

    return unwrap


def _json_text(literal: bytes) -> bytes:
    import orjson

    try:
        text = orjson.loads(literal)
    except ValueError:
        import json

        try:
            text = json.loads(literal.decode("utf-8", "replace"), strict=False)
        except ValueError:
            return literal
    return text.encode("utf-8", "replace") if isinstance(text, str) else literal


def _journal_json(block: bytes, last: bool) -> tuple[bytes, bytes]:
    import orjson

    def content(match: re.Match[bytes]) -> bytes:
        try:
            entry = orjson.loads(match[0])
        except ValueError:
            return match[0]
        message = entry.get("MESSAGE")
        if isinstance(message, list):  # journalctl prints what is not UTF-8 as a list of bytes
            try:
                message = bytes(message).decode("utf-8", "replace")
            except (TypeError, ValueError):
                return match[0]
        if not isinstance(message, str):
            return match[0]
        source = _source(entry.get("SYSLOG_IDENTIFIER") or entry.get("_COMM"), entry.get("_PID"))
        return source + message.encode("utf-8", "replace") + b"\n"

    lines, rest = _whole_lines(block, last)
    return JOURNAL_JSON_LINE.sub(content, lines), rest


def _journal_export(block: bytes, last: bool) -> tuple[bytes, bytes]:
    text: list[bytes] = []
    begin = 0
    while (entry := _export_entry(block, begin, last)) is not None:
        fields, begin = entry
        message = fields.get(b"MESSAGE")
        if message is not None:
            name = fields.get(b"SYSLOG_IDENTIFIER") or fields.get(b"_COMM")
            pid = fields.get(b"_PID")
            text.append(_source(name and name.decode(errors="replace"), pid and pid.decode(errors="replace")))
            text.append(message + b"\n")
        if begin >= len(block):
            break
    return b"".join(text), block[begin:]


def _export_entry(block: bytes, begin: int, last: bool) -> tuple[dict[bytes, bytes], int] | None:
    """The fields of the entry at `begin` and where the next begins; None if it is not whole yet."""
    fields: dict[bytes, bytes] = {}
    position = begin
    while True:
        stop = block.find(b"\n", position)
        if stop < 0:
            return (fields, len(block)) if last and fields else None
        line = block[position:stop]
        position = stop + 1
        if not line:
            return fields, position
        name, equals, value = line.partition(b"=")
        if not equals:  # a binary field: its length as 64 bits, little endian, its bytes, a newline
            size = int.from_bytes(block[position : position + 8], "little")
            if size > len(block) - position - 8:
                return (fields, len(block)) if last and fields else None
            value = block[position + 8 : position + 8 + size]
            position += 8 + size + 1
        fields.setdefault(name, value)


def _source(name: object, pid: object) -> bytes:
    return f"{name}[{pid}]: ".encode() if name and pid else b""


def _syslog(block: bytes, last: bool) -> tuple[bytes, bytes]:
    # rsyslog writes control characters as #ooo; `#0` may be the start of one that goes on in the next block
    lines, rest = _whole_lines(block, last)
    return lines.replace(b"#012", b"\n").replace(b"#011", b"\t").replace(b"#015", b"\r"), rest


_UNWRAP: dict[Transport, Callable[[dict[bytes, bytes]], Unwrap]] = {
    Transport.CRI: _cri,
    Transport.DOCKER: _docker,
    Transport.JOURNAL_JSON: lambda _: _journal_json,
    Transport.JOURNAL_EXPORT: lambda _: _journal_export,
    Transport.SYSLOG: lambda _: _syslog,
}
