"""Compressed streams: whole, in several members, cut and corrupted."""

import bz2
import gzip
import io
import lzma
import random
import sys
from collections.abc import Callable

import pytest
from lsmlens.analyzer.bundles.compression import CHUNK_BYTES, Allowance, DamagedStream, decompressed

if sys.version_info >= (3, 14):
    from compression import zstd  # type: ignore[import-not-found,unused-ignore]
else:
    from backports import zstd

Compress = Callable[[bytes], bytes]
FORMATS: dict[str, Compress] = {
    "gzip": lambda data: gzip.compress(data, 6, mtime=0),
    "zstd": zstd.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}
TEXT = b"".join(b"line %d of a log %d\n" % (at, at * at * 7919 % 10007) for at in range(3000))
NOISE = random.Random(3).randbytes(3 * CHUNK_BYTES // 2)


def opened(data: bytes) -> DamagedStream:
    stream = decompressed(DamagedStream(io.BytesIO(data)), Allowance())
    assert stream is not None
    return stream


def drained(stream: DamagedStream, size: int = 65536) -> bytes:
    parts: list[bytes] = []
    while data := stream.take(size):
        assert len(data) <= size
        parts.append(data)
    return b"".join(parts)


class Broken(io.RawIOBase):
    """A disk that gives some bytes and then an error."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = io.BytesIO(data)

    def read(self, size: int = -1, /) -> bytes:
        data = self._data.read(size)
        if not data:
            raise OSError(5, "Input/output error")
        return data


@pytest.fixture(params=FORMATS)
def compress(request: pytest.FixtureRequest) -> Compress:
    return FORMATS[request.param]


@pytest.mark.parametrize("size", [1, 7, 4096, 1 << 20])
@pytest.mark.parametrize("data", [TEXT[:3000], b"", b"\n", b"\x00" * 5000], ids=["text", "empty", "one byte", "zeros"])
def test_content_is_what_was_compressed(compress: Compress, data: bytes, size: int) -> None:
    stream = opened(compress(data))
    assert drained(stream, size) == data
    assert stream.damage is None
    assert stream.take(10) == b""


def test_more_than_a_chunk_goes_through(compress: Compress) -> None:
    data = NOISE + b"\x00" * (4 << 20) + NOISE
    stream = opened(compress(data))
    assert drained(stream) == data
    assert stream.damage is None


def test_members_follow_each_other(compress: Compress) -> None:
    stream = opened(compress(TEXT) + compress(b"") + compress(NOISE) + compress(TEXT))
    assert drained(stream) == TEXT + NOISE + TEXT
    assert stream.damage is None


def test_zeros_after_the_end_are_padding(compress: Compress) -> None:
    stream = opened(compress(TEXT) + b"\x00" * 1000)
    assert drained(stream) == TEXT
    assert stream.damage is None


def test_what_follows_that_is_no_member_is_damage(compress: Compress) -> None:
    stream = opened(compress(TEXT) + b"garbage, and quite a lot of it")
    assert drained(stream) == TEXT
    assert stream.damage


def test_a_stream_cut_anywhere_gives_what_it_has(compress: Compress) -> None:
    data = TEXT[:2000]
    whole = compress(data)
    for length in range(7, len(whole)):
        stream = opened(whole[:length])
        assert data.startswith(drained(stream))
        assert stream.damage, length


@pytest.mark.parametrize("name", FORMATS)
def test_the_damage_of_a_cut_stream_names_its_format(name: str) -> None:
    stream = opened(FORMATS[name](TEXT)[:-9])
    drained(stream)
    assert stream.damage == f"the {name} stream ends before its end mark"


@pytest.mark.parametrize("name", ["gzip", "zstd", "bzip2", "xz"])
def test_most_of_a_long_cut_stream_is_given(name: str) -> None:
    data = random.Random(4).randbytes(3_000_000)
    stream = opened(FORMATS[name](data)[:-500_000])
    got = drained(stream)
    assert data.startswith(got)
    # bzip2 gives whole blocks of 900 KB only, zstd of 128 KB
    assert len(got) > len(data) - 500_000 - 1_000_000


def test_a_corrupted_stream_says_so(compress: Compress) -> None:
    whole = bytearray(compress(TEXT))
    whole[len(whole) // 2] ^= 0x55
    stream = opened(bytes(whole))
    drained(stream)
    assert stream.damage


def test_a_source_that_fails_is_damage(compress: Compress) -> None:
    stream = decompressed(DamagedStream(Broken(compress(NOISE)[:-1000])), Allowance())
    assert stream is not None
    assert NOISE.startswith(drained(stream))
    assert stream.damage


def test_damage_of_the_source_is_kept_where_it_happened() -> None:
    source = DamagedStream(Broken(b"some text"))
    assert drained(source) == b"some text"
    assert source.damage == "OSError: [Errno 5] Input/output error"


@pytest.mark.parametrize("data", [b"", b"\x1f", b"plain text", b"\x1f\x8b\x07rest", b"BZ", b"\xfd7zXZ", b"PK\x03\x04"])
def test_plain_bytes_stay_to_be_read(data: bytes) -> None:
    stream = DamagedStream(io.BytesIO(data))
    assert decompressed(stream, Allowance()) is None
    assert drained(stream) == data
    assert stream.damage is None


def test_a_peek_takes_nothing() -> None:
    stream = DamagedStream(io.BytesIO(b"0123456789"), prefix=b"ab")
    assert stream.peek(1) == b"a"
    assert stream.peek(5) == b"ab012"
    assert stream.peek(100) == b"ab0123456789"
    assert stream.peek(3) == b"ab0"
    assert stream.take(4) == b"ab01"
    assert drained(stream) == b"23456789"


def test_it_can_be_read_as_a_file(compress: Compress) -> None:
    stream = opened(compress(TEXT))
    buffer = bytearray(10)
    assert stream.readable()
    assert stream.readinto(buffer) == 10
    assert buffer == TEXT[:10]
    assert io.BufferedReader(stream).read() == TEXT[10:]
