"""The volume selector's arithmetic: published values, the form before 19.2.4 by hand, and a real OSD's paths."""

import gzip
from pathlib import Path

import pytest
from lsmlens.analyzer.options.volume_selector import LevelShape, select

GIB = 1 << 30
PACIFIC = LevelShape(level0_bytes=GIB, base_bytes=GIB // 4, multiplier=10)
REEF = LevelShape(level0_bytes=GIB, base_bytes=GIB, multiplier=8)


@pytest.mark.parametrize(
    ("shape", "device", "reserve", "extra"),
    [
        (PACIFIC, 40, 53.75, 0),
        (PACIFIC, 60, 53.75, 3.25),
        (PACIFIC, 100, 53.75, 41.25),
        (PACIFIC, 300, 528.75, 0),
        (REEF, 40, 18, 20),
        (REEF, 60, 18, 39),
        (REEF, 80, 138, 0),
        (REEF, 100, 138, 0),
        (REEF, 150, 138, 4.5),
        (REEF, 200, 138, 52),
        (REEF, 300, 138, 147),
    ],
)
def test_published_values(shape: LevelShape, device: int, reserve: float, extra: float) -> None:
    selection = select(device * GIB, shape)
    assert selection.reserve_bytes == reserve * GIB
    assert selection.extra_bytes == pytest.approx(extra * GIB, abs=1)


@pytest.mark.parametrize(
    ("shape", "device", "reserve", "extra"),
    [
        (PACIFIC, 5, None, 0),  # 4.75 <= 1 + 0.25 + 2 * 2.5
        (PACIFIC, 40, 6.25, 31.75),  # 38 > 6.25, but not > 1 + 0.25 + 2.5 + 2 * 25 = 53.75
        (PACIFIC, 60, 53.75, 3.25),
        (PACIFIC, 300, 53.75, 231.25),  # 285 <= 1 + 0.25 + 2.5 + 25 + 2 * 250
        (REEF, 100, 18, 77),  # 95 > 1 + 1 + 2 * 8, but not > 1 + 1 + 8 + 2 * 64 = 138
        (REEF, 150, 138, 4.5),
    ],
)
def test_before_the_factor_was_fixed(shape: LevelShape, device: int, reserve: float | None, extra: float) -> None:
    selection = select(device * GIB, shape, has_fixed_factor=False)
    assert selection.reserve_bytes == (None if reserve is None else reserve * GIB)
    assert selection.extra_bytes == pytest.approx(extra * GIB, abs=1)


def test_levels_that_fit() -> None:
    # RocksDB takes level 0 for as large as level 1: 0.25 + 0.25 + 2.5 + 25 = 28 of 38, and 250 do not fit.
    selection = select(40 * GIB, PACIFIC)
    assert (selection.last_level, selection.fitting_bytes, selection.next_bytes) == (3, 28 * GIB, 250 * GIB)
    # 1 + 1 + 8 + 64 = 74 of 76
    assert select(80 * GIB, REEF).last_level == 3
    assert select(GIB // 4, PACIFIC).last_level == 0


def test_policies_and_reservation() -> None:
    assert select(100 * GIB, PACIFIC, policy="rocksdb_original").extra_bytes == 0
    assert select(100 * GIB, PACIFIC, reserved_bytes=90 * GIB).extra_bytes == 5 * GIB
    assert select(100 * GIB, PACIFIC, reserved_bytes=99 * GIB).extra_bytes == 0
    assert select(100 * GIB, PACIFIC, factor=1.0).reserve_bytes == 28.75 * GIB


def test_levels_that_do_not_grow_end() -> None:
    assert select(GIB, LevelShape(0, 1, 1)).extra_bytes > 0
    assert select(GIB, LevelShape(0, 0, 0)).last_level > 0
    assert select(0, PACIFIC).extra_bytes == 0


def test_usable_share_is_that_of_a_real_osd(fixtures: Path) -> None:
    text = gzip.decompress((fixtures / "osd-spillover" / "ceph-osd.0.log.gz").read_bytes())
    assert b"block.db size 2 GiB" in text
    assert f"set db_paths to db,{select(2 * GIB, PACIFIC).usable_bytes} db.slow,".encode() in text
