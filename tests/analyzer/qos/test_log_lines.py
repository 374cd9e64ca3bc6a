"""Each line shape proves itself by real lines; both wordings of the refusal are read."""

from pathlib import Path

import pytest
from lsmlens.analyzer.bundles.compression import DamagedStream
from lsmlens.analyzer.bundles.members import Member
from lsmlens.analyzer.logs.blocks import MappedBlocks, StreamedBlocks
from lsmlens.analyzer.qos.log_lines import SHAPES, LineKind, QosLine, QosLineShape, parse_line
from lsmlens.analyzer.qos.reading import Collection

EXAMPLES = [(shape, example) for shape in SHAPES for example in shape.examples]
# Built from the sources of the releases that write them, for no such log was at hand.
BUILT = {
    LineKind.CAPACITY: b"2021-05-20T10:41:22.046+0000 7f 1 mClockScheduler: set_max_osd_capacity #op shards: 8 max"
    b" osd capacity(iops) per shard: 2687.50",
    LineKind.REVERTED: b"2024-01-31T23:58:22.017+0000 7f 0 log_channel(cluster) log [WRN] : Change to osd_max_backfills"
    b" on osd.3 did not take effect. Enable osd_mclock_override_recovery_settings before setting this option.",
    LineKind.SLOW_OPERATIONS: b"2024-01-31T23:58:22.017+0000 mon.a (mon.0) 7 : cluster [WRN] Health check update: 12"
    b" slow ops, oldest one blocked for 34 sec, osd.7 has slow ops (SLOW_OPS)",
    LineKind.SCRUBS_LATE: b"2024-01-31T23:58:22.017+0000 mon.a (mon.0) 8 : cluster [WRN] Health check failed: 41 pgs"
    b" not deep-scrubbed in time (PG_NOT_DEEP_SCRUBBED)",
}


@pytest.mark.parametrize(("shape", "line"), EXAMPLES, ids=lambda one: getattr(one, "kind", ""))
def test_an_example_is_found_by_its_anchor_and_read(shape: QosLineShape, line: bytes) -> None:
    assert shape.anchor in line
    read = parse_line(shape, line, "log", 7)
    assert read is not None
    assert read.values
    assert (read.source, read.number) == ("log", 7)


@pytest.mark.parametrize("kind", BUILT, ids=str)
def test_a_built_line_is_read(kind: LineKind) -> None:
    line = BUILT[kind]
    shape = next(one for one in SHAPES if one.kind is kind and one.anchor in line)
    assert parse_line(shape, line, "log", 1) is not None


def test_both_wordings_of_a_refused_benchmark() -> None:
    (shape,) = (one for one in SHAPES if one.kind is LineKind.BENCH_REFUSED)
    new, old = (parse_line(shape, line, "", None) for line in shape.examples)
    assert new is not None
    assert old is not None
    assert (new.osd, new.real("iops"), new.real("low"), new.real("high")) == ("0", 43510.96472, 50.0, 500.0)
    assert (old.osd, old.real("iops"), old.real("limit"), old.real("low")) == ("1", 801.732253, 500.0, None)
    assert new.real("unchanged") == old.real("unchanged") == 315.0


def test_a_line_that_ends_early_is_left_out() -> None:
    (shape,) = (one for one in SHAPES if one.kind is LineKind.BENCH_REFUSED)
    assert parse_line(shape, b"log [WRN] : OSD bench result of 801.7", "", None) is None


def lines_of(log: bytes, tmp_path: Path, is_stream: bool) -> list[QosLine]:
    file = tmp_path / "ceph-osd.0.log"
    file.write_bytes(log)
    collection = Collection()
    look = collection.lines_of(Member("log", ""))
    with file.open("rb") as stream:
        for block in StreamedBlocks(DamagedStream(stream)) if is_stream else MappedBlocks(file):
            look(block)
    return collection.lines["log"]


@pytest.mark.parametrize("is_stream", [False, True])
def test_lines_and_their_numbers(is_stream: bool, tmp_path: Path, fixtures: Path) -> None:
    import gzip

    log = gzip.decompress((fixtures / "osd-mclock" / "ceph-osd.0.log.gz").read_bytes())
    found = {(line.kind, line.number) for line in lines_of(log, tmp_path, is_stream)}
    assert {
        (LineKind.CAPACITY, 49),
        (LineKind.SCHEDULER, 50),
        (LineKind.BENCH, 3426),
        (LineKind.BENCH_REFUSED, 3427),
    } <= found


@pytest.mark.parametrize("is_stream", [False, True])
def test_numbers_are_right_far_into_a_log(is_stream: bool, tmp_path: Path) -> None:
    example = SHAPES[1].examples[0]
    log = b"".join(b"x" * 200 + b"\n" for _ in range(60_000)) + example + b"\n" + b"y\n" * 10 + example
    assert [line.number for line in lines_of(log, tmp_path, is_stream)] == [60_001, 60_012]


def test_a_line_without_end_is_cut(tmp_path: Path) -> None:
    log = b"z" * 20_000 + SHAPES[1].examples[0] + b"z" * 20_000
    (line,) = lines_of(log, tmp_path, False)
    assert len(line.text) < 10_000
