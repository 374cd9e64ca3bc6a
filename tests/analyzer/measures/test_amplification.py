"""Write amplification: which bytes are in it, and which are named apart."""

from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import measure
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.measures.amplification import (
    UNATTRIBUTED,
    FamilyWrites,
    LevelWrites,
    writes_by_family,
    writes_by_level,
    writes_by_window,
)
from lsmlens.analyzer.runs.jobs import Job
from lsmlens.analyzer.runs.selection import Selection

from tests.jobs import compaction, flush, jobs, move, run_of

KIB = 1024


def writes(*rows: Job) -> FamilyWrites:
    (family,) = writes_by_family(jobs(*rows).lazy()) or (FamilyWrites("a"),)
    return family


def test_compactions_that_read_level_0_are_told_apart() -> None:
    first = compaction(8 * KIB, input_levels=[0, 1])
    deeper = compaction(4 * KIB, 2, input_levels=[1, 2])
    family = writes(flush(KIB), first, deeper, compaction(2 * KIB))  # of the last, the start is not in the log
    assert (family.level0_output_bytes, family.compaction_output_bytes) == (8 * KIB, 14 * KIB)


def test_flushes_alone_amplify_by_one() -> None:
    assert writes(flush(KIB), flush(3 * KIB)).write_amplification == 1.0


def test_flush_and_compaction() -> None:
    family = writes(flush(KIB), flush(3 * KIB), compaction(2 * KIB), compaction(8 * KIB, 2))
    assert family.write_amplification == (4 + 10) / 4
    assert (family.flushes, family.flush_bytes, family.compactions) == (2, 4 * KIB, 2)
    assert (family.compaction_input_bytes, family.compaction_output_bytes) == (8 * KIB, 10 * KIB)
    assert (family.input_records, family.output_records, family.output_input_ratio) == (400, 300, 0.75)
    assert (family.flush_input_records, family.flush_output_records) == (200, 120)
    assert family.compaction_seconds == 1.0


@pytest.mark.parametrize("rows", [[], [compaction(KIB)], [move(KIB)], [flush(0), compaction(KIB)]])
def test_nothing_flushed_has_no_amplification(rows: list[Job]) -> None:
    assert writes(*rows).write_amplification is None


def test_no_records_no_ratio() -> None:
    assert writes(flush(KIB)).output_input_ratio is None
    assert LevelWrites(0).output_input_ratio is None


def test_moves_move_no_bytes() -> None:
    with_moves, without = writes(flush(KIB), compaction(KIB), move(100 * KIB)), writes(flush(KIB), compaction(KIB))
    assert with_moves.write_amplification == without.write_amplification == 2.0
    assert (with_moves.trivial_moves, with_moves.trivial_move_bytes) == (1, 100 * KIB)
    assert with_moves.compactions == 1


def test_blob_bytes_are_added_and_named() -> None:
    family = writes(flush(KIB), compaction(KIB, blobs=2 * KIB))
    assert family.blob_output_bytes == 2 * KIB
    assert family.compaction_output_bytes == 3 * KIB
    assert family.write_amplification == 4.0


def test_blob_bytes_of_flushes_are_added_and_named() -> None:
    family = writes(flush(KIB, 3 * KIB), compaction(4 * KIB))
    assert (family.flush_bytes, family.flush_blob_bytes) == (4 * KIB, 3 * KIB)
    assert family.write_amplification == 2.0


def test_bytes_of_the_level_before_the_last_are_added_and_named() -> None:
    family = writes(flush(KIB), compaction(KIB, proximal=3 * KIB))
    assert (family.proximal_output_bytes, family.blob_output_bytes) == (3 * KIB, 0)
    assert family.compaction_output_bytes == 4 * KIB
    assert family.write_amplification == 5.0


def test_levels_have_the_same_bytes() -> None:
    zero, one, two = writes_by_level(
        jobs(flush(KIB, KIB), compaction(KIB, blobs=KIB, proximal=KIB), move(5 * KIB)).lazy()
    )
    assert (zero.level, one.level, two.level) == (0, 1, 2)
    assert (zero.flushes, zero.flush_bytes, zero.compaction_output_bytes) == (1, 2 * KIB, 0)
    assert (one.compactions, one.compaction_output_bytes, one.compaction_input_bytes) == (1, 3 * KIB, 4 * KIB)
    assert (one.input_records, one.output_records, one.output_input_ratio) == (200, 150, 0.75)
    assert (two.trivial_moves, two.trivial_move_bytes, two.compaction_output_bytes) == (1, 5 * KIB, 0)


def test_families_are_added_up() -> None:
    first, second = writes(flush(KIB), compaction(KIB), move(KIB)), writes(flush(3 * KIB), compaction(11 * KIB))
    first.merge(second)
    assert first == writes(flush(KIB), compaction(KIB), move(KIB), flush(3 * KIB), compaction(11 * KIB))
    assert first.name == "a"
    assert first.write_amplification == 4.0


def test_levels_and_families_of_a_run() -> None:
    rows = [flush(KIB), compaction(KIB, 3, column_family="b"), compaction(KIB, 1), move(9)]
    measured = measure(run_of(*rows, compaction(KIB, 1, column_family=None)), Selection())
    assert [(family.name, family.compactions) for family in measured.families] == [
        (UNATTRIBUTED, 1),
        ("a", 1),
        ("b", 1),
    ]
    assert [(level.level, level.compactions) for level in measured.levels] == [(0, 0), (1, 2), (2, 0), (3, 1)]
    assert measured.total.write_amplification == 4.0


def test_a_family_without_a_name_is_not_an_unknown_one() -> None:
    run = run_of(flush(KIB, column_family=""), flush(KIB, column_family=None))
    assert [family.name for family in measure(run, Selection()).families] == ["", UNATTRIBUTED]


@pytest.mark.parametrize("name", ["osd-stock", "osd-crash", "rocksdb-7.8", "rocksdb-current"])
def test_families_and_levels_come_to_the_same_sums(name: str, fixtures: Path) -> None:
    for one in analyze([str(fixtures / name)]).runs:
        for field in ("flush_bytes", "compaction_output_bytes", "input_records", "trivial_move_bytes", "compactions"):
            by_family = sum(getattr(family, field) for family in one.families)
            assert by_family == sum(getattr(level, field) for level in one.levels) == getattr(one.total, field)


def test_bytes_of_a_real_osd_agree_with_its_counters(fixtures: Path) -> None:
    import json

    folder = fixtures / "osd-spillover"
    (one,) = analyze([str(folder / "ceph-osd.0.log.gz")]).runs
    counted = json.loads((folder / "perf_dump.end.json").read_text())["bluefs"]["bytes_written_sst"]
    assert one.total.flush_bytes + one.total.compaction_output_bytes == pytest.approx(counted, rel=0.012)


def test_windows_are_aligned_and_hold_what_finished_in_them() -> None:
    rows = [move(second, finished_at=second * 1_000_000) for second in (599, 600, 1199, 3600)]
    found = writes_by_window(jobs(*rows).lazy(), 600, most=10)
    sums = [(start // 1_000_000, one.trivial_moves, one.trivial_move_bytes) for start, one in found]
    assert sums == [(0, 1, 599), (600, 2, 1799), (3600, 1, 3600)]
    assert writes_by_window(jobs(*rows).lazy(), 600, most=2) == found[:2]
