"""Bytes of a MANIFEST's edits that flushes wrote."""

from pathlib import Path

import pytest
from lsmlens.tuners.replays.manifest import BLOCK_BYTES, MOST_MOVED, FlushEdits, flush_edits


def record(payload: bytes, kind: int = 1) -> bytes:
    return bytes(4) + len(payload).to_bytes(2, "little") + bytes([kind]) + payload


# As RocksDB 7.8 writes them: of a new database, of a flush (its table and the log it may drop), of a compaction.
NEW = [bytes.fromhex("02000400"), bytes.fromhex("090003060400")]
FAMILY = bytes.fromhex("011a6c6576656c64622e4279746577697365436f6d70617261746f72c8010201c9014f")
FLUSH = [bytes.fromhex("020c0900030e04e21667000ddfa93815"), bytes.fromhex("0900030e0a0404e216")]
COMPACTION = bytes.fromhex("0900031704865b06000d06000f")


def test_edits_of_flushes_are_counted_with_their_headers(tmp_path: Path) -> None:
    (tmp_path / "MANIFEST-000005").write_bytes(b"".join(map(record, [*NEW, FAMILY, *FLUSH, COMPACTION, FLUSH[0]])))
    assert flush_edits(tmp_path).bytes == (16 + 7) + (9 + 7) + (16 + 7)


# As RocksDB 6.8 writes them: its first flush begins a new MANIFEST, with what there is so far.
BEGUN = [bytes.fromhex("011a6c6576656c64622e4279746577697365436f6d70617261746f72"), bytes.fromhex("0200")]
FIRST_FLUSH = bytes.fromhex("02060900030904d9e402670007c39e9c01")
OF_THE_OPEN = bytes.fromhex("090003060400")


def test_the_state_in_a_manifest_that_a_flush_begins_is_the_flushs(tmp_path: Path) -> None:
    (tmp_path / "MANIFEST-000008").write_bytes(b"".join(map(record, [*BEGUN, FIRST_FLUSH, COMPACTION, FIRST_FLUSH])))
    assert flush_edits(tmp_path).bytes == (28 + 7) + (2 + 7) + 2 * (17 + 7)


@pytest.mark.parametrize("first", [OF_THE_OPEN, COMPACTION])
def test_the_state_in_a_manifest_that_something_else_begins_is_not(first: bytes, tmp_path: Path) -> None:
    (tmp_path / "MANIFEST-000008").write_bytes(b"".join(map(record, [*BEGUN, first, FIRST_FLUSH])))
    assert flush_edits(tmp_path).bytes == 17 + 7


@pytest.mark.parametrize("first", [0, 2, 13])
def test_an_edit_over_the_end_of_a_block_is_counted_whole(first: int, tmp_path: Path) -> None:
    filling = COMPACTION + bytes(BLOCK_BYTES - 7 - 7 - first - len(COMPACTION))
    pieces = record(filling) + record(FLUSH[0][:first], 2) + record(FLUSH[0][first:], 4)
    assert len(record(filling)) + len(record(FLUSH[0][:first], 2)) == BLOCK_BYTES
    (tmp_path / "MANIFEST-000005").write_bytes(pieces)
    assert flush_edits(tmp_path).bytes == 16 + 2 * 7


def test_the_rest_of_a_block_that_holds_no_header_is_written_with_what_comes_next(tmp_path: Path) -> None:
    filling = COMPACTION + bytes(BLOCK_BYTES - 7 - 3 - len(COMPACTION))
    (tmp_path / "MANIFEST-000005").write_bytes(record(filling) + bytes(3) + record(FLUSH[1]))
    assert flush_edits(tmp_path).bytes == 3 + 16
    (tmp_path / "MANIFEST-000005").write_bytes(record(filling) + bytes(3) + record(COMPACTION) + record(FLUSH[1]))
    assert flush_edits(tmp_path).bytes == 16


def test_a_folder_without_any(tmp_path: Path) -> None:
    assert flush_edits(tmp_path).bytes == 0
    (tmp_path / "MANIFEST-000001").write_bytes(b"")
    assert flush_edits(tmp_path).bytes == 0


# As 7.9 writes them: a compaction's edit, and at the same time a flush's that left no table.
BESIDE = bytes.fromhex("0900037204885306003006003d06006a")
EMPTY_FLUSH = [bytes.fromhex("026709000372048853c8010a"), bytes.fromhex("090003720a3b048853")]


def test_an_edit_that_another_jobs_thread_may_have_written(tmp_path: Path) -> None:
    (tmp_path / "MANIFEST-000005").write_bytes(b"".join(map(record, [*FLUSH, BESIDE, *EMPTY_FLUSH, COMPACTION])))
    edits = flush_edits(tmp_path)
    assert edits == FlushEdits(23 + 16 + 19 + 16, (-(19 + 16),))
    assert (edits.moved(0), edits.moved(-35), edits.moved(35), edits.moved(-34)) == (0, 1, None, None)
    (tmp_path / "MANIFEST-000005").write_bytes(b"".join(map(record, [*EMPTY_FLUSH, BESIDE, COMPACTION, BESIDE])))
    assert flush_edits(tmp_path).doubtful == (16 + 7,)


def test_how_few_edits_explain_a_difference() -> None:
    edits = FlushEdits(1000, (-35, -35, 600, -192))
    assert [edits.moved(one) for one in (0, -35, -70, 565, 373, 1, 10**9, -(10**9))] == [
        0,
        1,
        2,
        2,
        3,
        None,
        None,
        None,
    ]
    assert FlushEdits(0, (1,)).moved(MOST_MOVED) == MOST_MOVED
    assert FlushEdits(0, (1,)).moved(MOST_MOVED + 1) is None
    assert FlushEdits().moved(1) is None


def test_what_came_after_an_earlier_reading() -> None:
    assert FlushEdits(100, (1, 2, 3)).since(FlushEdits(40, (1,))) == FlushEdits(60, (2, 3))


def test_names_before_the_numbers_are_passed_over(tmp_path: Path) -> None:
    """Families made at the open begin 6.8's MANIFEST, no flush."""
    made = bytes.fromhex("011a6c6576656c64622e4279746577697365436f6d70617261746f7202030305cb01010400c80101c901036d2d30")
    (tmp_path / "MANIFEST-000004").write_bytes(b"".join(map(record, [*BEGUN, made, FIRST_FLUSH])))
    assert flush_edits(tmp_path).bytes == 17 + 7
