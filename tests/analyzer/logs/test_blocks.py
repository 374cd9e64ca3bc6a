"""Blocks: whole lines whatever the file's length, the same mapped as streamed."""

import io
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from lsmlens.analyzer.bundles.compression import DamagedStream
from lsmlens.analyzer.logs import blocks
from lsmlens.analyzer.logs.blocks import Blocks, MappedBlocks, StreamedBlocks

Make = Callable[[bytes], Blocks]
PAGE = 4096


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows, buffers and limits of a few pages."""
    monkeypatch.setattr(blocks, "WINDOW_BYTES", 2 * PAGE)
    monkeypatch.setattr(blocks, "BUFFER_BYTES", 2 * PAGE)
    monkeypatch.setattr(blocks, "HISTORY_BYTES", PAGE)
    monkeypatch.setattr(blocks, "LINE_LIMIT_BYTES", 8 * PAGE)


class Dripping(io.RawIOBase):
    """A pipe: any number of bytes at a time, never more than asked for."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = io.BytesIO(data)
        self._random = random.Random(len(data))

    def read(self, size: int = -1, /) -> bytes:
        return self._data.read(self._random.randint(1, max(1, min(size, 5000))))


@pytest.fixture(params=["mapped", "streamed", "dripping"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    def mapped(data: bytes) -> Blocks:
        file = tmp_path / "log"
        file.write_bytes(data)
        return MappedBlocks(file)

    return {
        "mapped": mapped,
        "streamed": lambda data: StreamedBlocks(DamagedStream(io.BytesIO(data))),
        "dripping": lambda data: StreamedBlocks(DamagedStream(Dripping(data))),
    }[request.param]


def lines_of(lengths: list[int]) -> bytes:
    return b"".join(b"%d " % at + b"x" * length + b"\n" for at, length in enumerate(lengths))


RANDOM = random.Random(5)
LOGS = {
    "empty": b"",
    "one newline": b"\n",
    "no newline": b"only half a line",
    "one line": b"one line\n",
    "short lines": lines_of([RANDOM.randrange(0, 200) for _ in range(1000)]),
    "no end": lines_of([RANDOM.randrange(0, 200) for _ in range(1000)]) + b"and no end",
    "empty lines": b"\n" * 30_000,
    "lines of pages": lines_of([RANDOM.randrange(1, 5 * PAGE) for _ in range(50)]),
    "exactly a window": b"x" * (2 * PAGE - 1) + b"\n",
    "exactly two windows": b"x" * (2 * PAGE - 1) + b"\n" + b"y" * (2 * PAGE - 1) + b"\n",
    "a newline past a window": b"x" * (2 * PAGE) + b"\n" + b"y" * 10,
    "zeros": bytes(5 * PAGE) + b"\n",
}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("data", LOGS.values(), ids=LOGS)
def test_blocks_are_whole_lines_and_come_to_the_whole_log(make: Make, data: bytes) -> None:
    read = make(data)
    position = 0
    for block in read:
        assert block.begin < block.end
        assert block.offset + block.begin == position
        position = block.offset + block.end
        # the history before a block is what stands before it in the log
        assert bytes(block.view[: block.end]) == data[block.offset : position]
        assert position == len(data) or block.view[block.end - 1] == 0x0A
    assert position == len(data)
    assert (read.bytes, read.lines, read.cut_lines) == (len(data), data.count(b"\n"), 0)
    assert not read.lines_are_estimated


@pytest.mark.usefixtures("small")
def test_history_holds_what_came_before(make: Make) -> None:
    data = LOGS["short lines"]
    begins = [block.begin for block in make(data)]
    assert begins[0] == 0
    assert len(begins) > 5
    assert min(begins[1:]) >= PAGE


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("data", [LOGS["short lines"], LOGS["no end"], LOGS["lines of pages"]])
def test_line_numbers(make: Make, data: bytes) -> None:
    read = make(data)
    asked = random.Random(1)
    for block in read:
        for _ in range(20):
            offset = block.offset + asked.randrange(block.begin, block.end)
            assert read.line_number(offset) == data.count(b"\n", 0, offset) + 1


@pytest.mark.usefixtures("small")
def test_an_overlong_line_is_cut(make: Make) -> None:
    data = b"short\n" + b"x" * (20 * PAGE) + b"\n" + b"short again\n"
    read = make(data)
    sizes: list[int] = []
    parts: list[bytes] = []
    for block in read:
        sizes.append(len(block.view))
        parts.append(bytes(block.view[block.begin : block.end]))
    assert b"".join(parts) == data
    assert read.cut_lines >= 1
    assert read.lines == 3
    assert max(sizes) <= 8 * PAGE + 2 * PAGE
    assert parts[-1].endswith(b"short again\n")


def test_mapped_is_like_streamed_at_full_size(tmp_path: Path) -> None:
    data = lines_of([RANDOM.randrange(0, 300) for _ in range(70_000)]) + b"end"
    assert len(data) > blocks.WINDOW_BYTES
    file = tmp_path / "log"
    file.write_bytes(data)
    mapped, streamed = MappedBlocks(file), StreamedBlocks(DamagedStream(io.BytesIO(data)))
    for read in (mapped, streamed):
        whole = b"".join(bytes(block.view[block.begin : block.end]) for block in read)
        assert whole == data
    assert mapped.lines == streamed.lines == 70_000
    assert mapped.bytes == streamed.bytes == len(data)


def test_the_lines_of_a_huge_file_are_estimated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "EXACT_COUNT_BYTES", 1 << 20)
    monkeypatch.setattr(blocks, "WINDOW_BYTES", 1 << 14)
    data = lines_of([RANDOM.randrange(50, 150) for _ in range(50_000)])
    file = tmp_path / "log"
    file.write_bytes(data)
    read = MappedBlocks(file)
    assert sum(block.end - block.begin for block in read) == len(data)
    assert read.lines_are_estimated
    assert read.lines == pytest.approx(50_000, rel=0.1)


@pytest.mark.usefixtures("small")
def test_a_file_that_shrinks_while_it_is_read_ends_there(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(LOGS["short lines"])
    read = MappedBlocks(file)
    given = 0
    for number, block in enumerate(read):
        given += block.end - block.begin
        if number == 2:
            with file.open("r+b") as opened:
                opened.truncate(given + 100)
    assert read.bytes == given == file.stat().st_size


@pytest.mark.usefixtures("small")
def test_a_file_that_grows_while_it_is_read_ends_where_it_did(tmp_path: Path) -> None:
    data = LOGS["short lines"]
    file = tmp_path / "log"
    file.write_bytes(data)
    read = MappedBlocks(file)
    given = 0
    for block in read:
        given += block.end - block.begin
        with file.open("ab") as opened:
            opened.write(b"more\n")
    assert given == read.bytes == len(data)


def test_a_damaged_stream_ends_where_it_breaks() -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1, /) -> bytes:
            if hasattr(self, "given"):
                raise OSError("gone")
            self.given = True
            return b"a line\nhalf"

    stream = DamagedStream(Broken())
    read = StreamedBlocks(stream)
    assert [bytes(block.view[block.begin : block.end]) for block in read] == [b"a line\nhalf"]
    assert stream.damage == "OSError: gone"
    assert (read.lines, read.bytes) == (1, 11)
