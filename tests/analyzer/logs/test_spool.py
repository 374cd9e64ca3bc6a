"""Spools: records in order, however many, in memory or on disk."""

from itertools import pairwise
from pathlib import Path

import pytest
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.logs.spool import BATCH_RECORDS, Spool
from msgspec import Struct


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 8, 9, 1000])
def test_records_come_back_in_order(count: int) -> None:
    spool: Spool[int] = Spool(int, batch_records=4)
    for number in range(count):
        spool.append(number)
    assert len(spool) == count
    assert list(spool) == list(range(count))
    assert list(spool) == list(range(count))


@pytest.mark.parametrize("sizes", [[4], [3, 3, 3], [100, 0, 1], [0], [1] * 9])
def test_extending_is_like_appending(sizes: list[int]) -> None:
    spool: Spool[int] = Spool(int, batch_records=4)
    for size in sizes:
        spool.extend(range(len(spool), len(spool) + size))
    assert len(spool) == sum(sizes)
    assert list(spool) == list(range(sum(sizes)))


def test_it_may_grow_again_after_it_was_read() -> None:
    spool: Spool[int] = Spool(int, batch_records=4)
    for number in range(30):
        spool.append(number)
        assert list(spool) == list(range(number + 1))


def test_reading_may_be_broken_off_and_begun_anew() -> None:
    spool: Spool[int] = Spool(int, batch_records=4)
    spool.extend(range(10))
    spool.extend(range(10, 20))
    reading = iter(spool)
    assert next(reading) == 0
    reading.close()  # type: ignore[attr-defined]
    assert list(spool) == list(range(20))
    spool.append(20)
    spool.extend(range(21, 30))
    assert list(spool) == list(range(30))


def test_two_readers_do_not_disturb_each_other() -> None:
    spool: Spool[int] = Spool(int, batch_records=2)
    for number in range(20):
        spool.append(number)
    assert all(later == earlier + 1 for earlier, later in pairwise(spool))
    assert [(first, second) for first, second in zip(spool, spool, strict=True)] == [(n, n) for n in range(20)]


class Event(Struct, tag=True):
    time_micros: int
    score: float | None = None
    family: str = ""
    state: list[int] = []


class Other(Struct, tag=True, frozen=True):
    said: tuple[int, ...]


def test_records_are_kept_as_they_are() -> None:
    spool: Spool[Event | Other] = Spool(Event | Other, batch_records=1)
    records: list[Event | Other] = [Event(1 << 62, 1.5, "Größe", [1, 2]), Other((3, 4)), Event((1 << 64) - 1)]
    spool.extend(records[:1])
    spool.extend(records[1:])
    assert list(spool) == records


def test_full_batches_leave_memory_for_a_file_without_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    spool: Spool[int] = Spool(int)
    spool.extend(range(BATCH_RECORDS - 1))
    assert len(spool._batch) == BATCH_RECORDS - 1
    spool.append(-1)
    assert spool._batch == []
    assert spool._file is not None
    assert list(tmp_path.iterdir()) == []
    assert len(spool) == BATCH_RECORDS


def test_a_full_disk_is_told_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Path("/dev/full").open("w+b"))  # noqa: SIM115
    spool: Spool[int] = Spool(int, batch_records=4)
    with pytest.raises(LsmlensError, match=f"temporary file in {tmp_path}: No space left on device") as raised:
        spool.extend(range(5))
    assert "TMPDIR" in raised.value.hint
