"""Dumps as a scan collects them: those that have no family's table are dumps as well."""

import io
import re
from pathlib import Path

import pytest
from lsmlens.analyzer.bundles.compression import DamagedStream
from lsmlens.analyzer.bundles.roles import Role
from lsmlens.analyzer.dumps.statistics_dumps import parse_dump
from lsmlens.analyzer.logs.blocks import StreamedBlocks
from lsmlens.analyzer.logs.scanner import Scanner


@pytest.fixture(scope="module")
def log(fixtures: Path) -> bytes:
    return (fixtures / "rocksdb-7.8" / "LOG").read_bytes()


def collected(text: bytes) -> list[tuple[int | None, str]]:
    scan = Scanner("LOG", Role.ROCKSDB_LOG).read(StreamedBlocks(DamagedStream(io.BytesIO(text))))
    return list(scan.dumps.get("", ()))


def without_families(log: bytes) -> bytes:
    """The log with its families' tables left out, as 8.1 leaves out those in which nothing happened."""
    line = rb"(?!\d{4}/\d\d/\d\d-)[^\n]*\n"
    return re.sub(
        rb"^\s*\*\* (?:Compaction Stats|File Read Latency)[^\n]*\n(?:" + line + rb")*", b"", log, flags=re.MULTILINE
    )


def test_only_the_database_s_table(log: bytes) -> None:
    whole, bare = collected(log), collected(without_families(log))
    assert len(whole) == log.count(b"------- DUMPING STATS -------")
    assert [millis for millis, _ in bare] == [millis for millis, _ in whole]
    for (_, before), (_, after) in zip(whole, bare, strict=True):
        assert parse_dump(before).families
        assert not parse_dump(after).families
        assert parse_dump(after).database == parse_dump(before).database
        assert not parse_dump(after).is_cut


def test_each_dump_once(log: bytes) -> None:
    """One without families between two that have them."""
    bare = without_families(log)
    assert len(collected(log + bare + log)) == 3 * len(collected(log))
