r"""Write batches as a Ceph OSD logs them at `debug_rocksdb = 30` (RocksDBStore::submit_common), as a stream.

A line for every record, but at most 50 of a batch: what a larger one wrote besides is not in the log, and neither are
range deletes. Values are not there, only their sizes; nor are shards, only the prefix of their family.
"""

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lsmlens.analyzer.bundles.compression import Allowance, DamagedStream, Metered, decompressed
from lsmlens.analyzer.bundles.transports import UnwrappedStream, unwrapping
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.logs.stamps import STAMP, stamp_millis
from lsmlens.tuners.workloads.chunk import Tag
from lsmlens.tuners.workloads.document import shard_names
from lsmlens.tuners.workloads.payload import POOL_BYTES, Payload
from lsmlens.tuners.workloads.routes import DEFAULT
from lsmlens.tuners.workloads.sampling import sampled
from lsmlens.tuners.workloads.stream import Batches
from lsmlens.tuners.workloads.wire import FAMILY_TAGS, varint

MOST_LINES = 50  # of a batch, in the log
SHARDING = {"m": 3, "p": 3, "O": 3, "L": 1, "P": 1}  # bluestore_rocksdb_cfs, Ceph 16 to 20
SIZE_DIGITS = 8  # no value has 100 MB, for osd_max_write_size is 90 MB: a line that says so is damaged
HASHED_BYTES = {"p": 12, "O": 13}  # of a key, which decide its shard; of others, all
BLOCK_BYTES = 1 << 20
PIECE_BYTES = 8 << 20

# 2026-11-21T11:07:24.434+0000 7fb1737fe6c0 30 submit_common Rocksdb transaction:
# PutCF( prefix = P key = 0x00000000000004'R._fastinfo' value size = 186)
# DeleteCF( prefix = O key = 0x7F8000000000000001';+Q'0xB3'!object1250!='0xFFFFFFFFFFFFFFFE6F)
_LINE = re.compile(
    rb"^(?:(?P<stamp>" + STAMP.pattern + rb") [^\n]{1,40}? submit_\w+ Rocksdb transaction:"
    rb"|(?P<kind>Put|Merge|Delete|SingleDelete)(?:CF)?\( prefix = (?P<prefix>\S+) key = (?P<key>[^\n]*?)"
    rb"(?: value size = (?P<size>\d+))?\)\s*$)",
    re.MULTILINE,
)
# Runs of printable bytes stand in quotes, doubled within them, others in hexadecimal digits (pretty_binary_string).
_KEY_PART = re.compile(rb"'((?:''|[^'])*)'|0x((?:[0-9A-F]{2})*)")
_TAGS = {b"Put": Tag.PUT, b"Merge": Tag.MERGE, b"Delete": Tag.DELETE, b"SingleDelete": Tag.SINGLE_DELETE}


@dataclass(frozen=True, slots=True)
class LoggedBatch:
    """A batch of the log: local time in milliseconds since 1970, and for each line tag, prefix, key and value bytes."""

    millis: int
    records: list[tuple[Tag, str, bytes, int]]


def logged_batches(path: Path) -> Iterator[LoggedBatch]:
    """All batches of a log, compressed or wrapped by a transport or not."""
    batch: LoggedBatch | None = None
    for block in _blocks(path):
        for match in _LINE.finditer(block):
            kind = match["kind"]
            if kind is None:
                if batch is not None:
                    yield batch
                stamp = STAMP.match(match["stamp"])
                millis = stamp_millis(stamp) if stamp else None
                batch = None if millis is None else LoggedBatch(millis, [])
            elif batch is not None and len(size := match["size"] or b"0") <= SIZE_DIGITS:
                batch.records.append((_TAGS[kind], match["prefix"].decode(), _key(match["key"]), int(size)))
    if batch is not None:
        yield batch


def _key(printed: bytes) -> bytes:
    parts = _KEY_PART.findall(printed)
    return b"".join(bytes.fromhex(digits.decode()) if digits else text.replace(b"''", b"'") for text, digits in parts)


@dataclass(frozen=True)
class BatchLinesStream:
    """The batches of an OSD's log, at the times of its lines.

    `sharding` says into how many column families each prefix's keys are divided: evenly and by the bytes that Ceph
    takes, though not by its hash. Prefixes that it does not name go to "default". Values are random bytes. At a scale,
    `seed` chooses the keys that are left: see `sampled`.
    """

    path: Path
    seconds: float
    notes: tuple[str, ...]
    sharding: Mapping[str, int]

    @property
    def families(self) -> tuple[str, ...]:
        """The column families in order of their ids, "default" first."""
        return (DEFAULT, *(name for base, shards in self.sharding.items() for name in shard_names(base, shards)))

    def batches(self, seed: int, scale: float = 1.0) -> Iterator[Batches]:
        """The write batches, a few megabytes at a time."""
        return sampled(self._batches(seed), seed, scale)

    def _batches(self, seed: int) -> Iterator[Batches]:
        ids = {name: number for number, name in enumerate(self.families)}
        pool = Payload(1.0, seed).fill(2 * POOL_BYTES).tobytes()
        buffer, offsets, seconds, records = bytearray(), [0], list[float](), 0
        first: int | None = None
        now = 0.0
        for batch in logged_batches(self.path):
            first = batch.millis if first is None else first
            now = max(now, (batch.millis - first) / 1000)
            if not batch.records:
                continue
            buffer += bytes(8) + len(batch.records).to_bytes(4, "little")
            for tag, prefix, key, value_bytes in batch.records:
                buffer += self._head(tag, prefix, key, ids)
                if tag in (Tag.PUT, Tag.MERGE):
                    place = len(buffer) * 31 % POOL_BYTES
                    value = pool[place : place + value_bytes]
                    buffer += varint(value_bytes) + value + bytes(value_bytes - len(value))
            offsets.append(len(buffer))
            seconds.append(now)
            records += len(batch.records)
            if len(buffer) >= PIECE_BYTES:
                yield Batches(np.frombuffer(buffer, np.uint8), np.array(offsets), np.array(seconds), records)
                buffer, offsets, seconds, records = bytearray(), [0], [], 0
        if seconds:
            yield Batches(np.frombuffer(buffer, np.uint8), np.array(offsets), np.array(seconds), records)

    def _head(self, tag: Tag, prefix: str, key: bytes, ids: Mapping[str, int]) -> bytes:
        """The record's tag, column family and key."""
        shards = self.sharding.get(prefix)
        if shards is None:
            family, key = 0, prefix.encode() + b"\0" + key
        else:
            shard = zlib.crc32(key[: HASHED_BYTES.get(prefix)]) % shards
            family = ids[shard_names(prefix, shards)[shard]]
        head = bytes((FAMILY_TAGS[tag],)) + varint(family) if family else bytes((tag,))
        return head + varint(len(key)) + key


def open_batch_lines(path: Path, sharding: Mapping[str, int] | None = None) -> BatchLinesStream:
    """The stream of an OSD's log, which goes through once. Raises InputError if it holds no batch lines."""
    times: list[int] = []
    batches = records = cut = 0
    try:
        for batch in logged_batches(path):
            times = [min([batch.millis, *times]), max([batch.millis, *times])]
            batches += bool(batch.records)
            records += len(batch.records)
            cut += len(batch.records) >= MOST_LINES
    except OSError as error:
        raise InputError(str(path), error.strerror or str(error), "check that it may be read") from error
    if not records:
        hint = "an OSD logs its write batches at `debug_rocksdb = 30`; a minute of that is enough"
        raise InputError(str(path), "no write batches in this log", hint)
    notes = ["replays write random bytes of the sizes in the log", "range deletes are not logged"]
    if cut:
        notes.append(f"{cut} of {batches} batches have {MOST_LINES} lines: what they wrote besides is not in the log")
    seconds = max(1e-3, (times[1] - times[0]) / 1000)
    return BatchLinesStream(path, seconds, tuple(notes), dict(SHARDING if sharding is None else sharding))


def _blocks(path: Path) -> Iterator[bytes]:
    """The text of a log in blocks of whole lines."""
    with path.open("rb", buffering=0) as file:
        allowance = Allowance()
        stream = DamagedStream(Metered(file, allowance))
        while (inner := decompressed(stream, allowance)) is not None:
            stream = inner
        unwrap = unwrapping(stream.peek(1 << 16))
        if unwrap is not None:
            stream = UnwrappedStream(stream, unwrap)
        rest = b""
        while data := stream.take(BLOCK_BYTES):
            block = rest + data
            end = block.rfind(b"\n") + 1
            yield block[:end]
            rest = block[end:]
        yield rest
