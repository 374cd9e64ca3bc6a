"""Bytes of a MANIFEST's edits that flushes wrote."""

from pathlib import Path

import pytest
from lsmlens.tuners.replays.manifest import BLOCK_BYTES, flush_edit_bytes


def record(payload: bytes, kind: int = 1) -> bytes:
    return bytes(4) + len(payload).to_bytes(2, "little") + bytes([kind]) + payload


# As RocksDB 7.8 writes them: of a new database, of a flush (its table and the log it may drop), of a compaction.
NEW = [bytes.fromhex("02000400"), bytes.fromhex("090003060400")]
FAMILY = bytes.fromhex("011a6c6576656c64622e4279746577697365436f6d70617261746f72c8010201c9014f")
FLUSH = [bytes.fromhex("020c0900030e04e21667000ddfa93815"), bytes.fromhex("0900030e0a0404e216")]
COMPACTION = bytes.fromhex("0900031704865b06000d06000f")


def test_edits_of_flushes_are_counted_with_their_headers(tmp_path: Path) -> None:
    (tmp_path / "MANIFEST-000005").write_bytes(b"".join(map(record, [*NEW, FAMILY, *FLUSH, COMPACTION, FLUSH[0]])))
    assert flush_edit_bytes(tmp_path) == (16 + 7) + (9 + 7) + (16 + 7)


@pytest.mark.parametrize("first", [0, 2, 13])
def test_an_edit_over_the_end_of_a_block_is_counted_whole(first: int, tmp_path: Path) -> None:
    filling = COMPACTION + bytes(BLOCK_BYTES - 7 - 7 - first - len(COMPACTION))
    pieces = record(filling) + record(FLUSH[0][:first], 2) + record(FLUSH[0][first:], 4)
    assert len(record(filling)) + len(record(FLUSH[0][:first], 2)) == BLOCK_BYTES
    (tmp_path / "MANIFEST-000005").write_bytes(pieces)
    assert flush_edit_bytes(tmp_path) == 16 + 2 * 7


def test_the_rest_of_a_block_that_holds_no_header_is_passed_over(tmp_path: Path) -> None:
    filling = COMPACTION + bytes(BLOCK_BYTES - 7 - 3 - len(COMPACTION))
    (tmp_path / "MANIFEST-000005").write_bytes(record(filling) + bytes(3) + record(FLUSH[1]))
    assert flush_edit_bytes(tmp_path) == 16


def test_a_folder_without_any(tmp_path: Path) -> None:
    assert flush_edit_bytes(tmp_path) == 0
    (tmp_path / "MANIFEST-000001").write_bytes(b"")
    assert flush_edit_bytes(tmp_path) == 0
